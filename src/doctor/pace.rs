//! When the steps of an execution in ticks happen in exact durations. A pace needs no reason: the exact scenario accepts each step,
//! or there is no counterexample. So a TTL that is no whole number of ticks need not widen the band that is unknown.

use fencepost_model::units::Duration;

use crate::rounding::exact;

/// Which instant of the exact scenario an instant in ticks is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pace {
    /// How many ticks of [`FINEST`](crate::FINEST) one tick is, after the last mark.
    pub(crate) tick: i64,
    /// Instants in ticks, and what they are exactly; both ascend. In between, instants are spread evenly.
    pub(crate) marks: Vec<(i64, i64)>,
    /// Which messages come later than the marks say.
    pub(crate) late: Late,
}

/// Messages that arrive as late as they may.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Late {
    None,
    /// Those that are as late as they may be in ticks.
    Alike,
    /// The answer to the creation of this session, from 1, but not after this instant: only then does the client begin to renew.
    Created(u32, i64),
}

impl Pace {
    /// Each tick as long as the next.
    pub(crate) fn even(tick: Duration) -> Pace {
        Pace { tick: exact(tick).count(), marks: Vec::new(), late: Late::None }
    }

    /// The instant, in ticks of [`FINEST`](crate::FINEST).
    pub(crate) fn at(&self, ticks: i64) -> i64 {
        let (mut from, mut begin) = (0, 0);
        for &(to, end) in &self.marks {
            if ticks <= to {
                return begin + (ticks - from) * (end - begin) / (to - from);
            }
            (from, begin) = (to, end);
        }
        begin + (ticks - from) * self.tick
    }

    /// The latest instant at which a message arrives; none: when the marks say. `is_late`: in ticks it is as late as it may be. `created`:
    /// it is the answer to the creation of this session.
    pub(crate) fn arrival(&self, is_late: bool, created: Option<u32>) -> Option<i64> {
        match self.late {
            Late::Alike => is_late.then_some(i64::MAX),
            Late::Created(session, latest) => (created == Some(session)).then_some(latest),
            Late::None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Late, Pace};

    #[test]
    fn instants_between_marks_are_spread_evenly() {
        let pace = Pace { tick: 7, marks: vec![(2, 10), (3, 30)], late: Late::None };
        assert_eq!([0, 1, 2, 3, 4, 5].map(|ticks| pace.at(ticks)), [0, 5, 10, 30, 37, 44]);
    }
}
