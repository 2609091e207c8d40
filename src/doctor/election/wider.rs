//! Scenarios that are wider than a question: what is proven there is kept. Each quantity is rounded to the side that hurts, and here stands
//! why that side does, and why the scenario is allowed to be so small.
//!
//! Common to both: all instants are those of the fastest clock, on which a contender counts; a longer message delay or wake-up delay only
//! adds executions. Guards are closed and constants whole, so whole instants are enough (Henzinger, Manna, Pnueli 1992).

use fencepost_model::units::Duration;

use super::question::ElectionQuestion;
use super::small::{CutOff, ElectionScenario, Healthy, Others, Terms};
use crate::asked;
use crate::promise::Promise;
use crate::rounding::{FINEST, down, sum, times, up};

type InTicks = asked::InTicks<ElectionScenario>;

/// The most ticks of a lease.
const LEASE_TICKS_MAX: i64 = 200;

/// The most ticks of a retry period where messages take time.
const RETRY_TICKS_MAX: i64 = 12;

/// The most ticks of a lease there.
const HEALTHY_TICKS_MAX: i64 = 150;

/// For each kind of wider scenario the coarsest one that looks as if it proved the promise: a formula chooses the tick, and the checker
/// gives the verdict. Where no tick looks so, there is none.
pub(super) fn candidates(question: &ElectionQuestion, promise: Promise) -> Vec<InTicks> {
    match promise {
        Promise::KeepsLease => healthy(question).into_iter().collect(),
        _ => cut_off(question).into_iter().collect(),
    }
}

/// How long a leader may act after the store has applied its last acknowledged write: the acknowledgement travels, it sleeps for a retry
/// period, tries to renew for the renew deadline, and then the work stops (OL-K-7, OL-K-8). Each of its deadlines is late by a pause at most,
/// and its clock is slower than that of a contender.
fn acts_on(question: &ElectionQuestion) -> Duration {
    let ElectionQuestion { pause, stop_time, .. } = *question;
    let acknowledged = match question.request_timeout {
        // The answer to a request that has timed out is not heard (OL-K-13).
        Some(timeout) => question.message().min(sum(sum(timeout, question.drift.of(timeout)), pause)),
        None => question.message(),
    };
    let counted = sum(sum(question.retry_period, question.renew_deadline), stop_time);
    let late = if stop_time > Duration::ZERO { times(pause, 3) } else { times(pause, 2) };
    sum(sum(acknowledged, late), sum(counted, question.drift.of(counted)))
}

/// **A leader that is cut off.** Without ReleaseOnCancel. Take the first instant T of an execution in which two clients act: B enters while
/// A acts, which has entered before. Let a be the instant at which the store applied the last write of A that was acknowledged by T. By T, A
/// acts on for [`acts_on`] after a at the most, whatever happens to its link: without another acknowledgement its renew loop ends
/// at a deadline that counts from the last one (OL-K-7), reading another's record does not prolong it (OL-K-9), and nothing is released.
/// B's write names the version that it replaces, of a record that was the same for a whole recorded lease since B read it (OL-K-4, OL-S-3).
/// If that record is A's, B read it at a or later; if it is that of a client between the two, that one had waited for a lease itself, and so
/// on back to A. So T is at least a lease after a. A cannot have taken the lease back before T: for that, it would have had to watch for a
/// whole lease, too, and it acts on for less, or else the small scenario is violated.
///
/// Then there is an execution of the small scenario that breaks the promise: A acquires and renews at a, in one instant, and is cut
/// off; B reads at a, looks again at each tick, takes over at the first one at which it may, and enters at once, no later than T. So
/// requests that take time, further clients, rounds and cuts, and links that heal change nothing, and of all durations only two count: how
/// long A acts on, and the recorded lease. The first is rounded up, the second down. In the small scenario the retry period is one tick, the
/// renew deadline what is left of the first, and the rest of it is time that the work takes to stop.
///
/// With ReleaseOnCancel there is no such scenario: a release that arrives frees the lease before the work is told (OL-K-10, OL-5).
fn cut_off(question: &ElectionQuestion) -> Option<InTicks> {
    if question.release {
        return None;
    }
    let (acts, lease) = (acts_on(question), question.observed());
    let sized = |count: i64| {
        let tick = times(FINEST, (down(lease, FINEST) / count).max(1));
        let (lease, acts) = (down(lease, tick), up(acts, tick));
        let deadline = (acts - 1).min(lease - 1);
        let terms =
            Terms { recipe: question.recipe, lease, second: None, deadline, retry: 1, spread: 0, timeout: None };
        (CutOff { terms, release: false, stop: acts - 1 - deadline, message: None, wake: 0 }, tick)
    };
    // OL-K-1: the renew deadline is longer than 1.2 retry periods.
    let looks_safe =
        |small: &CutOff| small.terms.deadline >= 2 && 1 + small.terms.deadline + small.stop < small.terms.lease;
    let (small, tick) = (1..=LEASE_TICKS_MAX).map(sized).find(|(small, _)| looks_safe(small))?;
    Some(InTicks { scenario: ElectionScenario::CutOff(small), tick })
}

