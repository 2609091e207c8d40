//! The only collection type of explored state: `N` elements inline, more on the heap.

use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::sort::sort_short;

/// A vector of small values with a capacity of `N` inline. The owner sorts it where order has no meaning.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct InlineVec<T: Copy, const N: usize>(SmallVec<[T; N]>);

impl<T: Copy, const N: usize> InlineVec<T, N> {
    /// An empty vector.
    pub fn new() -> Self {
        InlineVec(SmallVec::new())
    }

    /// Adds at the end.
    pub fn push(&mut self, value: T) {
        self.0.push(value);
    }

    /// Inserts into a sorted vector. An equal element goes behind those that are already there.
    pub fn insert_sorted(&mut self, value: T)
    where
        T: Ord,
    {
        let place = self.0.partition_point(|other| other.cmp(&value).is_le());
        self.0.insert(place, value);
    }

    /// Takes out the element at `place`; panics if there is none.
    pub fn remove(&mut self, place: usize) -> T {
        self.0.remove(place)
    }

    /// Keeps the elements that `wanted` accepts, in the same order.
    pub fn retain(&mut self, mut wanted: impl FnMut(&T) -> bool) {
        self.0.retain(|value| wanted(value));
    }

    /// Removes the first occurrence of `value`; false if it is not there.
    pub fn take(&mut self, value: &T) -> bool
    where
        T: PartialEq,
    {
        let place = self.0.iter().position(|other| other == value);
        place.map(|place| self.0.remove(place)).is_some()
    }

    /// Sorts the elements; equal ones may change places.
    pub fn sort_unstable(&mut self)
    where
        T: Ord,
    {
        sort_short(&mut self.0);
    }

    /// Keeps the first `count` elements only.
    pub fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }

    /// Empties the vector.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<T: Copy, const N: usize> Clone for InlineVec<T, N> {
    fn clone(&self) -> Self {
        InlineVec(SmallVec::from_slice(&self.0))
    }

    /// Copies the elements without the spare capacity of the other list, and keeps no unused heap memory: a search
    /// keeps millions of these lists.
    #[inline]
    fn clone_from(&mut self, other: &Self) {
        if self.0.spilled() && other.len() <= N {
            self.0 = SmallVec::new();
        }
        // Most lists of a world are empty and were empty before.
        if self.is_empty() && other.is_empty() {
            return;
        }
        let both = self.len().min(other.len());
        self.0.truncate(both);
        self.0.copy_from_slice(&other.0[..both]);
        if other.len() > both {
            self.0.extend_from_slice(&other.0[both..]);
        }
    }
}

impl<T: Copy, const N: usize> Default for InlineVec<T, N> {
    fn default() -> Self {
        InlineVec::new()
    }
}

impl<T: Copy + Hash, const N: usize> Hash for InlineVec<T, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_slice().hash(state);
    }
}

impl<T: Copy, const N: usize> Deref for InlineVec<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Copy, const N: usize> DerefMut for InlineVec<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Copy, const N: usize> FromIterator<T> for InlineVec<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        InlineVec(values.into_iter().collect())
    }
}

impl<'a, T: Copy, const N: usize> IntoIterator for &'a InlineVec<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Copy + Serialize, const N: usize> Serialize for InlineVec<T, N> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(to)
    }
}

impl<'de, T: Copy + Deserialize<'de>, const N: usize> Deserialize<'de> for InlineVec<T, N> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(from)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_insertion_keeps_the_order_beyond_the_inline_room() {
        let mut list: InlineVec<u8, 2> = InlineVec::new();
        for value in [3, 1, 2, 1] {
            list.insert_sorted(value);
        }
        assert_eq!(&*list, [1, 1, 2, 3]);
        assert!(list.take(&1) && !list.take(&9));
        assert_eq!(&*list, [1, 2, 3]);
    }
}
