//! The keys of the protected resource, and what is remembered for each of them.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::normal::{Normal, Visitor};

/// How many keys the resource has: 0 to 7. A semaphore with a key for each slot may have as many slots.
pub const KEYS_MAX: u8 = 8;

/// Something for each key; the default for one that was not written to.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ByKey<T>([T; KEYS_MAX as usize]);

impl<T: Copy + Default + PartialEq> ByKey<T> {
    /// What is remembered for a key.
    ///
    /// # Panics
    /// There is no such key.
    pub fn of(&self, key: u8) -> T {
        self.0[usize::from(key)]
    }

    /// The same, to be changed.
    ///
    /// # Panics
    /// There is no such key.
    pub fn of_mut(&mut self, key: u8) -> &mut T {
        &mut self.0[usize::from(key)]
    }

    /// Whether no key was written to.
    pub fn is_empty(&self) -> bool {
        *self == ByKey::default()
    }
}

impl<T: Copy + Default + PartialEq + Hash> Hash for ByKey<T> {
    /// Hashes nothing if no key was written to: a world without keys has the fingerprint that it had before there were keys.
    fn hash<H: Hasher>(&self, to: &mut H) {
        if !self.is_empty() {
            self.0.hash(to);
        }
    }
}

/// Without keys that were not written to: the default is no number of its kind.
impl<T: Copy + Default + PartialEq + Normal> Normal for ByKey<T> {
    #[inline]
    fn visit(&mut self, visitor: &mut impl Visitor) {
        self.0.iter_mut().filter(|value| **value != T::default()).for_each(|value| value.visit(visitor));
    }
}
