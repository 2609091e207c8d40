//! Consul, the part that locks and semaphores need: sessions, the key/value store with acquire and release, TTLs,
//! lock-delay, checks, transactions and blocking queries, as Consul 1.8.7 has them; and on the other side of the network
//! a lock recipe and a semaphore recipe with knobs, observers, and third parties.
//!
//! Rules are cited by number (C-…) and stand in `model/rules/consul.md`.

mod assumptions;
mod clients;
mod messages;
mod operator;
mod server;
mod settings;

use serde::{Deserialize, Serialize};

pub use clients::{Contender, Observer, Participant, SlotTaker, Verifier};
pub use messages::{
    Answer, Checks, Claim, Entry, Key, LOCK, Listing, Opaque, Operation, Order, Plain, Prefix, Request, Slots,
    Spelling, Target, Terms, Text, Timer, Transaction, Watch, Wish, Word,
};
pub use operator::Act;
pub use server::{Failure, Node, Outcome, Query, QueryRefusal, Server, Status, Trouble};
pub use settings::{
    Afterwards, Behavior, Belief, CheckKind, DeadSession, Expiry, Guard, Health, Job, Killed, Letters, Log, LostRace,
    Monitor, OldLeader, OnConflict, OnLoss, OperatorAct, Priced, Prunes, Queue, Reads, Registers, Release,
    RenewalErrors, Renewals, Requests, Restarts, Revocations, Semaphore, Sequencer, Servers, SessionUse, Settings,
    Takes, Timers, TreeDeletions, Unclear, Unlock, Waiting, Writes,
};

use crate::assumption::Declarations;
use crate::goal::Goal;
use crate::ids::{ClientId, Tenure, Token};
use crate::process::{Context, Outbox};
use crate::protocol::{Opinion, Protocol, Record};
use crate::scenario::{Mistake, Note, Scenario};
use crate::time::{Instant, Ticks};
use crate::world::{Fault, World};

/// The protocol's name as a type.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Consul;

/// The system of scenarios about a semaphore.
const SEMAPHORE: &str = "consul-semaphore";

