//! The machine: what a method on a channel does. A channel carries out its methods in order; what it tells a queue without waiting for an
//! answer arrives there later. A queue deals with that in order, except that declarations, acks and ended channels come first (R-Q-96).

use fencepost_rabbitmq::{Answer, Name, Problem, Request};

use super::content::Content;
use super::log::{Access, Happening};
use super::losses::CutKind;
use super::method::{Method, Reply, Verb};
use super::state::{Cast, Channel, ChannelId, Judging, Life, Settled, State, Told};

/// Whether the user with few permissions may neither configure nor read it.
fn is_denied(name: Name) -> bool {
    !matches!(name, Name::Slot(_))
}

impl State {
    /// The next method of a channel's program is carried out.
    pub(super) fn perform(mut self, place: usize, judging: &Judging<'_>) -> Vec<State> {
        let event = &judging.script.log.events[place];
        let Happening::Sent(method) = event.happened else { unreachable!("programs consist of methods") };
        if let Some(connection) = self.overdue(event.at, judging) {
            judging.overdue.set(Some(connection));
            return Vec::new();
        }
        let (line, side) = (usize::from(event.connection) - 1, usize::from(event.channel) - 1);
        self.rest.next[line][side] += 1;
        let Channel { opened, life, .. } = self.rest.channels[line][side];
        let id = ChannelId { connection: event.connection, channel: event.channel, opened };
        match method {
            Method::HangUp => {
                // The broker has not dropped the connection before.
                let cut = judging.script.losses.next(line, self.rest.cuts[line]);
                self.rest.cuts[line] +=
                    usize::from(cut.is_some_and(|cut| cut.kind == CutKind::Unseen && cut.place == place + 1));
                self.hang_up(event.connection);
                return vec![self];
            }
            Method::Beat => return vec![self],
            Method::Connect { .. } => return self.reply(place, Some(Reply::Connected), judging),
            Method::Plain(Request::Close) => {
                return self.end(event.connection, place, Reply::Plain(Answer::Closed), judging);
            }
            Method::Plain(Request::OpenChannel { confirms }) => return self.open(id, false, confirms, place, judging),
            Method::Reopen { confirms } => return self.open(id, true, confirms, place, judging),
            Method::Plain(Request::CloseChannel) if life == Life::Closing => {
                let answer = self.ask(id, false, Request::CloseChannel);
                return self.reply(place, answer.map(Reply::Plain), judging);
            }
            _ if life == Life::Closing => return self.reply(place, None, judging),
            _ if life == Life::Closed => {
                return self.end(event.connection, place, Reply::error(Problem::NotOpen), judging);
            }
            _ => {}
        }
        // A queue hears in order what one channel tells it.
        let limited = self.is_limited(id, judging);
        match self.waits_for(method, id) {
            // What is refused does not get to the queue.
            Some(name) if !(limited && is_denied(name)) && self.is_usable(id, name) => {
                let states = self.flush(id, name, judging);
                states.into_iter().flat_map(|state| state.carry_out(method, id, place, judging)).collect()
            }
            _ => self.carry_out(method, id, place, judging),
        }
    }

    /// Whether the channel's user has few permissions.
    fn is_limited(&self, id: ChannelId, judging: &Judging<'_>) -> bool {
        judging.script.log.access == Access::Limited && id.connection == 3
    }

    /// Whether there is such a queue, and it is not another connection's.
    fn is_usable(&self, id: ChannelId, name: Name) -> bool {
        matches!(self.clone().ask(id, false, Request::Look(name)), Some(Answer::Declared { .. }))
    }

    /// The queue from which a method awaits an answer, if it waits there behind what the channel has told the queue. Declarations, passive
    /// or not, do not wait (R-Q-96).
    fn waits_for(&self, method: Method, id: ChannelId) -> Option<Name> {
        match method {
            Method::Plain(Request::Delete { name, .. })
            | Method::Get { name, .. }
            | Method::Consume { name, .. }
            | Method::Purge(name) => Some(name),
            Method::Cancel(tag) => {
                let consumer = self.rest.tags.iter().find(|(of, other, _)| (*of, *other) == (id, tag))?.2;
                let consumes = |content: &&Content| content.consumers.iter().any(|other| other.place == consumer);
                Some(self.rest.queues.iter().find(consumes)?.name)
            }
            _ => None,
        }
    }

