//! etcd: leases, and the locks and elections of its Go client (`clientv3/concurrency`), which the server offers as well.
//!
//! | System | Recipe | Hazards |
//! |---|---|---|
//! | `etcd-mutex` | `Session` and `Mutex`; `v3lock`; `etcdctl lock` | E-1 to E-9, E-11, E-15 to E-27 |
//! | `etcd-election` | `Session` and `Election`; `v3election` | E-10 to E-14, E-16 |
//!
//! Both sides are state machines: `store` is the cluster, `contender` the client; `programs` has the clients as code, line by line. Versions and users differ in [`Settings`].
//! [`rules.md`](../rules.md) has the rules that they cite.

mod assumptions;
mod contender;
mod events;
mod labels;
mod messages;
mod mistakes;
mod mutants;
pub mod mvcc;
mod participant;
mod programs;
mod rarely;
mod scenarios;
mod settings;
mod store;

use serde::{Deserialize, Serialize};

pub use contender::Contender;
pub use events::{EtcdEvent, EtcdFault, Observation, OperatorAction};
pub use messages::{
    Command, Compare, EtcdMessage, EtcdValue, EventCursor, Key, KeyEvent, KeyRange, Operation, Request, Response,
    Shown, Timer,
};
pub use mistakes::MISTAKES;
pub use mutants::EtcdMutation;
pub use participant::Participant;
pub use programs::{
    ElectionService, EtcdApi, EtcdElection, EtcdError, EtcdMutex, EtcdObserve, EtcdObserver, EtcdQuery, EtcdSession,
    GoElection, GoMutex, HolderTerms, KeepAliveLoop, KeyWait, LeasePut, LockService, ObserverKind, SessionTerms,
    WatchApi, as_programs, leader, register_programs,
};
pub use scenarios::SCENARIOS;
pub use settings::{Guard, Jump, Leave, Nested, OnError, OperatorKind, Reads, Settings, Stop};
pub use store::Cluster;

use fencepost_model::goal::Goal;
use fencepost_model::held::Held;
use fencepost_model::ids::{Call, Tenure};
use fencepost_model::mutation::Mutation;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Record, Service, ServiceCommand, ServiceMessage, ServiceTimer};
use fencepost_model::time::Instant;
use fencepost_model::world::World;

/// The service's name as a type.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Etcd;

const MUTEX: &str = "etcd-mutex";
const ELECTION: &str = "etcd-election";

impl Service for Etcd {
    const SYSTEMS: &'static [&'static str] = &[MUTEX, ELECTION];
    const GOALS: &'static [Goal] = events::GOALS;
    const MUTATIONS: &'static [Mutation] = EtcdMutation::MUTATIONS;
    const HAS_PROGRAMS: bool = true;
    const HAS_ENDLESS_ROUNDS: bool = true;
    type Settings = Settings;
    type Message = EtcdMessage;
    type Timer = Timer;
    type Command = Command;
    type OperatorAction = OperatorAction;
    type Fault = EtcdFault;
    type Event = EtcdEvent;
    type Client = Participant;
    type Server = Cluster;

    fn start(scenario: &Scenario<Self>) -> (Cluster, Vec<Participant>) {
        (Cluster::default(), Participant::all(scenario))
    }

    fn record(cluster: &Cluster, _: &Scenario<Self>) -> Record {
        cluster.record()
    }

    fn operator_actions(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(OperatorAction)) {
        events::offer_actions(world, scenario, offer);
    }

    fn operate(cluster: &mut Cluster, action: OperatorAction, context: &Context<'_, Self>, out: &mut Outbox<Self>) {
        cluster.operate(action.0, context, out);
    }

    fn faults(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(EtcdFault)) {
        let now = world.clock(fencepost_model::ids::ProcessId::Server);
        world.server.process.offer_faults(&world.left, &scenario.service, world.clients.len(), now, offer);
    }

    fn apply_fault(world: &mut World<Self>, fault: EtcdFault, context: &Context<'_, Self>, out: &mut Outbox<Self>) {
        world.server.process.suffer(fault, context, out);
    }

    fn server_deadline(cluster: &Cluster, _: &Settings) -> Option<Instant> {
        cluster.must_act_by()
    }

    fn sends_only_answers(_: &Settings) -> bool {
        true
    }

    fn notices_pauses(_: &Settings) -> bool {
        false
    }

    fn inspect(cluster: &Cluster) -> Result<(), String> {
        cluster.inspect()
    }
}

impl ServiceMessage for EtcdMessage {
    fn call(&self) -> Option<Call> {
        match *self {
            EtcdMessage::Request(call, _) | EtcdMessage::Response(call, _) => Some(call),
        }
    }

    fn tenure_of_write(&mut self) -> Option<&mut Tenure> {
        match self {
            EtcdMessage::Request(_, Request::Txn(_, Operation::Write(tenure))) => Some(tenure),
            _ => None,
        }
    }
}

impl ServiceTimer for Timer {}

impl ServiceCommand for Command {
    fn sentence(self, _: Held) -> String {
        match self {
            Command::Acquire => "take the lock",
            Command::Release => "release the lock",
            Command::Write => "write to the resource",
            Command::Look => "read who has the lock",
        }
        .to_owned()
    }

    fn begins_read(self) -> bool {
        self == Command::Look
    }
}
