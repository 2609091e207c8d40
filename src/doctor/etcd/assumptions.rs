//! What settings of a session cost, and what verdicts on them rest on.

use fencepost_model::units::Duration;

use super::keeping;
use super::question::{DONE_LOOP, SessionQuestion, SessionStop};
use crate::promise::Promise;
use crate::repair::Price;
use crate::rounding::{sum, times};

/// How long the scan of leases takes to find one that is overdue (E-LS-5).
const SCAN: Duration = Duration::of_microseconds(500_000);

/// What the settings cost.
pub(super) fn price(question: &SessionQuestion) -> Price {
    let (ttl, third) = (question.ttl, keeping::third(question));
    let failover = sum(sum(ttl, SCAN), question.latency);
    let notice = match question.stop {
        SessionStop::Never => None,
        SessionStop::OnDone => Some(sum(sum(ttl, DONE_LOOP), times(question.latency, 2))),
        SessionStop::BeforeExpiry => Some(question.ttl),
    };
    let waits = sum(third, keeping::RENEWAL_LOOP);
    // One that counts stops unless the next answer comes before its time is over.
    let messages = if question.stop == SessionStop::BeforeExpiry { 4 } else { 2 };
    let needed = sum(sum(waits, question.margin), times(question.latency, messages));
    let stall = ttl.nanoseconds() - needed.nanoseconds();
    let stall = Duration::of_nanoseconds(stall.max(0));
    let renewals_an_hour = 3_600_000_000_000_u64.checked_div(third.nanoseconds().unsigned_abs()).unwrap_or(0);
    let sentence = format!(
        "a crashed holder's lock is free {ttl} to {failover} after its last renewal, and later by the election timeout and T after a change of the leader; \
         a live one does not lose it by standing still for less than {stall}; {renewals_an_hour} renewals an hour"
    );
    Price { failover: Some(failover), notice, stall: Some(stall), renewals_an_hour, sentence }
}

/// What verdicts on the promise rest on.
pub(super) fn assumptions(question: &SessionQuestion, promise: Promise) -> Vec<String> {
    let keeps = promise == Promise::KeepsLock;
    let mut list = vec![
        format!("a client stands still for at most {} at a time, as often as it likes: its deadlines fire that late", question.pause),
        match keeps {
            true => format!("{promise}: no link is cut, and each message arrives within {}, and a pause at its end", question.latency),
            false => "links to etcd may be cut at any time; a message that arrives may take any time".to_owned(),
        },
        "no operator revokes a lease or deletes a key (E-10, E-19), and no lease is shared (E-24)".to_owned(),
        "no leader stalls while the others elect another one, or etcd is 3.4.31, 3.5.13 or later (E-4, E-20); its clock does not jump, and a change of the \
         leader only adds time to a lease (E-LD-1)"
            .to_owned(),
    ];
    list.push(match keeps {
        true => format!(
            "{promise}: the leader does not pause or lag behind (E-9, E-27); the first renewal has {} for its answer, by its DialTimeout (E-CC-4)",
            question.first_deadline()
        ),
        false => "the user looks at its time before it begins, and before each write; its writes carry no token".to_owned(),
    });
    list.push(match question.drift.0 {
        0 => "clocks of clients run as fast as the leader's".to_owned(),
        _ => format!(
            "clocks of clients are slower than the leader's by at most {}: {} over the TTL",
            question.drift,
            question.drift.of(question.ttl)
        ),
    });
    list.push(match keeps {
        true => format!("{promise}: any number of clients and rounds, for others change nothing about a lease, see reports/docs/doctor.md"),
        false => "any number of clients and rounds: a violation takes a holder and its successor, see reports/docs/doctor.md".to_owned(),
    });
    list
}
