//! The table of visited states: fingerprints with open addressing, each with an optional value.
//!
//! The table is cut into parts that grow one after the other, each by half, so that growing needs little room beside
//! the table itself. A fingerprint finds its place by its high bits; the low bits say which worker owns it.

/// More parts than this would make the first few states expensive.
const PARTS: usize = 16;

/// A part grows when three of four places are taken: beyond that, runs of taken places get long.
const FULL: (usize, usize) = (3, 4);

/// The fingerprints seen, and a value for each. None of them is 0. Without a value they take no more room than they are.
pub(crate) struct Seen<V = ()> {
    parts: Vec<Part<V>>,
}

#[derive(Default)]
struct Part<V> {
    /// 0 is a free place.
    places: Vec<u64>,
    values: Vec<V>,
    taken: usize,
}

/// Maps the bits of `word` evenly to 0..`room`.
#[inline]
fn scaled(word: u64, room: usize) -> usize {
    let product = u128::from(word) * room as u128;
    usize::try_from(product >> 64).expect("it is smaller than `room`")
}

impl<V: Copy + Default> Seen<V> {
    pub(crate) fn new() -> Self {
        Seen { parts: (0..PARTS).map(|_| Part::default()).collect() }
    }

    #[inline]
    fn part_of(fingerprint: u64) -> usize {
        scaled(fingerprint, PARTS)
    }

    /// Looks at the place of a fingerprint, so that it is in the cache when it is asked about. Returns what is there.
    #[inline]
    pub(super) fn touch(&self, fingerprint: u64) -> u64 {
        let part = &self.parts[Self::part_of(fingerprint)];
        part.places.get(part.home(fingerprint)).copied().unwrap_or_default()
    }

    /// Adds a fingerprint with its value; if it was there already, its value is the answer.
    #[inline]
    pub(crate) fn insert(&mut self, fingerprint: u64, value: V) -> Option<V> {
        let part = &mut self.parts[Self::part_of(fingerprint)];
        if part.taken * FULL.1 >= part.places.len() * FULL.0 {
            part.grow();
        }
        let place = part.find(fingerprint);
        if part.places[place] != 0 {
            return Some(part.values[place]);
        }
        (part.places[place], part.values[place]) = (fingerprint, value);
        part.taken += 1;
        None
    }
}

impl<V: Copy + Default> Part<V> {
    /// Where the search for a fingerprint begins, by the bits that did not choose the part.
    #[inline]
    fn home(&self, fingerprint: u64) -> usize {
        scaled(fingerprint << PARTS.trailing_zeros(), self.places.len())
    }

    /// The place of a fingerprint, or the free place where it belongs. There is always a free one.
    #[inline]
    fn find(&self, fingerprint: u64) -> usize {
        let mut place = self.home(fingerprint);
        while self.places[place] != 0 && self.places[place] != fingerprint {
            place = if place + 1 == self.places.len() { 0 } else { place + 1 };
        }
        place
    }

    #[cold]
    fn grow(&mut self) {
        let room = (self.places.len() * 3 / 2).max(16);
        // Written here, not promised to be zero by the system: a page that is read first and written later is mapped twice,
        // and the second time every other thread is interrupted for it. `vec!` promises as soon as it sees a zero.
        let mut places = Vec::with_capacity(room);
        places.resize(room, std::hint::black_box(0));
        let mut larger = Part { places, values: vec![V::default(); room], taken: self.taken };
        for (place, fingerprint) in self.places.iter().copied().enumerate().filter(|(_, word)| *word != 0) {
            let to = larger.find(fingerprint);
            (larger.places[to], larger.values[to]) = (fingerprint, self.values[place]);
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_agrees_with_a_map_while_it_grows() {
        let mut seen: Seen<u32> = Seen::new();
        let mut map = BTreeMap::new();
        let mut word = 1u64;
        for count in 0..50_000u32 {
            word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ u64::from(count % 7);
            let fingerprint = (word % 20_000).wrapping_mul(0xd134_2543_de82_ef95).max(1);
            assert_eq!(seen.insert(fingerprint, count), map.get(&fingerprint).copied());
            map.entry(fingerprint).or_insert(count);
        }
        assert!(map.len() > 10_000, "{}", map.len());
        for (fingerprint, count) in &map {
            assert_eq!(seen.insert(*fingerprint, 0), Some(*count));
            assert_ne!(seen.touch(*fingerprint), 0, "its first place is taken, if only by another one");
        }
    }
}
