//! What verdicts on a lock or a semaphore rest on.

use super::question::{LockBelief, LockQuestion};
use crate::promise::Promise;

/// What verdicts about the question rest on.
pub(super) fn assumptions(question: &LockQuestion, promise: Promise) -> Vec<String> {
    let mut list = vec![
        format!(
            "a client stands still for at most {} at a time, as often as it likes: its deadlines fire that late",
            question.pause
        ),
        format!(
            "a message takes at most {}: {} on the network, and the pause of the client that sends or hears it",
            question.message(),
            question.latency
        ),
        "no message is lost, no link is cut, no client crashes".to_owned(),
        "the servers keep their leader; they may be as late as they like, and never early".to_owned(),
    ];
    if let Some(ttl) = question.ttl {
        let skew = question.drift.of(ttl);
        list.push(match question.drift.0 {
            0 => "clocks of clients run as fast as the servers'".to_owned(),
            _ => format!(
                "clocks of clients are slower than the servers' by at most {}: {skew} over the TTL, the longest span that is compared; none is faster",
                question.drift
            ),
        });
        list.push(format!("the server waits for {} times the TTL (C-TTL-2)", question.ttl_multiplier));
    }
    if promise != Promise::KeepsLock {
        list.push(if question.false_alarm {
            "gossip is wrong about a client's node at most once; no operator touches sessions or the key".to_owned()
        } else {
            "gossip gives up no node that lives; no operator touches sessions or the key".to_owned()
        });
        list.push(
            "each client has a session of its own, stops before it releases, and asks through no other key".to_owned(),
        );
        list.push(
            "any number of clients and rounds: a violation takes two clients and one round each, see reports/docs/doctor.md".to_owned(),
        );
    }
    if question.slots.is_some() && promise == Promise::SlotLimit {
        list.push(
            "one slot stands for any number: the other holders stay where they are, see reports/docs/doctor.md"
                .to_owned(),
        );
    }
    if question.belief == LockBelief::SelfLimiting {
        list.push("the holder looks at its lease before each write, and its clock does not jump".to_owned());
    }
    list
}
