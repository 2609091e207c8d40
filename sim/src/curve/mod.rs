//! Distributions as tables of quantiles: integers only, for the standard float functions differ between platforms.

mod shape;

use std::fmt;

use fencepost_model::time::{TICKS_MAX, Ticks};
use serde::{Deserialize, Serialize};

use self::shape::Shape;
use crate::random::Stream;

/// A distribution given by its quantiles, in thousandths of a tick of the unrefined scenario: each stretch between two of them
/// comes as often as any other, and all of it alike. One number is a constant, two are a uniform distribution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Shape", into = "Vec<i64>")]
pub struct Curve(Vec<i64>);

/// The longest duration in a curve, in thousandths of a tick: some eleven days, where a tick is a second.
const LONGEST: i64 = 1_000_000_000;

impl Curve {
    /// The distribution with these quantiles.
    ///
    /// # Errors
    /// There are none, or too many, or they are negative, too long, or not in order.
    pub fn new(quantiles: Vec<i64>) -> Result<Self, CurveError> {
        let is_in_order = quantiles.is_sorted();
        match quantiles.as_slice() {
            [] => Err(CurveError("a distribution needs a number at least")),
            _ if quantiles.len() > 4097 => Err(CurveError("a distribution has 4097 quantiles at most")),
            _ if !is_in_order => Err(CurveError("quantiles must not fall")),
            [first, .., last] if *first < 0 || *last > LONGEST => {
                Err(CurveError("durations lie between 0 and 1000000000"))
            }
            [only] if !(0..=LONGEST).contains(only) => Err(CurveError("durations lie between 0 and 1000000000")),
            _ => Ok(Curve(quantiles)),
        }
    }

    pub(crate) fn of<const N: usize>(quantiles: [i64; N]) -> Self {
        Curve(quantiles.to_vec())
    }

    /// All of it longer by a power of two, or shorter.
    pub(crate) fn times_two_to(&self, power: i64) -> Self {
        Curve(self.0.iter().map(|quantile| if power < 0 { quantile >> -power } else { quantile << power }).collect())
    }

    /// The longest duration that it draws, on such a clock.
    pub(crate) fn longest(&self, refinement: i64) -> Ticks {
        let longest = self.0.last().copied().unwrap_or_default();
        let ticks = i128::from(longest) * i128::from(refinement) / 1000;
        Ticks::new(i64::try_from(ticks).unwrap_or(TICKS_MAX).min(TICKS_MAX))
    }

    /// Draws a duration on a clock that is so much finer than the scenario's.
    #[inline]
    pub(crate) fn draw(&self, refinement: i64, stream: &mut Stream) -> Ticks {
        let segments = self.0.len() as u64 - 1;
        if segments == 0 {
            return Ticks::new(self.0[0] * refinement / 1000);
        }
        let point = stream.below(segments << 12);
        let segment = usize::try_from(point >> 12).expect("one of the segments");
        let within = i64::try_from(point & 0xfff).expect("twelve bits");
        let (low, high) = (self.0[segment], self.0[segment + 1]);
        let fine = low * 4096 + (high - low) * within;
        let duration = match fine.checked_mul(refinement) {
            Some(product) => product / (4096 * 1000),
            None => {
                i64::try_from(i128::from(fine) * i128::from(refinement) / (4096 * 1000)).expect("at most 10^15 ticks")
            }
        };
        Ticks::new(duration)
    }
}

impl From<Curve> for Vec<i64> {
    fn from(curve: Curve) -> Self {
        curve.0
    }
}

/// Why a distribution is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CurveError(pub(crate) &'static str);

impl fmt::Display for CurveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for CurveError {}
