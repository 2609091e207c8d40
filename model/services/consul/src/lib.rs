//! Consul, as far as locks and semaphores need it: sessions, the key/value store with acquire and release, TTLs,
//! lock-delay, checks, transactions and blocking queries of Consul 1.8.7; and clients: a lock recipe and a semaphore
//! recipe with settings, observers, and third parties.
//!
//! Rules are cited by number (C-…); `model/services/consul/rules.md` has the list.

mod assumptions;
mod clients;
mod goals;
mod messages;
mod mistakes;
mod mutants;
mod operator;
mod programs;
mod scenarios;
mod server;
mod settings;

use serde::{Deserialize, Serialize};

pub use clients::{Contender, Observer, Participant, SlotTaker, Verifier, with_nodes};
pub use messages::{
    Answer, Checks, Claim, Command, ConsulEvent, ConsulMessage, Entry, Item, Key, KeyList, LOCK, LOCK_FLAGS, Listing,
    NodeHealth, NodeList, Opaque, Operation, Order, Plain, Prefix, Registration, Request, Row, SEMAPHORE_FLAGS,
    SessionInfo, SessionList, Slots, Spelling, Target, Terms, Text, Timer, Transaction, Tree, Watch,
};
pub use mistakes::MISTAKES;
pub use mutants::ConsulMutation;
pub use operator::OperatorAction;
pub use programs::{
    ApiError, CatalogApi, Committed, Content, ElectionGuide, GoLock, GoSemaphore, HttpApi, LeaderWatch, LockCommand,
    LockUnit, Monitor as GoMonitor, Renew, SemaphoreGuide, SemaphoreMonitor, register_programs,
};
pub use scenarios::SCENARIOS;
pub use server::{ConsulFault, Failure, ItemRecord, Node, OperationResult, Query, QueryRefusal, Server, Status};
pub use settings::{
    AfterRace, AfterRelease, Behavior, BeliefRule, CheckKind, DeadSession, Expiry, Guard, Health, Job, Killed, Letters,
    Log, LostRace, Monitor, OldLeader, OnConflict, OnLoss, OnUncertainty, OperatorActionKind, Priced, Prunes, Queue,
    Reads, Registers, Release, RenewalErrors, Renewals, Requests, Restarts, Revocations, Semaphore, Sequencer, Servers,
    SessionUse, Settings, Takes, Timers, TreeDeletions, Unlock, Waiting, Writes,
};

use fencepost_model::goal::Goal;
use fencepost_model::held::Held;
use fencepost_model::ids::{Call, ClientId, RawId, Tenure, Token};
use fencepost_model::mutation::Mutation;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Event, Opinion, Record, Service, ServiceCommand, ServiceMessage, ServiceTimer};
use fencepost_model::time::Instant;
use fencepost_model::units::Duration;
use fencepost_model::world::{Fault, World};

/// The claims of published documents, and the promises that show that they are wrong.
pub const DOCUMENTS: &[&str] =
    &[include_str!("../documents/sessions.toml"), include_str!("../documents/semaphore.toml")];

/// The service's name as a type.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Consul;

/// The system of scenarios about a semaphore.
const SEMAPHORE: &str = "consul-semaphore";

impl Service for Consul {
    const SYSTEMS: &'static [&'static str] = &["consul-lock", SEMAPHORE];
    const RECIPES: &'static [(&'static str, &'static str)] = settings::RECIPES;
    const RECIPE_TICK: Option<Duration> = Some(settings::RECIPE_TICK);
    const GOALS: &'static [Goal] = goals::ALL;
    const MUTATIONS: &'static [Mutation] = ConsulMutation::MUTATIONS;
    const HAS_PROGRAMS: bool = true;
    const HAS_ENDLESS_ROUNDS: bool = true;
    type Settings = Settings;
    type Message = ConsulMessage;
    type Timer = Timer;
    type Command = Command;
    type OperatorAction = OperatorAction;
    type Fault = ConsulFault;
    type Event = ConsulEvent;
    type Client = Participant;
    type Server = Server;

    fn start(scenario: &Scenario<Self>) -> (Server, Vec<Participant>) {
        let (server, shared) = Server::at_start(scenario);
        (server, Participant::all(scenario, shared))
    }

    fn record(server: &Server, scenario: &Scenario<Self>) -> Record {
        if let Some(semaphore) = &scenario.service.semaphore {
            return clients::record_of_slots(server, semaphore);
        }
        if scenario.service.queue.is_some() {
            let Some((session, token)) = server.first() else { return Record::default() };
            return Record { owners: [session.raw().creator].into_iter().collect(), token, ..Record::default() };
        }
        let Some(entry) = server.entry(LOCK) else { return Record::default() };
        let owners = entry.session.map(|session| session.raw().creator).into_iter().collect();
        Record { owners, token: scenario.service.token(&entry), ..Record::default() }
    }

    fn operator_actions(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(OperatorAction)) {
        operator::offers(world, scenario, offer);
    }

    fn operate(
        server: &mut Server,
        operator_action: OperatorAction,
        context: &Context<'_, Self>,
        out: &mut Outbox<Self>,
    ) {
        let first = server.first_in_queue(context);
        operator::perform(server, operator_action, context, out);
        server.note_turn(first, context, out);
        server.answer_watchers(context, out);
    }

    fn faults(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(ConsulFault)) {
        Server::offer_faults(world, &scenario.service.servers, offer);
    }

    fn apply_fault(world: &mut World<Self>, fault: ConsulFault, context: &Context<'_, Self>, out: &mut Outbox<Self>) {
        let first = world.server.process.first_in_queue(context);
        Server::suffer(world, fault, context, out);
        world.server.process.note_turn(first, context, out);
    }

    fn on_environment_fault(server: &mut Server, fault: Fault<Self>, context: &Context<'_, Self>) {
        server.notice(fault, context);
    }

    fn server_deadline(server: &Server, settings: &Settings) -> Option<Instant> {
        server.must_happen_by(settings)
    }

    fn only_answers(server: &Server, message: &ConsulMessage) -> bool {
        matches!(message, ConsulMessage::Request(_, request) if server.only_answers(request))
    }

    /// A third party talks to clients.
    fn sends_only_answers(settings: &Settings) -> bool {
        !settings.delegates
    }

    fn notices_pauses(_: &Settings) -> bool {
        false
    }

    fn inspect(server: &Server) -> Result<(), String> {
        server.inspect()
    }
}

