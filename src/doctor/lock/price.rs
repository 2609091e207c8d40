//! What the settings of a lock cost: arithmetic, EQ-1.

use fencepost_model::units::Duration;

use super::question::LockQuestion;
use crate::repair::Price;
use crate::rounding::{sum, times};

/// A dead holder is noticed after the TTLs that the servers wait, and its lock is free a lock-delay later (EQ-1). A live one may stand still
/// until its session may end by a false expiry: `notice` after a renewal that was at the servers at once, the next one has to be there, and
/// it is sent a period later by the holder's clock and may be under way for the bound on latency. 0: a renewal that takes the whole bound
/// may be too late.
pub(super) fn price(question: &LockQuestion) -> Price {
    let notice = question.ttl.map(|ttl| times(ttl, question.ttl_multiplier.into()));
    let hour = 3_600_000_000_000_u64;
    let period = question.renew_every.map_or(0, |period| period.nanoseconds().unsigned_abs());
    let failover = notice.map(|notice| sum(notice, question.delay()));
    let stall = notice.zip(question.renew_every).map(|(notice, period)| {
        let next = sum(sum(period, question.drift.of(period)), question.latency);
        Duration::of_nanoseconds((notice.nanoseconds() - next.nanoseconds()).max(0))
    });
    let renewals_an_hour = hour.checked_div(period).unwrap_or(0);
    let sentence = match (notice, failover) {
        (Some(notice), Some(failover)) => {
            let kept = stall.map_or(String::new(), |stall| {
                format!("a live one that stands still once, for less than {stall}, has no false expiry; ")
            });
            format!(
                "a dead holder is noticed {notice} after its last renewal, its lock is free after {failover}; {kept}{renewals_an_hour} renewals an hour"
            )
        }
        _ => "a dead holder is noticed by no TTL: its lock is free when a check or an operator ends its session"
            .to_owned(),
    };
    Price { failover, notice, stall, renewals_an_hour, sentence }
}
