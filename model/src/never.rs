//! What a protocol has none of.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::world::normal::{Normal, Visitor};

/// Stands for operators, faults or facts where a service has none of its own.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Never {}

impl Normal for Never {
    fn visit(&mut self, _: &mut impl Visitor) {
        match *self {}
    }
}

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}
