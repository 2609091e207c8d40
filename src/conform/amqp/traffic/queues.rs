//! What queues do: they take messages in, and deliver them in order.

use fencepost_rabbitmq::{Answer, Keeps, Name};

use super::content::{Consumer, Message, Unacked};
use super::log::Happening;
use super::method::{Method, Reply};
use super::state::{ChannelId, Judging, State};
use crate::amqp::class::Class;

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
        if !matches!(method, Method::Purge(_)) {
            self.use_now(id, name);
        }
        let at = judging.script.log.events[place].at;
        let content = self.content(name).expect("a queue that exists has a content");
        match method {
            Method::Purge(_) => {
                let messages = content.count();
                content.drop_all();
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
                let declared = content.declared;
                self.watch(id, name, declared);
                self.rest.tags.push((id, tag, place));
                let states = self.reply(place, Some(Reply::ConsumeOk), judging);
                states.into_iter().flat_map(|state| state.deliver(name, judging)).collect()
            }
            Method::Get { no_ack, .. } => {
                content.used = at;
                if content.ready.is_empty() {
                    return self.reply(place, Some(Reply::Plain(Answer::Empty)), judging);
                }
                let (message, redelivered) = content.take_first();
                // The channel numbers its deliveries as it writes them.
                let tag = match judging.script.answer(place) {
                    Some(Reply::Got { tag, .. }) => tag,
                    _ => 0,
                };
                if !no_ack {
                    self.await_settlement(name, message, id, tag, None);
                }
                self.got(name, tag, (message.body, redelivered), place, judging)
            }
            _ => unreachable!("these methods use a queue"),
        }
    }

    /// A message is delivered on a channel, and awaits settlement.
    fn await_settlement(
        &mut self,
        name: Name,
        message: Message,
        channel: ChannelId,
        tag: u64,
        consumer: Option<usize>,
    ) {
        let content = self.content(name).expect("it is there");
        content.await_settlement(message, channel, consumer);
        let (declared, position) = (content.declared, message.position);
        self.rest.unacked.push(Unacked { channel, tag, name, declared, position, consumer });
        self.rest.unacked.sort_unstable();
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
            self.drop_expired(name);
        }
    }

    /// R-Q-104: the first message of a queue is over.
    pub(super) fn drop_expired(&mut self, name: Name) {
        self.noted.push(Class::Expired);
        self.content(name).expect("it is there").take_first();
    }

    /// R-Q-97: the queue delivers its messages in order, each to one of the consumers that may have another one.
    pub(super) fn deliver(mut self, name: Name, judging: &Judging<'_>) -> Vec<State> {
        let Some(content) = self.rest.queues.iter().find(|content| content.name == name) else { return vec![self] };
        let consumers: Vec<Consumer> =
            content.consumers.iter().filter(|consumer| content.has_credit(consumer)).copied().collect();
        if consumers.is_empty() || content.ready.is_empty() {
            return vec![self];
        }
        let mut states = Vec::new();
        if content.first_may_expire(judging.now) {
            let mut without = self.clone();
            without.drop_expired(name);
            states.extend(without.deliver(name, judging));
        }
        let (first, was_delivered) = self.content(name).expect("it is there").take_first();
        for consumer in consumers {
            let Consumer { channel, place, no_ack, is_taken_over, .. } = consumer;
            let count = self.rest.deliveries.iter().find(|(of, _)| *of == place).map_or(0, |(_, count)| *count);
            let seen = match judging.script.delivery(place, count) {
                Some((tag, body, redelivered)) if (body, redelivered) == (first.body, was_delivered) => Some(tag),
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
                    next.await_settlement(name, first, channel, tag, Some(place));
                }
                states.extend(next.deliver(name, judging));
            }
        }
        states
    }

    /// What a queue with a limit does not keep, after its consumers had their chance.
    fn drop_excess(mut self, name: Name) -> State {
        if let Some(content) = self.content(name).filter(|content| content.keeps == Keeps::Nothing) {
            content.drop_all();
        }
        self
    }

    /// A published message arrives at its queue.
    pub(super) fn take_in(mut self, place: usize, name: Name, judging: &Judging<'_>) -> Vec<State> {
        let event = &judging.script.log.events[place];
        let Happening::Sent(Method::Publish { body, expiration, persistent, .. }) = event.happened else {
            unreachable!("a publish")
        };
        let confirms = judging.script.is_confirmed(place);
        let answer = |answer: Answer| confirms.then_some(Reply::Plain(answer));
        let content = self.content(name).expect("it is there");
        // R-Q-20.
        if content.keeps == Keeps::One && !content.ready.is_empty() {
            return self.reply(place, answer(Answer::Nacked), judging);
        }
        content.published += 1;
        let was_empty = content.ready.is_empty();
        let expires = expiration.map(|after| event.at + u64::from(after) * 1_000);
        content.ready.push(Message { position: content.published, body, expires, is_persistent: persistent });
        let states = self.reply(place, answer(Answer::Confirmed), judging);
        let delivered = states.into_iter().flat_map(|state| state.deliver(name, judging));
        delivered
            .map(|mut state| {
                if was_empty {
                    state.content(name).expect("it is there").forget_number();
                }
                state.drop_excess(name)
            })
            .collect()
    }
}
