//! What the settings of an election cost: arithmetic, EQ-L5, EQ-L7, EQ-L8.

use fencepost_model::units::Duration;

use super::question::ElectionQuestion;
use crate::repair::Price;
use crate::rounding::{sum, times};

/// A contender takes over at the end of a lease that it has watched, and at the latest after two of its sleeps more, each shorter than 2.2
/// retry periods (EQ-L7); three requests and their answers are on the way then. A live leader that stands still longer than this between two
/// renewals may be deposed, because the record stays the same for a lease.
pub(super) fn price(question: &ElectionQuestion) -> Price {
    let (lease, retry) = (question.observed(), question.retry_period);
    let sleeps = Duration::of_nanoseconds(retry.nanoseconds() * 22 / 5);
    let failover = sum(sum(lease, sleeps), times(question.message(), 5));
    let stall = lease.nanoseconds()
        - retry.nanoseconds()
        - question.drift.of(retry).nanoseconds()
        - 2 * question.latency.nanoseconds();
    let stall = Duration::of_nanoseconds(stall.max(0));
    let hour = 3_600_000_000_000_u64;
    let renewals_an_hour = hour.checked_div(retry.nanoseconds().unsigned_abs()).unwrap_or(0);
    let survived = times(retry, attempts(question) - 1);
    let sentence = format!(
        "a crashed leader is replaced {lease} to {failover} after its last renewal; a live one is not deposed by standing still for less than \
         {stall}, and gives up in no outage shorter than {survived} in which requests fail at once; {renewals_an_hour} renewals an hour"
    );
    Price { failover: Some(failover), notice: Some(lease), stall: Some(stall), renewals_an_hour, sentence }
}

/// How many attempts fit into the renew deadline: at 0, R, 2R, … before it (OL-K-7).
fn attempts(question: &ElectionQuestion) -> i64 {
    let (deadline, retry) = (question.renew_deadline.nanoseconds(), question.retry_period.nanoseconds());
    (deadline + retry - 1) / retry
}
