//! Durations in a check: in ticks, or with a unit.

use fencepost_model::time::Ticks;
use fencepost_model::units::{Duration, DurationError};

/// A duration as a [`Check`](crate::Check) takes it: a number of ticks, as `2`; or a time with a unit, as `"15s"`, which is a whole number of
/// the check's [`tick`](crate::Check::tick).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Length(Given);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Given {
    Ticks(Ticks),
    Time(Result<Duration, DurationError>),
}

impl Length {
    /// How many ticks of this length it is.
    ///
    /// # Panics
    /// It has a unit, and there is no tick; or it is no whole number of ticks; or it is no duration.
    #[track_caller]
    pub(crate) fn in_ticks_of(self, tick: Option<Duration>) -> Ticks {
        let time = match self.0 {
            Given::Ticks(ticks) => return ticks,
            Given::Time(Ok(time)) => time,
            Given::Time(Err(error)) => panic!("{error}"),
        };
        let Some(tick) = tick else {
            panic!(
                "{time} has a unit, and the check has no tick: say `.tick(\"{time}\")` before it, or a time of which that is a multiple"
            );
        };
        let Some(count) = time.in_ticks_of(tick) else {
            let finer = time.common_with(tick);
            panic!("{time} is no whole number of ticks of {tick}: write another time, or `.tick(\"{finer}\")`");
        };
        Ticks::new(count)
    }
}

impl From<i32> for Length {
    fn from(count: i32) -> Self {
        Length(Given::Ticks(count.into()))
    }
}

impl From<i64> for Length {
    fn from(count: i64) -> Self {
        Length(Given::Ticks(count.into()))
    }
}

impl From<Ticks> for Length {
    fn from(ticks: Ticks) -> Self {
        Length(Given::Ticks(ticks))
    }
}

impl From<Duration> for Length {
    fn from(time: Duration) -> Self {
        Length(Given::Time(Ok(time)))
    }
}

impl From<&str> for Length {
    fn from(text: &str) -> Self {
        Length(Given::Time(text.parse()))
    }
}
