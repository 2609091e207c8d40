//! A small set that fits into a message: `Copy`, inline, with a capacity of `N`.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::sort::sort_short;

/// A list with a capacity of `N` values. Validation refuses a scenario that would overflow it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InlineArray<T, const N: usize> {
    items: [T; N],
    count: u8,
}

impl<T: Copy + Default, const N: usize> InlineArray<T, N> {
    /// The capacity.
    pub const ROOM: usize = N;

    /// Adds at the end.
    ///
    /// # Panics
    /// The list is full. Validation should have refused the scenario.
    pub fn push(&mut self, value: T) {
        self.items[usize::from(self.count)] = value;
        self.count += 1;
    }

    /// The same list with only the wanted values.
    #[must_use]
    pub fn filtered(self, mut wanted: impl FnMut(&T) -> bool) -> Self {
        self.iter().copied().filter(|value| wanted(value)).collect()
    }

    /// Sorts the values.
    pub fn sort_unstable(&mut self)
    where
        T: Ord,
    {
        sort_short(&mut self.items[..usize::from(self.count)]);
    }

    /// Visits each value for change in place.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items[..usize::from(self.count)].iter_mut()
    }
}

impl<T: Copy + Default, const N: usize> Default for InlineArray<T, N> {
    fn default() -> Self {
        InlineArray { items: [T::default(); N], count: 0 }
    }
}

impl<T, const N: usize> Deref for InlineArray<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.count)]
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for InlineArray<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut few = InlineArray::default();
        values.into_iter().for_each(|value| few.push(value));
        few
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for InlineArray<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Serialize, const N: usize> Serialize for InlineArray<T, N> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

impl<'de, T: Copy + Default + Deserialize<'de>, const N: usize> Deserialize<'de> for InlineArray<T, N> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let values = Vec::<T>::deserialize(from)?;
        if values.len() > N {
            return Err(de::Error::custom(format!("{} values, but the capacity is {N}", values.len())));
        }
        Ok(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inline_array_filters_its_elements_and_knows_its_capacity() {
        let full: InlineArray<u8, 3> = [7, 8, 9].into_iter().collect();
        assert_eq!(&*full.filtered(|value| *value != 8), [7, 9]);
        assert_eq!(full.filtered(|value| *value == 7), [7].into_iter().collect());
        assert!(
            serde_json::from_str::<InlineArray<u8, 2>>("[1, 2, 3]").unwrap_err().to_string().contains("capacity is 2")
        );
    }
}
