//! Several clients at the same time: what each asks for is in a script, what overlaps with what is up to the machine. `order` judges what was
//! said.

use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use fencepost_etcd::mvcc::{EtcdCall, EtcdVersion, WatchRange};

use super::cluster::EtcdCluster;
use super::draw::placed;
use super::pair::since_beginning;
use super::past::for_member;
use super::script::{EtcdScript, Turn};
use super::streams::WatchStream;
use super::wire::{EtcdReply, EtcdServer, PATIENCE, bytes};
use crate::error::ConformError;

/// How a crowd goes about.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum EtcdPace {
    /// Five clients with six calls each, one right after the other.
    Busy,
    /// Three clients with twelve calls each, with pauses, so that leases end between them.
    Slow,
    /// Three clients with twelve calls each, with pauses, each at a member of its own, while something happens to the members.
    Members,
    /// Four clients with eight calls each, about locks and elections, half of them after a short pause; who waits too long goes away.
    Queues,
}

impl EtcdPace {
    pub(super) const fn clients(self) -> u8 {
        match self {
            EtcdPace::Busy => 5,
            EtcdPace::Slow | EtcdPace::Members => 3,
            EtcdPace::Queues => 4,
        }
    }

    pub(super) const fn calls(self) -> usize {
        match self {
            EtcdPace::Busy => 6,
            EtcdPace::Queues => 8,
            EtcdPace::Slow | EtcdPace::Members => 12,
        }
    }

    /// How many calls a crowd makes.
    pub const fn total(self) -> usize {
        self.clients() as usize * self.calls()
    }
}

/// A call with its answer, and when it was sent and received, in nanoseconds since the crowd began.
#[derive(Clone, PartialEq, Debug)]
pub struct TimedCall {
    /// The call.
    pub call: EtcdCall,
    /// The answer.
    pub reply: EtcdReply,
    /// When it was sent.
    pub sent: i64,
    /// When the answer was received; without one: when the caller went away, at the earliest.
    pub received: i64,
}

impl TimedCall {
    /// Whether it may have to wait for others.
    pub(super) fn waits(&self) -> bool {
        matches!(self.call, EtcdCall::Lock { .. } | EtcdCall::Campaign { .. })
    }

    /// Whether its caller waited, and went away.
    pub(super) fn is_gone(&self) -> bool {
        self.waits() && self.reply.status == 0
    }
}

/// What a crowd has exchanged.
#[derive(Clone, PartialEq, Debug)]
pub struct EtcdCrowd {
    /// The version of the server.
    pub version: EtcdVersion,
    /// The revision of the store, which was empty and compacted, before the first call.
    pub revision: i64,
    /// The calls, in the order in which they were sent.
    pub calls: Vec<TimedCall>,
}

/// Lets a crowd loose, and returns what was said. Nothing is left behind in the server.
///
/// # Errors
/// The server cannot be talked to, or another program writes to it.
pub fn crowd(server: &EtcdServer, script: &EtcdScript) -> Result<EtcdCrowd, ConformError> {
    let revision = server.reset()?.revision();
    let crowd = run(revision, script, |_| server, &|server, call| server.ask(call).map(Some), &|| Ok(()));
    server.reset()?;
    crowd
}

/// The same at a cluster, each client at a member, while what the script says happens to the members. A call without an answer is one of which
/// nothing tells whether it was carried out; one that could not be sent is left out.
///
/// # Errors
/// The members cannot be talked to any more, or another program writes to them.
pub fn crowd_of_cluster(cluster: &EtcdCluster, script: &EtcdScript) -> Result<EtcdCrowd, ConformError> {
    let revision = cluster.reset()?.revision();
    let ask = |server: &EtcdServer, call: &EtcdCall| Ok(server.ask_if_up(call));
    let member = |client: usize| &cluster.members[client % cluster.members.len()];
    let crowd = run(revision, script, member, &ask, &|| match script.change {
        None => Ok(()),
        Some((after, change)) => {
            thread::sleep(after);
            cluster.change(change)
        }
    });
    cluster.reset()?;
    if crowd.as_ref().is_ok_and(|crowd| crowd.calls.iter().any(TimedCall::is_lost)) {
        // What is still on its way must not arrive after the next crowd has begun.
        cluster.forget()?;
        cluster.reset()?;
    }
    crowd
}

/// How a call is made, and answered; none: it was not sent.
type Ask<'a> = dyn Fn(&EtcdServer, &EtcdCall) -> Result<Option<EtcdReply>, ConformError> + Sync + 'a;

