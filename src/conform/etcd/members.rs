//! What a log shows of several members: when another leader was promoted, by the terms in the headers, and calls whose outcome it does not
//! tell.
//!
//! The term of a header is that of the last entry which the member that answers has applied. An entry of a term comes after the empty one with
//! which its leader begins, and which promotes it (E-LD-1): a member that answers with a term answers after that entry was committed. And a write or
//! a linearizable read that was answered with a lower term was sent before the leader of the higher one was elected.

use fencepost_etcd::mvcc::{EtcdAnswer, EtcdCall};
use serde_json::Value;

use super::crowd::TimedCall;
use super::order::SCAN;
use super::state::{Choice, Event, State};
use super::wire::EtcdReply;

/// The election timeout of a server that is not told another one, in nanoseconds.
pub const ELECTION: i64 = 1_000_000_000;

const SECOND: i64 = 1_000_000_000;

/// How errors begin that do not say whether a call was carried out.
const UNCLEAR: [&str; 6] = [
    "context ",
    "etcdserver: leader changed",
    "etcdserver: no leader",
    "etcdserver: request timed out",
    "etcdserver: server stopped",
    "raft: stopped",
];

/// A promotion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Promotion {
    /// The term of the leader.
    pub term: i64,
    /// The earliest instant.
    pub since: i64,
    /// The latest instant.
    pub until: i64,
}

/// The promotions after the first term that is shown, in order.
pub(super) fn promotions(calls: &[&TimedCall]) -> Vec<Promotion> {
    let mut shown: Vec<(i64, &TimedCall)> =
        calls.iter().filter_map(|said| Some((header(&said.reply, "raft_term")?, *said))).collect();
    shown.sort_by_key(|(term, said)| (*term, said.received));
    let terms = shown.chunk_by(|(one, _), (other, _)| one == other).skip(1).map(|of_term| of_term[0].0);
    let promotion = |term| {
        let later = shown.iter().filter(|(other, _)| *other >= term).map(|(_, said)| said.received);
        let earlier = shown.iter().filter(|(other, said)| *other < term && is_of_quorum(said));
        let since = earlier.map(|(_, said)| said.sent).max().unwrap_or(i64::MIN);
        Promotion { term, since, until: later.min().unwrap_or(i64::MAX).max(since) }
    };
    terms.map(promotion).collect()
}

/// Whether several members have answered.
pub(super) fn are_several(calls: &[&TimedCall]) -> bool {
    let mut members = calls.iter().filter_map(|said| header(&said.reply, "member_id"));
    let first = members.next();
    members.any(|member| Some(member) != first)
}

/// A number in the header of an answer; that of a stream is in its first part.
fn header(reply: &EtcdReply, field: &str) -> Option<i64> {
    let Value::Object(body) = &reply.body else { return None };
    let header = body.get("header").or_else(|| body.get("result")?.get("header"))?;
    // Ids of members are numbers without a sign.
    header[field].as_str()?.parse::<u64>().ok().map(u64::cast_signed)
}

/// Whether a leader has asked a quorum before it was answered.
fn is_of_quorum(said: &TimedCall) -> bool {
    !matches!(said.call, EtcdCall::Renew(_) | EtcdCall::TimeToLive { .. } | EtcdCall::Leases)
}

impl TimedCall {
    /// Whether nothing tells if it was carried out, or when it will be (E-GEN-8).
    pub(super) fn is_lost(&self) -> bool {
        let EtcdReply { status, body } = &self.reply;
        let is_unclear = |message: &str| UNCLEAR.iter().any(|unclear| message.starts_with(unclear));
        !self.waits() && (*status == 0 || *status >= 500 && body["message"].as_str().is_some_and(is_unclear))
    }

    /// Whether an order has to have it.
    pub(super) fn must_come(&self) -> bool {
        !self.is_gone() && !self.is_lost()
    }

    /// Whether it was answered by a leader that had been deposed by then: with the memory of that leader, and without an effect on the memory of
    /// the next one (E-LD-6, E-LD-7).
    pub(super) fn is_stale(&self, promoted: Option<&Promotion>) -> bool {
        let is_of_memory = matches!(self.call, EtcdCall::Renew(_) | EtcdCall::TimeToLive { .. });
        let is_earlier =
            |promoted: &Promotion| header(&self.reply, "raft_term").is_some_and(|term| term < promoted.term);
        is_of_memory && promoted.is_some_and(is_earlier)
    }
}

impl Promotion {
    /// Each lease has its whole TTL, and the election timeout, from now on (E-LD-1, E-LD-2). One that may have been overdue by then may end any
    /// time: its revoke may have been proposed, and the next leader commits it (E-LD-9).
    pub(super) fn after(&self, state: &State, lateness: i64) -> Choice {
        let mut next = state.clone();
        next.promoted += 1;
        for (lease, (earliest, latest)) in &mut next.ends {
            let of_lease = EtcdCall::TimeToLive { id: *lease, keys: false };
            let EtcdAnswer::TimeToLive { granted: Some(ttl), .. } = next.store.ask(&of_lease) else { continue };
            let after = |instant: i64| instant.saturating_add(ELECTION).saturating_add(ttl.saturating_mul(SECOND));
            if *earliest > self.until {
                *earliest = after(self.since);
            }
            *latest = after(self.until).saturating_add(SCAN).saturating_add(lateness);
        }
        Choice { next, event: Event::Promoted }
    }
}
