//! The contents of queues: messages in order, consumers, and what was delivered and is not settled.

use fencepost_model::time::Ticks;
use fencepost_rabbitmq::{Answer, Keeps, Name, QueueProperties};

use super::broker::{Cast, ChannelId, Judging, Settled, State, Told};
use super::log::Happening;
use super::method::{Method, Reply};

/// A message in a queue.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Message {
    /// Its place in the queue, from the first that was ever published into it.
    position: u32,
    body: u32,
    redelivered: bool,
    /// The earliest instant at which it expires, in microseconds.
    expires: Option<u64>,
}

/// A consumer of a queue.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Consumer {
    /// The place of its `basic.consume` in the log, which tells consumers apart.
    pub place: usize,
    pub channel: ChannelId,
    no_ack: bool,
    is_exclusive: bool,
    /// The number of unacknowledged deliveries that it may have; 0: no limit.
    limit: u16,
    /// Whether it was one of an earlier queue of that name: its channel may drop what is delivered to it (R-Q-105).
    is_taken_over: bool,
}

/// A message that was delivered and is not settled.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Unacked {
    pub channel: ChannelId,
    /// 0: the client has not seen it.
    tag: u64,
    name: Name,
    declared: u16,
    message: Message,
    /// The place of the consumer's `basic.consume`; none: it was got.
    consumer: Option<usize>,
    /// Whether the channel has settled it, and the queue has not heard that.
    is_settled: bool,
}

/// The content of a queue.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Content {
    pub name: Name,
    /// Tells queues of one name apart.
    pub declared: u16,
    keeps: Keeps,
    auto_delete: bool,
    expires: Option<Ticks>,
    /// The earliest instant of its last use, in microseconds (R-Q-25).
    pub used: u64,
    ready: Vec<Message>,
    published: u32,
    pub consumers: Vec<Consumer>,
}

impl Content {
    pub(super) fn new(name: Name, declared: u16, shape: QueueProperties, used: u64) -> Self {
        let QueueProperties { keeps, auto_delete, expires, .. } = shape;
        let (ready, consumers) = (Vec::new(), Vec::new());
        Content { name, declared, keeps, auto_delete, expires, used, ready, published: 0, consumers }
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

    pub(super) fn drop_first(&mut self) {
        self.ready.remove(0);
    }
}

impl State {
    /// A get, a consumer, or a purge, on a queue that is there and may be used.
    pub(super) fn use_queue(
        mut self,
        method: Method,
        name: Name,
        id: ChannelId,
        place: usize,
        judging: &Judging<'_>,
    ) -> Vec<State> {
        let limit = self.channel(id).prefetch;
        let at = judging.script.log.events[place].at;
        let content = self.content(name).expect("a queue that exists has a content");
        match method {
            Method::Purge(_) => {
                let messages = content.count();
                content.ready.clear();
                self.reply(place, Some(Reply::Purged { messages }), judging)
            }
            Method::Consume { tag, no_ack, exclusive, .. } => {
                // R-Q-101.
                let others = &content.consumers;
                if others.iter().any(|other| other.is_exclusive) || exclusive && !others.is_empty() {
                    return self.fail(id, place, Reply::InUse, judging);
                }
                content.consumers.push(Consumer {
                    place,
                    channel: id,
                    no_ack,
                    is_exclusive: exclusive,
                    limit,
                    is_taken_over: false,
                });
                self.rest.tags.push((id, tag, place));
                let states = self.reply(place, Some(Reply::ConsumeOk), judging);
                states.into_iter().flat_map(|state| state.deliver(name, judging)).collect()
            }
            Method::Get { no_ack, .. } => {
                content.used = at;
                if content.ready.is_empty() {
                    return self.reply(place, Some(Reply::Plain(Answer::Empty)), judging);
                }
                let message = content.ready.remove(0);
                let declared = content.declared;
                // The channel numbers its deliveries as it writes them.
                let tag = match judging.script.answer(place) {
                    Some(Reply::Got { tag, .. }) => tag,
                    _ => 0,
                };
                if !no_ack {
                    let unacked =
                        Unacked { channel: id, tag, name, declared, message, consumer: None, is_settled: false };
                    self.rest.unacked.push(unacked);
                    self.rest.unacked.sort_by_key(|unacked| unacked.message.body);
                }
                let Message { body, redelivered, .. } = message;
                self.got(name, tag, (body, redelivered), place, judging)
            }
            _ => unreachable!("these methods use a queue"),
        }
    }

    /// The answer to a get counts what is left without the messages behind the one that was got whose time is over (R-Q-104).
    fn got(
        mut self,
        name: Name,
        tag: u64,
        (body, redelivered): (u32, bool),
        place: usize,
        judging: &Judging<'_>,
    ) -> Vec<State> {
        let mut states = Vec::new();
        loop {
            let content = self.content(name).expect("it is there");
            let (messages, expires) = (content.count(), content.first_may_expire(judging.now));
            let reply = Reply::Got { tag, body, redelivered, messages };
            states.extend(self.clone().reply(place, Some(reply), judging));
            if !expires {
                return states;
            }
            self.content(name).expect("it is there").drop_first();
        }
    }

