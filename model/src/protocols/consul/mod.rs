//! Consul, the part a lock needs: sessions, the key/value store with acquire and release, TTLs and lock-delay, as Consul
//! 1.8.7 has them; and on the other side of the network a lock recipe with knobs, and an observer.
//!
//! Rules are cited by number (C-…) and stand in `model/rules/consul.md`.

mod clients;
mod messages;
mod operator;
mod server;
mod settings;

use serde::{Deserialize, Serialize};

pub use clients::{Contender, Observer, Participant};
pub use messages::{Answer, Claim, Entry, Key, LOCK, Opaque, Request, Terms, Text, Timer, Wish};
pub use operator::Act;
pub use server::Server;
pub use settings::{Behavior, Belief, OperatorAct, Release, Sequencer, SessionUse, Settings, Writes};

use crate::ids::Token;
use crate::process::{Context, Outbox};
use crate::protocol::{Protocol, Record};
use crate::scenario::{Mistake, Scenario};
use crate::time::Ticks;
use crate::world::World;

/// The protocol's name as a type.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Consul;

impl Protocol for Consul {
    const SYSTEMS: &'static [&'static str] = &["consul-lock"];
    type Config = Settings;
    type Message = Text;
    type Timer = Timer;
    type Command = Wish;
    type Operator = Act;
    type Fault = crate::protocols::lease::Never;
    type Fact = messages::Word;
    type Client = Participant;
    type Server = Server;

    fn start(scenario: &Scenario<Self>) -> (Server, Vec<Participant>) {
        let (server, shared) = Server::at_start(scenario);
        let contenders = (0..scenario.clients).map(|_| Participant::Contender(Contender::new(scenario, shared)));
        let observers = (0..scenario.service.observers).map(|_| Participant::Observer(Observer::new(scenario.rounds)));
        (server, contenders.chain(observers).collect())
    }

    fn record(server: &Server, scenario: &Scenario<Self>) -> Record {
        let Some(entry) = server.entry(LOCK) else { return Record::default() };
        let owners = entry.session.map(|session| session.creator).into_iter().collect();
        Record { owners, token: scenario.service.token(&entry), ..Record::default() }
    }

    fn operators(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(Act)) {
        operator::offers(world, scenario, offer);
    }

    fn operate(server: &mut Server, act: Act, context: &Context<'_, Self>, out: &mut Outbox<Self>) {
        operator::perform(server, act, context, out);
    }

    fn strike(_: &mut World<Self>, fault: crate::protocols::lease::Never, _: &Context<'_, Self>, _: &mut Outbox<Self>) {
        match fault {}
    }

    fn reaches(fact: &messages::Word) -> Option<crate::goal::Goal> {
        match fact {
            messages::Word::Discovered { .. } => Some(crate::goal::Goal::Discovered),
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

    fn validate(scenario: &Scenario<Self>) -> Result<(), Mistake> {
        settings::validate(scenario)
    }

    fn assumptions(settings: &Settings) -> Vec<String> {
        settings.assumptions()
    }
}

impl Settings {
    /// The token that a tenure recorded in this entry has.
    pub fn token(&self, entry: &Entry) -> Token {
        match self.sequencer {
            Sequencer::None => Token(0),
            Sequencer::LockIndex => Token(entry.lock_index),
            Sequencer::ModifyIndex => Token(entry.modify.0),
            Sequencer::CreateIndex => Token(entry.create.0),
        }
    }
}