/// **A leader that reaches the store.** The leader is the recipe itself. Of contenders one is enough: each takes over after it has seen the
/// same record for a whole lease, and the first one to do so is the one here. When it looks in between makes no difference: the record that it
/// saw at t and finds unchanged when it takes over has been unchanged a lease after t, too, so a contender that begins at t and looks again
/// after half a lease and after a whole one can take over. A lease of an odd number of ticks is rounded down once more.
///
/// A tick divides the retry period, because attempts are made at multiples of it (OL-K-7). Messages are rounded up. The renew deadline,
/// the timeout of requests and the recorded lease are rounded down; the first two fire as late as they would with a slow clock and a pause, so
/// each instant at which they may fire is possible. An attempt that starts between the rounded deadline and the exact one has no
/// counterpart; but then the leader has given up in the small scenario, and nothing is proven.
fn healthy(question: &ElectionQuestion) -> Option<InTicks> {
    let retry = down(question.retry_period, FINEST);
    let sized = |count: i64| {
        let tick = times(FINEST, retry / count);
        let lease = down(question.observed(), tick) / 2 * 2;
        let deadline = down(question.renew_deadline, tick);
        let timeout = question.request_timeout.map(|timeout| down(timeout, tick));
        let late = |exact: Duration, rounded: i64| {
            let latest = sum(sum(exact, question.drift.of(exact)), question.pause);
            up(latest, tick) - rounded
        };
        let timeout_late = question.request_timeout.zip(timeout).map_or(0, |(exact, rounded)| late(exact, rounded));
        let wake = late(question.renew_deadline, deadline).max(late(question.retry_period, count)).max(timeout_late);
        let recipe = question.recipe;
        let terms = Terms { recipe, lease, second: None, deadline, retry: count, spread: 0, timeout };
        (Healthy { terms, others: Others::Seldom, message: up(question.message(), tick), wake }, tick)
    };
    let looks_safe = |small: &Healthy| {
        let Healthy { terms, message, wake, .. } = *small;
        let in_time = |length: i64| 2 * message < length;
        let is_valid = terms.deadline < terms.lease && 5 * terms.deadline > 6 * terms.retry;
        let is_renewed = terms.retry + wake + 3 * message < terms.lease;
        is_valid && in_time(terms.deadline) && terms.timeout.is_none_or(in_time) && is_renewed
    };
    let counts = (1..=RETRY_TICKS_MAX).filter(|count| retry % count == 0);
    let sizes = counts.map(sized).filter(|(small, _)| small.terms.lease <= HEALTHY_TICKS_MAX);
    let (small, tick) = sizes.into_iter().find(|(small, _)| looks_safe(small))?;
    Some(InTicks { scenario: ElectionScenario::Healthy(small), tick })
}
