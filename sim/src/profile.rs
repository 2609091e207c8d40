//! How long things take, as tables of quantiles: integers only, for the standard float functions differ between platforms.

use fencepost_model::time::Ticks;

use crate::random::Stream;

/// A distribution given by 17 quantiles, in thousandths of a tick of the unrefined scenario.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Curve([i64; 17]);

impl Curve {
    /// All of it longer by a power of two, or shorter.
    pub(crate) fn times_two_to(self, power: i64) -> Self {
        Curve(self.0.map(|quantile| if power < 0 { quantile >> -power } else { quantile << power }))
    }
}

/// How long things take in a simulated run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// How much finer the simulator's clock is than the scenario's.
    pub refinement: i64,
    /// How long a message is under way.
    pub latency: Curve,
    /// How late a wake-up is.
    pub lateness: Curve,
    /// How long a user thinks.
    pub thinking: Curve,
    /// How long a process stands still, where lateness is not bounded.
    pub stall: Curve,
    /// How long until the next process stands still.
    pub stall_every: Curve,
}

impl Profile {
    /// Machines and networks as they mostly are, and sometimes are not: with a tick of one second and a refinement of
    /// 1000, messages take 2 to 150 ms, but one in sixteen up to 4 s, and a process stops for 100 ms to 12 s.
    pub fn realistic(refinement: i64) -> Self {
        Profile {
            refinement,
            latency: Curve([2, 5, 8, 10, 12, 15, 18, 22, 27, 33, 40, 50, 65, 90, 150, 600, 4000]),
            lateness: Curve([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 5, 8, 15, 40, 600]),
            thinking: Curve([0, 10, 30, 60, 100, 150, 200, 300, 400, 500, 700, 900, 1200, 1600, 2200, 3000, 5000]),
            stall: Curve([
                100, 200, 300, 400, 600, 800, 1000, 1400, 1800, 2400, 3000, 4000, 5000, 6000, 8000, 10000, 12000,
            ]),
            stall_every: Curve([
                500, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 12000, 14000, 16000, 20000,
                30000,
            ]),
        }
    }

    /// Draws a duration on the simulator's clock.
    pub(crate) fn draw(&self, curve: &Curve, stream: &mut Stream) -> Ticks {
        let point = stream.below(16 << 12);
        let segment = usize::try_from(point >> 12).expect("one of 16 segments");
        let within = i64::try_from(point & 0xfff).expect("twelve bits");
        let (low, high) = (curve.0[segment], curve.0[segment + 1]);
        Ticks::new((low * 4096 + (high - low) * within) * self.refinement / (4096 * 1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Concern;

    #[test]
    fn draws_stay_within_the_table() {
        let profile = Profile::realistic(1000);
        let mut stream = Stream::new(1, Concern::Latency);
        let draws: Vec<i64> = (0..10_000).map(|_| profile.draw(&profile.latency, &mut stream).count()).collect();
        assert!(draws.iter().all(|draw| (2..=4000).contains(draw)));
        let median = {
            let mut sorted = draws.clone();
            sorted.sort_unstable();
            sorted[5000]
        };
        assert!((24..=30).contains(&median), "{median}");
        assert_eq!(draws[..6], [9, 10, 36, 27, 13, 9], "tables and arithmetic are part of what a seed means");
    }
}
