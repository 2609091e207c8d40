//! Acknowledgements, and messages that go back to their queue.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_rabbitmq::{Keeps, Name};

use super::content::{Content, Delivery, Message, Unacked};
use super::state::{Cast, ChannelId, Judging, Settled, State, Told};
use super::watching::IfGone;
use crate::amqp::class::Class;

/// Deliveries of one queue of which a channel tells it together, in the order in which it does.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// One that was got, by its delivery tag.
    Got(u64),
    /// Those of a consumer, by its tag: a text.
    Consumer(String),
}

impl State {
    /// R-Q-99: a channel settles a delivery, or all up to it; false: there is no such delivery on it.
    pub(super) fn settle(
        &mut self,
        id: ChannelId,
        tag: u64,
        multiple: bool,
        how: Settled,
        judging: &Judging<'_>,
    ) -> bool {
        let is_there = self.rest.unacked.iter().any(|unacked| unacked.channel == id && unacked.tag == tag);
        if is_there {
            self.settle_where(id, how, judging, |other| other != 0 && (other == tag || multiple && other < tag));
        }
        is_there
    }

    /// R-Q-98: everything that the channel has delivered and that is not settled goes back.
    pub(super) fn settle_all(&mut self, id: ChannelId, place: usize, judging: &Judging<'_>) {
        self.settle_where(id, Settled::Requeued, judging, |tag| judging.script.recovers(place, tag));
    }

    /// R-Q-110: the channel tells the queue separately of each message that was got, and of those of each consumer.
    fn settle_where(&mut self, id: ChannelId, how: Settled, judging: &Judging<'_>, is_meant: impl Fn(u64) -> bool) {
        let is_its = |unacked: &mut Unacked| unacked.channel == id && is_meant(unacked.tag);
        let settled = self.rest.unacked.extract_if(.., is_its);
        let mut told: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for Unacked { tag, name, declared, position, consumer, .. } in settled {
            let group = match consumer {
                None => Group::Got(tag),
                Some(place) => Group::Consumer(judging.script.consumer_tag(place)),
            };
            told.entry((name, declared, group)).or_default().push(position);
        }
        let queues: BTreeSet<_> = told.keys().map(|(name, declared, _)| (*name, *declared)).collect();
        if queues.len() < told.len() {
            self.noted.push(Class::SettledApart);
        }
        for ((name, declared, _), positions) in told {
            if how != Settled::Requeued && self.is_plain(id, name, declared, &positions) {
                self.content(name).expect("it is there").settle(id, &positions);
            } else {
                self.rest.casts.push(Cast {
                    from: id,
                    name,
                    declared,
                    what: Told::Settle { positions, how },
                    if_gone: IfGone::Confirm,
                });
            }
        }
    }

    /// Whether it makes no difference when the queue hears that these messages are acknowledged: they are the channel's own, and no consumer
    /// waits for that.
    fn is_plain(&mut self, id: ChannelId, name: Name, declared: u16, positions: &[u32]) -> bool {
        let Some(content) = self.content(name).filter(|content| content.declared == declared) else { return false };
        let waits = |place: usize| content.consumers.iter().any(|consumer| consumer.place == place);
        let is_plain = |position: &u32| {
            let of = content.delivered.iter().find(|delivery| delivery.position == *position);
            of.is_some_and(|delivery| delivery.channel == id && !delivery.consumer.is_some_and(waits))
        };
        positions.iter().all(is_plain)
    }

    /// A queue deals with all that a channel has told it.
    pub(super) fn flush(mut self, id: ChannelId, name: Name, judging: &Judging<'_>) -> Vec<State> {
        let Some(declared) = self.content(name).map(|content| content.declared) else { return vec![self] };
        let is_told = |cast: &Cast| (cast.from, cast.name, cast.declared) == (id, name, declared);
        match self.rest.casts.iter().position(is_told) {
            Some(place) => {
                let states = self.hear(place, judging);
                states.into_iter().flat_map(|state| state.flush(id, name, judging)).collect()
            }
            None => vec![self],
        }
    }

    /// A queue deals with something that it was told.
    pub(super) fn hear(mut self, place: usize, judging: &Judging<'_>) -> Vec<State> {
        let cast = self.rest.casts.remove(place);
        let Cast { from, name, declared, .. } = cast;
        let is_there = self.content(name).is_some_and(|content| content.declared == declared);
        match &cast.what {
            Told::Publish(place) if is_there => {
                self.watch(from, name, declared);
                self.take_in(*place, name, judging)
            }
            Told::Publish(_) => self.miss_queue(&cast, judging),
            Told::Settle { positions, how } if is_there => self.hear_settled(from, name, positions, *how, judging),
            Told::Settle { .. } => vec![self],
        }
    }

    fn hear_settled(
        mut self,
        from: ChannelId,
        name: Name,
        positions: &[u32],
        how: Settled,
        judging: &Judging<'_>,
    ) -> Vec<State> {
        let content = self.content(name).expect("it is there");
        let is_its = |delivery: &Delivery| delivery.channel == from;
        let is_own = |position: &u32| {
            content.delivered.iter().any(|delivery| is_its(delivery) && delivery.position == *position)
        };
        let is_stale = !positions.iter().all(is_own);
        let is_known =
            content.delivered.iter().any(is_its) || content.consumers.iter().any(|consumer| consumer.channel == from);
        let is_awaited = content.pending.iter().any(|message| positions.contains(&message.position));
        if !is_known && !is_awaited {
            return vec![self];
        }
        // R-Q-109: a queue ignores a channel that it has nothing of. One to which it has delivered before, it may remember.
        let ignored = (!is_known).then(|| self.clone());
        let settled = self.content(name).expect("it is there").settle(from, positions);
        if is_stale {
            self.noted.push(Class::SettledLater);
        }
        if how == Settled::Requeued {
            self.put_back(name, settled);
        }
        ignored.into_iter().chain(self.deliver(name, judging)).collect()
    }

    /// R-Q-98: messages go back to where they were, and are marked. A queue that keeps nothing loses them.
    fn put_back(&mut self, name: Name, messages: Vec<Message>) {
        let Some(content) = self.content(name).filter(|content| content.keeps != Keeps::Nothing) else { return };
        content.ready.extend(messages);
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
        let is_left = content.consumers.len() < before;
        let positions: Vec<u32> = content
            .delivered
            .extract_if(.., |delivery| delivery.channel == id)
            .map(|delivery| delivery.position)
            .collect();
        let back = content.take_pending(&positions);
        let is_settlement = |cast: &Cast| matches!(cast.what, Told::Settle { .. });
        self.rest
            .casts
            .retain(|cast| (cast.from, cast.name, cast.declared) != (id, name, declared) || !is_settlement(cast));
        if is_left {
            self.consumer_left(name);
        }
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
            let delivered = content.delivered.iter().any(|delivery| delivery.channel == id);
            let told = |cast: &Cast| (cast.from, cast.name) == (id, content.name);
            let is = consumes || delivered || self.rest.casts.iter().any(told);
            is.then_some(content.name)
        };
        self.rest.queues.iter().filter_map(of).collect()
    }
}
