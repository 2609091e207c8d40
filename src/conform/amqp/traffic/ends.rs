//! How channels open, fail and end.

use fencepost_model::ids::Call;
use fencepost_rabbitmq::{Answer, Ask, Name, Problem, Request};

use super::content::Content;
use super::method::Reply;
use super::state::{Channel, ChannelId, Judging, Life, State};
use crate::amqp::class::Class;

/// A channel that ends: it tells one queue after the other, and then the client (R-Q-108).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Leaving {
    pub channel: ChannelId,
    /// The place of the method that ends it.
    pub place: usize,
    reply: Reply,
    /// The queues that it consumed from and has not told, each with its number among those of the name.
    pub untold: Vec<(Name, u16)>,
}

impl State {
    pub(super) fn open(
        mut self,
        id: ChannelId,
        close_ok: bool,
        confirms: bool,
        place: usize,
        judging: &Judging<'_>,
    ) -> Vec<State> {
        let life = self.channel(id).life;
        if close_ok && life == Life::Closing {
            // R-Q-103: what was got on it goes back after the client has acknowledged its end.
            self.forget_channel(id);
        }
        let connection = self.session(id.connection);
        let request = Request::OpenChannel { confirms };
        let asked = Ask { connection, channel: id.channel, close_ok, call: Call(1), request };
        let mut trial = self.bench.clone();
        match trial.ask(asked) {
            Some(Answer::Opened) => {
                self.bench = trial;
                *self.channel(id) = Channel { opened: id.opened + 1, life: Life::Open, confirms, prefetch: 0 };
                self.reply(place, Some(Reply::Plain(Answer::Opened)), judging)
            }
            Some(Answer::Error(problem)) => self.end(id.connection, place, Reply::error(problem), judging),
            answer => self.reply(place, answer.map(Reply::Plain), judging),
        }
    }

    /// `channel.close` by the client.
    pub(super) fn close(mut self, id: ChannelId, place: usize, judging: &Judging<'_>) -> Vec<State> {
        let connection = self.session(id.connection);
        let request = Request::CloseChannel;
        self.bench.ask(Ask { connection, channel: id.channel, close_ok: false, call: Call(1), request });
        self.channel(id).life = Life::Closed;
        self.leave(id, place, Reply::Plain(Answer::ChannelClosed), judging)
    }

    /// A channel begins to end. What ends it is decided here; the queues that it consumes from learn of it later (R-Q-108).
    fn leave(mut self, channel: ChannelId, place: usize, reply: Reply, judging: &Judging<'_>) -> Vec<State> {
        let consumes = |content: &Content| content.consumers.iter().any(|consumer| consumer.channel == channel);
        let consumed = self.rest.queues.iter().filter(|content| consumes(content));
        let untold: Vec<_> = consumed.map(|content| (content.name, content.declared)).collect();
        if untold.is_empty() {
            return self.left(channel, place, reply, judging);
        }
        self.noted.push(Class::EndedInSteps);
        self.rest.leaving.push(Leaving { channel, place, reply, untold });
        vec![self]
    }

    /// A channel that ends tells one of its queues, and after the last of them the client (R-Q-103).
    pub(super) fn tell_end(mut self, at: usize, queue: usize, judging: &Judging<'_>) -> Vec<State> {
        let leaving = &mut self.rest.leaving[at];
        let channel = leaving.channel;
        let (name, declared) = leaving.untold.remove(queue);
        let last = leaving.untold.is_empty().then(|| self.rest.leaving.remove(at));
        let is_there = self.content(name).is_some_and(|content| content.declared == declared);
        let states = if is_there { self.notice_end(channel, name, judging) } else { vec![self] };
        match last {
            Some(Leaving { place, reply, .. }) => {
                states.into_iter().flat_map(|state| state.left(channel, place, reply, judging)).collect()
            }
            None => states,
        }
    }

    /// Every queue that a channel consumed from knows of its end.
    fn left(mut self, channel: ChannelId, place: usize, reply: Reply, judging: &Judging<'_>) -> Vec<State> {
        if reply == Reply::Plain(Answer::ChannelClosed) {
            self.forget_channel(channel);
        }
        self.reply(place, Some(reply), judging)
    }

