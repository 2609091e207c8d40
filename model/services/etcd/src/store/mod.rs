//! The cluster as its clients see it: the replicated store, and the memory of the leader.
//!
//! ```text
//! kv       keys with their create revisions, transactions, reads at a revision, compaction (E-KV, E-TXN)
//! leases   grant, renewal, revoke; expiry in the memory of the leader (E-LS)
//! watches  watches of a key until it is deleted (E-W)
//! events   watches of puts and deletions, and the history that they need (E-W)
//! members  loss of the leader, promotion, pause; a stalled leader that was deposed (E-LD)
//! operator what an operator does
//! serve    which request is answered at once, held or refused
//! ```
//!
//! One log entry is one atomic step (E-GEN-2), and every linearizable request is answered from its result (E-KV-10).

mod events;
mod kv;
mod leases;
mod members;
mod operator;
mod serve;
mod watches;

use serde::{Deserialize, Serialize};

use self::events::EventLog;
use super::messages::{EtcdMessage, EtcdValue, Key, Request, Response, Shown, Timer};
use super::rarely::Rarely;
use super::settings::Settings;
use super::{Etcd, EtcdEvent};
use fencepost_model::fact::{Ending, Fact};
use fencepost_model::ids::{Call, ClientId, Index, RawId, SessionId};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Record;
use fencepost_model::time::{Deadline, Instant, Ticks};

/// The cluster.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Cluster {
    /// The revision of the store; a fresh one has none (E-GEN-3).
    revision: Index,
    /// Reads and watches before it fail (E-KV-9).
    compacted: Index,
    /// The keys below the prefix, the oldest first (E-CC-25).
    entries: InlineVec<Entry, 3>,
    #[normal(sorted)]
    leases: InlineVec<Lease, 3>,
    #[normal(sorted)]
    watches: InlineVec<Watch, 2>,
    /// Requests that wait: for a leader, or for the revoke of an overdue lease (E-LS-6, E-LD-3).
    held: InlineVec<Held, 1>,
    /// There is no leader, or the server pauses.
    away: Option<Away>,
    /// The next loss of the leader comes no sooner; kept if that is bounded.
    calm_until: Option<Deadline>,
    /// A leader that is stalled, with its memory.
    stalled: Option<Box<Stalled>>,
    /// What a member shows that lags behind, or a late read index.
    behind: Option<Box<Behind>>,
    /// Its history, if programs need it.
    log: Rarely<Box<EventLog>>,
    /// Whether the leader's apply lags (E-LS-3).
    lags: bool,
}

/// A key.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Entry {
    key: Key,
    created: Index,
    /// The lease that it belongs to (E-LS-9).
    lease: Option<SessionId>,
    /// The client that created it; none: an operator.
    client: Option<ClientId>,
    value: EtcdValue,
}

impl Entry {
    /// What a read shows of it.
    fn shown(&self) -> Shown {
        Shown { key: self.key, created: self.created, value: self.value }
    }
}

/// A lease. Everything but its id and its TTL is in the memory of the leader only (E-GEN-1).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
struct Lease {
    id: SessionId,
    /// The granted TTL: T, which is in the log (E-GEN-1, E-LS-1).
    ttl: Ticks,
    /// From when on it is overdue.
    expires: Deadline,
    /// From when on the scan may revoke it (E-LS-5, E-LS-10).
    scanned: Deadline,
    /// A deposed leader's proposal to revoke it is in the log, and may be committed from then on (E-LD-9).
    forwarded: Option<Deadline>,
    /// The rest that the leader has logged (E-LS-13).
    rest: Option<Ticks>,
    /// Whether the leader may not have applied its grant yet; kept if renewals do not wait for that (E-LS-3).
    is_new: bool,
}

/// A watch of one key until it is deleted.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
struct Watch {
    client: ClientId,
    #[normal(of = client)]
    call: Call,
    key: Key,
    from: Index,
}

/// A request that waits.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Held {
    client: ClientId,
    #[normal(of = client)]
    call: Call,
    request: Request,
}

