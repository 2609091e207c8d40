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
    /// Which answer to the creation of a session, from 1, arrives as late as it may: only then does the client begin to renew.
    pub(crate) hears_late: Option<u32>,
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
}

/// The paces that are tried, in this order: each tick as long as the next; the TTL, the end of the session and that of the lock-delay at
/// their exact instants, with a client that hears late of its session, and without.
pub(crate) fn paces(sized: &InTicks, question: &Question) -> Vec<Pace> {
    let tick = exact(sized.tick).count();
    let even = Pace { tick, marks: Vec::new(), hears_late: None };
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
    let marked = Pace { tick, marks, hears_late: None };
    let late = |answer| Pace { hears_late: Some(answer), ..marked.clone() };
    vec![even, late(1), late(2), marked]
}

#[cfg(test)]
mod tests {
    use super::Pace;

    #[test]
    fn instants_between_marks_are_spread_evenly() {
        let pace = Pace { tick: 7, marks: vec![(2, 10), (3, 30)], hears_late: None };
        assert_eq!([0, 1, 2, 3, 4, 5].map(|ticks| pace.at(ticks)), [0, 5, 10, 30, 37, 44]);
    }
}
