//! One lock on several nodes, without an agreement protocol between them.
//!
//! | System | Recipe | Hazard |
//! |---|---|---|
//! | `redlock` | independent nodes that keep a key for a lease; a majority of them is the lock | B-44 |
//! | `copied-lock` | one node leads, and is copied to the others, before or after it says yes | B-45 |
//!
//! Clients try once and come back later: an attempt that fails is over.

mod assumed;
mod assumptions;
mod locker;
mod messages;
mod mutants;
mod nodes;
mod settings;

use serde::{Deserialize, Serialize};

pub use locker::Locker;
pub use messages::{Text, Timer, Trouble, Value, Wish};
pub use mutants::RedlockMutation;
pub use nodes::Nodes;
pub use settings::{Grants, Settings, Validity};

use crate::assumption::Declarations;
use crate::ids::ClientId;
use crate::mutation::Mutation;
use crate::never::Never;
use crate::process::{Context, Outbox};
use crate::protocol::{Protocol, Record};
use crate::scenario::{Mistake, Note, Scenario};
use crate::time::Ticks;
use crate::world::World;

/// The protocol's name as a type.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Replicas;

const COPIED: &str = "copied-lock";

impl Protocol for Replicas {
    const SYSTEMS: &'static [&'static str] = &["redlock", COPIED];
    const MUTATIONS: &'static [Mutation] = RedlockMutation::MUTATIONS;
    type Config = Settings;
    type Message = Text;
    type Timer = Timer;
    type Command = Wish;
    type Operator = Never;
    type Fault = Trouble;
    type Fact = Never;
    type Client = Locker;
    type Server = Nodes;

    fn start(scenario: &Scenario<Self>) -> (Nodes, Vec<Locker>) {
        let clients = (0..scenario.clients).map(|place| Locker::new(ClientId::of(place.into()), scenario));
        (Nodes::new(scenario), clients.collect())
    }

    fn record(nodes: &Nodes, _: &Scenario<Self>) -> Record {
        nodes.record()
    }

    fn operate(_: &mut Nodes, act: Never, _: &Context<'_, Self>, _: &mut Outbox<Self>) {
        match act {}
    }

    fn faults(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(Trouble)) {
        Nodes::offer_trouble(world, scenario, offer);
    }

    fn fault_is_possible(scenario: &Scenario<Self>, kind: usize) -> Result<(), &'static str> {
        settings::fault_is_possible(scenario, kind)
    }

    fn strike(world: &mut World<Self>, fault: Trouble, context: &Context<'_, Self>, _: &mut Outbox<Self>) {
        Nodes::suffer(world, fault, context);
    }

    /// Those on different sides of a split differ.
    fn are_alike(settings: &Settings, one: ClientId, other: ClientId) -> bool {
        !settings.splits || one.place() % 2 == other.place() % 2
    }

    fn scaled(settings: &Settings, factor: i64) -> Settings {
        settings.scaled(factor)
    }

    fn longest(settings: &Settings) -> Ticks {
        settings.longest()
    }

    fn validate(scenario: &Scenario<Self>) -> Result<(), Mistake> {
        settings::validate(scenario)
    }

    fn notes(scenario: &Scenario<Self>) -> Vec<Note> {
        settings::notes(scenario)
    }

    fn assumptions(scenario: &Scenario<Self>, list: &mut Declarations<Self>) {
        assumptions::declare(scenario, list);
    }
}
