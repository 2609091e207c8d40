//! The clocks of a client that runs a program: its own, on which it waits, and its wall clock, whose readings it may write for others.
//!
//! A reading is an instant of the state, and is shifted and clamped as every start time is: what lies further back than the
//! [longest](crate::service::Settings::longest) span of the service is one to all programs. So a program may count no longer than that
//! from a reading, and one that does is refused.

use serde::{Deserialize, Serialize};

use crate::normal::Normal;
use crate::time::{Instant, StartTime, Ticks};

/// What a wall clock showed, as a record carries it. A program can neither compute with it nor compare it: it asks its own wall clock about
/// it, by a [deadline](super::Handle::deadline_after).
#[derive(Copy, Clone, Debug, Normal, Serialize, Deserialize)]
pub struct WallTime(pub(super) StartTime);

/// For the messages of a service.
impl From<WallTime> for StartTime {
    fn from(time: WallTime) -> StartTime {
        time.0
    }
}

/// For the messages of a service.
impl From<StartTime> for WallTime {
    fn from(time: StartTime) -> WallTime {
        WallTime(time)
    }
}

/// The clocks of a client that runs a program.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ProgramClock {
    /// How far its wall clock is ahead of its own clock.
    pub wall_ahead: Ticks,
    /// Its own clock shows that many ticks more, from 1 …
    pub shows: u16,
    /// … after this number of ticks of true time, from 1.
    pub per: u16,
}

impl Default for ProgramClock {
    fn default() -> Self {
        ProgramClock { wall_ahead: Ticks::ZERO, shows: 1, per: 1 }
    }
}

impl ProgramClock {
    /// True ticks in which its own clock shows that many more.
    ///
    /// # Errors
    /// They are not whole ticks.
    pub(super) fn span(self, shown: Ticks) -> Result<Ticks, String> {
        let product = shown.count().saturating_mul(self.per.into());
        let shows = i64::from(self.shows.max(1));
        match product % shows {
            0 => Ok(Ticks::new(product / shows)),
            _ => Err(format!(
                "its clock shows {} in {}, on which {shown} are no whole number of ticks of true time",
                Ticks::new(shows),
                Ticks::new(self.per.into())
            )),
        }
    }

    /// What its wall clock shows.
    ///
    /// # Errors
    /// Its clock has a rate: its wall clock is so far from the others' that no scenario says how far.
    pub(super) fn wall(self, now: Instant) -> Result<WallTime, String> {
        self.has_wall().map(|()| WallTime(StartTime(now + self.wall_ahead)))
    }

    /// When it shows so much more than that.
    ///
    /// # Errors
    /// Its clock has a rate, or the span is not shorter than the longest of the service.
    pub(super) fn shows_after(self, time: WallTime, length: Ticks, longest: Ticks) -> Result<Instant, String> {
        self.has_wall()?;
        is_short(length, longest)?;
        Ok(time.0 + length - self.wall_ahead)
    }

    fn has_wall(self) -> Result<(), String> {
        match self.shows == self.per {
            true => Ok(()),
            false => Err("its clock has a rate of its own, so that its wall clock is not a constant apart from others"
                .to_owned()),
        }
    }
}

/// Whether a span that is counted from a reading is short enough.
///
/// # Errors
/// It is not shorter than the longest of the service.
pub(super) fn is_short(length: Ticks, longest: Ticks) -> Result<(), String> {
    match length < longest {
        true => Ok(()),
        false => Err(format!(
            "{length} from a reading of a wall clock are too long: the settings of the scenario name durations up to {} only. Name it there, too",
            longest - Ticks::new(1)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: ProgramClock = ProgramClock { wall_ahead: Ticks::ZERO, shows: 3, per: 4 };

    #[test]
    fn a_clock_with_a_rate_waits_for_whole_ticks_only_and_has_no_wall_clock() {
        assert_eq!(SLOW.span(Ticks::new(6)), Ok(Ticks::new(8)));
        assert!(
            SLOW.span(Ticks::new(7)).is_err_and(|error| error.contains("shows 3 ticks in 4 ticks, on which 7 ticks"))
        );
        assert!(SLOW.wall(Instant::at(1)).is_err_and(|error| error.contains("a rate of its own")));
    }

    #[test]
    fn a_wall_clock_that_is_ahead_comes_earlier_to_a_reading() {
        let ahead = |ticks| ProgramClock { wall_ahead: Ticks::new(ticks), ..ProgramClock::default() };
        let written = ahead(3).wall(Instant::at(5)).expect("it has no rate");
        let comes = |clock: ProgramClock, length| clock.shows_after(written, Ticks::new(length), Ticks::new(5));
        assert_eq!(comes(ahead(0), 4), Ok(Instant::at(12)));
        assert_eq!(comes(ahead(3), 4), Ok(Instant::at(9)));
        assert!(comes(ahead(0), 5).is_err_and(|error| error.contains("durations up to 4 ticks only")));
    }
}
