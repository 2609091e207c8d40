//! Two 64-bit hashes that are the same on every machine and in every build: one for digests of runs, one for fingerprints
//! of worlds, which are many small numbers.

use std::hash::Hasher;

/// Folds words into 64 bits by multiplication (the construction of wyhash and foldhash). Not for adversaries.
#[derive(Copy, Clone, Debug)]
pub struct Fingerprinter {
    state: u64,
}

const SEED: u64 = 0x243f_6a88_85a3_08d3;
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Default for Fingerprinter {
    fn default() -> Self {
        Fingerprinter { state: SEED }
    }
}

impl Fingerprinter {
    #[inline]
    fn word(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(FACTOR);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are kept")]
        let (low, high) = (product as u64, (product >> 64) as u64);
        self.state = (low ^ high).wrapping_add(FACTOR);
    }
}

impl Hasher for Fingerprinter {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.word(u64::from_le_bytes(chunk.try_into().expect("chunks have 8 bytes")));
        }
        let rest = chunks.remainder();
        let last = match (rest, bytes.last_chunk()) {
            ([], _) => 0,
            // The last eight bytes without those that have been counted.
            (rest, Some(last)) => u64::from_le_bytes(*last) >> (64 - 8 * rest.len()),
            (rest, None) => rest.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte)),
        };
        self.word(last ^ ((bytes.len() as u64) << 56));
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.word(value.into());
    }

    #[inline]
    fn write_u16(&mut self, value: u16) {
        self.word(value.into());
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.word(value.into());
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.word(value);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.word(value as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        let mut last = *self;
        last.word(SEED);
        last.state
    }
}

/// Packs small numbers before it folds them. A world has about 150 numbers, and nearly all of them fit into a byte. A
/// larger number is written in full after a byte that marks it, so different worlds have different bytes.
#[derive(Copy, Clone, Debug, Default)]
pub struct Packer {
    folded: Fingerprinter,
    word: u64,
    /// Bits of `word` in use; never more than 32 between two writes.
    filled: u32,
}

/// The marker byte: the number follows in full.
const ESCAPE: u64 = 0xff;

impl Packer {
    /// Adds up to 32 bits.
    #[inline]
    fn put(&mut self, bits: u64, count: u32) {
        self.word |= bits << self.filled;
        self.filled += count;
        if self.filled > 32 {
            self.folded.word(self.word);
            (self.word, self.filled) = (0, 0);
        }
    }

    #[inline]
    fn number(&mut self, number: u64) {
        if number < ESCAPE {
            return self.put(number, 8);
        }
        self.put(ESCAPE, 8);
        self.put(number & 0xffff_ffff, 32);
        self.put(number >> 32, 32);
    }

    /// Small numbers of either sign have short codes.
    #[inline]
    fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)).cast_unsigned());
    }
}

impl Hasher for Packer {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.put((*byte).into(), 8);
        }
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.put(value.into(), 8);
    }

    #[inline]
    fn write_u16(&mut self, value: u16) {
        self.put(value.into(), 16);
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.number(value.into());
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.number(value);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.number(value as u64);
    }

    #[inline]
    fn write_i64(&mut self, value: i64) {
        self.signed(value);
    }

    /// The discriminant of an enum's variant.
    #[inline]
    fn write_isize(&mut self, value: isize) {
        self.signed(value as i64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        let mut last = self.folded;
        last.word(self.word ^ (u64::from(self.filled) << 56));
        last.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::hash::Hash;

    use super::*;

    fn packed(value: impl Hash) -> u64 {
        let mut packer = Packer::default();
        value.hash(&mut packer);
        packer.finish()
    }

    #[test]
    fn different_values_pack_to_different_bytes() {
        let edges = [0u32, 1, 7, 253, 254, 255, 256, 65_535, 65_536, u32::MAX];
        let mut seen = BTreeSet::new();
        for first in edges {
            for second in edges {
                for third in [-1i64, 0, 1, -128, 127, i64::MIN, i64::MAX] {
                    assert!(seen.insert(packed((first, second, third))), "{first} {second} {third}");
                }
            }
        }
        for length in 0..20 {
            assert!(seen.insert(packed(vec![0u8; length])), "{length}");
        }
        assert_eq!(format!("{:016x}", packed((7u8, Some(300u32), "fencepost"))), "145c5ab7d64f8cce");
    }

    #[test]
    fn the_fingerprint_is_pinned() {
        let mut hash = Fingerprinter::default();
        hash.write(b"fencepost");
        hash.write_u32(7);
        assert_eq!(format!("{:016x}", hash.finish()), "a06e5ee6916b03b3");
    }

    #[test]
    fn bytes_are_hashed_as_words_and_the_rest_with_the_length() {
        let bytes: Vec<u8> = (1..=20).collect();
        for length in 0..=bytes.len() {
            let (mut hash, mut words) = (Fingerprinter::default(), Fingerprinter::default());
            hash.write(&bytes[..length]);
            let mut padded = bytes[..length].to_vec();
            padded.resize(length / 8 * 8 + 8, 0);
            let mut each: Vec<u64> =
                padded.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight"))).collect();
            *each.last_mut().expect("there is one") ^= (length as u64) << 56;
            each.into_iter().for_each(|word| words.word(word));
            assert_eq!(hash.finish(), words.finish(), "{length} bytes");
        }
    }
}
