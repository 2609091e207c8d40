//! The broker: queues, connections and channels of RabbitMQ 3.10, as far as locks and semaphores need them (R-Q-1 to
//! R-Q-59), and its nodes (R-Q-61 to R-Q-71). A feature that a scenario does not use adds no state.
//!
//! ```text
//! connections   sockets and channels: how they open, break and end      queues    the effect of methods on queues
//! cluster       node crashes and partitions                            faults    faults and the reactions to them
//! ```

mod assumed;
mod cluster;
mod connections;
mod faults;
mod queues;
#[cfg(test)]
mod rules;

use serde::{Deserialize, Serialize};

pub use connections::{Channel, Connection};
pub use faults::RabbitmqFault;
pub use queues::Queue;

use self::cluster::Nodes;
use self::connections::Parked;
use self::queues::Delivery;
use super::messages::{Answer, Ask, Name, RabbitmqEvent, RabbitmqMessage, Timer};
use super::{RabbitMq, Settings};
use fencepost_model::fact::Fact;
use fencepost_model::ids::{Call, ClientId, ProcessId, RawId, SessionId, Token};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Conflict, Record};
use fencepost_model::time::{Instant, StartTime};

/// The broker with all its nodes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Broker {
    /// The queues, sorted by name.
    #[normal(sorted)]
    queues: InlineVec<Queue, 4>,
    /// The connections that it knows, sorted by id.
    #[normal(sorted)]
    connections: InlineVec<Connection, 3>,
    /// For each client, its last ended connection: requests on that connection or an earlier one are too late.
    #[normal(sorted)]
    over: InlineVec<SessionId, 3>,
    /// Messages that were got and not yet acknowledged.
    #[normal(sorted)]
    deliveries: InlineVec<Delivery, 1>,
    /// Requests on connections that the broker does not read (R-Q-47).
    parked: InlineVec<Parked, 0>,
    /// Whether memory or disk is full.
    alarm: bool,
    nodes: Nodes,
}

/// The outbox for responses and facts.
type Out<'a> = &'a mut Outbox<RabbitMq>;
type Ctx<'a> = Context<'a, RabbitMq>;

impl Broker {
    /// The initial broker, with the slot queues that exist at the start.
    pub(super) fn at_start(scenario: &Scenario<RabbitMq>) -> Self {
        let settings = &scenario.service;
        let mut broker = Broker::default();
        let all = cluster::all(settings);
        if scenario.system == super::MUTEX {
            let queue = Queue { ready: 1, ..Queue::new(Name::Lock, settings.slot_shape(), None, 1, all) };
            broker.queues.push(queue);
            return broker;
        }
        for slot in &settings.slots {
            let home = settings.cluster.home_of(*slot);
            let used = settings.queues.expires.map(|_| StartTime(Instant::START));
            let queue = Queue::new(Name::Slot(*slot), settings.slot_shape(), None, home, all);
            broker.queues.insert_sorted(Queue { used, ..queue });
        }
        broker
    }

