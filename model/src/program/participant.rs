//! A client that is a state machine of its service, or runs a program.

use serde::{Deserialize, Serialize};

use super::{Program, Programmable};
use crate::ids::ClientId;
use crate::normal::{Normal, Visitor};
use crate::process::{Belief, Client, Context, Input, Outbox, Process};
use crate::scenario::Scenario;
use crate::time::Instant;

/// A client of either form: the [`Service::Client`](crate::service::Service::Client) of a service that has programs.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub enum Runs<S: Programmable, M: Client<S>> {
    /// A state machine of the service.
    Machine(M),
    /// A program.
    Program(Program<S>),
}

impl<S: Programmable, M: Client<S>> Runs<S, M> {
    /// The client's program, if the scenario has one for it; else the state machine.
    pub fn at_start(scenario: &Scenario<S>, client: ClientId, machine: impl FnOnce() -> M) -> Self {
        Program::at_start(scenario, client).map_or_else(|| Runs::Machine(machine()), Runs::Program)
    }
}

impl<S: Programmable, M: Client<S>> Normal for Runs<S, M> {
    #[inline]
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Runs::Machine(machine) => machine.visit(visitor),
            Runs::Program(program) => program.visit(visitor),
        }
    }

    #[inline]
    fn settle(&mut self, oldest: Instant) {
        if let Runs::Machine(machine) = self {
            machine.settle(oldest);
        }
    }

    #[inline]
    fn sort(&mut self) {
        if let Runs::Machine(machine) = self {
            machine.sort();
        }
    }
}

impl<S: Programmable, M: Client<S>> Process<S> for Runs<S, M> {
    fn on(&mut self, input: Input<S>, context: &Context<'_, S>, out: &mut Outbox<S>) {
        match self {
            Runs::Machine(machine) => machine.on(input, context, out),
            Runs::Program(program) => program.on(input, context, out),
        }
    }

    fn wakes(&self, scenario: &Scenario<S>, due: &mut dyn FnMut(S::Timer, Instant)) {
        match self {
            Runs::Machine(machine) => machine.wakes(scenario, due),
            Runs::Program(program) => program.wakes(scenario, due),
        }
    }

    fn choices(&self) -> u8 {
        match self {
            Runs::Machine(machine) => machine.choices(),
            Runs::Program(program) => program.choices(),
        }
    }

    fn restarted(&self, scenario: &Scenario<S>) -> Self {
        match self {
            Runs::Machine(machine) => Runs::Machine(machine.restarted(scenario)),
            Runs::Program(program) => Runs::Program(program.restarted(scenario)),
        }
    }
}

impl<S: Programmable, M: Client<S>> Client<S> for Runs<S, M> {
    fn commands(&self, context: &Context<'_, S>, offer: &mut dyn FnMut(S::Command)) {
        match self {
            Runs::Machine(machine) => machine.commands(context, offer),
            Runs::Program(program) => program.commands(context, offer),
        }
    }

    fn belief(&self) -> Belief {
        match self {
            Runs::Machine(machine) => machine.belief(),
            Runs::Program(program) => program.belief(),
        }
    }

    fn is_at_work(&self) -> bool {
        match self {
            Runs::Machine(machine) => machine.is_at_work(),
            Runs::Program(program) => program.is_at_work(),
        }
    }

    fn panic(&self) -> Option<String> {
        match self {
            Runs::Machine(machine) => machine.panic(),
            Runs::Program(program) => Client::panic(program),
        }
    }
}
