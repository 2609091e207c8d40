//! Durations with a unit, as people write them: `15s`, `7.5s`, `200ms`, `1m30s`. They are exact, in nanoseconds; how many ticks
//! one is follows from how long a tick is, and nothing is rounded here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The longest duration that can be written: a hundred years.
const NANOSECONDS_MAX: i64 = 100 * 365 * 24 * 3_600 * 1_000_000_000;

/// The units, each with its length in nanoseconds. They are those of Go.
pub const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// A duration with a unit. It is never negative.
///
/// ```
/// use fencepost_model::units::Duration;
///
/// let ttl: Duration = "15s".parse().expect("a duration");
/// let period: Duration = "7.5s".parse().expect("a duration");
/// assert_eq!(ttl.in_ticks_of(period), Some(2));
/// assert_eq!(period.in_ticks_of(ttl), None, "half a tick is none");
/// assert_eq!(ttl.common_with("200ms".parse().expect("a duration")).to_string(), "200ms");
/// assert_eq!("1m30s".parse::<Duration>().expect("a duration").to_string(), "90s");
/// assert!("15".parse::<Duration>().is_err(), "a number alone has no unit");
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Duration(i64);

/// Why a text is no duration, and what to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DurationError(String);

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DurationError {}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);

    /// A duration in nanoseconds.
    ///
    /// # Panics
    /// It is negative, or longer than a hundred years.
    pub const fn of_nanoseconds(count: i64) -> Self {
        assert!(0 <= count && count <= NANOSECONDS_MAX, "a duration is from 0 to a hundred years long");
        Duration(count)
    }

    /// A duration in microseconds.
    ///
    /// # Panics
    /// It is negative, or longer than a hundred years.
    pub const fn of_microseconds(count: i64) -> Self {
        Duration::of_nanoseconds(count.saturating_mul(1_000))
    }

    /// A duration in seconds.
    ///
    /// # Panics
    /// It is negative, or longer than a hundred years.
    pub const fn of_seconds(count: i64) -> Self {
        Duration::of_nanoseconds(count.saturating_mul(1_000_000_000))
    }

    /// How many nanoseconds.
    pub const fn nanoseconds(self) -> i64 {
        self.0
    }

    /// How many ticks of this length, if that is a whole number.
    pub fn in_ticks_of(self, tick: Duration) -> Option<i64> {
        (tick.0 > 0 && self.0 % tick.0 == 0).then(|| self.0 / tick.0)
    }

    /// A number of these, unless that is negative or longer than a hundred years.
    pub fn times(self, count: i64) -> Option<Duration> {
        self.0.checked_mul(count).filter(|length| (0..=NANOSECONDS_MAX).contains(length)).map(Duration)
    }

    /// The longest duration of which both are whole multiples; zero counts for nothing.
    #[must_use]
    pub fn common_with(self, other: Duration) -> Duration {
        let (mut one, mut rest) = (self.0, other.0);
        while rest != 0 {
            (one, rest) = (rest, one % rest);
        }
        Duration(one)
    }
}

impl FromStr for Duration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        let wrong = |why: &str| DurationError(format!("`{text}` {why}"));
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(wrong("is no duration: write one with a unit, as 15s or 200ms"));
        }
        let mut sum: i64 = 0;
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let (number, unit_on) = rest.split_at(end);
            let unit_end = unit_on.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(unit_on.len());
            let (unit, next) = unit_on.split_at(unit_end);
            if unit.is_empty() {
                return Err(wrong("has no unit: write it as 15s, 200ms, 5m or 1h"));
            }
            let Some((_, length)) = UNITS.iter().find(|(name, _)| *name == unit) else {
                return Err(wrong(&format!("has an unknown unit `{unit}`: use h, m, s, ms, us or ns")));
            };
            let part = part(number, *length).ok_or_else(|| wrong("is no duration: write it as 15s, 7.5s or 200ms"))?;
            let part = part.map_err(|()| wrong("is finer than a nanosecond"))?;
            sum = sum.checked_add(part).filter(|sum| *sum <= NANOSECONDS_MAX).ok_or_else(|| wrong("is too long"))?;
            rest = next;
        }
        Ok(Duration(sum))
    }
}

/// A decimal number of units, in nanoseconds; `None`: it is no number that fits, `Err`: it has too many digits.
fn part(number: &str, unit: i64) -> Option<Result<i64, ()>> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut sum = whole.checked_mul(unit)?;
    let mut scale = unit;
    for digit in fraction.trim_end_matches('0').bytes() {
        if scale % 10 != 0 {
            return Some(Err(()));
        }
        scale /= 10;
        sum = sum.checked_add(i64::from(digit - b'0') * scale)?;
    }
    Some(Ok(sum))
}

impl fmt::Display for Duration {
    /// In the largest of s, ms, us and ns of which it is at least one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.0 {
            0 | 1_000_000_000.. => ("s", 1_000_000_000),
            1_000_000.. => ("ms", 1_000_000),
            1_000.. => ("us", 1_000),
            _ => ("ns", 1),
        };
        let (name, length) = unit;
        let (whole, rest) = (self.0 / length, self.0 % length);
        if rest == 0 {
            return write!(f, "{whole}{name}");
        }
        let digits = (length.ilog10()) as usize;
        let fraction = format!("{rest:0digits$}");
        write!(f, "{whole}.{}{name}", fraction.trim_end_matches('0'))
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

