//! The smallest lock: a server that lends one lease, and clients that stop by themselves when the lease is over.
//!
//! This service is the tutorial, and the test subject of the kernel. Three files make a service: this one has its
//! messages, `server` and `client` are its processes. The server lends the lock for [`Settings::lease`] ticks from the
//! grant on. A client counts from its *request*, so it stops earlier. The scenario decides how late it may stop. `program`
//! has the same client as plain async code, and what such code can ask of the server.

mod client;
mod mutants;
mod program;
mod scenarios;
mod server;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use client::Borrower;
pub use mutants::LeaseMutation;
pub use program::{Lending, Loan};
pub use scenarios::SCENARIOS;
pub use server::Lender;

use fencepost_model::assumption::{Assumption, Class, Declarations};
use fencepost_model::ids::{ClientId, Index, RawId};
use fencepost_model::mutation::Mutation;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::program::{Alarm, Runs};
use fencepost_model::scenario::{OptionalBudget, Scenario, SettingError};
use fencepost_model::service::{self, Record, Service, ServiceCommand, ServiceMessage, ServiceTimer};
use fencepost_model::time::Ticks;
use fencepost_model::uninhabited::Uninhabited;
use fencepost_model::world::World;

/// The service's name as a type.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Lease;

/// The `[service]` table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The duration of a loan, in ticks.
    pub lease: Ticks,
    /// How long the server waits after the end of a loan before it lends again, in ticks.
    pub grace: Ticks,
    /// How long a client waits after a refusal, in ticks.
    pub retry_every: Ticks,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { lease: Ticks::new(2), grace: Ticks::ZERO, retry_every: Ticks::new(1) }
    }
}

/// The messages between clients and server.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaseMessage {
    /// A client requests the lock.
    Borrow,
    /// The server grants the lock. The number distinguishes this loan from all earlier ones.
    Lent(Index),
    /// The server refuses: another client has the lock.
    Busy,
    /// A client returns the lock.
    Return(Index),
}

/// Deadlines.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// The client's lease is over.
    Lapse,
    /// The client asks again.
    Retry,
    /// A deadline of a client's program.
    Program(Alarm),
}

/// The commands of a user.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Take the lock.
    Borrow,
    /// Write to the resource.
    Write,
    /// Return the lock.
    Return,
}

impl Service for Lease {
    const SYSTEMS: &'static [&'static str] = &["lease"];
    const MUTATIONS: &'static [Mutation] = LeaseMutation::MUTATIONS;
    const HAS_PROGRAMS: bool = true;
    const HAS_ENDLESS_ROUNDS: bool = true;
    type Settings = Settings;
    type Message = LeaseMessage;
    type Timer = Timer;
    type Command = Command;
    type OperatorAction = Uninhabited;
    type Fault = Uninhabited;
    type Event = Uninhabited;
    type Client = Runs<Lease, Borrower>;
    type Server = Lender;

    fn start(scenario: &Scenario<Self>) -> (Lender, Vec<Self::Client>) {
        let clients = (1..=scenario.clients).map(ClientId);
        let client = |client| Runs::at_start(scenario, client, || Borrower::new(scenario));
        (Lender::default(), clients.map(client).collect())
    }

    fn record(server: &Lender, _: &Scenario<Self>) -> Record {
        Record { owners: server.owner().into_iter().collect(), token: server.loans().token(), ..Record::default() }
    }

    fn operate(_: &mut Lender, operator_action: Uninhabited, _: &Context<'_, Self>, _: &mut Outbox<Self>) {
        match operator_action {}
    }

    fn apply_fault(_: &mut World<Self>, fault: Uninhabited, _: &Context<'_, Self>, _: &mut Outbox<Self>) {
        match fault {}
    }

    fn notices_pauses(_: &Settings) -> bool {
        false
    }
}

impl service::Settings<Lease> for Settings {
    fn durations(&mut self, visit: &mut dyn FnMut(&mut Ticks)) {
        let Settings { lease, grace, retry_every } = self;
        [lease, grace, retry_every].into_iter().for_each(visit);
    }

    fn tokens_are_indexes(&self) -> bool {
        true
    }

    fn validate(scenario: &Scenario<Lease>) -> Result<(), SettingError> {
        if scenario.service.lease == Ticks::ZERO {
            return Err(SettingError::at("service.lease", "a lease must be at least 1 tick"));
        }
        if scenario.service.retry_every == Ticks::ZERO {
            return Err(SettingError::at(
                "service.retry_every",
                "a retry after 0 ticks would stop time; write at least 1",
            ));
        }
        scenario.validate_programs()?;
        scenario.has_none(&OptionalBudget::ALL)
    }

    fn assumptions(scenario: &Scenario<Lease>, list: &mut Declarations<Lease>) {
        let Settings { lease, grace, .. } = scenario.service;
        let sentence = format!("the server lends the lock for {lease} and then waits for {grace}");
        let length = Assumption::new(Class::Setting, "lease", "service.lease", sentence).of(lease + grace);
        list.declare(length, move |execution| Lender::lends_for(execution, lease + grace));
        let sentence = "the server never fails, and forgets nothing";
        list.leave_out(Assumption::limit("reliable-server", sentence));
    }
}

impl ServiceMessage for LeaseMessage {}

impl ServiceTimer for Timer {}

impl ServiceCommand for Command {}

impl fmt::Display for LeaseMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeaseMessage::Borrow => f.write_str("lend me the lock"),
            LeaseMessage::Lent(loan) => write!(f, "lent, loan {}", loan.raw()),
            LeaseMessage::Busy => f.write_str("refused, another client has it"),
            LeaseMessage::Return(loan) => write!(f, "loan {} is returned", loan.raw()),
        }
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Timer::Lapse => "the lease is over",
            Timer::Retry => "it asks again",
            Timer::Program(alarm) => return alarm.fmt(f),
        })
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Borrow => "take the lock",
            Command::Write => "write",
            Command::Return => "return the lock",
        })
    }
}

/// The client that sent a message. Only clients send messages to the server.
fn client(from: fencepost_model::ids::ProcessId) -> ClientId {
    from.client().expect("only clients send messages to the server")
}