    /// R-Q-97: the queue delivers its messages in order, each to one of the consumers that may have another one.
    pub(super) fn deliver(mut self, name: Name, judging: &Judging<'_>) -> Vec<State> {
        let Some(content) = self.rest.queues.iter().find(|content| content.name == name) else { return vec![self] };
        let Some(first) = content.ready.first().copied() else { return vec![self] };
        let unsettled =
            |place: usize| self.rest.unacked.iter().filter(|unacked| unacked.consumer == Some(place)).count();
        // R-Q-100.
        let has_credit = |consumer: &&Consumer| {
            consumer.no_ack || consumer.limit == 0 || unsettled(consumer.place) < usize::from(consumer.limit)
        };
        let consumers: Vec<Consumer> = content.consumers.iter().filter(has_credit).copied().collect();
        if consumers.is_empty() {
            return vec![self];
        }
        let mut states = Vec::new();
        if content.first_may_expire(judging.now) {
            let mut without = self.clone();
            without.content(name).expect("it is there").drop_first();
            states.extend(without.deliver(name, judging));
        }
        let declared = content.declared;
        self.content(name).expect("it is there").drop_first();
        for consumer in consumers {
            let Consumer { channel, place, no_ack, is_taken_over, .. } = consumer;
            let count = self.rest.deliveries.iter().find(|(of, _)| *of == place).map_or(0, |(_, count)| *count);
            let seen = match judging.script.delivery(place, count) {
                Some((tag, body, redelivered)) if (body, redelivered) == (first.body, first.redelivered) => Some(tag),
                None if judging.script.may_miss(place) => Some(0),
                Some(_) | None => None,
            };
            let dropped = is_taken_over.then_some(0);
            for (tag, is_counted) in seen.map(|tag| (tag, true)).into_iter().chain(dropped.map(|tag| (tag, false))) {
                let mut next = self.clone();
                if is_counted {
                    next.rest.deliveries.retain(|(of, _)| *of != place);
                    next.rest.deliveries.push((place, count + 1));
                    next.rest.deliveries.sort_unstable();
                }
                if !no_ack {
                    let (message, consumer) = (first, Some(place));
                    let unacked = Unacked { channel, tag, name, declared, message, consumer, is_settled: false };
                    next.rest.unacked.push(unacked);
                    next.rest.unacked.sort_by_key(|unacked| unacked.message.body);
                }
                states.extend(next.deliver(name, judging));
            }
        }
        states
    }

    /// R-Q-99: a channel settles a delivery, or all up to it; false: there is no such delivery on it.
    pub(super) fn settle(&mut self, id: ChannelId, tag: u64, multiple: bool, how: Settled) -> bool {
        let is_there =
            self.rest.unacked.iter().any(|unacked| unacked.channel == id && unacked.tag == tag && !unacked.is_settled);
        if is_there {
            self.settle_where(id, how, |other| other != 0 && (other == tag || multiple && other < tag));
        }
        is_there
    }

    /// R-Q-98: everything that the channel has delivered and that is not settled goes back.
    pub(super) fn settle_all(&mut self, id: ChannelId, place: usize, judging: &Judging<'_>) {
        self.settle_where(id, Settled::Requeued, |tag| judging.script.recovers(place, tag));
    }

    fn settle_where(&mut self, id: ChannelId, how: Settled, is_meant: impl Fn(u64) -> bool) {
        let limits: Vec<usize> = self
            .rest
            .queues
            .iter()
            .flat_map(|content| content.consumers.iter().map(|consumer| consumer.place))
            .collect();
        let mut told: Vec<(Name, u16, Vec<u32>)> = Vec::new();
        self.rest.unacked.retain_mut(|unacked| {
            if unacked.channel != id || unacked.is_settled || !is_meant(unacked.tag) {
                return true;
            }
            // An ack of a message that no consumer waits for is of no effect on the queue.
            if how != Settled::Requeued && unacked.consumer.is_none_or(|consumer| !limits.contains(&consumer)) {
                return false;
            }
            unacked.is_settled = true;
            match told.iter_mut().find(|(name, declared, _)| (*name, *declared) == (unacked.name, unacked.declared)) {
                Some((_, _, bodies)) => bodies.push(unacked.message.body),
                None => told.push((unacked.name, unacked.declared, vec![unacked.message.body])),
            }
            true
        });
        for (name, declared, bodies) in told {
            self.rest.casts.push(Cast { from: id, name, declared, what: Told::Settle { bodies, how } });
        }
    }

    /// A queue deals with all that a channel has told it.
    pub(super) fn flush(self, id: ChannelId, name: Name, judging: &Judging<'_>) -> Vec<State> {
        match self.rest.casts.iter().position(|cast| (cast.from, cast.name) == (id, name)) {
            Some(place) => {
                let states = self.hear(place, judging);
                states.into_iter().flat_map(|state| state.flush(id, name, judging)).collect()
            }
            None => vec![self],
        }
    }

