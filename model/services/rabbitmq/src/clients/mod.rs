//! The clients of the broker: takers of slots, administrators, and clients that use a message as a lock.

mod administrator;
mod connection;
mod getter;
#[cfg(test)]
mod rules;
mod taker;

use serde::{Deserialize, Serialize};

pub use administrator::Administrator;
pub use getter::Getter;
pub use taker::Taker;

use super::messages::{Command, RabbitmqMessage, Timer};
use super::{MUTEX, RabbitMq, Release};
use fencepost_model::ids::ClientId;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Client, Context, Input, Message, Outbox, Process};
use fencepost_model::program::Program;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Instant;

/// A client of any kind.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Participant {
    /// A client that contends for a slot.
    Taker(Taker),
    /// A client that contends for the message that is a lock.
    Getter(Getter),
    /// An administrator, which changes the number of slots.
    Administrator(Administrator),
    /// A client that runs a program.
    Program(Program<RabbitMq>),
    /// An administrator that runs a program: each of its rounds is an operation.
    AdministratorProgram(Program<RabbitMq>),
}

/// Evaluates the expression for a participant of any kind: one for state machines, one for programs.
macro_rules! each {
    ($participant:expr, $machine:ident => $body:expr, $program:ident => $other:expr) => {
        match $participant {
            Participant::Taker($machine) => $body,
            Participant::Getter($machine) => $body,
            Participant::Administrator($machine) => $body,
            Participant::Program($program) | Participant::AdministratorProgram($program) => $other,
        }
    };
}

impl Participant {
    /// All participants of a scenario: contenders first, then administrators.
    pub(super) fn all(scenario: &Scenario<RabbitMq>) -> Vec<Participant> {
        let client = |place: u16| {
            let id = ClientId::of(place.into());
            if let Some(program) = Program::at_start(scenario, id) {
                return Participant::Program(program);
            }
            if scenario.system == MUTEX {
                Participant::Getter(Getter::new(id, scenario))
            } else {
                Participant::Taker(Taker::new(id, scenario))
            }
        };
        let administrators = (0..).zip(&scenario.service.administration.does).map(|(place, operations)| {
            let id = ClientId::of(usize::from(scenario.clients) + usize::from(place));
            // A program for all clients is for contenders.
            if scenario.programs.iter().any(|program| program.client == Some(id)) {
                let rounds = u8::try_from(operations.len()).unwrap_or(u8::MAX);
                let program = Program::at_start(&Scenario { rounds, ..scenario.clone() }, id);
                return Participant::AdministratorProgram(program.expect("it has one"));
            }
            Participant::Administrator(Administrator::new(id, place, scenario))
        });
        (0..scenario.clients).map(client).chain(administrators).collect()
    }
}

impl Process<RabbitMq> for Participant {
    fn on(&mut self, input: Input<RabbitMq>, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        match (self, input) {
            (Participant::Program(program) | Participant::AdministratorProgram(program), input) => {
                program.on(input, context, out)
            }
            (machine, Input::Message { message: Message::Service(RabbitmqMessage::Response(call, answer)), .. }) => {
                each!(machine, client => client.hear(call, answer, context, out), _program => {});
            }
            (machine, Input::Message { message: Message::Service(RabbitmqMessage::ConnectionClosed(id, _)), .. }) => {
                each!(machine, client => client.lose_connection(id, context, out), _program => {});
            }
            (_, Input::Message { .. }) => {}
            (machine, Input::Command(_) | Input::Wake(_) | Input::Choice(_)) => {
                each!(machine, client => client.act(input, context, out), _program => {});
            }
        }
    }

    fn wakes(&self, scenario: &Scenario<RabbitMq>, due: &mut dyn FnMut(Timer, Instant)) {
        each!(self, client => client.wakes(due), program => program.wakes(scenario, due));
    }

    fn choices(&self) -> u8 {
        match self {
            Participant::Taker(taker) => taker.choices(),
            Participant::Program(program) | Participant::AdministratorProgram(program) => program.choices(),
            Participant::Getter(_) | Participant::Administrator(_) => 0,
        }
    }

    fn restarted(&self, scenario: &Scenario<RabbitMq>) -> Self {
        match self {
            Participant::Taker(taker) => Participant::Taker(taker.restarted()),
            Participant::Getter(getter) => Participant::Getter(getter.restarted()),
            Participant::Administrator(administrator) => Participant::Administrator(administrator.restarted(scenario)),
            Participant::Program(program) => Participant::Program(program.restarted(scenario)),
            Participant::AdministratorProgram(program) => {
                Participant::AdministratorProgram(program.restarted(scenario))
            }
        }
    }
}

impl Client<RabbitMq> for Participant {
    fn commands(&self, context: &Context<'_, RabbitMq>, offer: &mut dyn FnMut(Command)) {
        let settings = &context.scenario.service;
        match self {
            Participant::Taker(taker) => taker.commands(context, offer),
            Participant::Getter(getter) => getter.commands(offer),
            Participant::Administrator(administrator) => administrator.commands(context, offer),
            Participant::Program(program) => program.commands(context, &mut |command| match command {
                Command::Verify if !settings.verifies_when_asked => {}
                Command::Release if settings.release == Release::Never => {}
                command => offer(command),
            }),
            Participant::AdministratorProgram(program) => program.commands(context, &mut |command| match command {
                Command::Acquire => offer(Command::Administer),
                command => offer(command),
            }),
        }
    }

    fn belief(&self) -> Belief {
        match self {
            Participant::Taker(taker) => taker.belief(),
            Participant::Getter(getter) => getter.belief(),
            Participant::Program(program) => program.belief(),
            Participant::Administrator(_) | Participant::AdministratorProgram(_) => Belief::default(),
        }
    }

    fn is_at_work(&self) -> bool {
        match self {
            Participant::Administrator(administrator) => administrator.is_at_work(),
            Participant::AdministratorProgram(program) => program.is_at_work(),
            Participant::Taker(_) | Participant::Getter(_) | Participant::Program(_) => false,
        }
    }

    fn panic(&self) -> Option<String> {
        match self {
            Participant::Program(program) | Participant::AdministratorProgram(program) => Client::panic(program),
            Participant::Taker(_) | Participant::Getter(_) | Participant::Administrator(_) => None,
        }
    }
}
