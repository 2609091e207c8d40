//! The table of visited states: their fingerprints, each with an optional value, in about seven bytes where there are millions.
//!
//! The place of an entry says the high bits of its fingerprint, so the entry keeps the low ones only (quotienting: Cleary, "Compact
//! hash tables using bidirectional linear probing", 1984). All 64 bits count all the same: two fingerprints are never taken for one.
//!
//! Buckets divide the range of fingerprints evenly and in order. A fingerprint is put into the first free slot of a window of buckets, of
//! which the first is its home. So what is in a bucket has its home there or in one of the few buckets before it, and these homes are an
//! interval of fingerprints: no longer than the low bits of an entry can count. Within the interval these bits are different for
//! different fingerprints, and with the bucket they say the fingerprint again when the table grows.
//!
//! What does not fit is kept in full beside the buckets: fingerprints of which the window is full, and those of which the low bits are
//! zeros, which mark a free slot. Both are rare, unless fingerprints are chosen for it.
//!
//! ```text
//! geometry   where fingerprints belong, and how many bits an entry needs
//! segments   the bytes of the entries, in pieces that need not move when there are more
//! growth     more buckets, in place
//! whole      complete states, for which the table says where they are
//! ```

mod geometry;
mod growth;
mod segments;
mod whole;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use fencepost_model::mutation::Mutation;

use self::geometry::{BUCKET, Geometry, WINDOW};
use self::segments::Segments;
pub(crate) use self::whole::WholeStates;

/// The table grows when this part of its slots is taken.
const FULL: (usize, usize) = (9, 10);

/// The fingerprints seen by one worker, and a value for each.
pub(crate) struct Seen<V = ()> {
    place: Geometry,
    entries: Segments,
    /// The value of each slot.
    values: Vec<V>,
    /// The number of slots that are taken.
    taken: usize,
    /// What found no slot.
    rest: BTreeMap<u64, V>,
    mutation: Option<Mutation>,
}

/// Where a fingerprint is, or belongs.
enum Slot {
    Taken(usize),
    Free(usize),
    /// Not in its window.
    Rest,
}

/// Maps the bits of `word` evenly and in order to 0..`room`.
#[inline]
fn scaled(word: u64, room: usize) -> usize {
    let product = u128::from(word) * room as u128;
    usize::try_from(product >> 64).expect("it is smaller than `room`")
}

impl<V: Copy + Default> Seen<V> {
    /// An empty table.
    pub(crate) fn new(mutation: Option<Mutation>) -> Self {
        let place = Geometry::first();
        let mut entries = Segments::new(place.width(mutation));
        entries.resize(place.slots() / BUCKET);
        let values = vec![V::default(); place.slots()];
        Seen { place, entries, values, taken: 0, rest: BTreeMap::new(), mutation }
    }

    /// Looks at the home of a fingerprint, so that it is in the cache when it is asked about; it may lie on two lines. Returns some of what is
    /// there.
    #[inline]
    pub(crate) fn touch(&self, fingerprint: u64) -> u8 {
        self.entries.touch(self.place.home(fingerprint))
    }

    /// Adds a fingerprint with its value; if it was there already, its value is the answer.
    #[inline]
    pub(crate) fn insert(&mut self, fingerprint: u64, value: V) -> Option<V> {
        match self.find(fingerprint) {
            Slot::Taken(slot) => Some(self.values[slot]),
            Slot::Free(slot) => {
                self.put(slot, fingerprint, value);
                if self.taken * FULL.1 >= self.place.buckets * BUCKET * FULL.0 {
                    self.grow();
                }
                None
            }
            Slot::Rest => match self.rest.entry(fingerprint) {
                Entry::Occupied(known) => Some(*known.get()),
                Entry::Vacant(free) => {
                    free.insert(value);
                    None
                }
            },
        }
    }

    /// The value of a fingerprint, if it is there.
    pub(super) fn get(&self, fingerprint: u64) -> Option<V> {
        match self.find(fingerprint) {
            Slot::Taken(slot) => Some(self.values[slot]),
            Slot::Free(_) => None,
            Slot::Rest => self.rest.get(&fingerprint).copied(),
        }
    }

