//! The steps of locks and campaigns in an order of calls that overlap.
//!
//! A lock or a campaign enters the queue, and is served at some later instant at which none is ahead any more; none will be from then on, for
//! later keys have higher revisions (E-CC-11). A campaign whose key was there with another value gives it its own in between; it fails
//! if the key is another one by then, and if its lease is gone, after which it resigns (E-CC-20). A caller that has gone away may have entered or
//! not, and its key may be removed or stay (E-CC-13, E-CC-21): none of its steps must come, and none comes later than `GONE` and the lateness
//! after it went. Proclaim and resign are one step each (E-CC-22).

use fencepost_etcd::mvcc::{Contender, ContenderStep, EtcdAnswer, EtcdCall, EtcdRefusal};

use super::crowd::TimedCall;
use super::state::{Choice, Event, State};
use super::steps::Search;

impl Search<'_> {
    /// A lock or a campaign enters the queue; one that finds none ahead is answered at once, and one that is refused has no effect.
    pub(super) fn entered(&mut self, state: &State, place: usize) -> Option<Choice> {
        let mut next = state.clone();
        let contender = match next.store.enter(&self.calls[place].call) {
            Ok(contender) => contender,
            Err(_) if self.calls[place].is_gone() => return None,
            Err(refusal) => return self.over(state, next, place, EtcdAnswer::Refused(refusal)),
        };
        let has_effect = !contender.stage.is_queued() || next.store != state.store;
        if self.calls[place].is_gone() && !has_effect {
            return None;
        }
        self.stays(state, next, place, contender)
    }

    /// The next step of a call in a queue: it has not come to its end, or it is answered.
    pub(super) fn gone_on(&mut self, state: &State, place: usize, contender: Contender) -> Option<Choice> {
        let TimedCall { call, .. } = self.calls[place];
        let mut next = state.clone();
        // The wait fails if the store is compacted between a look at the queue and the watch after it: a lock then removes its key (E-CC-13), and
        // that of a campaign stays (E-CC-21).
        let overtaken = EtcdAnswer::Refused(EtcdRefusal::RecipeCompacted);
        if next.store.compacted() > contender.entered && self.exchange(place, overtaken.clone()).is_alike() {
            if matches!(call, EtcdCall::Lock { .. }) {
                next.store.withdraw(call, contender);
            }
            return self.over(state, next, place, overtaken);
        }
        match next.store.go_on(call, contender) {
            Some(ContenderStep::GoesOn(contender)) => self.stays(state, next, place, contender),
            Some(ContenderStep::Answered(answer)) => self.over(state, next, place, answer),
            // Others are still ahead: the model says that it waits, and the server has answered.
            None => self.over(state, next, place, EtcdAnswer::Waits),
        }
    }

    /// A call in a queue after a step that was not its last one.
    fn stays(&mut self, state: &State, mut next: State, place: usize, contender: Contender) -> Option<Choice> {
        let TimedCall { call, .. } = self.calls[place];
        let is_gone = self.calls[place].is_gone();
        if contender.stage.is_queued() {
            match next.store.go_on(call, contender) {
                Some(ContenderStep::Answered(answer)) if !is_gone => return self.over(state, next, place, answer),
                None if is_gone => {
                    next.waiting.insert(place, contender);
                    let exchange = Box::new(self.exchange(place, EtcdAnswer::Waits));
                    return Some(Choice { next, event: Event::Answered(exchange) });
                }
                _ => {}
            }
        }
        next.waiting.insert(place, contender);
        Some(Choice { next, event: Event::Unanswered })
    }

    /// The last step of a call in a queue.
    fn over(&mut self, state: &State, mut next: State, place: usize, answer: EtcdAnswer) -> Option<Choice> {
        next.waiting.remove(&place);
        next.done = state.done.with(place);
        if self.calls[place].is_gone() {
            return (next.store != state.store).then_some(Choice { next, event: Event::Unanswered });
        }
        let exchange = self.alike(state, place, answer)?;
        Some(Choice { next, event: Event::Answered(Box::new(exchange)) })
    }

    /// The key of a caller that has gone away from a queue is removed. One that found it there has entered no sooner than now: what came
    /// before does not tell.
    pub(super) fn withdrawal(&self, state: &State, place: usize, until: i64) -> Option<Choice> {
        let TimedCall { call, received, .. } = self.calls[place];
        if !self.calls[place].is_gone() || *received > until {
            return None;
        }
        let (mut next, mut event) = (state.clone(), Event::Unanswered);
        let contender = match state.waiting.get(&place) {
            Some(contender) => *contender,
            None => {
                let contender = next.store.enter(call).ok()?;
                if !contender.stage.is_queued() || next.store != state.store {
                    return None;
                }
                if next.store.go_on(call, contender).is_none() {
                    event = Event::Answered(Box::new(self.exchange(place, EtcdAnswer::Waits)));
                }
                contender
            }
        };
        next.store.withdraw(call, contender);
        next.waiting.remove(&place);
        next.done = state.done.with(place);
        (next.store != state.store).then_some(Choice { next, event })
    }
}