impl Protocol for Consul {
    const SYSTEMS: &'static [&'static str] = &["consul-lock", SEMAPHORE];
    const RECIPES: &'static [(&'static str, &'static str)] = settings::RECIPES;
    type Config = Settings;
    type Message = Text;
    type Timer = Timer;
    type Command = Wish;
    type Operator = Act;
    type Fault = Trouble;
    type Fact = Word;
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

    fn operators(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(Act)) {
        operator::offers(world, scenario, offer);
    }

    fn operate(server: &mut Server, act: Act, context: &Context<'_, Self>, out: &mut Outbox<Self>) {
        let first = server.first_in_queue(context);
        operator::perform(server, act, context, out);
        server.note_turn(first, context, out);
        server.answer_watchers(context, out);
    }

    fn cost(act: Act, settings: &Settings) -> u8 {
        operator::cost(act, settings)
    }

    fn faults(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(Trouble)) {
        Server::offer_trouble(world, &scenario.service.servers, offer);
    }

    fn fault_is_possible(scenario: &Scenario<Self>, kind: usize) -> Result<(), &'static str> {
        Server::fault_is_possible(&scenario.service, kind)
    }

    fn strike(world: &mut World<Self>, fault: Trouble, context: &Context<'_, Self>, out: &mut Outbox<Self>) {
        let first = world.server.process.first_in_queue(context);
        Server::suffer(world, fault, context, out);
        world.server.process.note_turn(first, context, out);
    }

    fn notice(server: &mut Server, fault: Fault<Self>, context: &Context<'_, Self>) {
        server.notice(fault, context);
    }

    fn told_by_gossip(timer: Timer) -> Option<(ClientId, Opinion)> {
        match timer {
            Timer::Suspect(node) => Some((node, Opinion::Failed)),
            Timer::Reap(node) => Some((node, Opinion::Forgotten)),
            Timer::Sync(node) => Some((node, Opinion::Alive)),
            _ => None,
        }
    }

    fn false_alarm(fault: Trouble) -> Option<ClientId> {
        match fault {
            Trouble::FalseAlarm(node, CheckKind::SerfHealth) => Some(node),
            _ => None,
        }
    }

    fn role(scenario: &Scenario<Self>, participant: ClientId) -> Option<String> {
        let beyond = participant.0.checked_sub(scenario.clients).filter(|number| *number > 0)?;
        Some(match beyond <= scenario.service.observers.into() {
            true => format!("observer {beyond}"),
            false => "the third party".to_owned(),
        })
    }

    fn crash_takes_node(settings: &Settings) -> bool {
        settings.health.crash == Takes::Node
    }

    fn hears_gossip(settings: &Settings) -> bool {
        settings.health.detection.is_some()
    }

    fn pressing(server: &Server, settings: &Settings) -> Option<Instant> {
        server.must_happen_by(settings)
    }

    fn stamp(message: &mut Text) -> Option<&mut Tenure> {
        match message {
            Text::Ask(_, Request::Commit(transaction)) => Some(&mut transaction.tenure),
            Text::Hand(_, _, order) => Some(&mut order.tenure),
            _ => None,
        }
    }

    fn reaches(fact: &Word) -> Option<Goal> {
        match fact {
            Word::Discovered { .. } => Some(Goal::Discovered),
            Word::Elected { .. } => Some(Goal::Elected),
            Word::RenewedInVain(_) => Some(Goal::RenewedInVain),
            Word::RenewedByDeposed(_) => Some(Goal::RenewedByDeposed),
            Word::Resumed(_) => Some(Goal::Resumed),
            Word::Full(_) => Some(Goal::Full),
            Word::FreedSlot(_) => Some(Goal::SlotFreed),
            Word::LimitConflict(_) => Some(Goal::LimitConflict),
            Word::LeaderLost | Word::Restarted { .. } | Word::TookSlot(_) => None,
        }
    }

    /// Whoever looks a session up by its name gets the first one there is, a shared session is the first client's, and
    /// random numbers are told apart by who draws them.
    fn are_alike(settings: &Settings, one: ClientId, other: ClientId) -> bool {
        let limits = settings.semaphore.as_ref().is_none_or(|semaphore| semaphore.limit(one) == semaphore.limit(other));
        settings.session == SessionUse::Own && settings.sequencer != Sequencer::Random && limits
    }

    fn begins_read(wish: Wish) -> bool {
        wish == Wish::Look
    }

    fn ends_read(fact: &Word) -> Option<(ClientId, Option<ClientId>)> {
        match fact {
            Word::Discovered { observer, leader } => Some((*observer, *leader)),
            _ => None,
        }
    }

    fn inspect(server: &Server) -> Result<(), String> {
        server.inspect()
    }

    fn scaled(settings: &Settings, factor: i64) -> Settings {
        settings.scaled(factor)
    }

    fn longest(settings: &Settings) -> Ticks {
        settings.longest()
    }

    fn tokens_are_indexes(settings: &Settings) -> bool {
        matches!(settings.sequencer, Sequencer::ModifyIndex | Sequencer::CreateIndex)
    }

    fn room(settings: &Settings) -> usize {
        let limits = settings.semaphore.as_ref().map_or(&[1][..], |semaphore| &semaphore.limits);
        limits.iter().min().map_or(1, |least| usize::from(*least))
    }

    fn validate(scenario: &Scenario<Self>) -> Result<(), Mistake> {
        settings::validate(scenario)
    }

    fn notes(scenario: &Scenario<Self>) -> Vec<Note> {
        settings::notes(scenario)
    }

    fn assumptions(scenario: &Scenario<Self>, list: &mut Declarations<Self>) {
        assumptions::declare(scenario, list);
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
