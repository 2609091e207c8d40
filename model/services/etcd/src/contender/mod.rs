//! The client: a session that is renewed, and a `Mutex` or an `Election` on it. The state is here.
//!
//! `session` has the session (clientv3/concurrency/session.go, clientv3/lease.go), `wait` the way to the lock (mutex.go, election.go,
//! key.go), `tenure` what follows, `process` the connection to the kernel.

mod process;
mod session;
mod tenure;
mod wait;

use serde::{Deserialize, Serialize};

use super::messages::{Compare, EtcdMessage, Key, Operation, Request};
use super::rarely::Rarely;
use super::{ELECTION, Etcd};
use fencepost_model::ids::{Call, ClientId, Index, ProcessId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Deadline;

/// A client.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Contender {
    rounds: u8,
    /// The number of the newest call.
    #[normal(counter)]
    call: Call,
    /// The lease of its last session.
    lease: SessionId,
    session: Option<Session>,
    step: ContenderStep,
    /// The create revision of its key: `myRev`, and its token (E-CC-10, E-CC-24).
    created: Index,
    /// The call on which it watches its own key.
    own_watch: Option<Call>,
}

/// A session whose `Done` has not closed.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Session {
    /// When `Done` closes (E-CC-3, E-CC-4); none: it is not renewed, and never closes (E-CC-30).
    done: Option<Deadline>,
    /// When the next renewal is sent.
    next: Option<Deadline>,
    /// The renewal in flight.
    renewal: Option<Renewal>,
    /// When a self-limiting holder stops.
    stops: Option<Deadline>,
}

/// A renewal in flight.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Renewal {
    call: Call,
    /// When a self-limiting holder stops if it is acknowledged.
    stops: Option<Deadline>,
}

/// Where the client is on its way to the lock and back.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ContenderStep {
    Idle,
    /// A lease is asked for; when a self-limiting holder stops if it is granted.
    Opening(Call, Option<Deadline>),
    /// The lock below this one is taken.
    Nesting(Call),
    /// The transaction that puts the key is in flight (E-CC-10).
    Locking(Call),
    /// The newest key before its own is asked for (E-CC-11).
    Looking(Call),
    /// That key is watched (E-CC-11).
    Watching(Call, Key, Index),
    /// Its own key is read after the wait (E-CC-12).
    Checking(Call),
    /// The wait has failed, and the key is deleted (E-CC-13, E-CC-21).
    Withdrawing(Call),
    /// It has the lock, by its own belief; a write is in flight, or none.
    Inside {
        writes: u8,
        pending: Option<Call>,
    },
    /// The key is deleted (E-CC-14, E-CC-22).
    Unlocking(Call),
    /// The key of the lock below this one is deleted.
    Unnesting(Call),
    /// The lease is revoked; until when it waits for that, if it does not wait for ever (E-CC-6).
    Closing(Call, Rarely<Deadline>),
    /// The holder is read.
    Reading(Call),
}

type Ctx<'a> = Context<'a, Etcd>;
type Out<'a> = &'a mut Outbox<Etcd>;

impl Contender {
    pub(super) fn new(id: ClientId, scenario: &Scenario<Etcd>) -> Self {
        Contender {
            rounds: scenario.rounds,
            call: Call(0),
            lease: SessionId::numbered(id, 0),
            session: None,
            step: ContenderStep::Idle,
            created: Index::NONE,
            own_watch: None,
        }
    }

    /// Its key (E-CC-10).
    fn key(&self) -> Key {
        Key::Of(self.lease)
    }

    fn send(&mut self, request: Request, out: Out<'_>) -> Call {
        self.call = self.call.next();
        out.send(ProcessId::Server, EtcdMessage::Request(self.call, request));
        self.call
    }

    /// `Resign`, and the put of a key that is absent: a transaction on a create revision.
    fn transact(&mut self, key: Key, created: Index, operation: Operation, out: Out<'_>) -> Call {
        self.send(Request::Txn(Compare { key, created }, operation), out)
    }
}

fn is_election(context: &Ctx<'_>) -> bool {
    context.scenario.system == ELECTION
}
