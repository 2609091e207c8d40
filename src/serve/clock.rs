//! How the time of a stand-in passes. Its own time is in nanoseconds since it was started.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// How time passes.
///
/// ```
/// use fencepost_serve::Clock;
///
/// assert_eq!("scaled=100".parse(), Ok(Clock::Scaled(100)));
/// assert_eq!(Clock::Manual.to_string(), "manual");
/// assert!("scaled=0".parse::<Clock>().is_err());
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Clock {
    /// As it does.
    #[default]
    Real,
    /// This many times as fast.
    Scaled(u32),
    /// By `PUT /fencepost/clock/advance` only.
    Manual,
    /// To the next deadline, whenever every known client waits.
    Auto,
}

impl Clock {
    /// The stand-in's time after so much of the real one; none where that has nothing to do with it.
    pub(crate) fn after(self, elapsed: Duration) -> Option<i64> {
        let real = i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX);
        match self {
            Clock::Real => Some(real),
            Clock::Scaled(factor) => Some(real.saturating_mul(factor.into())),
            Clock::Manual | Clock::Auto => None,
        }
    }

    /// The real time that this number of nanoseconds takes.
    pub(crate) fn real(self, nanoseconds: i64) -> Duration {
        let nanoseconds = u64::try_from(nanoseconds).unwrap_or(0);
        match self {
            Clock::Scaled(factor) => Duration::from_nanos(nanoseconds.div_ceil(factor.into())),
            _ => Duration::from_nanos(nanoseconds),
        }
    }
}

impl Clock {
    /// Whether it goes on by itself.
    pub(crate) fn is_real(self) -> bool {
        matches!(self, Clock::Real | Clock::Scaled(_))
    }
}

impl FromStr for Clock {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("scaled=").map(str::parse)) {
            ("real", _) => Ok(Clock::Real),
            ("manual", _) => Ok(Clock::Manual),
            ("auto", _) => Ok(Clock::Auto),
            (_, Some(Ok(factor @ 1..=100_000))) => Ok(Clock::Scaled(factor)),
            _ => Err(format!("`{text}`: there are real, scaled=100 (up to 100000), manual and auto")),
        }
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clock::Real => f.write_str("real"),
            Clock::Scaled(factor) => write!(f, "scaled={factor}"),
            Clock::Manual => f.write_str("manual"),
            Clock::Auto => f.write_str("auto"),
        }
    }
}

/// Nanoseconds as seconds, with as many decimals as it takes.
pub(crate) fn seconds(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let all = nanoseconds.unsigned_abs();
    let text = format!("{sign}{}.{:09}", all / 1_000_000_000, all % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
