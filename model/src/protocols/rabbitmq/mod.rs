//! RabbitMQ, the part that locks and semaphores need: queues, exclusive ones above all, connections and channels, as
//! RabbitMQ 3.10 has them; and on the other side of the network the published *persistent semaphore* with its clients and
//! administrators, literally and corrected, and the message that serves as a mutex.
//!
//! Rules (R-Q-…) and flaws of the published text (F-…) are cited by number and stand in `model/rules/rabbitmq.md`.

mod assumptions;
mod bench;
mod broker;
mod clients;
mod display;
mod messages;
mod operator;
mod settings;

use serde::{Deserialize, Serialize};

pub use bench::{Bench, Doing};
pub use broker::{Broker, Channel, Connection, Queue, Trouble};
pub use clients::{Administrator, Getter, Participant, Taker};
pub use messages::{Answer, Ask, Difference, Keeps, Name, Problem, Request, Shape, Text, Timer, Wish, Word};
pub use operator::Act;
pub use settings::{
    Adds, Administration, AfterRace, AfterRefusal, Cluster, Connections, Counts, Failure, First, LostConnection,
    NUMBERS, OnHeal, Operation, OperatorAct, Order, Overshoot, Placement, Probe, Release, Removes, Retries, Settings,
    Silence, Socket, Split, Verify,
};

use crate::assumption::Declarations;
use crate::goal::Goal;
use crate::ids::ClientId;
use crate::process::{Context, Outbox};
use crate::protocol::{Administered, Protocol, Record};
use crate::scenario::{Mistake, Note, Scenario};
use crate::time::{Instant, Ticks};
use crate::world::{Fault, World};

/// The protocol's name as a type.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct RabbitMq;

/// The system of scenarios in which a message is the lock.
const MUTEX: &str = "rabbitmq-mutex";

impl Protocol for RabbitMq {
    const SYSTEMS: &'static [&'static str] = &["rabbitmq-semaphore", MUTEX];
    const RECIPES: &'static [(&'static str, &'static str)] = settings::RECIPES;
    type Config = Settings;
    type Message = Text;
    type Timer = Timer;
    type Command = Wish;
    type Operator = Act;
    type Fault = Trouble;
    type Fact = Word;
    type Client = Participant;
    type Server = Broker;

    fn start(scenario: &Scenario<Self>) -> (Broker, Vec<Participant>) {
        (Broker::at_start(scenario), Participant::all(scenario))
    }

    fn record(broker: &Broker, scenario: &Scenario<Self>) -> Record {
        broker.record(&scenario.system)
    }

    fn operators(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(Act)) {
        operator::offers(world, scenario, offer);
    }

    fn operate(broker: &mut Broker, act: Act, context: &Context<'_, Self>, out: &mut Outbox<Self>) {
        broker.operate(act, context, out);
    }

    fn faults(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(Trouble)) {
        Broker::offer_trouble(world, scenario, offer);
    }

    fn role(scenario: &Scenario<Self>, participant: ClientId) -> Option<String> {
        let beyond = participant.0.checked_sub(scenario.clients).filter(|number| *number > 0)?;
        Some(format!("administrator {beyond}"))
    }

    fn fault_is_possible(scenario: &Scenario<Self>, kind: usize) -> Result<(), &'static str> {
        Broker::fault_is_possible(&scenario.service, kind)
    }

    fn strike(world: &mut World<Self>, fault: Trouble, context: &Context<'_, Self>, out: &mut Outbox<Self>) {
        Broker::suffer(world, fault, context, out);
    }

    fn notice(broker: &mut Broker, fault: Fault<Self>, context: &Context<'_, Self>) {
        broker.notice(fault, context);
    }

    fn pressing(broker: &Broker, settings: &Settings) -> Option<Instant> {
        broker.must_happen_by(settings)
    }

    fn reaches(fact: &Word) -> Option<Goal> {
        match fact {
            Word::Full(_) => Some(Goal::Full),
            Word::Freed(_) => Some(Goal::SlotFreed),
            Word::Verified(_, true) => Some(Goal::Verified),
            Word::Finished(..) | Word::Pending(..) => Some(Goal::Administered),
            Word::Cut(_) => Some(Goal::ConnectionLost),
            _ => None,
        }
    }

    /// Those on different nodes differ, and so does who opens the connection that all use.
    fn are_alike(settings: &Settings, one: ClientId, other: ClientId) -> bool {
        let node = |client: ClientId| settings.cluster.node_of(client.place());
        settings.connections == Connections::Own && node(one) == node(other)
    }

    fn begins_read(wish: Wish) -> bool {
        wish == Wish::Verify
    }

    fn ends_read(fact: &Word) -> Option<(ClientId, Option<ClientId>)> {
        match fact {
            Word::Verified(client, is_held) => Some((*client, is_held.then_some(*client))),
            _ => None,
        }
    }

    fn administered(fact: &Word) -> Option<Administered> {
        match fact {
            Word::Began(_, limit) => Some(Administered::Began { limit: (*limit).into() }),
            Word::Added(_) | Word::Removed(_) => Some(Administered::Changed),
            Word::Counted(_, count) => Some(Administered::Counted((*count).into())),
            Word::Finished(_, size) => Some(Administered::Finished { size: (*size).into(), is_complete: true }),
            Word::Pending(_, size) => Some(Administered::Finished { size: (*size).into(), is_complete: false }),
            _ => None,
        }
    }

    fn is_at_work(client: &Participant) -> bool {
        client.is_at_work()
    }

    fn slots_at_start(settings: &Settings) -> Option<u16> {
        u16::try_from(settings.slots.len()).ok()
    }

    fn scaled(settings: &Settings, factor: i64) -> Settings {
        settings.scaled(factor)
    }

    fn longest(settings: &Settings) -> Ticks {
        settings.longest()
    }

    fn room(settings: &Settings) -> usize {
        let created = settings.administration.does.iter().flatten().filter_map(|operation| match operation {
            Operation::Create(size) => Some(usize::from(*size)),
            _ => None,
        });
        created.chain([settings.slots.len(), 1]).max().unwrap_or(1)
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
