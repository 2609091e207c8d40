//! What has been seen: fingerprints in open addressing.
//!
//! The table is cut into parts that grow one after the other, each by half, so that growing needs little room beside
//! the table itself. A fingerprint finds its place by its high bits; the low bits say which worker owns it.

/// More parts than this would make the first few states expensive.
const PARTS: usize = 16;

/// A part grows when three of four places are taken: beyond that, runs of taken places get long.
const FULL: (usize, usize) = (3, 4);

/// The set of fingerprints seen. None of them is 0.
pub(super) struct Seen {
    parts: Vec<Part>,
}

#[derive(Default)]
struct Part {
    /// 0 is a free place.
    places: Vec<u64>,
    taken: usize,
}

/// Maps the bits of `word` evenly to 0..`room`.
#[inline]
fn scaled(word: u64, room: usize) -> usize {
    let product = u128::from(word) * room as u128;
    usize::try_from(product >> 64).expect("it is smaller than `room`")
}

impl Seen {
    pub(super) fn new() -> Self {
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

    /// Adds a fingerprint; false if it was there already.
    #[inline]
    pub(super) fn insert(&mut self, fingerprint: u64) -> bool {
        let part = &mut self.parts[Self::part_of(fingerprint)];
        if part.taken * FULL.1 >= part.places.len() * FULL.0 {
            part.grow();
        }
        let place = part.find(fingerprint);
        if part.places[place] != 0 {
            return false;
        }
        part.places[place] = fingerprint;
        part.taken += 1;
        true
    }
}

impl Part {
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
        // Written, not merely promised to be zero by the system: a page that is read first and written later costs twice.
        let mut places = Vec::with_capacity(room);
        places.resize(room, 0);
        let mut larger = Part { places, taken: self.taken };
        for fingerprint in self.places.iter().copied().filter(|word| *word != 0) {
            let place = larger.find(fingerprint);
            larger.places[place] = fingerprint;
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn it_remembers_what_a_set_remembers_while_it_grows() {
        let mut seen = Seen::new();
        let mut set = BTreeSet::new();
        let mut word = 1u64;
        for count in 0..50_000u64 {
            word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ (count % 7);
            let fingerprint = (word % 20_000).wrapping_mul(0xd134_2543_de82_ef95).max(1);
            assert_eq!(seen.insert(fingerprint), set.insert(fingerprint));
        }
        assert!(set.len() > 10_000, "{}", set.len());
        for fingerprint in &set {
            assert!(!seen.insert(*fingerprint));
            assert_ne!(seen.touch(*fingerprint), 0, "its first place is taken, if only by another one");
        }
    }
}