    #[inline]
    fn find(&self, fingerprint: u64) -> Slot {
        let home = self.place.home(fingerprint);
        match self.entries.width() {
            6 => self.scan::<6>(home, fingerprint),
            7 => self.scan::<7>(home, fingerprint),
            8 => self.scan::<8>(home, fingerprint),
            5 => self.scan::<5>(home, fingerprint),
            _ => self.scan::<1>(home, fingerprint),
        }
    }

    /// Looks for a fingerprint in the window that begins at this bucket, where entries have `WIDTH` bytes.
    #[inline]
    fn scan<const WIDTH: usize>(&self, home: usize, fingerprint: u64) -> Slot {
        let entry = fingerprint & segments::mask(WIDTH);
        if entry == 0 {
            return Slot::Rest;
        }
        for bucket in home..home + WINDOW {
            for (slot, found) in (bucket * BUCKET..).zip(self.entries.bucket::<WIDTH>(bucket)) {
                if found == entry {
                    return Slot::Taken(slot);
                }
                if found == 0 {
                    return Slot::Free(slot);
                }
            }
        }
        Slot::Rest
    }

    #[inline]
    fn put(&mut self, slot: usize, fingerprint: u64, value: V) {
        self.entries.put(slot, fingerprint);
        self.values[slot] = value;
        self.taken += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::vec;
    use proptest::prelude::{Strategy, any, prop_oneof};
    use proptest::{prop_assert_eq, proptest};

    use super::*;

    /// Bits without a pattern.
    fn mixed(word: u64) -> u64 {
        let word = word.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word ^ word >> 31
    }

    #[test]
    fn it_agrees_with_a_map_while_it_grows() {
        let mut seen: Seen<u32> = Seen::new(None);
        let mut map = BTreeMap::new();
        for count in 0..200_000 {
            let fingerprint = mixed(mixed(u64::from(count)) % 100_000);
            assert_eq!(seen.insert(fingerprint, count), map.get(&fingerprint).copied());
            map.entry(fingerprint).or_insert(count);
        }
        assert!(map.len() > 80_000, "{}", map.len());
        for (fingerprint, count) in &map {
            assert_eq!(seen.insert(*fingerprint, 0), Some(*count));
        }
    }

    #[test]
    fn entries_become_shorter_and_nothing_is_lost() {
        let mut seen: Seen = Seen::new(None);
        let mut widths = vec![(0, seen.entries.width())];
        for count in 0..3_600_000 {
            assert_eq!(seen.insert(mixed(count), ()), None);
            if seen.entries.width() != widths[widths.len() - 1].1 {
                widths.push((count, seen.entries.width()));
            }
        }
        assert_eq!(widths, [(0, 8), (13_603, 7), (3_443_137, 6)]);
        assert!((0..3_600_000).all(|count| seen.insert(mixed(count), ()).is_some()));
        assert!(seen.rest.len() < 40_000, "few find no slot: {}", seen.rest.len());
        let bytes = seen.entries.bytes() as f64 / 3_600_000.0;
        assert!(bytes < 7.7, "{bytes} bytes for each");
    }

    /// Fingerprints that lie close together, or have equal low bits, or lie at the ends of the range.
    fn hostile() -> impl Strategy<Value = u64> {
        let few = || 0..40_u64;
        prop_oneof![
            few(),
            few().prop_map(|low| u64::MAX - low),
            (few(), 0..64_u32, 0..3_u64).prop_map(|(high, shift, low)| (high << shift).wrapping_add(low)),
            (0..600_u64, 40..60_u32).prop_map(|(high, shift)| high << shift | 7),
            (0..600_u64).prop_map(|low| 0x1234_5678_9abc_0000 + low),
            (0..3_000_u64).prop_map(mixed),
            any::<u64>(),
        ]
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_map_whatever_the_fingerprints(
            fingerprints in vec(hostile(), 0..4_000)
        ) {
            let mut seen: Seen<u16> = Seen::new(None);
            let mut map = BTreeMap::new();
            for (value, fingerprint) in (1..).zip(fingerprints) {
                prop_assert_eq!(seen.insert(fingerprint, value), map.get(&fingerprint).copied());
                map.entry(fingerprint).or_insert(value);
            }
            for (fingerprint, value) in &map {
                prop_assert_eq!(seen.insert(*fingerprint, 0), Some(*value));
            }
        }
    }
}
