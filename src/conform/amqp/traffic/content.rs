//! The contents of queues: messages in order, consumers, and what was delivered and is not settled.

use fencepost_model::time::Ticks;
use fencepost_rabbitmq::{Keeps, Name, QueueProperties};

use super::state::ChannelId;

/// A message in a queue.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Message {
    /// Its place in the queue, from the first that was ever published into it.
    pub position: u32,
    pub body: u32,
    /// The earliest instant at which it expires, in microseconds.
    pub expires: Option<u64>,
    pub is_persistent: bool,
}

/// A consumer of a queue.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Consumer {
    /// The place of its `basic.consume` in the log, which tells consumers apart.
    pub place: usize,
    pub channel: ChannelId,
    pub no_ack: bool,
    pub is_exclusive: bool,
    /// The number of unacknowledged deliveries that it may have; 0: no limit.
    pub limit: u16,
    /// Whether it was one of an earlier queue of that name: its channel may drop what is delivered to it (R-Q-105).
    pub is_taken_over: bool,
}

/// A delivery that awaits settlement, as its channel has it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Unacked {
    pub channel: ChannelId,
    /// 0: the client has not seen it.
    pub tag: u64,
    pub name: Name,
    /// The queue of that name that the channel used last: it hears of the settlement (R-Q-109).
    pub declared: u16,
    /// The position of the message in its queue.
    pub position: u32,
    /// The place of the consumer's `basic.consume`; none: it was got.
    pub consumer: Option<usize>,
}

/// A delivery that awaits settlement, as its queue has it.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Delivery {
    pub channel: ChannelId,
    pub position: u32,
    /// As in [`Unacked`].
    pub consumer: Option<usize>,
}

/// The content of a queue.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Content {
    pub name: Name,
    /// Tells queues of one name apart.
    pub declared: u16,
    pub keeps: Keeps,
    pub auto_delete: bool,
    pub is_durable: bool,
    expires: Option<Ticks>,
    /// The earliest instant of its last use, in microseconds (R-Q-25).
    pub used: u64,
    pub ready: Vec<Message>,
    /// The messages that await settlement, sorted.
    pub pending: Vec<Message>,
    /// The deliveries that await settlement, in the order in which they were made.
    pub delivered: Vec<Delivery>,
    pub published: u32,
    /// The position behind the first messages that have been delivered, or dropped, without a gap (R-Q-111).
    next_new: u32,
    pub consumers: Vec<Consumer>,
}

impl Content {
    pub(super) fn new(name: Name, declared: u16, shape: QueueProperties, used: u64) -> Self {
        let QueueProperties { keeps, auto_delete, expires, .. } = shape;
        // R-Q-5.
        let is_durable = shape.durable && !shape.exclusive;
        Content {
            name,
            declared,
            keeps,
            auto_delete,
            is_durable,
            expires,
            used,
            ready: Vec::new(),
            pending: Vec::new(),
            delivered: Vec::new(),
            published: 0,
            next_new: 1,
            consumers: Vec::new(),
        }
    }

    /// R-Q-105: a consumer of an earlier queue of the same name becomes one of this; false: R-Q-101.
    pub(super) fn take_over(&mut self, consumer: Consumer) -> bool {
        let others = &self.consumers;
        if others.iter().any(|other| other.is_exclusive) || consumer.is_exclusive && !others.is_empty() {
            return false;
        }
        self.consumers.push(Consumer { is_taken_over: true, ..consumer });
        true
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.ready.len()).unwrap_or(u32::MAX)
    }

    /// R-Q-25: whether nothing keeps it from expiring.
    pub(super) fn may_expire(&self, now: u64) -> bool {
        let after = |expires: Ticks| u64::try_from(expires.count()).unwrap_or(0) * 1_000;
        self.consumers.is_empty() && self.expires.is_some_and(|expires| self.used + after(expires) <= now)
    }

    /// R-Q-104: only the first message of a queue expires.
    pub(super) fn first_may_expire(&self, now: u64) -> bool {
        self.ready.first().is_some_and(|message| message.expires.is_some_and(|expires| expires <= now))
    }

    /// R-Q-100: whether a consumer may have another delivery.
    pub(super) fn has_credit(&self, consumer: &Consumer) -> bool {
        let unsettled = self.delivered.iter().filter(|delivery| delivery.consumer == Some(consumer.place)).count();
        consumer.no_ack || consumer.limit == 0 || unsettled < usize::from(consumer.limit)
    }

    /// A message is delivered, and awaits settlement.
    pub(super) fn await_settlement(&mut self, message: Message, channel: ChannelId, consumer: Option<usize>) {
        self.pending.push(message);
        self.pending.sort_unstable();
        self.delivered.push(Delivery { channel, position: message.position, consumer });
    }

    /// R-Q-109: deliveries on a channel are settled, and then the messages, on any channel; those messages. The channel's deliveries are
    /// looked for in their order, and no further than to the first that is not there.
    pub(super) fn settle(&mut self, channel: ChannelId, positions: &[u32]) -> Vec<Message> {
        let mut from = 0;
        for position in positions {
            let is_it = |delivery: &Delivery| (delivery.channel, delivery.position) == (channel, *position);
            let Some(at) = self.delivered[from..].iter().position(is_it) else { break };
            from += at;
            self.delivered.remove(from);
        }
        self.take_pending(positions)
    }

    /// The messages at these positions no longer await settlement.
    pub(super) fn take_pending(&mut self, positions: &[u32]) -> Vec<Message> {
        self.pending.extract_if(.., |message| positions.contains(&message.position)).collect()
    }

    /// R-Q-109: a message that was delivered at once, and needs no acknowledgement, has no number.
    pub(super) fn forget_number(&mut self) {
        let last = self.published;
        if self.ready.iter().chain(&self.pending).all(|message| message.position != last) {
            self.published -= 1;
            self.next_new = self.next_new.min(last);
        }
    }

    /// Takes the first message from the queue; with it, whether it was delivered before (R-Q-98).
    pub(super) fn take_first(&mut self) -> (Message, bool) {
        let first = self.ready.remove(0);
        let redelivered = first.position < self.next_new;
        self.next_new += u32::from(first.position == self.next_new);
        (first, redelivered)
    }

    /// Every ready message goes.
    pub(super) fn drop_all(&mut self) {
        while !self.ready.is_empty() {
            self.take_first();
        }
    }
}
