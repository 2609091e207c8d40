//! The interface of a lock service: the server behind the network, its faults, and operator actions. [`Settings`]
//! answers questions about settings only, [`Event`] questions about a fact only.

use std::fmt::Debug;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::assumption::Declarations;
use crate::goal::Goal;
use crate::held::Held;
use crate::ids::{Call, ClientId, Tenure, Token};
use crate::inline_vec::InlineVec;
use crate::mutation::Mutation;
use crate::normal::Normal;
use crate::process::{Client, Context, Outbox, Process, Value};
use crate::scenario::{AxisAlias, Note, Scenario, SettingError};
use crate::service_fault::ServiceFault;
use crate::time::{Instant, Ticks};
use crate::uninhabited::Uninhabited;
use crate::units::Duration;
use crate::world::{Fault, World};

/// A lock service with its recipes.
pub trait Service: Copy + Ord + Hash + Debug + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// The names in scenario files (`system = "…"`). Scenarios built in Rust use the first.
    const SYSTEMS: &'static [&'static str];
    /// Ready-made settings, by the name in `service.recipe`. Other settings of the scenario's `[service]` table take
    /// precedence.
    const RECIPES: &'static [(&'static str, &'static str)] = &[];
    /// How long a tick of those settings is; none: no tick of theirs is meant.
    const RECIPE_TICK: Option<Duration> = None;
    /// The goals that only its events reach.
    const GOALS: &'static [Goal] = &[];
    /// The mutations of its sources.
    const MUTATIONS: &'static [Mutation] = &[];
    /// Whether its clients can run programs; its settings validate those then.
    const HAS_PROGRAMS: bool = false;
    /// Whether its clients take rounds by [`rounds::take`](crate::rounds::take) and count nothing else, so that there may be rounds without end.
    const HAS_ENDLESS_ROUNDS: bool = false;
    /// Constants: the `[service]` table of a scenario.
    type Settings: Settings<Self>;
    /// Requests and responses.
    type Message: ServiceMessage;
    /// The names of deadlines.
    type Timer: ServiceTimer;
    /// A user's command to a client.
    type Command: ServiceCommand;
    /// An operator action: a change of the service from outside, without delay.
    type OperatorAction: Value + Normal;
    /// A fault of the service. Each kind has its own budget. One of the service's deadlines repairs it, or a fault
    /// value that ends it.
    type Fault: ServiceFault;
    /// An event that only this service has.
    type Event: Event;
    /// A participant on the clients' side of the network.
    type Client: Client<Self>;
    /// The server.
    type Server: Process<Self>;

    /// The processes at the start.
    fn start(scenario: &Scenario<Self>) -> (Self::Server, Vec<Self::Client>);

    /// The record of the service, for record-level properties and for people.
    fn record(server: &Self::Server, scenario: &Scenario<Self>) -> Record;

    /// The operator actions that are possible now.
    fn operator_actions(
        _world: &World<Self>,
        _scenario: &Scenario<Self>,
        _offer: &mut dyn FnMut(Self::OperatorAction),
    ) {
    }

    /// Carries out an operator action.
    fn operate(
        server: &mut Self::Server,
        action: Self::OperatorAction,
        context: &Context<'_, Self>,
        out: &mut Outbox<Self>,
    );

    /// The faults of the service that are possible now: only kinds that
    /// [`Budget::affords`](crate::scenario::Budget::affords).
    fn faults(_world: &World<Self>, _scenario: &Scenario<Self>, _offer: &mut dyn FnMut(Self::Fault)) {}

    /// Carries out a fault of the service. Its cost has already been taken from the budget.
    fn apply_fault(world: &mut World<Self>, fault: Self::Fault, context: &Context<'_, Self>, out: &mut Outbox<Self>);

    /// Notifies the service of a fault in its environment: failure detectors notice crashed processes and cut links.
    fn on_environment_fault(_server: &mut Self::Server, _fault: Fault<Self>, _context: &Context<'_, Self>) {}

    /// The instant, on the server's clock, by which the service must act; none: its delay is unbounded.
    fn server_deadline(_server: &Self::Server, _settings: &Self::Settings) -> Option<Instant> {
        None
    }

    /// Whether the server does nothing with a message but answer it, at once, on the same call and without a fact: now and
    /// whenever it arrives, as long as no fault of the service occurs. A search asks this of a request whose answer no client
    /// awaits. A read is one, and a renewal of a session that has ended.
    fn only_answers(_server: &Self::Server, _message: &Self::Message) -> bool {
        false
    }

    /// Whether clients send nothing to each other, and no process but a fault of the service sends a client anything but answers,
    /// each on a call of that client that the request showed. A search with partial orders relies on it; by default there is none.
    fn sends_only_answers(_settings: &Self::Settings) -> bool {
        false
    }

    /// Whether the service may notice that a process is paused or goes on: whether [`Service::on_environment_fault`] does
    /// something then. Where it does not, a search with partial orders explores fewer pauses; by default it may.
    fn notices_pauses(_settings: &Self::Settings) -> bool {
        true
    }

    /// Checks the service's internal consistency (`session-consistency`).
    ///
    /// # Errors
    /// A sentence that names the inconsistency.
    fn inspect(_server: &Self::Server) -> Result<(), String> {
        Ok(())
    }
}

/// The settings of a service and of its recipes: the service's part of a scenario.
pub trait Settings<S: Service>:
    Clone + PartialEq + Debug + Default + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Other names for settings, and names for several settings, for `--vary`.
    const ALIASES: &'static [AxisAlias] = &[];

    /// Visits every duration, for reading or for change.
    fn durations(&mut self, visit: &mut dyn FnMut(&mut Ticks));

    /// The longest span over which a process compares instants, in ticks: the longest duration, or a sum of durations.
    fn longest(&self) -> Ticks {
        let mut longest = Ticks::ZERO;
        self.clone().durations(&mut |ticks| longest = longest.max(*ticks));
        longest
    }

    /// The limit of clients inside. If clients have different limits, it is the largest.
    fn capacity(&self) -> usize {
        1
    }

    /// The limit at the start, if administrators may change it.
    fn capacity_at_start(&self) -> Option<u16> {
        None
    }

    /// Whether the service treats two clients in the same state alike: it prefers neither, and neither has its own
    /// settings.
    fn are_alike(&self, _one: ClientId, _other: ClientId) -> bool {
        true
    }

    /// Whether tokens are log positions, of which only the order counts.
    fn tokens_are_indexes(&self) -> bool {
        false
    }

    /// The cost of an operator action, from `budget.operator`.
    fn operator_cost(&self, _action: S::OperatorAction) -> u8 {
        1
    }

    /// Whether nodes have a failure detector.
    fn has_failure_detector(&self) -> bool {
        false
    }

    /// Whether the crash of a client takes its node down, too.
    fn crash_takes_node(&self) -> bool {
        false
    }

    /// What the clients contend for. Stories say *lock* or *slot* accordingly.
    fn held(scenario: &Scenario<S>) -> Held {
        if scenario.service.capacity() == 1 { Held::Lock } else { Held::Slot }
    }

    /// The name of the server in stories, with its article. With a message: the node that receives or sends it, and the client at the
    /// other end.
    fn server_name(_scenario: &Scenario<S>, _message: Option<(ClientId, &S::Message)>) -> String {
        "the server".to_owned()
    }

    /// The name of a participant that is no contender: an observer, an administrator, a third party.
    fn role(_scenario: &Scenario<S>, _participant: ClientId) -> Option<String> {
        None
    }

    /// Whether faults of a kind can occur under these settings.
    ///
    /// # Errors
    /// They cannot. The message says what to set.
    fn fault_is_possible(_scenario: &Scenario<S>, _kind: usize) -> Result<(), &'static str> {
        Ok(())
    }

    /// Checks the settings of a scenario.
    ///
    /// # Errors
    /// A wrong setting, and what to write instead.
    fn validate(scenario: &Scenario<S>) -> Result<(), SettingError>;

    /// Settings without effect, because the budget that they need is 0.
    fn notes(_scenario: &Scenario<S>) -> Vec<Note> {
        Vec::new()
    }

    /// Declares the settings that verdicts depend on, and the limits of the model of this service and its recipes.
    fn assumptions(scenario: &Scenario<S>, list: &mut Declarations<S>);
}

