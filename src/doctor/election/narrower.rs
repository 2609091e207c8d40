//! Scenarios in which a counterexample is sought: the recipe itself, with each quantity rounded to the side that does not hurt. The exact
//! scenario has the last word on what happens there.

use fencepost_model::units::Duration;

use super::question::ElectionQuestion;
use super::small::{CutOff, ElectionScenario, Healthy, Others, Terms};
use crate::asked;
use crate::promise::Promise;
use crate::rounding::{FINEST, divisor, down, times, up};

type InTicks = asked::InTicks<ElectionScenario>;

/// The most ticks of a lease.
const LEASE_TICKS_MAX: i64 = 120;

/// For each kind of narrower scenario the coarsest one that looks as if it broke the promise.
pub(super) fn candidates(question: &ElectionQuestion, promise: Promise) -> Vec<InTicks> {
    let ticks = ticks(question);
    match promise {
        Promise::KeepsLease => ticks.into_iter().find_map(|tick| healthy(question, tick)).into_iter().collect(),
        _ => ticks.into_iter().find_map(|tick| cut_off(question, tick)).into_iter().collect(),
    }
}

/// Ticks that divide the retry period, the renew deadline and the timeout of requests, the coarsest first.
fn ticks(question: &ElectionQuestion) -> Vec<Duration> {
    let steps = |duration: Duration| down(duration, FINEST);
    let timeout = question.request_timeout.map_or(0, steps);
    let common = divisor(divisor(steps(question.retry_period), steps(question.renew_deadline)), timeout);
    let counts = (1..=LEASE_TICKS_MAX).filter(|count| common % count == 0);
    let is_coarse = |tick: &Duration| up(question.lease, *tick) <= LEASE_TICKS_MAX;
    counts.map(|count| times(FINEST, common / count)).take_while(is_coarse).collect()
}

fn terms(question: &ElectionQuestion, tick: Duration) -> Terms {
    let (lease, observed) = (up(question.lease, tick), up(question.observed(), tick));
    let retry = down(question.retry_period, tick);
    Terms {
        recipe: question.recipe,
        lease,
        // What is recorded is the one whole second, as it were, that fits.
        second: (observed < lease).then_some(observed),
        deadline: down(question.renew_deadline, tick),
        retry,
        spread: spread(retry),
        timeout: question.request_timeout.map(|timeout| down(timeout, tick)),
    }
}

/// No more lateness than is needed: that of the acknowledgement first, then that of two deadlines.
fn cut_off(question: &ElectionQuestion, tick: Duration) -> Option<InTicks> {
    let terms = terms(question, tick);
    let stop = down(question.stop_time, tick);
    let lacking = terms.second.unwrap_or(terms.lease) - terms.retry - terms.deadline - stop;
    let most = down(question.message(), tick).min(terms.timeout.unwrap_or(i64::MAX));
    let message = lacking.clamp(0, most);
    let wake = ((lacking - message).max(0) + 1) / 2;
    let looks_broken = question.release || wake <= down(question.pause, tick);
    let message = if question.release { message.max(most.min(1)) } else { message };
    let wake = if question.release { 0 } else { wake };
    let scenario = CutOff { terms, release: question.release, stop, message: Some(message), wake };
    looks_broken.then_some(InTicks { scenario: ElectionScenario::CutOff(scenario), tick })
}

/// A renewal that is not answered in time, or a record that is not renewed for a whole lease.
fn healthy(question: &ElectionQuestion, tick: Duration) -> Option<InTicks> {
    let terms = terms(question, tick);
    let (message, wake) = (down(question.message(), tick), down(question.pause, tick));
    let too_late = |length: i64| 2 * message >= length;
    let is_stale = terms.retry + wake + 2 * message >= terms.second.unwrap_or(terms.lease);
    let others = match too_late(terms.deadline) || terms.timeout.is_some_and(too_late) {
        true => Others::Absent,
        false if is_stale => Others::Alike,
        false => return None,
    };
    Some(InTicks { scenario: ElectionScenario::Healthy(Healthy { terms, others, message, wake }), tick })
}

/// By how many ticks a sleep may be longer than the retry period: up to the last tick below 2.2 of them (OL-K-6).
fn spread(retry: i64) -> i64 {
    (6 * retry - 1) / 5
}
