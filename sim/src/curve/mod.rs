//! Distributions as tables of quantiles: integers only, for the standard float functions differ between platforms.

mod shape;

use fencepost_model::time::{TICKS_MAX, Ticks};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::shape::CurveText;
use crate::random::Stream;

/// A distribution given by its quantiles, in thousandths of a tick of the unrefined scenario: each stretch between two of them
/// comes as often as any other, and all of it alike. One number is a constant, two are a uniform distribution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "CurveText", into = "Vec<i64>")]
pub struct Curve(Vec<i64>);

/// The longest duration in a curve, in thousandths of a tick: some eleven days, where a tick is a second.
const LONGEST: i64 = 1_000_000_000;

/// The most quantiles of a curve.
const QUANTILES_MAX: usize = 4097;

impl Curve {
    /// The distribution with these quantiles.
    ///
    /// # Errors
    /// There are none, or too many, or they are negative, too long, or not in order.
    pub fn new(quantiles: Vec<i64>) -> Result<Self, CurveError> {
        let is_in_order = quantiles.is_sorted();
        match quantiles.as_slice() {
            [] => Err(CurveError::Empty),
            _ if quantiles.len() > QUANTILES_MAX => Err(CurveError::TooMany),
            _ if !is_in_order => Err(CurveError::Falling),
            [first, .., last] if *first < 0 || *last > LONGEST => Err(CurveError::OutOfRange),
            [only] if !(0..=LONGEST).contains(only) => Err(CurveError::OutOfRange),
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

/// Why the parameters of a distribution make none.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Error)]
pub enum CurveError {
    /// There is no quantile.
    #[error("a distribution needs a number at least")]
    Empty,
    /// There are more quantiles than are kept.
    #[error("a distribution has {QUANTILES_MAX} quantiles at most")]
    TooMany,
    /// A quantile is less than the one before it.
    #[error("quantiles must not fall")]
    Falling,
    /// A duration is negative, or longer than any other in fencepost.
    #[error("durations lie between 0 and {LONGEST}")]
    OutOfRange,
    /// A log-normal distribution has a median or a factor that is not positive.
    #[error("the median and the factor must be positive")]
    NoMedian,
    /// The factor of a log-normal distribution is less than 1.
    #[error("the factor must be at least 1")]
    Factor,
    /// A Pareto distribution has parameters that are not positive.
    #[error("at_least and alpha must be positive")]
    NoTail,
    /// The upper end of a distribution is below its lower end.
    #[error("at_most must not be less than at_least")]
    EndsSwapped,
}
