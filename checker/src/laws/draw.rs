//! Numbers from a seed, without a library: the same everywhere.

/// A linear congruential generator.
#[derive(Copy, Clone, Debug)]
pub struct Draw(pub u64);

impl Draw {
    /// A number below the bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// The number of walks, and the number of choices of each.
pub fn walks(seed: u64, count: usize, length: usize) -> Vec<Vec<u16>> {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut choice = || u16::try_from(draw.below(1 << 16)).expect("it is below two to the power of 16");
    (0..count).map(|_| (0..length).map(|_| choice()).collect()).collect()
}