    /// A channel is no more; queues that have something for it learn of that later.
    pub(super) fn forget_channel(&mut self, id: ChannelId) {
        self.rest.tags.retain(|(of, ..)| *of != id);
        self.rest.unacked.retain(|unacked| unacked.channel != id);
        self.rest.watching.retain(|(of, _)| *of != id);
        self.rest.cancelled.retain(|(_, consumer)| consumer.channel != id);
        for name in self.concerned(id) {
            self.rest.downs.push((id, name));
        }
    }

    /// The kernel's broker has answered with an error, or has not answered.
    pub(super) fn failed(
        self,
        id: ChannelId,
        place: usize,
        answer: Option<Answer>,
        judging: &Judging<'_>,
    ) -> Vec<State> {
        match answer {
            Some(Answer::Error(problem)) if !problem.is_fatal() => {
                self.close_by_broker(id, place, Reply::error(problem), judging)
            }
            answer => self.reply(place, answer.map(Reply::Plain), judging),
        }
    }

    /// An error that the kernel's broker does not know: it, too, closes the channel.
    pub(super) fn fail(mut self, id: ChannelId, place: usize, reply: Reply, judging: &Judging<'_>) -> Vec<State> {
        let connection = self.session(id.connection);
        let request = Request::PublishNowhere;
        self.bench.ask(Ask { connection, channel: id.channel, close_ok: false, call: Call(1), request });
        self.close_by_broker(id, place, reply, judging)
    }

    fn close_by_broker(mut self, id: ChannelId, place: usize, reply: Reply, judging: &Judging<'_>) -> Vec<State> {
        self.channel(id).life = Life::Closing;
        self.leave(id, place, reply, judging)
    }

    /// R-Q-28: an auto-delete queue without consumers goes.
    pub(super) fn die(&mut self, at: usize) {
        let (name, _) = self.rest.dying.remove(at);
        self.noted.push(Class::AutoDeleted);
        self.delete_as_observer(name);
        self.forget_removed();
    }

    /// R-Q-105: a channel notices that the queue of its consumer is gone. If there is another one of that name already, it consumes from that.
    pub(super) fn notice_cancelled(mut self, at: usize, judging: &Judging<'_>) -> Vec<State> {
        let (name, consumer) = self.rest.cancelled.remove(at);
        if self.may_take_over(consumer.channel, name)
            && self.content(name).is_some_and(|content| content.take_over(consumer))
        {
            self.noted.push(Class::TakenOver);
            self.use_now(consumer.channel, name);
            return self.deliver(name, judging);
        }
        self.rest.tags.retain(|(.., place)| *place != consumer.place);
        vec![self]
    }

    /// Whether a channel may consume from the queue that there is now. One that the broker has closed still may, until its client
    /// acknowledges that.
    fn may_take_over(&self, id: ChannelId, name: Name) -> bool {
        match self.observe(Request::Look(name)) {
            Some(Answer::Declared { .. }) => true,
            Some(Answer::Error(Problem::Locked)) => {
                let mut trial = self.clone();
                match trial.channel(id) {
                    channel if channel.opened != id.opened => return false,
                    Channel { life: Life::Closing, .. } => {
                        trial.ask(id, true, Request::OpenChannel { confirms: false });
                    }
                    _ => {}
                }
                matches!(trial.ask(id, false, Request::Look(name)), Some(Answer::Declared { .. }))
            }
            _ => false,
        }
    }

    /// `basic.cancel` by the client; false: it delivers behind cancel-ok, which it does only if its queue is gone (R-Q-105).
    pub(super) fn cancel(&mut self, id: ChannelId, tag: u8, judging: &Judging<'_>) -> bool {
        let Some(at) = self.rest.tags.iter().position(|(of, other, _)| (*of, *other) == (id, tag)) else { return true };
        let (.., consumer) = self.rest.tags.remove(at);
        self.rest.cancelled.retain(|(_, other)| other.place != consumer);
        let consumes = |content: &&mut Content| content.consumers.iter().any(|other| other.place == consumer);
        if let Some(content) = self.rest.queues.iter_mut().find(consumes) {
            content.consumers.retain(|other| other.place != consumer);
            let name = content.name;
            self.consumer_left(name);
            return !judging.script.is_late(consumer);
        }
        true
    }
}
