//! Numbers for settings: the same for the same seed, on every machine.

/// A generator (splitmix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number within a range.
    pub fn within(&mut self, range: std::ops::RangeInclusive<i64>) -> i64 {
        let width = (range.end() - range.start() + 1).unsigned_abs();
        range.start() + i64::try_from(self.next() % width).expect("it is below the width")
    }

    /// One of them.
    pub fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::try_from(self.within(0..=items.len() as i64 - 1)).expect("a place")]
    }
}

/// How many settings are tried: as many as the environment says, or this.
pub fn count(usual: u64) -> u64 {
    std::env::var("FENCEPOST_SETTINGS").ok().map_or(usual, |text| text.parse().expect("FENCEPOST_SETTINGS is a number"))
}

/// From which seed on.
pub fn first() -> u64 {
    std::env::var("FENCEPOST_FIRST_SETTING")
        .ok()
        .map_or(0, |text| text.parse().expect("FENCEPOST_FIRST_SETTING is a number"))
}
