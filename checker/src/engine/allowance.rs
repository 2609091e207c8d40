//! What a state has left, in lanes of a word; and which states cover others.

/// Small numbers of a state: budgets, and times that are left. Each has a lane of the word, of which the highest bit is free.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Allowance(pub u64);

/// The lanes of all allowances of a search, as the highest bit of each.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Lanes(u64);

impl Lanes {
    /// As many lanes of this number of bits as fit into a word.
    pub fn of_width(bits: u32) -> Self {
        let lanes = (1..=u64::BITS / bits).map(|lane| 1 << (lane * bits - 1));
        Lanes(lanes.fold(0, |guards, guard| guards | guard))
    }

    /// Whether one has in no lane less than the other. No lane borrows from the next: its highest bit is lent to it.
    #[inline]
    pub fn covers(self, one: Allowance, other: Allowance) -> bool {
        ((one.0 | self.0) - other.0) & self.0 == self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::{prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn one_covers_another_if_it_has_as_much_in_each_lane(
            bits in 2..12_u32, pairs in vec((0..2_048_u64, 0..2_048_u64), 0..32)
        ) {
            let most = (1 << (bits - 1)) - 1;
            let pairs: Vec<_> = pairs.into_iter().take((u64::BITS / bits) as usize).collect();
            let word = |side: fn(&(u64, u64)) -> u64| {
                let lanes = pairs.iter().zip(0..).map(|(pair, lane)| (side(pair) & most) << (lane * bits));
                Allowance(lanes.fold(0, |word, lane| word | lane))
            };
            let naive = pairs.iter().all(|(one, other)| one & most >= other & most);
            prop_assert_eq!(Lanes::of_width(bits).covers(word(|pair| pair.0), word(|pair| pair.1)), naive);
        }
    }
}
