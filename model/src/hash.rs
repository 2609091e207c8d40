//! A 64-bit hash that is the same on every machine and in every build: digests of runs, fingerprints of worlds.

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
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_pinned() {
        let mut hash = Fingerprinter::default();
        hash.write(b"fencepost");
        hash.write_u32(7);
        assert_eq!(format!("{:016x}", hash.finish()), "a06e5ee6916b03b3");
    }
}
