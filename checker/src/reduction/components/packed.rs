//! Worlds that wait to be expanded, as what is different from the one before: a world's successors follow one another, and
//! differ in few parts.
//!
//! ```text
//! places that differ, and whether the number of parts does · that number, if it does · the number of each part that differs
//! ```
//!
//! Each is a number in the fewest groups of seven bits (LEB128). A part at a place that the world before has not differs; so does, of
//! worlds with very many parts, each part behind the places that have a bit. Fingerprints are left out: they are made of the parts.

use super::{Collapsed, Numbers};
use crate::engine::Chunk;

/// How many bytes a chunk may take.
const BYTES: usize = 8 * 1024;

/// More than nearly every world takes: a chunk is full when so few are left.
const WORLD: usize = 128;

/// The number of places that have a bit.
const PLACES: usize = 62;

/// Worlds, as what is different from the one before.
#[derive(Default)]
pub(crate) struct PackedChunk {
    bytes: Vec<u8>,
    length: usize,
    /// The world that was put in last.
    last: Numbers,
    /// The place of the byte that is read next.
    place: usize,
    /// The world that was taken out last.
    current: Numbers,
}

impl PackedChunk {
    #[inline]
    fn write(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }

    #[inline]
    fn read(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.bytes[self.place];
            self.place += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    fn read_number(&mut self) -> u32 {
        u32::try_from(self.read()).expect("what was written is the number of a part")
    }
}

impl Chunk for PackedChunk {
    type State = Collapsed;
    type Waiting = Numbers;

    fn push(&mut self, world: Collapsed) {
        let (parts, last) = (world.parts, std::mem::take(&mut self.last));
        let is_other = |place: &usize| *place >= PLACES || last.get(*place) != Some(&parts[*place]);
        let bits = (0..parts.len().min(PLACES)).filter(is_other).fold(0, |bits, place| bits | 2_u64 << place);
        self.write(bits | u64::from(parts.len() != last.len()));
        if parts.len() != last.len() {
            self.write(parts.len() as u64);
        }
        for place in (0..parts.len()).filter(is_other) {
            self.write(parts[place].into());
        }
        self.last = parts;
        self.length += 1;
    }

    fn next(&mut self) -> Option<&Numbers> {
        self.length = self.length.checked_sub(1)?;
        let bits = self.read();
        let mut parts = std::mem::take(&mut self.current);
        let before = parts.len();
        let length = if bits & 1 == 0 { before } else { self.read_number() as usize };
        parts.truncate(length);
        for place in 0..length {
            if place >= before {
                let number = self.read_number();
                parts.push(number);
            } else if place >= PLACES || bits & 2 << place != 0 {
                parts[place] = self.read_number();
            }
        }
        self.current = parts;
        Some(&self.current)
    }

    fn len(&self) -> usize {
        self.length
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.bytes.len() + WORLD > BYTES
    }

    fn drop_last(&mut self) {
        self.length -= 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::{prop_assert_eq, proptest};

    use super::*;
    use crate::engine::Allowance;

    fn world(parts: &[u32]) -> Collapsed {
        Collapsed {
            parts: parts.iter().copied().collect(),
            fingerprint: 0,
            partition_key: 0,
            allowance: Allowance::default(),
        }
    }

    #[test]
    fn siblings_take_few_bytes() {
        let mut chunk = PackedChunk::default();
        chunk.push(world(&[17, 300, 41, 2_000, 9, 3, 77]));
        let first = chunk.bytes.len();
        chunk.push(world(&[17, 300, 41, 2_001, 9, 3, 77]));
        assert_eq!(
            (first, chunk.bytes.len() - first),
            (2 + 1 + 9, 3),
            "the places, the length, the numbers; and a number"
        );
        chunk.push(world(&[17, 300, 41, 2_001, 9, 3]));
        assert_eq!(chunk.bytes.len() - first - 3, 2, "a shorter one has a length, and no other number");
    }

    proptest! {
        #[test]
        fn worlds_come_out_as_they_were_put_in(worlds in vec(vec(0..5_u32, 0..80), 0..40), large in vec(0..u32::MAX, 0..80)) {
            let mut chunk = PackedChunk::default();
            let worlds: Vec<Vec<u32>> = worlds.into_iter().chain([large]).collect();
            worlds.iter().for_each(|parts| chunk.push(world(parts)));
            for (place, parts) in worlds.iter().enumerate() {
                prop_assert_eq!(chunk.len(), worlds.len() - place);
                prop_assert_eq!(&**chunk.next().expect("as many were put in"), &**parts);
            }
            prop_assert_eq!(chunk.next(), None);
        }
    }
}
