//! The effect of methods on queues.

use serde::{Deserialize, Serialize};

use super::{Broker, Channel, Connection, Ctx, Out, cluster, note};
use crate::RabbitmqMutation;
use crate::messages::{Answer, Difference, Keeps, Name, Problem, QueueProperties, RabbitmqEvent, Request};
use crate::settings::Placement;
use fencepost_model::ids::{RawId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::time::StartTime;

/// A queue, with the record of the nodes about it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Queue {
    /// The queue's name.
    pub name: Name,
    pub(super) shape: QueueProperties,
    /// The connection that declared it, if it is exclusive.
    pub owner: Option<SessionId>,
    /// The number of ready messages.
    pub(super) ready: u32,
    /// The instant of its last use, if the queue expires (R-Q-25).
    pub(super) used: Option<StartTime>,
    /// The node on which it lives (R-Q-61).
    pub(super) home: u8,
    /// The nodes that have it on record, one bit each. All nodes, except after partitions.
    pub(super) seen: u8,
}

/// A message that was got and is not yet acknowledged.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Delivery {
    pub(super) connection: SessionId,
    pub(super) channel: u8,
    number: u32,
    name: Name,
    /// Whether the queue was deleted since. Then the message can be acknowledged, but not put back.
    is_orphan: bool,
}

/// The outcome of a method: a response, no response, or an error.
type Result = std::result::Result<Option<Answer>, Problem>;

impl Queue {
    pub(super) fn new(name: Name, shape: QueueProperties, owner: Option<SessionId>, home: u8, seen: u8) -> Self {
        Queue { name, shape: shape.as_kept(), owner, ready: 0, used: None, home, seen }
    }