    /// A queue deals with something that it was told.
    pub(super) fn hear(mut self, place: usize, judging: &Judging<'_>) -> Vec<State> {
        let Cast { from, name, declared, what } = self.rest.casts.remove(place);
        let is_there = self.content(name).is_some_and(|content| content.declared == declared);
        match what {
            Told::Publish(place) => self.take_in(place, name, is_there, judging),
            Told::Settle { bodies, how } => {
                let mut back = Vec::new();
                self.rest.unacked.retain(|unacked| {
                    let is_meant =
                        unacked.channel == from && unacked.is_settled && bodies.contains(&unacked.message.body);
                    if is_meant && how == Settled::Requeued {
                        back.push(unacked.message);
                    }
                    !is_meant
                });
                if is_there {
                    self.put_back(name, back);
                    return self.deliver(name, judging);
                }
                vec![self]
            }
        }
    }

    /// R-Q-98: messages go back to where they were, and are marked. A queue that keeps nothing loses them.
    fn put_back(&mut self, name: Name, messages: Vec<Message>) {
        let Some(content) = self.content(name).filter(|content| content.keeps != Keeps::Nothing) else { return };
        content.ready.extend(messages.into_iter().map(|message| Message { redelivered: true, ..message }));
        content.ready.sort_unstable();
    }

    /// What a queue with a limit does not keep, after its consumers had their chance.
    fn drop_excess(mut self, name: Name) -> State {
        if let Some(content) = self.content(name).filter(|content| content.keeps == Keeps::Nothing) {
            content.ready.clear();
        }
        self
    }

    /// A published message arrives at its queue; if that is gone, it is confirmed all the same.
    fn take_in(mut self, place: usize, name: Name, is_there: bool, judging: &Judging<'_>) -> Vec<State> {
        let event = &judging.script.log.events[place];
        let Happening::Sent(Method::Publish { body, expiration, .. }) = event.happened else {
            unreachable!("a publish")
        };
        let confirms = judging.script.is_confirmed(place);
        let answer = |answer: Answer| confirms.then_some(Reply::Plain(answer));
        if !is_there {
            return self.reply(place, answer(Answer::Confirmed), judging);
        }
        let content = self.content(name).expect("it is there");
        // R-Q-20.
        if content.keeps == Keeps::One && !content.ready.is_empty() {
            return self.reply(place, answer(Answer::Nacked), judging);
        }
        content.published += 1;
        let expires = expiration.map(|after| event.at + u64::from(after) * 1_000);
        content.ready.push(Message { position: content.published, body, redelivered: false, expires });
        let states = self.reply(place, answer(Answer::Confirmed), judging);
        let delivered = states.into_iter().flat_map(|state| state.deliver(name, judging));
        delivered.map(|state| state.drop_excess(name)).collect()
    }

    /// A queue that a channel consumes from is asked to notice the channel's end (R-Q-103), after all that the channel has told it.
    pub(super) fn notice_end(self, id: ChannelId, name: Name, judging: &Judging<'_>) -> Vec<State> {
        let states = self.flush(id, name, judging);
        states.into_iter().flat_map(|state| state.end_at(id, name, judging)).collect()
    }

    /// A queue notices that a channel has ended, perhaps before what that has told it (R-Q-96): its consumers go, and what was delivered on
    /// it is put back.
    pub(super) fn end_at(mut self, id: ChannelId, name: Name, judging: &Judging<'_>) -> Vec<State> {
        let Some(content) = self.content(name) else { return vec![self] };
        let declared = content.declared;
        let before = content.consumers.len();
        content.consumers.retain(|consumer| consumer.channel != id);
        if content.consumers.len() < before {
            self.consumer_left(name);
        }
        let mut back = Vec::new();
        self.rest.unacked.retain(|unacked| {
            let is_its = (unacked.channel, unacked.name) == (id, name);
            if is_its && unacked.declared == declared {
                back.push(unacked.message);
            }
            !is_its
        });
        self.put_back(name, back);
        self.deliver(name, judging)
    }

    /// R-Q-28: an auto-delete queue goes with its last consumer, a moment later.
    pub(super) fn consumer_left(&mut self, name: Name) {
        let Some(content) = self.content(name) else { return };
        let (goes, declared) = (content.auto_delete && content.consumers.is_empty(), content.declared);
        if goes && !self.rest.dying.contains(&(name, declared)) {
            self.rest.dying.push((name, declared));
        }
    }

    /// The queues for which a channel has something: consumers, or what is not settled.
    pub(super) fn concerned(&self, id: ChannelId) -> Vec<Name> {
        let of = |content: &Content| {
            let consumes = content.consumers.iter().any(|consumer| consumer.channel == id);
            let unacked = |unacked: &Unacked| (unacked.channel, unacked.name) == (id, content.name);
            let told = |cast: &Cast| (cast.from, cast.name) == (id, content.name);
            let is = consumes || self.rest.unacked.iter().any(unacked) || self.rest.casts.iter().any(told);
            is.then_some(content.name)
        };
        self.rest.queues.iter().filter_map(of).collect()
    }
}
