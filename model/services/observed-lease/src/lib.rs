//! Leader election by an observed lease: one record with compare-and-set. A contender takes the lease over after it has seen the
//! record unchanged for a whole lease, on its own clock; a holder gives up on its own clock. The server counts no time.
//!
//! | System | Recipe | Hazards |
//! |---|---|---|
//! | `observed-lease` | Kubernetes Lease with client-go and its ports; DynamoDB's lock client; leases in object stores | OL-1 to OL-27 |
//! | `lease-row` | ShedLock: a row with an end, by the clock of a client or of the database | OL-28, OL-29 |
//!
//! Both sides are state machines: `store` is the server, `elector` the client of the first system, `row` that of the second. The
//! client libraries differ in [`Settings`]; `recipes` has those of each. [`rules.md`](../rules.md) has the rules that they cite.
//! `programs` has what a program can ask of the store, and client libraries as programs, line by line from their sources.

mod assumptions;
mod elector;
mod events;
mod labels;
mod messages;
mod mistakes;
mod mutants;
mod participant;
mod programs;
mod row;
mod scenarios;
mod settings;
mod store;

use serde::{Deserialize, Serialize};

pub use elector::Elector;
pub use events::{LeaseEvent, LeaseFault, OperatorAction};
pub use messages::{Candidates, Command, Entry, Name, ObservedLeaseMessage, Request, Response, RowEnd, Shown, Timer};
pub use mistakes::MISTAKES;
pub use mutants::ObservedLeaseMutation;
pub use participant::Participant;
pub use programs::{
    Caller, CallerTerms, CandidateDeletion, ClientGo, CommitWait, ControllerManager, DynamoCommit, DynamoLockClient,
    ElectedRecord, ElectionController, Fabric8Elector, KubeLeaderElection, Kubert, LeaseApi, LeaseError, LeaseObject,
    LeaseRecord, LeaseSaying, LeaseVersion, LitestreamLeaser, LitestreamRelease, PutItem, PythonElector, RawRecord,
    RenewedRecord, RowUntil, ShedLock, WorkEnds, as_programs, register_programs,
};
pub use row::RowLocker;
pub use scenarios::SCENARIOS;
pub use settings::{
    Acquire, Boundary, Callback, Cancels, ClientTerms, Expiry, GivesUp, Guard, Identity, Memory, NapsFrom, OnCancel,
    OnLoss, OperatorKind, PollFrom, Rate, RefusedCreate, Release, Renewal, RowClock, Settings, Tokens, Work,
};
pub use store::Store;

use fencepost_model::goal::Goal;
use fencepost_model::ids::ClientId;
use fencepost_model::mutation::Mutation;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Record, Service, ServiceCommand, ServiceMessage, ServiceTimer};
use fencepost_model::units::Duration;
use fencepost_model::world::World;

/// The service's name as a type.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ObservedLease;

/// The system with a row of a database.
const ROW: &str = "lease-row";

impl Service for ObservedLease {
    const SYSTEMS: &'static [&'static str] = &["observed-lease", ROW];
    const RECIPES: &'static [(&'static str, &'static str)] = settings::RECIPES;
    const RECIPE_TICK: Option<Duration> = Some(settings::RECIPE_TICK);
    const GOALS: &'static [Goal] = events::GOALS;
    const MUTATIONS: &'static [Mutation] = ObservedLeaseMutation::MUTATIONS;
    const HAS_PROGRAMS: bool = true;
    const HAS_ENDLESS_ROUNDS: bool = true;
    type Settings = Settings;
    type Message = ObservedLeaseMessage;
    type Timer = Timer;
    type Command = Command;
    type OperatorAction = OperatorAction;
    type Fault = LeaseFault;
    type Event = LeaseEvent;
    type Client = Participant;
    type Server = Store;

    fn start(scenario: &Scenario<Self>) -> (Store, Vec<Participant>) {
        let clients = (0..scenario.clients).map(|place| Participant::new(ClientId::of(place.into()), scenario));
        let third_parties = scenario.third_parties(scenario.clients).into_iter();
        let third_parties = third_parties.map(|client| Participant::third_party(client, scenario));
        (Store::default(), clients.chain(third_parties).collect())
    }

    fn record(store: &Store, _: &Scenario<Self>) -> Record {
        store.record()
    }

    fn operator_actions(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(OperatorAction)) {
        events::offer_actions(world, scenario, offer);
    }

    fn operate(store: &mut Store, action: OperatorAction, _: &Context<'_, Self>, out: &mut Outbox<Self>) {
        store.operate(action, out);
    }

    fn faults(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(LeaseFault)) {
        events::offer_faults(world, scenario, offer);
    }

    fn apply_fault(world: &mut World<Self>, fault: LeaseFault, _: &Context<'_, Self>, out: &mut Outbox<Self>) {
        events::suffer(&mut world.server.process, fault, out);
    }

    fn notices_pauses(_: &Settings) -> bool {
        false
    }

    fn only_answers(store: &Store, message: &ObservedLeaseMessage) -> bool {
        matches!(message, ObservedLeaseMessage::Request(_, Request::Get)) && store.reads_only_answer()
    }
}

impl ServiceMessage for ObservedLeaseMessage {}

impl ServiceTimer for Timer {}

impl ServiceCommand for Command {}
