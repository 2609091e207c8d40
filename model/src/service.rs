//! What makes a lock service: what runs on the other side of the network, with its faults and what operators may do to it.
//! What is only a question about settings is asked of [`Settings`], what is only about a fact of [`Event`].

use std::fmt::Debug;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::assumption::Declarations;
use crate::goal::Goal;
use crate::ids::{ClientId, Tenure, Token};
use crate::list::List;
use crate::mutation::Mutation;
use crate::normal::Normal;
use crate::process::{Client, Context, Outbox, Process, Value};
use crate::scenario::{AxisAlias, Note, Scenario, SettingError};
use crate::service_fault::ServiceFault;
use crate::time::{Instant, Ticks};
use crate::uninhabited::Uninhabited;
use crate::units::Duration;
use crate::world::{Fault, World};

/// A lock service with the recipes that people build on it.
pub trait Service: Copy + Ord + Hash + Debug + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// The names in scenario files (`system = "…"`); the first is that of scenarios built in Rust.
    const SYSTEMS: &'static [&'static str];
    /// Ready-made settings, by the name that a scenario gives as `service.recipe`: what else its `[service]` table says goes
    /// before them.
    const RECIPES: &'static [(&'static str, &'static str)] = &[];
    /// How long a tick of those settings is; none: no tick of theirs is meant.
    const RECIPE_TICK: Option<Duration> = None;
    /// The goals that only its events reach.
    const GOALS: &'static [Goal] = &[];
    /// The faults that can be built into its sources on purpose.
    const MUTATIONS: &'static [Mutation] = &[];
    /// Constants: the `[service]` table of a scenario.
    type Settings: Settings<Self>;
    /// Requests and responses.
    type Message: ServiceMessage;
    /// Names of deadlines.
    type Timer: ServiceTimer;
    /// What a user may ask of a client.
    type Command: ServiceCommand;
    /// What somebody with access to the service may do to it, at once and from outside.
    type OperatorAction: Value + Normal;
    /// What can go wrong in the service itself, each kind with its own budget; what mends it is one of its deadlines, or the
    /// end of the fault.
    type Fault: ServiceFault;
    /// What can become true in this service only.
    type Event: Event;
    /// A participant on this side of the network.
    type Client: Client<Self>;
    /// The server.
    type Server: Process<Self>;

    /// The processes at the start.
    fn start(scenario: &Scenario<Self>) -> (Self::Server, Vec<Self::Client>);

    /// What the service has on record, for record-level properties and for people.
    fn record(server: &Self::Server, scenario: &Scenario<Self>) -> Record;

    /// What an operator may do now.
    fn operator_actions(
        _world: &World<Self>,
        _scenario: &Scenario<Self>,
        _offer: &mut dyn FnMut(Self::OperatorAction),
    ) {
    }

    /// Carries out what an operator does.
    fn operate(
        server: &mut Self::Server,
        action: Self::OperatorAction,
        context: &Context<'_, Self>,
        out: &mut Outbox<Self>,
    );

    /// What may go wrong in the service itself now: only kinds that [`Budget::affords`](crate::scenario::Budget::affords).
    fn faults(_world: &World<Self>, _scenario: &Scenario<Self>, _offer: &mut dyn FnMut(Self::Fault)) {}

    /// Lets a fault of the service happen; its budget has been paid.
    fn apply_fault(world: &mut World<Self>, fault: Self::Fault, context: &Context<'_, Self>, out: &mut Outbox<Self>);

    /// Tells the service of a fault around it: failure detectors notice crashed processes and cut links.
    fn on_environment_fault(_server: &mut Self::Server, _fault: Fault<Self>, _context: &Context<'_, Self>) {}

    /// The instant, on the server's clock, by which the service must have acted; none: it may be late without bound.
    fn server_deadline(_server: &Self::Server, _settings: &Self::Settings) -> Option<Instant> {
        None
    }

    /// Whether the service's own bookkeeping is in order (`session-consistency`).
    ///
    /// # Errors
    /// It is not: a sentence.
    fn inspect(_server: &Self::Server) -> Result<(), String> {
        Ok(())
    }
}

/// The settings of a service and of its recipes: what a scenario keeps constant of them.
pub trait Settings<S: Service>:
    Clone + PartialEq + Debug + Default + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Other names for settings, and settings that stand for several, in `--vary`.
    const ALIASES: &'static [AxisAlias] = &[];

    /// Shows every duration, to be read or changed.
    fn durations(&mut self, visit: &mut dyn FnMut(&mut Ticks));

    /// The longest span of time that a process compares instants over: the longest duration, or what is made of one.
    fn longest(&self) -> Ticks {
        let mut longest = Ticks::ZERO;
        self.clone().durations(&mut |ticks| longest = longest.max(*ticks));
        longest
    }

    /// How many clients may be inside at once: of those who differ, what the most careful one thinks.
    fn capacity(&self) -> usize {
        1
    }

    /// How many may be inside at once at the start, where administrators may change that.
    fn capacity_at_start(&self) -> Option<u16> {
        None
    }

    /// Whether the service treats two clients alike that are in the same state: none is preferred, none has settings of
    /// its own.
    fn are_alike(&self, _one: ClientId, _other: ClientId) -> bool {
        true
    }

    /// Whether tokens are log positions, of which only the order counts.
    fn tokens_are_indexes(&self) -> bool {
        false
    }

    /// What an operator's action costs of `budget.operator`.
    fn operator_cost(&self, _action: S::OperatorAction) -> u8 {
        1
    }

    /// Whether nodes have a failure detector.
    fn has_failure_detector(&self) -> bool {
        false
    }

    /// Whether a client that crashes takes its node along.
    fn crash_takes_node(&self) -> bool {
        false
    }

    /// What a participant is called that is no client: an observer, an administrator, a third party.
    fn role(_scenario: &Scenario<S>, _participant: ClientId) -> Option<String> {
        None
    }

    /// Whether faults of a kind can occur under these settings; the error says what to set.
    ///
    /// # Errors
    /// They cannot.
    fn fault_is_possible(_scenario: &Scenario<S>, _kind: usize) -> Result<(), &'static str> {
        Ok(())
    }

    /// Whether the settings make sense in a scenario.
    ///
    /// # Errors
    /// They do not: the setting, and what to write instead.
    fn validate(scenario: &Scenario<S>) -> Result<(), SettingError>;

    /// Settings that have no effect, because the budget that they need is zero.
    fn notes(_scenario: &Scenario<S>) -> Vec<Note> {
        Vec::new()
    }

    /// Declares the settings that a verdict rests on, and what the model of this service and its recipes leaves out.
    fn assumptions(scenario: &Scenario<S>, list: &mut Declarations<S>);
}