    /// The numbers of the existing slots, in order.
    pub fn slots(&self) -> impl Iterator<Item = u8> + '_ {
        let mut last = None;
        self.queues.iter().filter_map(move |queue| match queue.name {
            Name::Slot(number) if last.replace(number) != Some(number) => Some(number),
            _ => None,
        })
    }

    /// The connections on record as holders, by slot.
    pub fn holders(&self) -> impl Iterator<Item = (u8, SessionId)> + '_ {
        self.queues.iter().filter_map(|queue| match (queue.name, queue.owner) {
            (Name::Holder(slot), Some(owner)) => Some((slot, owner)),
            _ => None,
        })
    }

    /// Connections that are up.
    pub(super) fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.connections.iter().filter(|connection| connection.is_open())
    }

    /// The numbers of the queues of a kind.
    pub(super) fn names(&self) -> impl Iterator<Item = Name> + '_ {
        let mut last = None;
        self.queues.iter().map(|queue| queue.name).filter(move |name| last.replace(*name) != Some(*name))
    }

    pub(super) fn record(&self, system: &str) -> Record {
        if system == super::MUTEX {
            let owners = self.deliveries.iter().map(|delivery| delivery.connection.raw().creator).collect();
            let free: u32 = self.queues.iter().map(|queue| queue.ready).sum();
            let free = u16::try_from(free).unwrap_or(u16::MAX);
            return Record { owners, slots: Some(1), free: Some(free), ..Record::default() };
        }
        let mut record = Record::default();
        let mut last: Option<(u8, ClientId)> = None;
        for (slot, owner) in self.holders() {
            if let Some((_, first)) = last.filter(|(other, _)| *other == slot) {
                record.conflict = Some(Conflict { slot, first, second: owner.raw().creator });
            }
            last = Some((slot, owner.raw().creator));
            if self.slots().any(|number| number == slot) {
                record.owners.insert_sorted(owner.raw().creator);
            }
        }
        record.token = Token::NONE;
        record.numbers = Some(self.slots().collect());
        record
    }

    fn tell(to: ProcessId, call: Call, answer: Answer, out: Out<'_>) {
        out.send(to, RabbitmqMessage::Response(call, answer));
    }
}

impl Process<RabbitMq> for Broker {
    fn on(&mut self, input: Input<RabbitMq>, context: &Ctx<'_>, out: Out<'_>) {
        match input {
            Input::Message { from, message: Message::Service(RabbitmqMessage::Request(ask)) } => {
                self.hear(from, ask, context, out)
            }
            Input::Message { message: Message::Service(RabbitmqMessage::SocketClosed(id)), .. } => {
                self.hung_up(id, context, out)
            }
            Input::Wake(Timer::Notice(id)) => self.lose(id, None, context, out),
            Input::Wake(Timer::Remove(id, name)) => self.remove_step(id, name, context, out),
            Input::Wake(Timer::Miss(id)) => self.miss(id, context, out),
            Input::Wake(Timer::Expire(name)) => self.remove_all(out, |queue| queue.name == name),
            Input::Wake(Timer::Tick(node)) => self.tick(node, context, out),
            _ => {}
        }
    }

    fn wakes(&self, scenario: &Scenario<RabbitMq>, due: &mut dyn FnMut(Timer, Instant)) {
        self.connections_wake(scenario, due);
        self.queues.iter().for_each(|queue| {
            if let (Some(used), Some(expires)) = (queue.used, queue.shape.expires) {
                due(Timer::Expire(queue.name), used + expires);
            }
        });
        self.nodes.wakes(&scenario.service, due);
    }

    fn restarted(&self, _: &Scenario<RabbitMq>) -> Self {
        self.clone()
    }
}

impl Broker {
    /// The instant by which the broker must have dropped a connection that is certainly silent (R-Q-43).
    pub(super) fn must_happen_by(&self, settings: &Settings) -> Option<Instant> {
        let beat = settings.heartbeat?;
        let silent = self.connections.iter().filter(|connection| connection.is_silent && connection.is_watched());
        silent.filter_map(|connection| connection.last_frame).map(|last_frame| last_frame + beat.times(3)).min()
    }

    /// A request arrives.
    fn hear(&mut self, from: ProcessId, ask: Ask, context: &Ctx<'_>, out: Out<'_>) {
        let Some(place) = self.find_or_open(ask.connection, context) else {
            return Broker::tell(from, ask.call, Answer::Reset, out);
        };
        let connection = &mut self.connections[place];
        if !connection.is_open() || connection.lost.is_some() {
            return;
        }
        connection.hears(context);
        if connection.is_blocked {
            return self.parked.push(Parked { from, ask });
        }
        self.serve(from, ask, context, out);
    }
}

/// Emits a fact of this service.
fn note(word: RabbitmqEvent, out: Out<'_>) {
    out.record(Fact::Service(word));
}
