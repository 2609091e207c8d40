//! What a protocol has none of.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::normal::Normal;

/// Stands for operators, faults or facts where a service has none of its own.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub enum Uninhabited {}

impl fmt::Display for Uninhabited {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}