/// A request or a response of a service.
pub trait ServiceMessage: Value + Normal {
    /// The number by which a response names its request; none: messages have no number.
    fn call(&self) -> Option<Call> {
        None
    }

    /// The message in stories, where sender and receiver are named beside it.
    fn sentence(&self) -> String {
        self.to_string()
    }

    /// The ghost in a message that is a write to the protected resource.
    fn tenure_of_write(&mut self) -> Option<&mut Tenure> {
        None
    }
}

/// The name of a deadline.
pub trait ServiceTimer: Value + Normal {
    /// Whether its label names the node whose deadline it is. Stories do not name the server beside it then.
    fn names_its_node(self) -> bool {
        false
    }

    /// The opinion that the failure detector must have of a client's node before this deadline of the service can fire.
    fn detector_opinion(self) -> Option<(ClientId, Opinion)> {
        None
    }
}

/// A user's command to a client.
pub trait ServiceCommand: Value {
    /// The command in stories, without a subject: `take the lock`, `take a slot`.
    fn sentence(self, _held: Held) -> String {
        self.to_string()
    }

    /// Whether it begins a read of the lock's holder.
    fn begins_read(self) -> bool {
        false
    }
}

/// An event that only one service has.
pub trait Event: Value {
    /// The event as a sentence of a story.
    fn sentence(&self, _held: Held) -> String {
        self.to_string()
    }