/// A sentence in which durations in ticks of this length have their unit.
///
/// ```
/// use fencepost_model::units::in_units;
///
/// let tick = "500ms".parse().expect("a duration");
/// assert_eq!(in_units("late by at most 3 ticks, 1 tick at a time", tick), "late by at most 1.5s, 500ms at a time");
/// ```
pub fn in_units(sentence: &str, tick: Duration) -> String {
    const WORD: &str = " tick";
    let mut text = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some(at) = rest.find(WORD) {
        let (before, after) = rest.split_at(at);
        let end = after[WORD.len()..].strip_prefix('s').unwrap_or(&after[WORD.len()..]);
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let number = &before[before.len() - digits..];
        let is_word = !end.starts_with(|c: char| c.is_alphanumeric() || c == '-');
        match number.parse().ok().and_then(|count| tick.times(count)).filter(|_| is_word) {
            Some(length) => text += &format!("{}{length}", &before[..before.len() - digits]),
            None => text += &rest[..rest.len() - end.len()],
        }
        rest = end;
    }
    text + rest
}

/// How much a clock's rate is off, in parts per million: `200ppm`.
///
/// ```
/// use fencepost_model::units::{Duration, PartsPerMillion};
///
/// let drift: PartsPerMillion = "200ppm".parse().expect("a rate");
/// let day: Duration = "24h".parse().expect("a duration");
/// assert_eq!(drift.of(day).to_string(), "17.28s", "this is how far it gets in a day");
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PartsPerMillion(pub u32);

impl PartsPerMillion {
    /// How much that is of a duration, at most: rounded up to a whole nanosecond.
    #[must_use]
    pub fn of(self, duration: Duration) -> Duration {
        let product = i128::from(duration.nanoseconds()) * i128::from(self.0);
        let part = (product + 999_999) / 1_000_000;
        Duration::of_nanoseconds(
            i64::try_from(part).expect("a million parts per million of it fit, and a rate is at most that"),
        )
    }
}

impl FromStr for PartsPerMillion {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        let number = text.trim().strip_suffix("ppm").map(str::trim);
        let rate = number.and_then(|number| number.parse().ok()).filter(|rate| *rate <= 1_000_000);
        let wrong = || DurationError(format!("`{text}` is no rate: write it as 200ppm, up to 1000000ppm"));
        rate.map(PartsPerMillion).ok_or_else(wrong)
    }
}

impl fmt::Display for PartsPerMillion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ppm", self.0)
    }
}

impl Serialize for PartsPerMillion {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PartsPerMillion {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_read_exactly_and_written_in_one_unit() {
        for (text, nanoseconds, written) in [
            ("15s", 15_000_000_000, "15s"),
            ("7.5s", 7_500_000_000, "7.5s"),
            ("200ms", 200_000_000, "200ms"),
            ("1m30s", 90_000_000_000, "90s"),
            ("1h", 3_600_000_000_000, "3600s"),
            ("0s", 0, "0s"),
            (".5ms", 500_000, "500us"),
            ("1.000000001s", 1_000_000_001, "1.000000001s"),
            ("3µs", 3_000, "3us"),
            ("20.20s", 20_200_000_000, "20.2s"),
        ] {
            let duration: Duration = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((duration.nanoseconds(), duration.to_string().as_str()), (nanoseconds, written), "{text}");
            assert_eq!(written.parse(), Ok(duration), "{text}");
        }
    }

    #[test]
    fn a_bad_duration_is_refused_with_an_example() {
        for (text, says) in [
            ("15", "has no unit"),
            ("", "is no duration"),
            ("s", "is no duration"),
            ("15 s", "unknown unit ` s`"),
            ("15sec", "unknown unit `sec`"),
            ("1.2.3s", "is no duration"),
            ("-1s", "unknown unit `-`"),
            ("0.5ns", "finer than a nanosecond"),
            ("1000000h", "too long"),
        ] {
            let error = text.parse::<Duration>().expect_err(text).to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!("200".parse::<PartsPerMillion>().is_err() && "2000000ppm".parse::<PartsPerMillion>().is_err());
    }

    #[test]
    fn a_sentence_has_units_where_it_had_ticks() {
        let tick = Duration::of_nanoseconds(2_500_000_000);
        for (ticks, units) in [
            ("message delay is at most 1 tick", "message delay is at most 2.5s"),
            ("2 ticks pass", "5s pass"),
            ("the clock of client 1 moves by -4 ticks", "the clock of client 1 moves by -10s"),
            ("holder 2 for 0 ticks, then 12 ticks.", "holder 2 for 0s, then 30s."),
            ("a tick is 2.5s; ticks", "a tick is 2.5s; ticks"),
            ("a recipe-7 ticket, 3 tickets", "a recipe-7 ticket, 3 tickets"),
            ("9000000000000000000 ticks", "9000000000000000000 ticks"),
            ("3 tick-tocks, 4 ticks", "3 tick-tocks, 10s"),
            ("", ""),
        ] {
            assert_eq!(in_units(ticks, tick), units);
        }
    }

    #[test]
    fn the_common_part_of_durations_divides_both() {
        let of = |text: &str| text.parse::<Duration>().expect("a duration");
        assert_eq!(of("15s").common_with(of("7.5s")), of("7.5s"));
        assert_eq!(of("20.2s").common_with(of("15s")), of("200ms"));
        assert_eq!(of("15s").common_with(Duration::ZERO), of("15s"));
        assert_eq!(PartsPerMillion(200).of(of("15s")), of("3ms"));
        assert_eq!(PartsPerMillion(1).of(of("1ns")), of("1ns"), "rounded up");
    }
}
