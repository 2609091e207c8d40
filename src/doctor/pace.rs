//! When the steps of an execution in ticks happen in exact durations. A pace needs no reason: the exact scenario accepts each step,
//! or there is no counterexample. So a TTL that is no whole number of ticks need not widen the band that is unknown.

use crate::coarse::{Coarse, Ends, Keeping, Lease, Told};
use crate::question::{Question, exact};
use crate::wider::InTicks;

/// Which instant of the exact scenario an instant in ticks is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pace {
    /// How many ticks of [`FINEST`](crate::FINEST) one tick is, after the last mark.
    tick: i64,
    /// Instants in ticks, and what they are exactly; both ascend. In between, instants are spread evenly.
    marks: Vec<(i64, i64)>,
    /// Which messages come later than the marks say.
    late: Late,
}

/// Messages that arrive as late as they may.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Late {
    None,
    /// Those that are as late as they may be in ticks.
    Alike,
    /// The answer to the creation of this session, from 1, but not after this instant: only then does the client begin to renew.
    Created(u32, i64),
}

impl Pace {
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

/// The paces that are tried, in this order: each tick as long as the next; the TTL, the end of the session and that of the lock-delay at
/// their exact instants; either with messages that are on time, or some that are late.
pub(crate) fn paces(sized: &InTicks, question: &Question) -> Vec<Pace> {
    let tick = exact(sized.tick).count();
    let even = Pace { tick, marks: Vec::new(), late: Late::None };
    let (ttl, multiplier, delay) = match sized.scenario {
        Coarse::Lease(Lease { ttl, multiplier, delay, alarm: false, .. })
        | Coarse::Told(Told { ends: Ends::ByTtl(ttl, multiplier), delay, .. }) => (ttl, multiplier, delay),
        Coarse::Keeping(Keeping { ttl, multiplier, .. }) => (ttl, multiplier, 0),
        _ => return vec![even],
    };
    let Some(lasts) = question.ttl.map(|ttl| exact(ttl).count()) else { return vec![even] };
    let mut marks = vec![(ttl, lasts)];
    let mut mark = |ticks: i64, instant: i64| {
        if marks.last().is_some_and(|last| last.0 < ticks && last.1 < instant) {
            marks.push((ticks, instant));
        }
    };
    let (expiry, expires) = (ttl * i64::from(multiplier), lasts * i64::from(multiplier));
    mark(expiry, expires);
    mark(expiry + delay, expires + exact(question.delay()).count());
    let marked = Pace { tick, marks, late: Late::None };
    let with = |pace: &Pace, late| Pace { late, ..pace.clone() };
    vec![
        with(&even, Late::None),
        with(&even, Late::Alike),
        with(&marked, Late::None),
        with(&marked, Late::Alike),
        with(&marked, Late::Created(1, i64::MAX)),
        // A holder that counts its lease enters before it is over.
        with(&marked, Late::Created(1, lasts)),
        with(&marked, Late::Created(2, i64::MAX)),
    ]
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
