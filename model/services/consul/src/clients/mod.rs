//! The clients: contenders for the lock, takers of slots, observers that read the holder, a third party that acts for a
//! holder, and third parties that run programs.

mod contender;
mod membership;
mod monitor;
mod observer;
#[cfg(test)]
mod rules;
mod slots;
mod verifier;

use serde::{Deserialize, Serialize};

pub use contender::Contender;
pub use observer::Observer;
pub use slots::SlotTaker;
pub(super) use slots::record_of_slots;
pub use verifier::Verifier;

use super::{Command, Consul, ConsulMessage, Request, Timer};
use fencepost_model::ids::{Call, ClientId, ProcessId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Client, Context, Input, Outbox, Process};
use fencepost_model::program::Program;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Instant;

/// A client of any kind.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Participant {
    /// It wants the lock.
    Contender(Contender),
    /// It reads the key to find the holder.
    Observer(Observer),
    /// It contends for a slot of the semaphore.
    SlotTaker(SlotTaker),
    /// It acts on behalf of the current holder.
    Verifier(Verifier),
    /// It runs a program.
    Program(Program<Consul>),
    /// It runs a program, and wants no lock: a janitor, an administrator, a health checker.
    ThirdParty(Program<Consul>),
}

/// Evaluates the expression for a participant of any kind.
macro_rules! each {
    ($participant:expr, $name:ident => $body:expr) => {
        match $participant {
            Participant::Contender($name) => $body,
            Participant::Observer($name) => $body,
            Participant::SlotTaker($name) => $body,
            Participant::Verifier($name) => $body,
            Participant::Program($name) | Participant::ThirdParty($name) => $body,
        }
    };
}

impl Participant {
    /// All participants of a scenario: contenders, then observers, then the third party of holders, then those that run programs.
    pub(super) fn all(scenario: &Scenario<Consul>, shared: Option<SessionId>) -> Vec<Participant> {
        let settings = &scenario.service;
        let machine = || match settings.semaphore {
            None => Participant::Contender(Contender::new(scenario, shared)),
            Some(_) => Participant::SlotTaker(SlotTaker::new(scenario)),
        };
        let contender = |client| Program::at_start(scenario, client).map_or_else(machine, Participant::Program);
        let contenders = (1..=scenario.clients).map(ClientId).map(contender);
        let observers = (0..settings.observers).map(|_| Participant::Observer(Observer::new(scenario.rounds)));
        let verifier = settings.delegates.then(|| Participant::Verifier(Verifier::default()));
        let third_parties = scenario.third_parties(others(scenario)).into_iter().map(|client| {
            let program = Program::at_start(scenario, client);
            Participant::ThirdParty(program.expect("it is named by its program"))
        });
        contenders.chain(observers).chain(verifier).chain(third_parties).collect()
    }
}

/// The number of participants that are no third parties with programs.
pub(super) fn others(scenario: &Scenario<Consul>) -> u16 {
    let settings = &scenario.service;
    scenario.clients + u16::from(settings.observers) + u16::from(settings.delegates)
}

/// The participants that have a node: contenders, and third parties that run programs.
pub fn with_nodes(scenario: &Scenario<Consul>) -> impl Iterator<Item = ClientId> {
    (1..=scenario.clients).map(ClientId).chain(scenario.third_parties(others(scenario)))
}

/// The third party of a scenario in which holders delegate.
fn third_party(scenario: &Scenario<Consul>) -> ClientId {
    ClientId(scenario.clients + u16::from(scenario.service.observers) + 1)
}

impl Process<Consul> for Participant {
    fn on(&mut self, input: Input<Consul>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        each!(self, client => client.on(input, context, out));
    }

    fn wakes(&self, scenario: &Scenario<Consul>, due: &mut dyn FnMut(Timer, Instant)) {
        match self {
            Participant::Contender(contender) => contender.wakes(scenario, due),
            Participant::SlotTaker(taker) => taker.wakes(scenario, due),
            Participant::Program(program) | Participant::ThirdParty(program) => program.wakes(scenario, due),
            Participant::Observer(_) | Participant::Verifier(_) => {}
        }
    }

    fn choices(&self) -> u8 {
        match self {
            Participant::Contender(contender) => contender.choices(),
            Participant::Program(program) | Participant::ThirdParty(program) => program.choices(),
            _ => 0,
        }
    }

    fn restarted(&self, scenario: &Scenario<Consul>) -> Self {
        match self {
            Participant::Contender(contender) => Participant::Contender(contender.restarted(scenario)),
            Participant::Observer(observer) => Participant::Observer(observer.restarted()),
            Participant::SlotTaker(taker) => Participant::SlotTaker(taker.restarted(scenario)),
            Participant::Verifier(verifier) => Participant::Verifier(verifier.restarted()),
            Participant::Program(program) => Participant::Program(program.restarted(scenario)),
            Participant::ThirdParty(program) => Participant::ThirdParty(program.restarted(scenario)),
        }
    }
}

impl Client<Consul> for Participant {
    fn commands(&self, context: &Context<'_, Consul>, offer: &mut dyn FnMut(Command)) {
        match self {
            Participant::Contender(contender) => contender.commands(context, offer),
            Participant::Observer(observer) => observer.commands(offer),
            Participant::SlotTaker(taker) => taker.commands(context, offer),
            Participant::Program(program) => program.commands(context, offer),
            Participant::ThirdParty(program) => program.commands(context, &mut |command| match command {
                Command::Acquire => offer(Command::Work),
                command => offer(command),
            }),
            Participant::Verifier(_) => {}
        }
    }

    fn belief(&self) -> Belief {
        match self {
            Participant::Contender(contender) => contender.belief(),
            Participant::SlotTaker(taker) => taker.belief(),
            Participant::Program(program) => program.belief(),
            // Its work is no wait for a lock.
            Participant::ThirdParty(program) => Belief { is_waiting: false, ..program.belief() },
            Participant::Observer(_) | Participant::Verifier(_) => Belief::default(),
        }
    }

    fn panic(&self) -> Option<String> {
        match self {
            Participant::Program(program) | Participant::ThirdParty(program) => program.panic(),
            _ => None,
        }
    }
}

/// Sends a request on a new connection and returns its number.
fn ask(last: &mut Call, request: Request, out: &mut Outbox<Consul>) -> Call {
    *last = last.next();
    out.send(ProcessId::Server, ConsulMessage::Request(*last, request));
    *last
}