impl ServiceMessage for ConsulMessage {
    fn call(&self) -> Option<Call> {
        match *self {
            ConsulMessage::Request(call, _)
            | ConsulMessage::Response(call, _)
            | ConsulMessage::Order(_, call, _)
            | ConsulMessage::OrderDone(_, call, _) => Some(call),
        }
    }

    fn tenure_of_write(&mut self) -> Option<&mut Tenure> {
        match self {
            ConsulMessage::Request(_, Request::Commit(transaction)) => Some(&mut transaction.tenure),
            ConsulMessage::Order(_, _, order) => Some(&mut order.tenure),
            _ => None,
        }
    }
}

impl ServiceTimer for Timer {
    fn detector_opinion(self) -> Option<(ClientId, Opinion)> {
        match self {
            Timer::Suspect(node) => Some((node, Opinion::Failed)),
            Timer::Reap(node) => Some((node, Opinion::Forgotten)),
            Timer::Sync(node) => Some((node, Opinion::Alive)),
            _ => None,
        }
    }
}

impl ServiceCommand for Command {
    fn sentence(self, held: Held) -> String {
        match (self, held) {
            (Command::Acquire, Held::Slot) => "take a slot".to_owned(),
            (Command::Release, Held::Slot) => "release its slot".to_owned(),
            (Command::Look, Held::Slot) => "find out who holds the slots".to_owned(),
            _ => self.to_string(),
        }
    }

    fn begins_read(self) -> bool {
        self == Command::Look
    }
}

impl Event for ConsulEvent {
    fn sentence(&self, _: Held) -> String {
        match self {
            ConsulEvent::TookSlot(client) => format!("{client} takes a slot"),
            ConsulEvent::FreedSlot(client) => format!("the slot of {client} is free"),
            _ => self.to_string(),
        }
    }

    fn goal(&self) -> Option<Goal> {
        match self {
            ConsulEvent::Discovered { .. } => Some(Goal::DISCOVERED),
            ConsulEvent::Elected { .. } => Some(goals::ELECTED),
            ConsulEvent::RenewedInVain(_) => Some(goals::RENEWED_IN_VAIN),
            ConsulEvent::RenewedByDeposed(_) => Some(goals::RENEWED_BY_DEPOSED),
            ConsulEvent::Resumed(_) => Some(goals::RESUMED),
            ConsulEvent::Full(_) => Some(Goal::FULL),
            ConsulEvent::FreedSlot(_) => Some(Goal::SLOT_FREED),
            ConsulEvent::LimitConflict(_) => Some(goals::LIMIT_CONFLICT),
            ConsulEvent::LeaderLost | ConsulEvent::Restarted { .. } | ConsulEvent::TookSlot(_) => None,
        }
    }

    fn read_ended(&self) -> Option<(ClientId, Option<ClientId>)> {
        match self {
            ConsulEvent::Discovered { observer, leader } => Some((*observer, *leader)),
            _ => None,
        }
    }
}

impl Settings {
    /// The token of a tenure that this entry records.
    pub fn token(&self, entry: &Entry) -> Token {
        match self.sequencer {
            Sequencer::None | Sequencer::Version => Token::NONE,
            Sequencer::Random => match entry.value {
                Opaque::Number(token) => token,
                _ => Token::NONE,
            },
            Sequencer::LockIndex => Token::numbered(entry.lock_index),
            Sequencer::ModifyIndex => entry.modify.token(),
            Sequencer::CreateIndex => entry.create.token(),
        }
    }
}
