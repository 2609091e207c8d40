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
use super::{MUTEX, RabbitMq};
use fencepost_model::ids::ClientId;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Client, Context, Input, Message, Outbox, Process};
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
}

/// Evaluates the expression for a participant of any kind.
macro_rules! each {
    ($participant:expr, $name:ident => $body:expr) => {
        match $participant {
            Participant::Taker($name) => $body,
            Participant::Getter($name) => $body,
            Participant::Administrator($name) => $body,
        }
    };
}

impl Participant {
    /// All participants of a scenario: contenders first, then administrators.
    pub(super) fn all(scenario: &Scenario<RabbitMq>) -> Vec<Participant> {
        let client = |place: u16| {
            let id = ClientId::of(place.into());
            if scenario.system == MUTEX {
                Participant::Getter(Getter::new(id, scenario))
            } else {
                Participant::Taker(Taker::new(id, scenario))
            }
        };
        let administrators = (0..).zip(&scenario.service.administration.does).map(|(place, _)| {
            let id = ClientId::of(usize::from(scenario.clients) + usize::from(place));
            Participant::Administrator(Administrator::new(id, place, scenario))
        });
        (0..scenario.clients).map(client).chain(administrators).collect()
    }
}

impl Process<RabbitMq> for Participant {
    fn on(&mut self, input: Input<RabbitMq>, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        match input {
            Input::Message { message: Message::Service(RabbitmqMessage::Response(call, answer)), .. } => {
                each!(self, client => client.hear(call, answer, context, out));
            }
            Input::Message { message: Message::Service(RabbitmqMessage::ConnectionClosed(id, _)), .. } => {
                each!(self, client => client.lose_connection(id, context, out));
            }
            Input::Message { .. } => {}
            Input::Command(_) | Input::Wake(_) | Input::Choice(_) => {
                each!(self, client => client.act(input, context, out))
            }
        }
    }

    fn wakes(&self, _: &Scenario<RabbitMq>, due: &mut dyn FnMut(Timer, Instant)) {
        each!(self, client => client.wakes(due));
    }

    fn choices(&self) -> u8 {
        match self {
            Participant::Taker(taker) => taker.choices(),
            _ => 0,
        }
    }

    fn restarted(&self, scenario: &Scenario<RabbitMq>) -> Self {
        match self {
            Participant::Taker(taker) => Participant::Taker(taker.restarted()),
            Participant::Getter(getter) => Participant::Getter(getter.restarted()),
            Participant::Administrator(administrator) => Participant::Administrator(administrator.restarted(scenario)),
        }
    }
}

impl Client<RabbitMq> for Participant {
    fn commands(&self, context: &Context<'_, RabbitMq>, offer: &mut dyn FnMut(Command)) {
        match self {
            Participant::Taker(taker) => taker.commands(context, offer),
            Participant::Getter(getter) => getter.commands(offer),
            Participant::Administrator(administrator) => administrator.commands(context, offer),
        }
    }

    fn belief(&self) -> Belief {
        match self {
            Participant::Taker(taker) => taker.belief(),
            Participant::Getter(getter) => getter.belief(),
            Participant::Administrator(_) => Belief::default(),
        }
    }

    fn is_at_work(&self) -> bool {
        matches!(self, Participant::Administrator(administrator) if administrator.is_at_work())
    }
}
