//! Acknowledgements, and messages that go back to their queue.

use fencepost_rabbitmq::{Keeps, Name};

use super::content::{Content, Message, Unacked};
use super::state::{Cast, ChannelId, Judging, Settled, State, Told};

impl State {
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