fn run<'a>(
    revision: i64,
    script: &EtcdScript,
    server_of: impl Fn(usize) -> &'a EtcdServer,
    ask: &Ask<'_>,
    meanwhile: &dyn Fn() -> Result<(), ConformError>,
) -> Result<EtcdCrowd, ConformError> {
    let (began, calls) = (Instant::now(), Mutex::new(Vec::new()));
    let now = || i64::try_from(began.elapsed().as_nanos()).expect("no crowd lasts for centuries");
    let patience = i64::try_from(PATIENCE.as_nanos()).expect("a short time");
    // Two watches of all that is written: one from before the first call on, and one of the history, after the last one.
    let all = WatchRange { end: "\0".to_owned(), start: revision + 1, previous: true, ..WatchRange::default() };
    let live = script.is_watched.then(|| WatchStream::open(server_of(0), &all)).transpose()?;
    let client = |server: &EtcdServer, turns: &[Turn]| {
        let mut seen = revision;
        for Turn { pause, call: drawn } in turns {
            thread::sleep(*pause);
            let call = placed(drawn, seen, |key| shown(key, &calls.lock().expect("no client panics")));
            let call = since_beginning(call, server.version, revision);
            let call = if server.is_member { for_member(call) } else { call };
            let mut said = TimedCall { call, reply: EtcdReply::none(), sent: now(), received: 0 };
            let reply = if said.waits() { Some(server.ask_and_leave(&said.call)?) } else { ask(server, &said.call)? };
            let Some(reply) = reply else { continue };
            said.reply = reply;
            said.received = if said.is_gone() { said.sent + patience } else { now() };
            seen = said.reply.revision().unwrap_or(seen);
            calls.lock().expect("no client panics").push(said);
        }
        Ok::<_, ConformError>(())
    };
    let outcome: Result<(), ConformError> = thread::scope(|scope| {
        let client = &client;
        let clients = script.clients.iter().enumerate();
        let clients: Vec<_> = clients
            .map(|(place, turns)| {
                let server = server_of(place);
                scope.spawn(move || client(server, turns))
            })
            .collect();
        let meanwhile = meanwhile();
        clients.into_iter().try_for_each(|client| client.join().expect("clients do not panic"))?;
        meanwhile
    });
    outcome?;
    let mut calls = calls.into_inner().expect("no client panics");
    if let Some(live) = live {
        // Behind one that was right is nothing to be awaited.
        let is_written = calls.iter().any(|said| said.reply.revision().is_some_and(|seen| seen > revision));
        for stream in [live, WatchStream::open(server_of(0), &all)?] {
            let sent = now();
            let reply = stream.read(is_written)?;
            calls.push(TimedCall { call: EtcdCall::Watch(all.clone()), reply, sent, received: now() });
        }
    }
    if calls.iter().any(TimedCall::is_gone) {
        // What it has sent arrives before the store is emptied.
        thread::sleep(PATIENCE);
    }
    calls.sort_by_key(|call| call.sent);
    Ok(EtcdCrowd { version: server_of(0).version, revision, calls })
}

/// The creation revision of a key as the last answer shows it that shows one: of a campaign, of a look at the leader, or of a range.
fn shown(key: &str, calls: &[TimedCall]) -> Option<i64> {
    let name = bytes(key);
    calls.iter().rev().find_map(|TimedCall { reply: EtcdReply { body, .. }, .. }| {
        let entries = body["kvs"].as_array().into_iter().flatten().chain([&body["kv"]]);
        let revisions = entries.map(|entry| (entry, "create_revision")).chain([(&body["leader"], "rev")]);
        let mut of_key = revisions.filter(|(entry, _)| entry["key"] == name);
        of_key.find_map(|(entry, revision)| entry[revision].as_str()?.parse().ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_could_not_be_sent_is_left_out() {
        let script = EtcdScript::drawn(1, 1, EtcdPace::Busy);
        let nowhere = EtcdServer::at("127.0.0.1:9");
        let is_sent = |call: &EtcdCall| !matches!(call, EtcdCall::Put(_));
        let ask = |_: &EtcdServer, call: &EtcdCall| Ok(is_sent(call).then(EtcdReply::none));
        let crowd = run(7, &script, |_| &nowhere, &ask, &|| Ok(())).expect("no server is asked");
        let all = script.calls().count();
        let sent = script.calls().filter(|call| is_sent(call)).count();
        assert!(sent < all, "{sent} of {all}");
        assert_eq!(crowd.calls.len(), sent);
    }
}
