//! Consul, the part that locks and semaphores need: sessions, the key/value store with acquire and release, TTLs,
//! lock-delay, checks, transactions and blocking queries, as Consul 1.8.7 has them; and on the other side of the network
//! a lock recipe and a semaphore recipe with knobs, observers, and third parties.
//!
//! Rules are cited by number (C-…) and stand in `model/services/consul/rules.md`.

mod assumptions;
mod clients;
mod goals;
mod messages;
mod mutants;
mod operator;
mod scenarios;
mod server;
mod settings;

use serde::{Deserialize, Serialize};

pub use clients::{Contender, Observer, Participant, SlotTaker, Verifier};
pub use messages::{
    Answer, Checks, Claim, Entry, Key, LOCK, Listing, Opaque, Operation, Order, Plain, Prefix, Request, Slots,
    Spelling, Target, Terms, Text, Timer, Transaction, Watch, Wish, Word,
};
pub use mutants::ConsulMutation;
pub use operator::Act;
pub use scenarios::SCENARIOS;
pub use server::{Failure, Node, Outcome, Query, QueryRefusal, Server, Status, Trouble};
pub use settings::{
    Afterwards, Behavior, Belief, CheckKind, DeadSession, Expiry, Guard, Health, Job, Killed, Letters, Log, LostRace,
    Monitor, OldLeader, OnConflict, OnLoss, OperatorAct, Priced, Prunes, Queue, Reads, Registers, Release,
    RenewalErrors, Renewals, Requests, Restarts, Revocations, Semaphore, Sequencer, Servers, SessionUse, Settings,
    Takes, Timers, TreeDeletions, Unclear, Unlock, Waiting, Writes,
};

use fencepost_model::goal::Goal;
use fencepost_model::ids::{ClientId, Tenure, Token};
use fencepost_model::mutation::Mutation;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Event, Opinion, Record, Service, ServiceCommand, ServiceMessage, ServiceTimer};
use fencepost_model::time::Instant;
use fencepost_model::world::{Fault, World};

/// What published documents say, and which promises show that it is wrong.
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
    const GOALS: &'static [Goal] = goals::ALL;
    const MUTATIONS: &'static [Mutation] = ConsulMutation::MUTATIONS;
    type Settings = Settings;
    type Message = Text;
    type Timer = Timer;
    type Command = Wish;
    type OperatorAction = Act;
    type Fault = Trouble;
    type Event = Word;
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
            return Record { owners: [session.creator].into_iter().collect(), token, ..Record::default() };
        }
        let Some(entry) = server.entry(LOCK) else { return Record::default() };
        let owners = entry.session.map(|session| session.creator).into_iter().collect();
        Record { owners, token: scenario.service.token(&entry), ..Record::default() }
    }

    fn operator_actions(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(Act)) {
        operator::offers(world, scenario, offer);
    }

    fn operate(server: &mut Server, act: Act, context: &Context<'_, Self>, out: &mut Outbox<Self>) {
        let first = server.first_in_queue(context);
        operator::perform(server, act, context, out);
        server.note_turn(first, context, out);
        server.answer_watchers(context, out);
    }

    fn faults(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(Trouble)) {
        Server::offer_trouble(world, &scenario.service.servers, offer);
    }

    fn apply_fault(world: &mut World<Self>, fault: Trouble, context: &Context<'_, Self>, out: &mut Outbox<Self>) {
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

    fn inspect(server: &Server) -> Result<(), String> {
        server.inspect()
    }
}

impl ServiceMessage for Text {
    fn tenure_of_write(&mut self) -> Option<&mut Tenure> {
        match self {
            Text::Ask(_, Request::Commit(transaction)) => Some(&mut transaction.tenure),
            Text::Hand(_, _, order) => Some(&mut order.tenure),
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

impl ServiceCommand for Wish {
    fn begins_read(self) -> bool {
        self == Wish::Look
    }
}

impl Event for Word {
    fn goal(&self) -> Option<Goal> {
        match self {
            Word::Discovered { .. } => Some(Goal::DISCOVERED),
            Word::Elected { .. } => Some(goals::ELECTED),
            Word::RenewedInVain(_) => Some(goals::RENEWED_IN_VAIN),
            Word::RenewedByDeposed(_) => Some(goals::RENEWED_BY_DEPOSED),
            Word::Resumed(_) => Some(goals::RESUMED),
            Word::Full(_) => Some(Goal::FULL),
            Word::FreedSlot(_) => Some(Goal::SLOT_FREED),
            Word::LimitConflict(_) => Some(goals::LIMIT_CONFLICT),
            Word::LeaderLost | Word::Restarted { .. } | Word::TookSlot(_) => None,
        }
    }

    fn read_ended(&self) -> Option<(ClientId, Option<ClientId>)> {
        match self {
            Word::Discovered { observer, leader } => Some((*observer, *leader)),
            _ => None,
        }
    }
}

impl Settings {
    /// The token that a tenure recorded in this entry has.
    pub fn token(&self, entry: &Entry) -> Token {
        match self.sequencer {
            Sequencer::None | Sequencer::Version => Token(0),
            Sequencer::Random => match entry.value {
                Opaque::Number(token) => token,
                _ => Token(0),
            },
            Sequencer::LockIndex => Token(entry.lock_index),
            Sequencer::ModifyIndex => Token(entry.modify.0),
            Sequencer::CreateIndex => Token(entry.create.0),
        }
    }
}