    /// R-Q-2: exclusivity first, then durability, auto-delete and arguments.
    fn compare(&self, shape: QueueProperties, asker: SessionId, context: &Ctx<'_>) -> std::result::Result<(), Problem> {
        let is_foreign = match self.owner {
            Some(owner) => !shape.exclusive || (owner != asker && !context.is_mutated(RabbitmqMutation::OwnerIgnored)),
            None => shape.exclusive,
        };
        if is_foreign {
            return Err(Problem::Locked);
        }
        let (is, asked) = (self.shape, shape.as_kept());
        let max_length = |keeps| match keeps {
            Keeps::All => None,
            Keeps::Nothing => Some(0),
            Keeps::One => Some(1),
        };
        let differs = [
            (is.durable != asked.durable, Difference::Durable),
            (is.auto_delete != asked.auto_delete, Difference::AutoDelete),
            (is.expires != asked.expires, Difference::Expires),
            (max_length(is.keeps) != max_length(asked.keeps), Difference::MaxLength),
            ((is.keeps == Keeps::One) != (asked.keeps == Keeps::One), Difference::Overflow),
        ];
        match differs.into_iter().find(|(differs, _)| *differs) {
            Some((_, difference)) if !context.is_mutated(RabbitmqMutation::InequivalentAccepted) => {
                Err(Problem::NotAlike(difference))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// R-Q-9, R-Q-12: only its own connection may use an exclusive queue, except for publishing.
    fn is_locked_to(&self, asker: SessionId) -> bool {
        self.owner.is_some_and(|owner| owner != asker)
    }
}

impl Broker {
    pub(super) fn perform(
        &mut self,
        place: usize,
        channel: Channel,
        request: Request,
        context: &Ctx<'_>,
        out: Out<'_>,
    ) -> Result {
        let Connection { id, node, .. } = self.connections[place];
        match request {
            Request::Declare { name, shape } => self.declare(name, shape, (id, node), context, out).map(Some),
            Request::DeclareSilently { name, shape } => {
                self.declare(name, shape, (id, node), context, out).map(|_| None)
            }
            Request::Look(name) => self.look(name, (id, node), context).map(Some),
            Request::Delete { name, if_empty } => self.delete(name, if_empty, (id, node), context, out).map(Some),
            Request::Publish { name, mandatory } => {
                let answer = self.publish(name, mandatory, node, channel.confirms, context, out);
                if self.alarm {
                    self.connections[place].is_blocked = true;
                }
                Ok(answer)
            }
            Request::PublishImmediate(_) => Err(Problem::NotImplemented),
            Request::PublishNowhere => Err(Problem::NoExchange),
            Request::Get(name) => self.get(name, place, channel, context).map(Some),
            Request::Ack(number) => {
                self.settle(id, channel, number)?;
                Ok(None)
            }
            Request::Requeue(number) => {
                let delivery = self.settle(id, channel, number)?;
                if !context.is_mutated(RabbitmqMutation::RejectLosesMessage) {
                    self.ready_again(delivery);
                }
                Ok(None)
            }
            Request::OpenChannel { .. } | Request::CloseChannel | Request::Close => {
                unreachable!("channels and connections have their own methods")
            }
        }
    }

    /// The queue of that name, as a node has it on record.
    fn find(&self, name: Name, node: u8) -> Option<usize> {
        self.queues.iter().position(|queue| queue.name == name && queue.seen & cluster::bit(node) != 0)
    }

    fn declare(
        &mut self,
        name: Name,
        shape: QueueProperties,
        (id, node): (SessionId, u8),
        context: &Ctx<'_>,
        out: Out<'_>,
    ) -> std::result::Result<Answer, Problem> {
        if name == Name::Reserved {
            return Err(Problem::Reserved);
        }
        if let Some(place) = self.find(name, node) {
            if !self.is_in_reach(place, node) {
                return Err(Problem::HomeDown);
            }
            self.queues[place].compare(shape, id, context)?;
            return Ok(self.use_it(place, context));
        }
        let settings = &context.scenario.service;
        let is_elsewhere = shape.exclusive && settings.cluster.holders == Placement::Elsewhere;
        let home = if is_elsewhere { settings.cluster.nodes } else { node };
        let owner = shape.exclusive.then_some(id);
        let used = shape.expires.map(|_| StartTime(context.now));
        let queue = Queue { used, ..Queue::new(name, shape, owner, home, self.seen_from(node, settings)) };
        self.queues.insert_sorted(queue);
        match name {
            Name::Slot(slot) => note(RabbitmqEvent::Added(slot), out),
            Name::Holder(slot) => note(RabbitmqEvent::Took(id.raw().creator, slot), out),
            _ => {}
        }
        Ok(Answer::Declared { messages: 0 })
    }

    /// R-Q-25: declarations renew a queue's lease.
    fn use_it(&mut self, place: usize, context: &Ctx<'_>) -> Answer {
        let queue = &mut self.queues[place];
        queue.used = queue.used.map(|_| StartTime(context.now));
        Answer::Declared { messages: queue.ready }
    }

    fn look(
        &mut self,
        name: Name,
        (id, node): (SessionId, u8),
        context: &Ctx<'_>,
    ) -> std::result::Result<Answer, Problem> {
        let place = self.find(name, node).ok_or(Problem::NoQueue)?;
        if !self.is_in_reach(place, node) {
            return Err(Problem::HomeDown);
        }
        let is_locked = self.queues[place].is_locked_to(id) && !context.is_mutated(RabbitmqMutation::LooksAtForeign);
        if is_locked { Err(Problem::Locked) } else { Ok(self.use_it(place, context)) }
    }

    fn delete(
        &mut self,
        name: Name,
        if_empty: bool,
        (id, node): (SessionId, u8),
        context: &Ctx<'_>,
        out: Out<'_>,
    ) -> std::result::Result<Answer, Problem> {
        let Some(place) = self.find(name, node) else {
            let is_error = context.is_mutated(RabbitmqMutation::DeletionOfAbsentRefused);
            return if is_error { Err(Problem::NoQueue) } else { Ok(Answer::Deleted { messages: 0 }) };
        };
        if !self.is_in_reach(place, node) {
            return Err(Problem::HomeDown);
        }
        let queue = self.queues[place];
        if queue.is_locked_to(id) && !context.is_mutated(RabbitmqMutation::DeletesForeign) {
            return Err(Problem::Locked);
        }
        if if_empty && queue.ready > 0 && !context.is_mutated(RabbitmqMutation::IfEmptyIgnored) {
            return Err(Problem::NotEmpty);
        }
        self.remove_at(place, out);
        Ok(Answer::Deleted { messages: queue.ready })
    }

    /// R-Q-17 to R-Q-24: publishing needs no ownership, and the published message stays in the queue.
    fn publish(
        &mut self,
        name: Name,
        mandatory: bool,
        node: u8,
        confirms: bool,
        context: &Ctx<'_>,
        out: Out<'_>,
    ) -> Option<Answer> {
        let confirmed = confirms.then_some(Answer::Confirmed);
        let place = self.find(name, node).filter(|place| self.is_in_reach(*place, node));
        let Some(place) = place else {
            if context.is_mutated(RabbitmqMutation::UnroutableIsAcked) {
                return confirmed;
            }
            return if mandatory { Some(Answer::Returned { confirmed: confirms }) } else { confirmed };
        };
        let queue = &mut self.queues[place];
        match queue.shape.keeps {
            Keeps::Nothing => {}
            Keeps::One if queue.ready > 0 && context.is_mutated(RabbitmqMutation::NackToldAsConfirm) => {
                return confirmed;
            }
            Keeps::One if queue.ready > 0 => return confirms.then_some(Answer::Nacked),
            Keeps::One | Keeps::All => queue.ready += 1,
        }
        if context.is_mutated(RabbitmqMutation::ProbesRenew) {
            queue.used = queue.used.map(|_| StartTime(context.now));
        }
        self.look_at_memory(context, out);
        confirmed
    }

    /// R-Q-47: too many messages fill the memory, until they are removed.
    pub(super) fn look_at_memory(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let Some(limit) = context.scenario.service.memory else { return };
        let is_full = self.queues.iter().map(|queue| queue.ready).sum::<u32>() >= u32::from(limit);
        if is_full && !self.alarm {
            self.alarm = true;
            note(RabbitmqEvent::Alarm(true), out);
        }
    }

    fn get(
        &mut self,
        name: Name,
        place: usize,
        channel: Channel,
        context: &Ctx<'_>,
    ) -> std::result::Result<Answer, Problem> {
        let Connection { id, node, .. } = self.connections[place];
        let at = self.find(name, node).ok_or(Problem::NoQueue)?;
        if !self.is_in_reach(at, node) {
            return Err(Problem::HomeDown);
        }
        let queue = &mut self.queues[at];
        if queue.is_locked_to(id) && !context.is_mutated(RabbitmqMutation::GetsForeign) {
            return Err(Problem::Locked);
        }
        if queue.ready == 0 {
            return Ok(Answer::Empty);
        }
        queue.ready -= 1;
        let messages = queue.ready;
        let number = channel.delivered + 1;
        self.connections[place].set(Channel { delivered: number, ..channel });
        self.deliveries.insert_sorted(Delivery {
            connection: id,
            channel: channel.number,
            number,
            name,
            is_orphan: false,
        });
        Ok(Answer::Got { delivery: number, messages })
    }

    /// Removes a delivery from the list.
    fn settle(&mut self, id: SessionId, channel: Channel, number: u32) -> std::result::Result<Delivery, Problem> {
        let is_it = |delivery: &Delivery| {
            (delivery.connection, delivery.channel, delivery.number) == (id, channel.number, number)
        };
        let place = self.deliveries.iter().position(is_it).ok_or(Problem::UnknownDelivery)?;
        Ok(self.deliveries.remove(place))
    }

    fn ready_again(&mut self, delivery: Delivery) {
        let queue = self.queues.iter_mut().find(|queue| queue.name == delivery.name && !delivery.is_orphan);
        queue.into_iter().for_each(|queue| queue.ready += 1);
    }

    /// Puts deliveries back whose channel has ended.
    pub(super) fn put_back(&mut self, is_over: impl Fn(&Delivery) -> bool) {
        let over: Vec<Delivery> = self.deliveries.iter().copied().filter(|delivery| is_over(delivery)).collect();
        self.deliveries.retain(|delivery| !is_over(delivery));
        over.into_iter().for_each(|delivery| self.ready_again(delivery));
    }

    pub(super) fn remove_all(&mut self, out: Out<'_>, goes: impl Fn(&Queue) -> bool) {
        while let Some(place) = self.queues.iter().position(&goes) {
            self.remove_at(place, out);
        }
    }

    pub(super) fn remove_at(&mut self, place: usize, out: Out<'_>) {
        let queue = self.queues.remove(place);
        if self.queues.iter().all(|other| other.name != queue.name) {
            let lost = self.deliveries.iter_mut().filter(|delivery| delivery.name == queue.name);
            lost.for_each(|delivery| delivery.is_orphan = true);
        }
        match queue.name {
            Name::Slot(slot) => note(RabbitmqEvent::Removed(slot), out),
            Name::Holder(slot) => note(RabbitmqEvent::Freed(slot), out),
            _ => {}
        }
    }

    /// An operator with the permission declares a queue.
    pub(super) fn declare_from_outside(&mut self, name: Name, shape: QueueProperties, seen: u8) {
        self.queues.insert_sorted(Queue::new(name, shape, None, 1, seen));
    }

    /// The message that serves as the lock is lost or duplicated (B-36).
    pub(super) fn copy_or_lose_the_lock(&mut self, is_lost: bool) {
        if is_lost {
            self.deliveries.clear();
        }
        let lock = self.queues.iter_mut().find(|queue| queue.name == Name::Lock);
        lock.into_iter().for_each(|queue| queue.ready = if is_lost { 0 } else { queue.ready + 1 });
    }
}
