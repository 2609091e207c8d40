//! A small store, and the published semaphores and queues on such stores: without sessions, with a list of members.
//!
//! | System | Recipe | Hazard |
//! |---|---|---|
//! | `token-pool` | a list of tokens; a reaper frees tokens that were taken too long ago | B-33 |
//! | `ranked-semaphore` | each client has a ticket or a timestamp; the first `limit` clients are holders | B-34 |
//! | `holder-records` | a document with the names of the holders | B-35 |
//! | `sequence-queue` | sequence nodes; the lowest numbers are holders | B-47 |
//!
//! Each operation of the store is atomic; the hazards lie between operations.

mod assumed;
mod assumptions;
mod member;
mod messages;
mod mistakes;
mod mutants;
mod programs;
mod scenarios;
mod settings;
mod store;

use serde::{Deserialize, Serialize};

pub use member::Member;
pub use messages::{Answer, Command, Request, StoreMessage, Timer};
pub use mistakes::MISTAKES;
pub use mutants::StoresMutation;
pub use programs::{HolderRecords, Patience, RankedSemaphore, SequenceQueue, Storing, TokenPool, register_programs};
pub use scenarios::SCENARIOS;
pub use settings::{GiveBack, Joins, Nodes, Reentry, Sequence, Settings};
pub use store::Store;

use fencepost_model::held::Held;
use fencepost_model::ids::{Call, ClientId};
use fencepost_model::mutation::Mutation;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::program::Runs;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Record, Service, ServiceCommand, ServiceMessage, ServiceTimer};
use fencepost_model::uninhabited::Uninhabited;
use fencepost_model::world::World;

/// The service's name as a type.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Stores;

const TOKENS: &str = "token-pool";
const RANKED: &str = "ranked-semaphore";
const RECORDS: &str = "holder-records";
const QUEUE: &str = "sequence-queue";

impl Service for Stores {
    const SYSTEMS: &'static [&'static str] = &[TOKENS, RANKED, RECORDS, QUEUE];
    const MUTATIONS: &'static [Mutation] = StoresMutation::MUTATIONS;
    const HAS_PROGRAMS: bool = true;
    const HAS_ENDLESS_ROUNDS: bool = true;
    type Settings = Settings;
    type Message = StoreMessage;
    type Timer = Timer;
    type Command = Command;
    type OperatorAction = Uninhabited;
    type Fault = Uninhabited;
    type Event = Uninhabited;
    type Client = Runs<Stores, Member>;
    type Server = Store;

    fn start(scenario: &Scenario<Self>) -> (Store, Vec<Self::Client>) {
        let client = |client| Runs::at_start(scenario, ClientId(client), || Member::new(scenario));
        (Store::new(scenario), (1..=scenario.clients).map(client).collect())
    }

    fn record(store: &Store, scenario: &Scenario<Self>) -> Record {
        store.record(scenario)
    }

    fn operate(_: &mut Store, operator_action: Uninhabited, _: &Context<'_, Self>, _: &mut Outbox<Self>) {
        match operator_action {}
    }

    fn apply_fault(_: &mut World<Self>, fault: Uninhabited, _: &Context<'_, Self>, _: &mut Outbox<Self>) {
        match fault {}
    }

    fn notices_pauses(_: &Settings) -> bool {
        false
    }
}

impl ServiceMessage for StoreMessage {
    fn call(&self) -> Option<Call> {
        match *self {
            StoreMessage::Request(call, _) | StoreMessage::Response(call, _) => Some(call),
        }
    }
}

impl ServiceTimer for Timer {}

impl ServiceCommand for Command {
    fn sentence(self, held: Held) -> String {
        match (self, held) {
            (Command::Acquire, Held::Lock) => "take the lock",
            (Command::Acquire, Held::Slot) => "take a slot",
            (Command::Release, Held::Lock) => "release the lock",
            (Command::Release, Held::Slot) => "release its slot",
        }
        .to_owned()
    }
}
