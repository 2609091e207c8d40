//! States that are kept complete. A fingerprint finds a state, and what is found is compared: two states are never taken for one.

use super::Seen;

/// The number of bytes of a chunk; a state that does not fit begins the next one. The chunks never move, so they need no spare capacity.
const CHUNK: usize = 1 << 20;

/// States begin at multiples of this number of bytes, so that four bytes of a place reach sixteen gibibytes.
const UNIT: usize = 4;

/// What stands for no further state with the same fingerprint.
const NONE: u32 = u32::MAX;

/// The bytes before those of a state: the place of the next one with the same fingerprint, its number, and how long it is.
const HEAD: usize = 12;

/// Complete states, each with a number.
pub(crate) struct WholeStates {
    /// For each fingerprint the place of the first state.
    first: Seen<u32>,
    chunks: Vec<Vec<u8>>,
    /// The number of bytes of a chunk.
    room: usize,
}

impl WholeStates {
    /// None, yet.
    pub(crate) fn new() -> Self {
        WholeStates { first: Seen::new(None), chunks: Vec::new(), room: CHUNK }
    }

    /// Looks at the home of a fingerprint; see [`Seen::touch`].
    #[inline]
    pub(in super::super) fn touch(&self, fingerprint: u64) -> u8 {
        self.first.touch(fingerprint)
    }

    /// Adds a state with its number; if it was there already, the number that it has is the answer.
    pub(crate) fn insert(&mut self, fingerprint: u64, state: &[u8], number: u32) -> Option<u32> {
        let place = self.next_place(state.len());
        let Some(mut other) = self.first.insert(fingerprint, place) else {
            self.push(state, number);
            return None;
        };
        loop {
            let [next, known, length] = self.head(other);
            let (chunk, at) = self.at(other);
            if self.chunks[chunk][at + HEAD..][..length as usize] == *state {
                return Some(known);
            }
            if next == NONE {
                self.chunks[chunk][at..at + size_of::<u32>()].copy_from_slice(&place.to_le_bytes());
                self.push(state, number);
                return None;
            }
            other = next;
        }
    }

    /// The chunk of a place, and the byte in it.
    fn at(&self, place: u32) -> (usize, usize) {
        let byte = place as usize * UNIT;
        (byte / self.room, byte % self.room)
    }

    fn head(&self, place: u32) -> [u32; 3] {
        let (chunk, at) = self.at(place);
        let word = |nth: usize| {
            let bytes =
                self.chunks[chunk][at + nth * size_of::<u32>()..].first_chunk().expect("a head has three words");
            u32::from_le_bytes(*bytes)
        };
        [word(0), word(1), word(2)]
    }

    /// Where the next state begins, of this number of bytes.
    fn next_place(&self, length: usize) -> u32 {
        let last = self.chunks.last().map_or(self.room, Vec::len).next_multiple_of(UNIT);
        let is_full = last + HEAD + length > self.room;
        let (chunk, at) = if is_full { (self.chunks.len(), 0) } else { (self.chunks.len() - 1, last) };
        u32::try_from((chunk * self.room + at) / UNIT).expect("memory is full before")
    }

    fn push(&mut self, state: &[u8], number: u32) {
        let (chunk, at) = self.at(self.next_place(state.len()));
        if chunk == self.chunks.len() {
            assert!(HEAD + state.len() <= self.room, "a state is larger than a chunk");
            self.chunks.push(Vec::with_capacity(self.room));
        }
        let bytes = &mut self.chunks[chunk];
        bytes.resize(at, 0);
        let length = u32::try_from(state.len()).expect("a state is smaller than a chunk");
        [NONE, number, length].into_iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend(state);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::vec;
    use proptest::{prop_assert_eq, proptest};

    use super::*;

    proptest! {
        /// Whatever the fingerprints: also if all states have the same.
        #[test]
        fn it_agrees_with_a_map(states in vec(vec(0..3_u8, 0..6), 0..300), fingerprints in 1..5_u64, room in 20..90_usize) {
            let mut whole = WholeStates { room: room.next_multiple_of(UNIT), ..WholeStates::new() };
            let mut map = BTreeMap::new();
            for (number, state) in (0..).zip(&states) {
                let fingerprint = 1 + state.iter().map(|byte| u64::from(*byte)).sum::<u64>() % fingerprints;
                prop_assert_eq!(whole.insert(fingerprint, state, number), map.get(state).copied());
                map.entry(state).or_insert(number);
            }
        }
    }
}
