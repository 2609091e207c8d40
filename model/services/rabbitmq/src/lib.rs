//! RabbitMQ, as far as locks and semaphores need it: queues, mainly exclusive ones, connections and channels of
//! RabbitMQ 3.10; and the clients and administrators of the published *persistent semaphore*, literally and corrected,
//! and of the message that serves as a mutex.
//!
//! Rules (R-Q-…) and flaws of the published text (F-…) are cited by number; `model/services/rabbitmq/rules.md` has the
//! list.

mod assumptions;
mod bench;
mod broker;
mod clients;
mod display;
mod messages;
mod mistakes;
mod mutants;
mod operator;
mod programs;
mod scenarios;
mod settings;

use serde::{Deserialize, Serialize};

pub use bench::{Bench, BrokerAction};
pub use broker::{Broker, Channel, Connection, Queue, RabbitmqFault};
pub use clients::{Administrator, Getter, Participant, Taker};
pub use messages::{
    Answer, Ask, Command, Difference, Keeps, Name, Problem, QueueProperties, RabbitmqEvent, RabbitmqMessage, Request,
    Timer,
};
pub use mistakes::MISTAKES;
pub use mutants::RabbitmqMutation;
pub use operator::OperatorAction;
pub use programs::{
    AmqpApi, AmqpChannel, AmqpConnection, AmqpError, Confirmation, Delivery, Doing, MessageMutex, Report, Saying,
    SlotAdministrator, SlotTaker, TakerTerms, register_programs,
};
pub use scenarios::SCENARIOS;
pub use settings::{
    Adds, Administration, AfterRace, AfterRefusal, Cluster, Connections, Counts, Failure, First, LostConnection,
    NUMBERS, OnHeal, Operation, OperatorActionKind, Order, Overshoot, Placement, Probe, Release, Removes, Retries,
    Settings, Silence, Socket, Split, Verify,
};

use fencepost_model::goal::Goal;
use fencepost_model::held::Held;
use fencepost_model::ids::{Call, ClientId};
use fencepost_model::mutation::Mutation;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Administered, Event, Record, Service, ServiceCommand, ServiceMessage, ServiceTimer};
use fencepost_model::time::Instant;
use fencepost_model::world::{Fault, World};

/// The claims of published documents, and the promises that show that they are wrong.
pub const DOCUMENTS: &[&str] = &[include_str!("../documents/semaphore.toml")];

/// The service's name as a type.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct RabbitMq;

/// A connection has ended.
const CONNECTION_LOST: Goal = Goal::new("connection-lost");

/// The system of scenarios in which a message is the lock.
const MUTEX: &str = "rabbitmq-mutex";

impl Service for RabbitMq {
    const HAS_PROGRAMS: bool = true;
    const HAS_ENDLESS_ROUNDS: bool = true;
    const SYSTEMS: &'static [&'static str] = &["rabbitmq-semaphore", MUTEX];
    const RECIPES: &'static [(&'static str, &'static str)] = settings::RECIPES;
    const GOALS: &'static [Goal] = &[CONNECTION_LOST];
    const MUTATIONS: &'static [Mutation] = RabbitmqMutation::MUTATIONS;
    type Settings = Settings;
    type Message = RabbitmqMessage;
    type Timer = Timer;
    type Command = Command;
    type OperatorAction = OperatorAction;
    type Fault = RabbitmqFault;
    type Event = RabbitmqEvent;
    type Client = Participant;
    type Server = Broker;

    fn start(scenario: &Scenario<Self>) -> (Broker, Vec<Participant>) {
        (Broker::at_start(scenario), Participant::all(scenario))
    }

    fn record(broker: &Broker, scenario: &Scenario<Self>) -> Record {
        broker.record(&scenario.system)
    }

    fn operator_actions(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(OperatorAction)) {
        operator::offers(world, scenario, offer);
    }

    fn operate(
        broker: &mut Broker,
        operator_action: OperatorAction,
        context: &Context<'_, Self>,
        out: &mut Outbox<Self>,
    ) {
        broker.operate(operator_action, context, out);
    }

    fn faults(world: &World<Self>, scenario: &Scenario<Self>, offer: &mut dyn FnMut(RabbitmqFault)) {
        Broker::offer_faults(world, scenario, offer);
    }

    fn apply_fault(world: &mut World<Self>, fault: RabbitmqFault, context: &Context<'_, Self>, out: &mut Outbox<Self>) {
        Broker::suffer(world, fault, context, out);
    }

    fn on_environment_fault(broker: &mut Broker, fault: Fault<Self>, context: &Context<'_, Self>) {
        broker.notice(fault, context);
    }

    /// A process that is paused sends no heartbeats.
    fn notices_pauses(settings: &Settings) -> bool {
        settings.heartbeat.is_some()
    }

    fn server_deadline(broker: &Broker, settings: &Settings) -> Option<Instant> {
        broker.must_happen_by(settings)
    }
}

impl ServiceMessage for RabbitmqMessage {
    fn call(&self) -> Option<Call> {
        match *self {
            RabbitmqMessage::Request(Ask { call, .. }) | RabbitmqMessage::Response(call, _) => Some(call),
            RabbitmqMessage::SocketClosed(_) | RabbitmqMessage::ConnectionClosed(..) => None,
        }
    }
}

impl ServiceTimer for Timer {
    fn names_its_node(self) -> bool {
        matches!(self, Timer::Tick(_))
    }
}

impl ServiceCommand for Command {
    fn sentence(self, held: Held) -> String {
        match (self, held) {
            (Command::Acquire, Held::Lock) => "take the lock",
            (Command::Acquire, Held::Slot) => "take a slot",
            (Command::Release, Held::Lock) => "release the lock",
            (Command::Release, Held::Slot) => "release its slot",
            (Command::Verify, Held::Slot) => "verify its slot",
            _ => return self.to_string(),
        }
        .to_owned()
    }

    fn begins_read(self) -> bool {
        self == Command::Verify
    }
}

impl Event for RabbitmqEvent {
    fn goal(&self) -> Option<Goal> {
        match self {
            RabbitmqEvent::Full(_) => Some(Goal::FULL),
            RabbitmqEvent::Freed(_) => Some(Goal::SLOT_FREED),
            RabbitmqEvent::Verified(_, true) => Some(Goal::VERIFIED),
            RabbitmqEvent::Finished(..) | RabbitmqEvent::Pending(..) => Some(Goal::ADMINISTERED),
            RabbitmqEvent::Cut(_) => Some(CONNECTION_LOST),
            _ => None,
        }
    }

    fn read_ended(&self) -> Option<(ClientId, Option<ClientId>)> {
        match self {
            RabbitmqEvent::Verified(client, is_held) => Some((*client, is_held.then_some(*client))),
            _ => None,
        }
    }

    fn administered(&self) -> Option<Administered> {
        match self {
            RabbitmqEvent::Began(_, limit) => Some(Administered::Began { limit: (*limit).into() }),
            RabbitmqEvent::Added(_) | RabbitmqEvent::Removed(_) => Some(Administered::Changed),
            RabbitmqEvent::Counted(_, count) => Some(Administered::Counted((*count).into())),
            RabbitmqEvent::Finished(_, size) => {
                Some(Administered::Finished { size: (*size).into(), is_complete: true })
            }
            RabbitmqEvent::Pending(_, size) => {
                Some(Administered::Finished { size: (*size).into(), is_complete: false })
            }
            _ => None,
        }
    }
}
