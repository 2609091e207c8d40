//! What becomes of a publish whose queue is gone before the message gets there: that depends on what its channel knows of the queue's end.

use fencepost_rabbitmq::{Answer, Name};

use super::method::Reply;
use super::state::{Cast, ChannelId, Judging, State, Told};
use crate::amqp::class::Class;

/// What a channel answers to a publish, if its queue is gone before the message gets there.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum IfGone {
    /// R-Q-112: the channel watches the queue, and sees it end.
    Confirm,
    /// R-Q-112: it has used a later queue of that name. R-Q-113: it came too late to see the end.
    Nack,
    /// R-Q-113: it is not known whether it watches the queue in time.
    Either,
}

impl State {
    /// What a channel would answer to a publish to a queue that is there.
    pub(super) fn if_gone(&self, id: ChannelId, declared: u16) -> IfGone {
        if self.rest.watching.contains(&(id, declared)) { IfGone::Confirm } else { IfGone::Either }
    }

    /// R-Q-113: a channel has watched a queue that is there, from its first publish or consumer on.
    pub(super) fn watch(&mut self, id: ChannelId, name: Name, declared: u16) {
        if !self.rest.watching.contains(&(id, declared)) {
            self.rest.watching.push((id, declared));
            self.rest.watching.sort_unstable();
        }
        self.settle_doubt(id, name, declared, IfGone::Confirm);
    }

    /// A channel watches a queue in time or not, whatever it has published to it.
    fn settle_doubt(&mut self, id: ChannelId, name: Name, declared: u16, known: IfGone) {
        let is_in_doubt = |cast: &&mut Cast| {
            (cast.from, cast.name, cast.declared) == (id, name, declared) && cast.if_gone == IfGone::Either
        };
        self.rest.casts.iter_mut().filter(is_in_doubt).for_each(|cast| cast.if_gone = known);
    }

    /// R-Q-109: a channel publishes to a queue, gets or consumes from it. What it settles from now on, this queue hears of.
    pub(super) fn use_now(&mut self, id: ChannelId, name: Name) {
        let declared = self.content(name).expect("a queue that exists has a content").declared;
        let mine = self.rest.unacked.iter_mut().filter(|unacked| (unacked.channel, unacked.name) == (id, name));
        mine.for_each(|unacked| unacked.declared = declared);
        let is_of_earlier = |cast: &&mut Cast| (cast.from, cast.name) == (id, name) && cast.declared != declared;
        self.rest.casts.iter_mut().filter(is_of_earlier).for_each(|cast| cast.if_gone = IfGone::Nack);
    }

    /// A published message does not get to its queue, which is gone.
    pub(super) fn miss_queue(self, cast: &Cast, judging: &Judging<'_>) -> Vec<State> {
        let Cast { from, name, declared, what: Told::Publish(place), if_gone } = *cast else {
            unreachable!("what else a queue is told has no answer")
        };
        let answered = |mut state: State, answer: Answer| {
            let answer = judging.script.is_confirmed(place).then_some(Reply::Plain(answer));
            state.settle_doubt(from, name, declared, if answer == NACKED { IfGone::Nack } else { IfGone::Confirm });
            state.reply(place, answer, judging)
        };
        let nacked = |mut state: State, class: Class| {
            state.noted.push(class);
            answered(state, Answer::Nacked)
        };
        match if_gone {
            IfGone::Confirm => answered(self, Answer::Confirmed),
            IfGone::Nack => nacked(self, Class::NackedLater),
            IfGone::Either if judging.script.is_confirmed(place) => {
                let mut states = nacked(self.clone(), Class::NackedUnwatched);
                states.extend(answered(self, Answer::Confirmed));
                states
            }
            // Without a confirm nothing tells which it was.
            IfGone::Either => self.reply(place, None, judging),
        }
    }
}

const NACKED: Option<Reply> = Some(Reply::Plain(Answer::Nacked));
