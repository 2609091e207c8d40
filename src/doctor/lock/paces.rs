//! When the steps of an execution of a small lock happen in exact durations.

use super::coarse::{Ends, Keeping, Lease, LockScenario, Told};
use super::question::LockQuestion;
use crate::asked::InTicks;
use crate::pace::{Late, Pace};
use crate::rounding::exact;

/// The paces that are tried, in this order: each tick as long as the next; the TTL, the end of the session and that of the lock-delay at
/// their exact instants; either with messages that are on time, or some that are late.
pub(super) fn paces(sized: &InTicks<LockScenario>, question: &LockQuestion) -> Vec<Pace> {
    let tick = exact(sized.tick).count();
    let even = Pace { tick, marks: Vec::new(), late: Late::None };
    let (ttl, multiplier, delay) = match sized.scenario {
        LockScenario::Lease(Lease { ttl, multiplier, delay, alarm: false, .. })
        | LockScenario::Told(Told { ends: Ends::ByTtl(ttl, multiplier), delay, .. }) => (ttl, multiplier, delay),
        LockScenario::Keeping(Keeping { ttl, multiplier, .. }) => (ttl, multiplier, 0),
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
