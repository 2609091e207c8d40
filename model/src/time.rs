//! Time without a unit: the scenario gives a tick its meaning, and an explorer chooses the resolution.

mod typed;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU64;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::units::Duration;

pub use self::typed::{Deadline, LeaseEnd, Since, StartTime};

/// The longest duration that a scenario may name, in ticks. It keeps every sum of instants far from overflow.
pub const TICKS_MAX: i64 = 1_000_000_000_000;

/// The farthest instant that a file may name. Its sums with durations stay far from overflow.
const INSTANT_MAX: i64 = i64::MAX / 4;

/// A point in time, in ticks since the start of the run (in the normal form: relative to now).
///
/// An optional instant needs no more memory than an instant: a world has many of them.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(NonZeroU64);

/// A duration in ticks. Durations of a scenario are never negative; a difference of instants may be negative.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Ticks(i64);

impl Instant {
    /// The instant at which every run starts.
    pub const START: Instant = Instant::at(0);

    /// Before every other instant: a deadline with this value may fire at any time.
    pub const LONG_AGO: Instant = Instant::at(-TICKS_MAX);

    /// The instant `ticks` after the start.
    #[inline]
    pub const fn at(ticks: i64) -> Self {
        let lifted = ticks.cast_unsigned() ^ Self::LIFT;
        Instant(NonZeroU64::new(lifted).expect("no instant is that far back"))
    }

    /// Ticks since the start.
    #[inline]
    pub const fn ticks(self) -> i64 {
        (self.0.get() ^ Self::LIFT).cast_signed()
    }

    /// Maps negative instants to positive numbers in the same order.
    const LIFT: u64 = 1 << 63;
}

impl Ticks {
    /// A duration of 0 ticks.
    pub const ZERO: Ticks = Ticks(0);

    /// A duration of `count` ticks.
    pub const fn new(count: i64) -> Self {
        Ticks(count)
    }

    /// The number of ticks.
    pub const fn count(self) -> i64 {
        self.0
    }

    /// It as people read it: with a unit where a tick has a length, as `1.5s`, and else as `3 ticks`.
    pub fn told(self, tick: Option<Duration>) -> String {
        let length = tick.and_then(|tick| tick.times(self.0));
        length.map_or_else(|| self.to_string(), |length| length.to_string())
    }

    /// The same duration on a clock that ticks `factor` times as fast. An overflow becomes the longest duration, which
    /// `validate` refuses.
    pub const fn times(self, factor: i64) -> Self {
        Ticks(self.0.saturating_mul(factor))
    }
}

impl From<i64> for Ticks {
    fn from(count: i64) -> Self {
        Ticks(count)
    }
}

/// For literals: `.ttl(2)`.
impl From<i32> for Ticks {
    fn from(count: i32) -> Self {
        Ticks(i64::from(count))
    }
}

impl Default for Instant {
    fn default() -> Self {
        Instant::START
    }
}

impl Hash for Instant {
    #[inline]
    fn hash<H: Hasher>(&self, to: &mut H) {
        to.write_i64(self.ticks());
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Instant").field(&self.ticks()).finish()
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.ticks().serialize(to)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let ticks = i64::deserialize(from)?;
        if (-INSTANT_MAX..=INSTANT_MAX).contains(&ticks) {
            return Ok(Instant::at(ticks));
        }
        Err(de::Error::custom(format!("no instant is {ticks} ticks from the start")))
    }
}

impl Add<Ticks> for Instant {
    type Output = Instant;
    #[inline]
    fn add(self, later: Ticks) -> Instant {
        Instant::at(self.ticks() + later.0)
    }
}

impl Sub<Ticks> for Instant {
    type Output = Instant;
    #[inline]
    fn sub(self, earlier: Ticks) -> Instant {
        Instant::at(self.ticks() - earlier.0)
    }
}

impl Sub for Instant {
    type Output = Ticks;
    #[inline]
    fn sub(self, other: Instant) -> Ticks {
        Ticks(self.ticks() - other.ticks())
    }
}

impl Add for Ticks {
    type Output = Ticks;
    #[inline]
    fn add(self, other: Ticks) -> Ticks {
        Ticks(self.0 + other.0)
    }
}

impl Sub for Ticks {
    type Output = Ticks;
    #[inline]
    fn sub(self, other: Ticks) -> Ticks {
        Ticks(self.0 - other.0)
    }
}

impl AddAssign<Ticks> for Instant {
    #[inline]
    fn add_assign(&mut self, later: Ticks) {
        *self = *self + later;
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.ticks(), f)
    }
}

impl fmt::Display for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tick{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

impl<'de> Deserialize<'de> for Ticks {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let count = i64::deserialize(from)?;
        if (0..=TICKS_MAX).contains(&count) {
            return Ok(Ticks(count));
        }
        Err(de::Error::custom(format!(
            "a duration of {count} ticks is out of range: write a whole number from 0 to {TICKS_MAX}"
        )))
    }
}

/// A difference in a file.
fn difference<E: de::Error>(count: i64) -> Result<Ticks, E> {
    if (-TICKS_MAX..=TICKS_MAX).contains(&count) {
        return Ok(Ticks(count));
    }
    Err(E::custom(format!(
        "a difference of {count} ticks is out of range: write a whole number from -{TICKS_MAX} to {TICKS_MAX}"
    )))
}

/// For differences, which may be negative (`#[serde(with = "…")]`).
pub(crate) mod signed {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Ticks;

    pub(crate) fn serialize<S: Serializer>(ticks: &Ticks, to: S) -> Result<S::Ok, S::Error> {
        ticks.0.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Ticks, D::Error> {
        super::difference(i64::deserialize(from)?)
    }
}

/// A list of differences.
pub(crate) mod signed_list {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Ticks;

    pub(crate) fn serialize<S: Serializer>(list: &[Ticks], to: S) -> Result<S::Ok, S::Error> {
        list.iter().map(|ticks| ticks.0).collect::<Vec<i64>>().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Ticks>, D::Error> {
        Vec::<i64>::deserialize(from)?.into_iter().map(super::difference).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_read_from_text_is_never_negative() {
        assert!(serde_json::from_str::<Ticks>("3").is_ok());
        let error = serde_json::from_str::<Ticks>("-3").unwrap_err().to_string();
        assert!(error.contains("from 0 to"), "{error}");
    }

    #[test]
    fn instants_and_durations_add_up() {
        let start = Instant::START;
        assert_eq!((start + Ticks::new(5)) - (start + Ticks::new(7)), Ticks::new(-2));
        assert!(Instant::LONG_AGO < Instant::at(-1) && Instant::at(-1) < start && start < Instant::at(1));
        assert_eq!(size_of::<Option<Instant>>(), size_of::<Instant>());
        let text = serde_json::to_string(&[Instant::at(-7), start]).unwrap();
        assert_eq!((text.as_str(), serde_json::from_str(&text).unwrap()), ("[-7,0]", [Instant::at(-7), start]));
        for far in [i64::MIN, i64::MIN + 1, i64::MAX] {
            assert!(serde_json::from_str::<Instant>(&far.to_string()).is_err(), "{far}");
        }
        assert_eq!(Ticks::new(TICKS_MAX).times(i64::MAX).count(), i64::MAX);
    }
}
