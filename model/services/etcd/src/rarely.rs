//! What most scenarios do not have: it is hashed only where it is there, so that it costs them nothing, and digests of older executions stay.

use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

use fencepost_model::normal::Normal;

/// An option that is rarely used.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rarely<T>(pub Option<T>);

/// A word that no other value of a world is: what follows it is no part of something else.
const MARK: u64 = 0xe7cd_5eed_0000_0000;

impl<T: Hash> Hash for Rarely<T> {
    fn hash<H: Hasher>(&self, to: &mut H) {
        if let Some(value) = &self.0 {
            to.write_u64(MARK);
            value.hash(to);
        }
    }
}

/// Hashes a small number that is rarely there.
pub fn hash_rarely(number: u32, to: &mut impl Hasher) {
    to.write_u64(MARK | 1 << 31 | u64::from(number));
}

impl<T> Default for Rarely<T> {
    fn default() -> Self {
        Rarely(None)
    }
}

impl<T> Deref for Rarely<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

impl<T> DerefMut for Rarely<T> {
    fn deref_mut(&mut self) -> &mut Option<T> {
        &mut self.0
    }
}