    /// The goal that it reaches.
    fn goal(&self) -> Option<Goal> {
        None
    }

    /// The end of a read of the lock's holder: the reading client, and the holder that it read.
    fn read_ended(&self) -> Option<(ClientId, Option<ClientId>)> {
        None
    }

    /// The change of the number of slots that it reports.
    fn administered(&self) -> Option<Administered> {
        None
    }
}

impl ServiceTimer for Uninhabited {}

impl ServiceCommand for Uninhabited {}

impl Event for Uninhabited {}

/// The opinion of a failure detector about a node.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Opinion {
    /// The node is alive.
    Alive,
    /// The node was declared failed.
    Failed,
    /// The node was declared failed so long ago that it was removed.
    Forgotten,
}
/// The record of a service about the lock.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// The owners of the lock, or of its slots. More than one owner of a lock is a violation of `single-owner`.
    pub owners: InlineVec<ClientId, 2>,
    /// The number of slots on record; none for a lock.
    pub slots: Option<u16>,
    /// The token of the current tenure, or of the last one.
    pub token: Token,
    /// The number of free permits, if a permit is an object that can be lost or duplicated.
    pub free: Option<u16>,
    /// The numbers of the existing slots, in order, if slots have numbers.
    pub numbers: Option<InlineVec<u8, 4>>,
    /// Two clients that are on record as holders of the same slot.
    pub conflict: Option<Conflict>,
}

/// Two clients that are on record as holders of the same slot.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The number of the slot.
    pub slot: u8,
    /// The first holder.
    pub first: ClientId,
    /// The second holder.
    pub second: ClientId,
}

impl Administered {
    /// The new limit, if the fact sets one.
    pub fn limit(self) -> Option<u16> {
        match self {
            Administered::Began { limit } => Some(limit),
            Administered::Finished { size, is_complete: true } => Some(size),
            _ => None,
        }
    }
}

/// A fact about the number of slots.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Administered {
    /// An administrator begins its work and sets the limit.
    Began {
        /// The limit, in clients.
        limit: u16,
    },
    /// A slot was added or removed.
    Changed,
    /// An administrator has counted the slots.
    Counted(u16),
    /// An administrator has finished.
    Finished {
        /// The requested number of slots.
        size: u16,
        /// Whether no client may be inside a removed slot.
        is_complete: bool,
    },
}
