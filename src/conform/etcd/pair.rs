//! One sequence of calls, on both sides.

use std::thread::sleep;
use std::time::Duration;

use fencepost_etcd::mvcc::{EtcdAnswer, EtcdCall, EtcdVersion, Mvcc, RangeRead, WatchRange, WatchSaid};

use super::draw::{LONG, placed};
use super::past::for_member;
use super::render;
use super::streams::WatchStream;
use super::wire::{EtcdReply, EtcdServer};
use crate::error::ConformError;

/// A call with both answers.
#[derive(Clone, PartialEq, Debug)]
pub struct EtcdExchange {
    /// The version of the server.
    pub version: EtcdVersion,
    /// The call.
    pub call: EtcdCall,
    /// What the server has answered.
    pub reply: EtcdReply,
    /// What the model answers.
    pub answer: EtcdAnswer,
}

impl EtcdExchange {
    /// Whether both answers are the same, up to what is fresh in each.
    pub fn is_alike(&self) -> bool {
        let mut reply = self.reply.clone();
        if let EtcdAnswer::Watched { unsure: Some(revision), .. } = self.answer {
            reply.drop_deletions_at(revision);
        }
        self.agrees(reply, self.expected())
    }

    /// Whether an answer is the expected one, when what is fresh in each is left out.
    fn agrees(&self, mut reply: EtcdReply, mut expected: EtcdReply) -> bool {
        if !self.version.repeats_messages() {
            [&mut reply, &mut expected].into_iter().for_each(EtcdReply::drop_repeated_message);
        }
        reply.comparable(&self.call) == expected.comparable(&self.call)
    }

    /// The same where others call at the same time, and leases end by themselves. The header of a call about leases is written after the call
    /// was carried out, so that its revision may be any later one (E-GEN-3). The remaining time of an overdue lease is below 0 (E-LS-6).
    /// Several members: the member that passes a question about a lease to the leader fills in its own revision.
    pub(super) fn is_alike_beside_others(&self, is_cluster: bool) -> bool {
        let is_about_leases = matches!(
            self.call,
            EtcdCall::Grant { .. } | EtcdCall::Revoke(_) | EtcdCall::TimeToLive { .. } | EtcdCall::Leases
        );
        let (mut reply, mut expected) = (self.reply.clone(), self.expected());
        let is_passed_on = is_cluster && matches!(self.call, EtcdCall::TimeToLive { .. });
        if is_passed_on || is_about_leases && reply.revision() >= expected.revision() {
            [&mut reply, &mut expected].into_iter().for_each(EtcdReply::drop_header);
        }
        reply.drop_time_overdue();
        if let EtcdAnswer::Watched { unsure, .. } = self.answer {
            unsure.into_iter().for_each(|revision| reply.drop_deletions_at(revision));
            [&mut reply, &mut expected].into_iter().for_each(EtcdReply::drop_headers_of_messages);
        }
        if is_cluster {
            reply.drop_time_without_end();
        }
        self.agrees(reply, expected)
    }

    /// What the model answers, as the gateway writes it.
    pub fn expected(&self) -> EtcdReply {
        render::reply(self.version, &self.call, &self.answer)
    }
}

/// What one sequence of calls has exchanged.
#[derive(Clone, PartialEq, Debug)]
pub struct EtcdSequence {
    /// The version of the server.
    pub version: EtcdVersion,
    /// The revision of the store, which was empty and compacted, before the first call.
    pub revision: i64,
    /// The exchanges.
    pub exchanges: Vec<EtcdExchange>,
}

impl EtcdSequence {
    /// Whether all answers are the same.
    pub fn is_alike(&self) -> bool {
        self.exchanges.iter().all(EtcdExchange::is_alike)
    }
}

/// What the model answers; a caller that would wait goes away at once, and its key with it (E-CC-13, E-CC-31).
pub(super) fn expect(store: &mut Mvcc, call: &EtcdCall) -> EtcdAnswer {
    let answer = store.ask(call);
    if answer == EtcdAnswer::Waits {
        store.leave(call);
    }
    answer
}

/// Makes calls until an answer differs. A lease that could end by itself meanwhile is revoked at once.
pub(super) fn run(server: &EtcdServer, drawn: &[EtcdCall]) -> Result<EtcdSequence, ConformError> {
    let mut store = server.reset()?;
    let mut sequence = EtcdSequence { version: store.version(), revision: store.revision(), exchanges: Vec::new() };
    let mut calls = Vec::new();
    for call in drawn {
        calls.push(call.clone());
        if let EtcdCall::Grant { id, ttl } = call
            && *ttl < LONG
        {
            calls.push(EtcdCall::Revoke(*id));
        }
    }
    for call in calls {
        let call = placed(&call, store.revision(), |key| created(key, &store));
        let call = since_beginning(call, store.version(), sequence.revision);
        let call = if server.is_member { for_member(call) } else { call };
        let answer = expect(&mut store, &call);
        let reply = if answer == EtcdAnswer::Waits {
            let reply = server.ask_and_leave(&call)?;
            wait_for(server, store.revision())?;
            reply
        } else if let EtcdCall::Watch(watch) = &call {
            WatchStream::open(server, watch)?.read(tells(&answer))?
        } else {
            server.ask(&call)?
        };
        let exchange = EtcdExchange { version: store.version(), call, reply, answer };
        let is_alike = exchange.is_alike();
        sequence.exchanges.push(exchange);
        if !is_alike {
            break;
        }
    }
    Ok(sequence)
}

/// Where a server tells what was deleted at the compacted revision, a watch from there on would hear of the keys of the sequence before this one
/// (E-W-5): it begins one later.
pub(super) fn since_beginning(call: EtcdCall, version: EtcdVersion, revision: i64) -> EtcdCall {
    match call {
        EtcdCall::Watch(watch) if watch.start == revision && version.keeps_compacted_deletes() => {
            EtcdCall::Watch(WatchRange { start: revision + 1, ..watch })
        }
        call => call,
    }
}

/// Whether a stream has something to tell after its first message: events, or the end of the watch.
fn tells(answer: &EtcdAnswer) -> bool {
    let EtcdAnswer::Watched { watches, .. } = answer else { return false };
    watches.iter().any(|said| match said {
        WatchSaid::Events { events, .. } => !events.is_empty(),
        WatchSaid::Compacted { .. } => true,
        WatchSaid::Refused(_) => false,
    })
}

fn created(key: &str, store: &Mvcc) -> Option<i64> {
    match store.clone().ask(&EtcdCall::Range(RangeRead { key: key.to_owned(), ..RangeRead::default() })) {
        EtcdAnswer::Range { entries, .. } => entries.first().map(|entry| entry.created),
        _ => None,
    }
}

/// Waits until the server has noticed that a caller went away, at most 5 s: whether it has, the next answer tells.
fn wait_for(server: &EtcdServer, revision: i64) -> Result<(), ConformError> {
    let look = EtcdCall::Range(RangeRead { key: "\0".to_owned(), count_only: true, ..RangeRead::default() });
    for _ in 0..100 {
        let reply = server.ask(&look)?;
        if reply.body["header"]["revision"].as_str() == Some(&revision.to_string()) {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    Ok(())
}
