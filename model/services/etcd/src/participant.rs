//! Who takes part: clients that want the lock, and third parties that run programs and want no lock, as observers of who leads.

use serde::{Deserialize, Serialize};

use super::messages::{Command, Timer};
use super::{Contender, Etcd};
use fencepost_model::ids::ClientId;
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
    Machine(Contender),
    /// It wants the lock, and runs a program.
    Program(Program<Etcd>),
    /// It runs a program, and wants no lock.
    ThirdParty(Program<Etcd>),
}

/// Evaluates the expression for a participant of any kind.
macro_rules! each {
    ($participant:expr, $name:ident => $body:expr) => {
        match $participant {
            Participant::Machine($name) => $body,
            Participant::Program($name) | Participant::ThirdParty($name) => $body,
        }
    };
}

impl Participant {
    /// All participants of a scenario: first those that want the lock.
    pub(super) fn all(scenario: &Scenario<Etcd>) -> Vec<Self> {
        let contender = |client| {
            let machine = || Participant::Machine(Contender::new(client, scenario));
            Program::at_start(scenario, client).map_or_else(machine, Participant::Program)
        };
        let third_party = |client| {
            let program = Program::at_start(scenario, client);
            Participant::ThirdParty(program.expect("it is named by its program"))
        };
        let third_parties = scenario.third_parties(scenario.clients).into_iter().map(third_party);
        (1..=scenario.clients).map(ClientId).map(contender).chain(third_parties).collect()
    }
}

impl Process<Etcd> for Participant {
    fn on(&mut self, input: Input<Etcd>, context: &Context<'_, Etcd>, out: &mut Outbox<Etcd>) {
        each!(self, client => client.on(input, context, out));
    }

    fn wakes(&self, scenario: &Scenario<Etcd>, due: &mut dyn FnMut(Timer, Instant)) {
        each!(self, client => client.wakes(scenario, due));
    }

    fn choices(&self) -> u8 {
        each!(self, client => client.choices())
    }

    fn restarted(&self, scenario: &Scenario<Etcd>) -> Self {
        match self {
            Participant::Machine(machine) => Participant::Machine(machine.restarted(scenario)),
            Participant::Program(program) => Participant::Program(program.restarted(scenario)),
            Participant::ThirdParty(program) => Participant::ThirdParty(program.restarted(scenario)),
        }
    }
}

impl Client<Etcd> for Participant {
    fn commands(&self, context: &Context<'_, Etcd>, offer: &mut dyn FnMut(Command)) {
        match self {
            Participant::Machine(machine) => machine.commands(context, offer),
            Participant::Program(program) => program.commands(context, offer),
            Participant::ThirdParty(program) => program.commands(context, &mut |command| match command {
                Command::Acquire => offer(Command::Look),
                command => offer(command),
            }),
        }
    }

    fn belief(&self) -> Belief {
        match self {
            Participant::Machine(machine) => machine.belief(),
            Participant::Program(program) => program.belief(),
            // What it waits for is no lock.
            Participant::ThirdParty(program) => Belief { is_waiting: false, ..program.belief() },
        }
    }

    fn is_at_work(&self) -> bool {
        each!(self, client => client.is_at_work())
    }

    fn panic(&self) -> Option<String> {
        each!(self, client => Client::panic(client))
    }
}
