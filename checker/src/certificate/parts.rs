//! Parts of worlds by number: worlds are made of few different ones.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use fencepost_model::hash::Packer;

/// Values by number, each once. Values are compared, and hashes only find them.
pub(super) struct PartTable<T> {
    values: Vec<T>,
    by_hash: BTreeMap<u64, Vec<u32>>,
}

impl<T> Default for PartTable<T> {
    fn default() -> Self {
        PartTable { values: Vec::new(), by_hash: BTreeMap::new() }
    }
}

impl<T: Hash + Eq> PartTable<T> {
    /// The number of a value; and whether it is new.
    pub(super) fn number(&mut self, value: T) -> (u32, bool) {
        let mut hash = Packer::default();
        value.hash(&mut hash);
        let numbers = self.by_hash.entry(hash.finish()).or_default();
        if let Some(number) = numbers.iter().find(|number| self.values[**number as usize] == value) {
            return (*number, false);
        }
        let number = u32::try_from(self.values.len()).expect("memory ends before");
        numbers.push(number);
        self.values.push(value);
        (number, true)
    }

    /// The value with this number.
    pub(super) fn value(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}
