//! One lock on several nodes, without a consensus protocol between them.
//!
//! | System | Recipe | Hazard |
//! |---|---|---|
//! | `redlock` | independent nodes that keep a key for a lease; a client with a majority of them has the lock | B-44 |
//! | `copied-lock` | a leader grants the lock and replicates it to the other nodes, before or after the grant | B-45 |
//!
//! A client's attempt asks each node once. A failed attempt ends, and the client tries again later.

mod assumed;
mod assumptions;
mod locker;
mod messages;
mod mistakes;
mod mutants;
mod nodes;
mod program;
mod scenarios;
mod settings;

use serde::{Deserialize, Serialize};

pub use locker::Locker;
pub use messages::{Command, LockValue, RedlockFault, RedlockMessage, Timer};
pub use mistakes::MISTAKES;
pub use mutants::RedlockMutation;
pub use nodes::Nodes;
pub use program::{Locking, RedlockPage, Retry, register_programs};
pub use scenarios::SCENARIOS;
pub use settings::{Grants, Settings, Validity};

use messages::shown;

use fencepost_model::ids::ClientId;
use fencepost_model::mutation::Mutation;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::program::Runs;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Record, Service, ServiceCommand, ServiceMessage, ServiceTimer};
use fencepost_model::uninhabited::Uninhabited;
use fencepost_model::world::World;

/// The service's name as a type.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Redlock;

const COPIED: &str = "copied-lock";

impl Service for Redlock {
    const SYSTEMS: &'static [&'static str] = &["redlock", COPIED];
    const MUTATIONS: &'static [Mutation] = RedlockMutation::MUTATIONS;
    const HAS_PROGRAMS: bool = true;
    const HAS_ENDLESS_ROUNDS: bool = true;
    type Settings = Settings;
    type Message = RedlockMessage;
    type Timer = Timer;
    type Command = Command;
    type OperatorAction = Uninhabited;
    type Fault = RedlockFault;
    type Event = Uninhabited;
    type Client = Runs<Redlock, Locker>;
    type Server = Nodes;

    fn start(scenario: &Scenario<Self>) -> (Nodes, Vec<Self::Client>) {
        let client = |client| Runs::at_start(scenario, client, || Locker::new(client, scenario));
        (Nodes::new(scenario), (1..=scenario.clients).map(ClientId).map(client).collect())
    }

    fn record(nodes: &Nodes, _: &Scenario<Self>) -> Record {
        nodes.record()
    }

    fn operate(_: &mut Nodes, operator_action: Uninhabited, _: &Context<'_, Self>, _: &mut Outbox<Self>) {
        match operator_action {}
    }

    fn faults(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(RedlockFault)) {
        Nodes::offer_faults(world, scenario, offer);
    }

    fn apply_fault(world: &mut World<Self>, fault: RedlockFault, context: &Context<'_, Self>, _: &mut Outbox<Self>) {
        Nodes::suffer(world, fault, context);
    }

    fn notices_pauses(_: &Settings) -> bool {
        false
    }
}

impl ServiceMessage for RedlockMessage {
    /// Without the node, which stands before it.
    fn sentence(&self) -> String {
        match self {
            RedlockMessage::Lock(_, value) => format!("lock with {}", shown(*value)),
            RedlockMessage::Unlock(_, value) => format!("unlock, if it is locked with {}", shown(*value)),
            RedlockMessage::Locked(_, value) => format!("locked with {}", shown(*value)),
            RedlockMessage::Held(_, value) => format!("locked with another value than {}", shown(*value)),
        }
    }
}

impl ServiceTimer for Timer {
    fn names_its_node(self) -> bool {
        matches!(self, Timer::Copy(_))
    }
}

impl ServiceCommand for Command {}
