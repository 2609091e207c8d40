//! The type without values.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::normal::Normal;

/// Stands for operator actions, faults or events of a service that has none.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub enum Uninhabited {}

impl fmt::Display for Uninhabited {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}