/// A request or a response of a service.
pub trait ServiceMessage: Value + Normal {
    /// The ghost in a message that is a write to what the lock protects.
    fn tenure_of_write(&mut self) -> Option<&mut Tenure> {
        None
    }
}

/// The name of a deadline.
pub trait ServiceTimer: Value + Normal {
    /// What a failure detector must think of a client's node before this deadline of the service can fire.
    fn detector_opinion(self) -> Option<(ClientId, Opinion)> {
        None
    }
}

/// What a user may ask of a client.
pub trait ServiceCommand: Value {
    /// Whether it begins a read of who has the lock.
    fn begins_read(self) -> bool {
        false
    }
}

/// What can become true in one service only.
pub trait Event: Value {
    /// The goal that it reaches.
    fn goal(&self) -> Option<Goal> {
        None
    }

    /// What a read of who has the lock comes to: whose it was, and who has the lock by it.
    fn read_ended(&self) -> Option<(ClientId, Option<ClientId>)> {
        None
    }

    /// What it says about how many slots there are.
    fn administered(&self) -> Option<Administered> {
        None
    }
}

impl ServiceTimer for Uninhabited {}

impl ServiceCommand for Uninhabited {}

impl Event for Uninhabited {}

/// What a failure detector thinks of a node.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Opinion {
    /// It is there.
    Alive,
    /// It was given up.
    Failed,
    /// It was given up so long ago that it no longer counts.
    Forgotten,
}
/// What a service has on record about the lock.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// Who is recorded as having it, or a slot of it. More than one is a breach of `single-owner`.
    pub owners: List<ClientId, 2>,
    /// How many slots there are on record; none for a lock.
    pub slots: Option<u16>,
    /// The token of the present or last tenure.
    pub token: Token,
    /// How often the lock is there for somebody to take, where it is a thing that could be lost, or there twice.
    pub free: Option<u16>,
    /// The numbers of the slots that there are, in order, where they have numbers.
    pub numbers: Option<List<u8, 4>>,
    /// Two who are on record as holding the same slot.
    pub conflict: Option<Conflict>,
}

/// Two who are on record as holding the same slot.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// Which.
    pub slot: u8,
    /// One of them.
    pub first: ClientId,
    /// The other one.
    pub second: ClientId,
}

impl Administered {
    /// How many may be inside from now on, if it says so.
    pub fn limit(self) -> Option<u16> {
        match self {
            Administered::Began { limit } => Some(limit),
            Administered::Finished { size, is_complete: true } => Some(size),
            _ => None,
        }
    }
}

/// What a fact says about how many slots there are.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Administered {
    /// An administrator goes to work; from now on so many may be inside.
    Began {
        /// So many.
        limit: u16,
    },
    /// A slot was added or removed.
    Changed,
    /// An administrator has counted so many slots.
    Counted(u16),
    /// An administrator is done.
    Finished {
        /// How many slots there should be now.
        size: u16,
        /// Whether nobody is to be inside a slot that was removed.
        is_complete: bool,
    },
}
