//! States that are kept complete. A fingerprint finds a state, and what is found is compared: two states are never taken for one.

use super::Seen;

/// The number of bytes of a chunk; a state that does not fit begins the next one. The chunks never move, so they need no spare capacity.
const CHUNK: usize = 1 << 20;

/// What stands for no further state with the same fingerprint.
const NONE: u64 = u64::MAX;

/// The bytes before those of a state: the place of the next one with the same fingerprint, its number, and how long it is.
const HEAD: usize = size_of::<u64>() + 2 * size_of::<u32>();

/// Complete states, each with a number.
pub(crate) struct WholeStates {
    /// For each fingerprint the place of the first state.
    first: Seen<u64>,
    chunks: Vec<Vec<u8>>,
    /// The number of bytes of a chunk.
    room: usize,
}

/// What stands before a state.
struct StateHead {
    next: u64,
    number: u32,
    length: usize,
}

impl WholeStates {
    /// None, yet.
    pub(crate) fn new() -> Self {
        WholeStates { first: Seen::new(None), chunks: Vec::new(), room: CHUNK }
    }

    /// Looks at the home of a fingerprint; see [`Seen::touch`].
    #[inline]
    pub(crate) fn touch(&self, fingerprint: u64) -> u8 {
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
            let head = self.head(other);
            let (chunk, at) = self.at(other);
            if self.chunks[chunk][at + HEAD..][..head.length] == *state {
                return Some(head.number);
            }
            if head.next == NONE {
                self.chunks[chunk][at..at + size_of::<u64>()].copy_from_slice(&place.to_le_bytes());
                self.push(state, number);
                return None;
            }
            other = head.next;
        }
    }

    /// The chunk of a place, and the byte in it.
    fn at(&self, place: u64) -> (usize, usize) {
        let byte = usize::try_from(place).expect("it is in memory");
        (byte / self.room, byte % self.room)
    }

    fn head(&self, place: u64) -> StateHead {
        let (chunk, at) = self.at(place);
        let (next, rest) = self.chunks[chunk][at..].split_first_chunk().expect("a head is before each state");
        let (number, rest) = rest.split_first_chunk().expect("a head is before each state");
        let length = rest.first_chunk().expect("a head is before each state");
        StateHead {
            next: u64::from_le_bytes(*next),
            number: u32::from_le_bytes(*number),
            length: u32::from_le_bytes(*length) as usize,
        }
    }

    /// Where the next state begins, of this number of bytes.
    fn next_place(&self, length: usize) -> u64 {
        let last = self.chunks.last().map_or(self.room, Vec::len);
        let is_full = last + HEAD + length > self.room;
        let (chunk, at) = if is_full { (self.chunks.len(), 0) } else { (self.chunks.len() - 1, last) };
        (chunk * self.room + at) as u64
    }

    fn push(&mut self, state: &[u8], number: u32) {
        let (chunk, _) = self.at(self.next_place(state.len()));
        if chunk == self.chunks.len() {
            assert!(HEAD + state.len() <= self.room, "a state is larger than a chunk");
            self.chunks.push(Vec::with_capacity(self.room));
        }
        let bytes = &mut self.chunks[chunk];
        let length = u32::try_from(state.len()).expect("a state is smaller than a chunk");
        bytes.extend(NONE.to_le_bytes());
        [number, length].into_iter().for_each(|word| bytes.extend(word.to_le_bytes()));
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
        fn it_agrees_with_a_map(states in vec(vec(0..3_u8, 0..6), 0..300), fingerprints in 1..5_u64, room in 22..90_usize) {
            let mut whole = WholeStates { room, ..WholeStates::new() };
            let mut map = BTreeMap::new();
            for (number, state) in (0..).zip(&states) {
                let fingerprint = 1 + state.iter().map(|byte| u64::from(*byte)).sum::<u64>() % fingerprints;
                prop_assert_eq!(whole.insert(fingerprint, state, number), map.get(state).copied());
                map.entry(state).or_insert(number);
            }
        }
    }
}
