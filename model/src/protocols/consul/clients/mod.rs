//! The other side of the network: contenders, who want the lock, and observers, who want to know who has it.

mod contender;
mod membership;
mod observer;

use serde::{Deserialize, Serialize};

pub use contender::Contender;
pub use observer::Observer;

use super::{Consul, Request, Text, Timer, Wish};
use crate::ids::{Call, ProcessId};
use crate::process::{Belief, Client, Context, Input, Outbox, Process};
use crate::scenario::Scenario;
use crate::time::Instant;
use crate::world::normal::{Normal, Visitor};

/// A client of either kind.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Participant {
    /// It wants the lock.
    Contender(Contender),
    /// It wants to know who has the lock.
    Observer(Observer),
}

impl Process<Consul> for Participant {
    fn on(&mut self, input: Input<Consul>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match self {
            Participant::Contender(contender) => contender.on(input, context, out),
            Participant::Observer(observer) => observer.on(input, context, out),
        }
    }

    fn wakes(&self, scenario: &Scenario<Consul>, due: &mut dyn FnMut(Timer, Instant)) {
        if let Participant::Contender(contender) = self {
            contender.wakes(scenario, due);
        }
    }

    fn restarted(&self, scenario: &Scenario<Consul>) -> Self {
        match self {
            Participant::Contender(contender) => Participant::Contender(contender.restarted(scenario)),
            Participant::Observer(observer) => Participant::Observer(observer.restarted()),
        }
    }
}

impl Client<Consul> for Participant {
    fn commands(&self, context: &Context<'_, Consul>, offer: &mut dyn FnMut(Wish)) {
        match self {
            Participant::Contender(contender) => contender.commands(context, offer),
            Participant::Observer(observer) => observer.commands(offer),
        }
    }

    fn belief(&self) -> Belief {
        match self {
            Participant::Contender(contender) => contender.belief(),
            Participant::Observer(_) => Belief::default(),
        }
    }
}

impl Normal for Participant {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Participant::Contender(contender) => contender.visit(visitor),
            Participant::Observer(observer) => observer.visit(visitor),
        }
    }
}

/// Sends a request on a new connection and returns its number.
fn ask(last: &mut Call, request: Request, out: &mut Outbox<Consul>) -> Call {
    *last = last.next();
    out.send(ProcessId::Server, Text::Ask(*last, request));
    *last
}