    fn carry_out(mut self, method: Method, id: ChannelId, place: usize, judging: &Judging<'_>) -> Vec<State> {
        let limited = self.is_limited(id, judging);
        let refused = |name: Name| limited && is_denied(name);
        let at = judging.script.log.events[place].at;
        match method {
            Method::Plain(Request::CloseChannel) => self.close(id, place, judging),
            Method::Plain(Request::Declare { name, shape }) => {
                if name != Name::Reserved && refused(name) {
                    return self.fail(id, place, Reply::Refused, judging);
                }
                match self.ask(id, false, Request::Declare { name, shape }) {
                    Some(Answer::Declared { .. }) => {
                        if self.content(name).is_none() {
                            self.rest.declared += 1;
                            let content = Content::new(name, self.rest.declared, shape, at);
                            self.rest.queues.push(content);
                            self.rest.queues.sort_by_key(|content| content.name);
                        }
                        self.tell_declared(name, at, place, judging)
                    }
                    answer => self.failed(id, place, answer, judging),
                }
            }
            Method::Plain(Request::Look(name)) => match self.ask(id, false, Request::Look(name)) {
                Some(Answer::Declared { .. }) => self.tell_declared(name, at, place, judging),
                answer => self.failed(id, place, answer, judging),
            },
            Method::Plain(Request::Delete { name, if_empty }) => {
                if refused(name) {
                    return self.fail(id, place, Reply::Refused, judging);
                }
                self.delete(name, if_empty, id, place, judging)
            }
            Method::Plain(request) => {
                let answer = self.ask(id, false, request);
                self.failed(id, place, answer, judging)
            }
            Method::Publish { .. } if limited => self.fail(id, place, Reply::Refused, judging),
            Method::Publish { name, mandatory, .. } => self.publish(name, mandatory, id, place, judging),
            Method::Get { name, .. } | Method::Consume { name, .. } | Method::Purge(name) => {
                // R-Q-102: whether the tag is free is asked before everything else.
                let takes = |tag: u8| move |(of, other, _): &(ChannelId, u8, usize)| (*of, *other) == (id, tag);
                if let Method::Consume { tag, .. } = method
                    && self.rest.tags.iter().any(takes(tag))
                {
                    return self.end(id.connection, place, Reply::TagReused, judging);
                }
                if refused(name) {
                    return self.fail(id, place, Reply::Refused, judging);
                }
                match self.ask(id, false, Request::Look(name)) {
                    Some(Answer::Declared { .. }) => self.use_queue(method, name, id, place, judging),
                    answer => self.failed(id, place, answer, judging),
                }
            }
            Method::Settle { verb, tag, multiple, requeue } => {
                let how = match (verb, requeue) {
                    (Verb::Ack, _) => Settled::Acked,
                    (Verb::Nack | Verb::Reject, true) => Settled::Requeued,
                    (Verb::Nack | Verb::Reject, false) => Settled::Dropped,
                };
                match self.settle(id, tag, multiple, how, judging) {
                    true => self.reply(place, None, judging),
                    false => self.fail(id, place, Reply::error(Problem::UnknownDelivery), judging),
                }
            }
            Method::Recover => {
                self.settle_all(id, place, judging);
                self.reply(place, Some(Reply::Recovered), judging)
            }
            Method::Qos(prefetch) => {
                self.channel(id).prefetch = prefetch;
                self.reply(place, Some(Reply::QosOk), judging)
            }
            Method::Cancel(tag) => {
                if !self.cancel(id, tag, judging) {
                    return Vec::new();
                }
                self.reply(place, Some(Reply::CancelOk), judging)
            }
            Method::Reopen { .. } | Method::HangUp | Method::Beat | Method::Connect { .. } => {
                unreachable!("dealt with before")
            }
        }
    }

    fn publish(
        mut self,
        name: Name,
        mandatory: bool,
        id: ChannelId,
        place: usize,
        judging: &Judging<'_>,
    ) -> Vec<State> {
        if self.exists(name) {
            self.use_now(id, name);
            let declared = self.content(name).map_or(0, |content| content.declared);
            let what = Told::Publish(place);
            let if_gone = self.if_gone(id, declared);
            self.rest.casts.push(Cast { from: id, name, declared, what, if_gone });
            return vec![self];
        }
        // R-Q-17 to R-Q-19.
        let answer = match (mandatory, self.channel(id).confirms) {
            (true, confirmed) => Some(Answer::Returned { confirmed }),
            (false, true) => Some(Answer::Confirmed),
            (false, false) => None,
        };
        self.reply(place, answer.map(Reply::Plain), judging)
    }

    fn delete(mut self, name: Name, if_empty: bool, id: ChannelId, place: usize, judging: &Judging<'_>) -> Vec<State> {
        let messages = self.content(name).map_or(0, |content| content.count());
        if self.is_usable(id, name) && if_empty && messages > 0 {
            return self.fail(id, place, Reply::error(Problem::NotEmpty), judging);
        }
        match self.ask(id, false, Request::Delete { name, if_empty: false }) {
            Some(Answer::Deleted { .. }) => {
                self.forget_removed();
                self.reply(place, Some(Reply::Deleted { messages }), judging)
            }
            answer => self.failed(id, place, answer, judging),
        }
    }

    /// R-Q-4: a declaration tells the ready messages and the consumers.
    fn tell_declared(mut self, name: Name, at: u64, place: usize, judging: &Judging<'_>) -> Vec<State> {
        let content = self.content(name).expect("a queue that exists has a content");
        content.used = at;
        let consumers = u32::try_from(content.consumers.len()).unwrap_or(u32::MAX);
        let reply = Reply::Declared { messages: content.count(), consumers };
        self.reply(place, Some(reply), judging)
    }

    /// The state, if the log has this answer to the method.
    pub(super) fn reply(self, place: usize, reply: Option<Reply>, judging: &Judging<'_>) -> Vec<State> {
        if judging.script.answer(place) == reply || judging.script.may_lack(place, reply) {
            return vec![self];
        }
        if judging.target == Some(place) {
            judging.expected.set(Some(reply));
        }
        Vec::new()
    }
}
