//! What a promise about endless executions is open for, and in which states.

use fencepost_model::goal::Reached;
use fencepost_model::ids::ClientId;
use fencepost_model::mutation::{CheckerMutation, KernelMutation};
use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::World;

/// The most clients: each has a bit of its own.
pub(crate) const CLIENTS_MAX: u16 = 29;

/// Some item of the work queue is not handled.
const UNHANDLED: u32 = 1 << 30;

/// As many are inside as may be.
const FULL: u32 = 1 << 31;

/// The bit of a client; participants that are no contenders share the last one.
pub(crate) fn bit(client: ClientId) -> u32 {
    1 << client.place().min(usize::from(CLIENTS_MAX))
}

/// The clients that a step lets enter, each with its bit.
pub(crate) fn entered(reached: Reached) -> u32 {
    reached.entered() & (UNHANDLED - 1)
}

/// What matters of a state: the clients that wait, whether there is room, and whether items are left.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct OpenFacts(u32);

impl OpenFacts {
    pub(crate) fn of<P: Service>(scenario: &Scenario<P>, world: &World<P>) -> Self {
        let waiting = world.waiting().fold(0, |bits, client| bits | bit(client));
        let has_room = world.has_room(scenario) || scenario.is_mutated(CheckerMutation::RoomUncounted);
        let full = if has_room { 0 } else { FULL };
        let unhandled = if world.unhandled(scenario).is_empty() { 0 } else { UNHANDLED };
        OpenFacts(waiting | full | unhandled)
    }

    fn waiting(self) -> u32 {
        self.0 & !(FULL | UNHANDLED)
    }
}

/// One thing that has to happen eventually.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Obligation {
    /// Some client enters, where one waits and there is room.
    AnyClient,
    /// This client enters, where it waits.
    Client(ClientId),
    /// Each item of the work queue is handled.
    Items,
}

impl Obligation {
    /// Those of a promise, one after the other.
    pub(crate) fn of<P: Service>(scenario: &Scenario<P>, property: Property) -> Vec<Self> {
        match property {
            Property::EventuallyAcquired => vec![Obligation::AnyClient],
            Property::EveryItemHandled => vec![Obligation::Items],
            _ if scenario.is_mutated(KernelMutation::ProgressOfOneClient) => vec![Obligation::Client(ClientId(1))],
            _ => (0..usize::from(scenario.clients)).map(|place| Obligation::Client(ClientId::of(place))).collect(),
        }
    }

    /// The client, if it is about one.
    pub(crate) fn client(self) -> Option<ClientId> {
        if let Obligation::Client(client) = self { Some(client) } else { None }
    }

    /// Whether it is open in a state.
    pub(crate) fn is_open(self, state: OpenFacts) -> bool {
        match self {
            Obligation::AnyClient => state.0 & FULL == 0 && state.waiting() != 0,
            Obligation::Client(client) => state.0 & bit(client) != 0,
            Obligation::Items => state.0 & UNHANDLED != 0,
        }
    }

    /// Whether it stays open by a step in which these clients enter, as bits, from an open state to an open one.
    pub(crate) fn stays_open(self, enters: u32) -> bool {
        match self {
            Obligation::AnyClient => enters == 0,
            Obligation::Client(client) => enters & bit(client) == 0,
            Obligation::Items => true,
        }
    }

    /// The clients that wait for it, in order.
    pub(crate) fn waiting<P: Service>(self, scenario: &Scenario<P>, state: OpenFacts) -> Vec<ClientId> {
        let all = (0..usize::from(scenario.clients)).map(ClientId::of);
        match self {
            Obligation::AnyClient => all.filter(|client| state.waiting() & bit(*client) != 0).collect(),
            Obligation::Client(client) => vec![client],
            Obligation::Items => Vec::new(),
        }
    }
}
