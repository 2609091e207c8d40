//! The only source of chance. Each concern has a stream of its own, so that a new kind of fault does not shift the others.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// What a stream is for. The numbers are part of what a seed means: never reorder.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Concern {
    Choice = 0,
    Latency = 1,
    Lateness = 2,
    Users = 3,
    Faults = 4,
    Stalls = 5,
    Choices = 6,
    Swarm = 7,
    Clogs = 8,
    Splitting = 9,
    Detector = 10,
    Clocks = 11,
}

/// A stream of numbers for one concern.
#[derive(Clone, Debug)]
pub(crate) struct Stream(ChaCha8Rng);

impl Stream {
    pub(crate) fn new(seed: u64, concern: Concern) -> Self {
        let mut key = *b"........fencepost, stream by seed";
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key[..32].try_into().expect("32 bytes"));
        generator.set_stream(concern as u64);
        Stream(generator)
    }

    /// A number below `bound`, each with the same probability (Lemire 2019, with rejection).
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
            let (low, high) = (product as u64, (product >> 64) as u64);
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return high;
            }
        }
    }

    /// A place in a list of this length, each with the same probability; none if the list is empty.
    pub(crate) fn below_length(&mut self, length: usize) -> Option<usize> {
        let bound = u64::try_from(length).expect("lists are shorter than 2^64");
        (bound > 0).then(|| usize::try_from(self.below(bound)).expect("an index fits"))
    }

    /// One of the options, each with the same probability.
    pub(crate) fn pick<T: Copy>(&mut self, options: &[T]) -> Option<T> {
        self.below_length(options.len()).map(|place| options[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all_of_it() {
        let mut stream = Stream::new(7, Concern::Choice);
        let mut seen = [0u32; 6];
        for _ in 0..6000 {
            seen[usize::try_from(stream.below(6)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
    }

    /// A generator that another version of its crate, or another machine, draws otherwise from would change every run unseen.
    #[test]
    fn the_numbers_of_a_seed_are_pinned() {
        let mut stream = Stream::new(7, Concern::Latency);
        let drawn: Vec<u64> = (0..6).map(|_| stream.below(1 << 32)).collect();
        assert_eq!(drawn, [3958460719, 4160002323, 4258453459, 3671329687, 4257729992, 2591906458]);
    }

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let numbers = |concern| -> Vec<u64> {
            let mut stream = Stream::new(7, concern);
            (0..4).map(|_| stream.below(1000)).collect()
        };
        assert_eq!(numbers(Concern::Latency), numbers(Concern::Latency));
        assert_ne!(numbers(Concern::Latency), numbers(Concern::Lateness));
    }
}
