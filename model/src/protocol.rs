//! What makes a lock service: its own words, its server, its clients, and what it has on record.

use std::fmt::Debug;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::assumption::Declarations;
use crate::goal::Goal;
use crate::ids::{ClientId, Tenure, Token};
use crate::list::List;
use crate::mutation::Mutation;
use crate::process::{Client, Context, Outbox, Process, Word};
use crate::scenario::{Mistake, Note, Scenario};
use crate::service_fault::ServiceFault;
use crate::time::{Instant, Ticks};
use crate::world::normal::Normal;
use crate::world::{Fault, World};

/// A lock service with the recipes that people build on it.
pub trait Protocol: Copy + Ord + Hash + Debug + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// The names in scenario files (`system = "…"`); the first is that of scenarios built in Rust.
    const SYSTEMS: &'static [&'static str];
    /// Ready-made settings, by the name that a scenario gives as `service.recipe`: what else its `[service]` table says goes
    /// before them.
    const RECIPES: &'static [(&'static str, &'static str)] = &[];
    /// The faults that can be built into its sources on purpose.
    const MUTATIONS: &'static [Mutation] = &[];
    /// Constants: the `[service]` table of a scenario.
    type Config: Clone + PartialEq + Debug + Default + Serialize + DeserializeOwned + Send + Sync;
    /// What clients and server say to each other.
    type Message: Word + Normal;
    /// Names of deadlines.
    type Timer: Word + Normal;
    /// What a user may ask of a client.
    type Command: Word;
    /// What somebody with access to the service may do to it, at once and from outside.
    type Operator: Word + Normal;
    /// What can go wrong in the service itself, each kind with its own budget; what mends it is one of its deadlines, or the
    /// end of the fault.
    type Fault: ServiceFault;
    /// What can become true in this service only.
    type Fact: Word;
    /// A participant on this side of the network.
    type Client: Client<Self>;
    /// The service.
    type Server: Process<Self>;

    /// The processes at the start.
    fn start(scenario: &Scenario<Self>) -> (Self::Server, Vec<Self::Client>);

    /// What the service has on record, for record-level properties and for people.
    fn record(server: &Self::Server, scenario: &Scenario<Self>) -> Record;

    /// What an operator may do now.
    fn operators(_world: &World<Self>, _scenario: &Scenario<Self>, _offer: &mut dyn FnMut(Self::Operator)) {}

    /// Does it.
    fn operate(server: &mut Self::Server, act: Self::Operator, context: &Context<'_, Self>, out: &mut Outbox<Self>);

    /// What the act costs of `budget.operator`.
    fn cost(_act: Self::Operator, _config: &Self::Config) -> u8 {
        1
    }

    /// What may go wrong in the service itself now: only kinds that [`Budget::affords`](crate::scenario::Budget::affords).
    fn faults(_world: &World<Self>, _scenario: &Scenario<Self>, _offer: &mut dyn FnMut(Self::Fault)) {}

    /// Whether faults of a kind can occur under these settings; the error says what to set.
    ///
    /// # Errors
    /// They cannot.
    fn fault_is_possible(_scenario: &Scenario<Self>, _kind: usize) -> Result<(), &'static str> {
        Ok(())
    }

    /// Lets a fault of the service happen; its budget has been paid.
    fn strike(world: &mut World<Self>, fault: Self::Fault, context: &Context<'_, Self>, out: &mut Outbox<Self>);

    /// Tells the service of a fault around it: failure detectors notice crashed processes and cut links.
    fn notice(_server: &mut Self::Server, _fault: Fault<Self>, _context: &Context<'_, Self>) {}

    /// What a failure detector must think of a client's node before this deadline of the service can fire.
    fn told_by_gossip(_timer: Self::Timer) -> Option<(ClientId, Opinion)> {
        None
    }

    /// The client whose node gossip wrongly gives up by this fault.
    fn false_alarm(_fault: Self::Fault) -> Option<ClientId> {
        None
    }

    /// Whether nodes have a failure detector.
    fn hears_gossip(_config: &Self::Config) -> bool {
        false
    }

    /// What a participant is called that is no client: an observer, an administrator, a third party.
    fn role(_scenario: &Scenario<Self>, _participant: ClientId) -> Option<String> {
        None
    }

    /// Whether a client that crashes takes its node along.
    fn crash_takes_node(_config: &Self::Config) -> bool {
        false
    }

    /// The instant, on the server's clock, by which the service must have acted; none: it may be late for ever.
    fn pressing(_server: &Self::Server, _config: &Self::Config) -> Option<Instant> {
        None
    }

    /// The ghost in a message that is a write to what the lock protects.
    fn stamp(_message: &mut Self::Message) -> Option<&mut Tenure> {
        None
    }

    /// What a fact of this service reaches.
    fn reaches(_fact: &Self::Fact) -> Option<Goal> {
        None
    }

    /// Whether this wish of a user begins a read of who has the lock.
    fn begins_read(_wish: Self::Command) -> bool {
        false
    }

    /// What such a read comes to: whose it was, and who has the lock by it.
    fn ends_read(_fact: &Self::Fact) -> Option<(ClientId, Option<ClientId>)> {
        None
    }

    /// What a fact says about how many slots there are.
    fn administered(_fact: &Self::Fact) -> Option<Administered> {
        None
    }

    /// Whether the client changes how many slots there are, and nobody else should.
    fn is_at_work(_client: &Self::Client) -> bool {
        false
    }

    /// How many may be inside at once at the start, where administrators may change that.
    fn slots_at_start(_config: &Self::Config) -> Option<u16> {
        None
    }

    /// Whether the service treats two clients alike that are in the same state: none is preferred, none has settings of
    /// its own.
    fn are_alike(_config: &Self::Config, _one: ClientId, _other: ClientId) -> bool {
        true
    }

    /// Whether the service's own bookkeeping is in order; the error is a sentence (`session-consistency`).
    fn inspect(_server: &Self::Server) -> Result<(), String> {
        Ok(())
    }

    /// The configuration with every duration multiplied.
    fn scaled(config: &Self::Config, factor: i64) -> Self::Config;

    /// The longest duration in the configuration.
    fn longest(config: &Self::Config) -> Ticks;

    /// Whether tokens are log positions, of which only the order counts.
    fn tokens_are_indexes(_config: &Self::Config) -> bool {
        false
    }

    /// How many may be inside at once: of those who differ, what the most careful one thinks.
    fn room(_config: &Self::Config) -> usize {
        1
    }

    /// What is wrong with the configuration, if anything.
    fn validate(scenario: &Scenario<Self>) -> Result<(), Mistake>;

    /// Settings of the configuration that have no effect, because the budget that they need is zero.
    fn notes(_scenario: &Scenario<Self>) -> Vec<Note> {
        Vec::new()
    }

    /// Declares the settings that a verdict rests on, and what the model of this service and its recipes leaves out.
    fn assumptions(scenario: &Scenario<Self>, list: &mut Declarations<Self>);
}

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