/// The members have no leader, or the single server pauses; either ends at an instant.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Away {
    until: Deadline,
    why: Absence,
}

/// Why no leader answers.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Absence {
    /// A new leader is elected.
    Election,
    /// All members restart.
    Restart,
    /// The server pauses.
    Freeze,
}

/// A leader whose loop is stuck (E-LD-7).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Stalled {
    /// The client that is connected to it.
    with: Option<ClientId>,
    /// By when the stall is over.
    ends: Deadline,
    #[normal(sorted)]
    leases: InlineVec<Remembered, 3>,
}

/// A lease in the memory of a stalled leader.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
struct Remembered {
    id: SessionId,
    ttl: Ticks,
    expires: Deadline,
    /// Whether the leader has proposed to revoke it, and the proposal waits (E-LD-9).
    is_proposed: bool,
}

/// A member that lags behind.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Behind {
    /// The holder as it shows it.
    holder: Option<ClientId>,
    /// The oldest key, and the revision of its copy, where programs read them.
    copy: Rarely<(Option<Shown>, Index)>,
}

type Ctx<'a> = Context<'a, Etcd>;
type Out<'a> = &'a mut Outbox<Etcd>;
/// A client that waits for an answer, and its call.
type Asker = (ClientId, Call);

fn answer(out: Out<'_>, (client, call): Asker, response: Response) {
    out.send(client.into(), EtcdMessage::Response(call, response));
}

impl Cluster {
    pub(super) fn record(&self) -> Record {
        let oldest = self.entries.first();
        Record {
            owners: oldest.and_then(|entry| entry.client).into_iter().collect(),
            token: oldest.map(|entry| entry.created.token()).unwrap_or_default(),
            ..Record::default()
        }
    }

    /// Every key's lease exists, and create revisions grow up to the revision of the store.
    pub(super) fn inspect(&self) -> Result<(), String> {
        for (place, entry) in self.entries.iter().enumerate() {
            if let Some(lease) = entry.lease.filter(|lease| self.lease(*lease).is_none()) {
                return Err(format!("{} belongs to {lease}, which does not exist", entry.key));
            }
            let next = self.entries.get(place + 1).map_or(self.revision.next(), |next| next.created);
            if entry.created >= next {
                return Err(format!("{} was created at {}, not before {next}", entry.key, entry.created));
            }
        }
        Ok(())
    }

    /// The instant by which a stall is over.
    pub(super) fn must_act_by(&self) -> Option<Instant> {
        self.stalled.as_ref().map(|stalled| stalled.ends.0)
    }
}

impl Process<Etcd> for Cluster {
    fn on(&mut self, input: Input<Etcd>, context: &Ctx<'_>, out: Out<'_>) {
        match input {
            Input::Message { from, message: Message::Service(EtcdMessage::Request(call, request)) } => {
                let client = from.client().expect("only clients send requests");
                self.ask((client, call), request, context, out);
            }
            Input::Wake(Timer::Revoke(lease)) => self.expire(lease, context, out),
            Input::Wake(Timer::Checkpoint(lease)) => self.checkpoint(lease, context),
            Input::Wake(Timer::Return) => self.come_back(context, out),
            Input::Wake(Timer::Forwarded(lease)) => self.commit_forwarded(lease, context, out),
            Input::Wake(Timer::RevokeStalled(lease)) => self.propose(lease),
            _ => {}
        }
    }

    fn wakes(&self, scenario: &Scenario<Etcd>, due: &mut dyn FnMut(Timer, Instant)) {
        match self.away {
            Some(away) => due(Timer::Return, away.until.0),
            None => self.lease_wakes(&scenario.service, due),
        }
        if let Some(stalled) = &self.stalled {
            let running = stalled.leases.iter().filter(|lease| !lease.is_proposed);
            running.for_each(|lease| due(Timer::RevokeStalled(lease.id), lease.expires.0));
        }
    }

    fn restarted(&self, _: &Scenario<Etcd>) -> Self {
        self.clone()
    }
}
