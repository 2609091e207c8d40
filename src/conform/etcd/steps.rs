//! The steps of an order of calls that overlap: what may come next after a beginning of it.
//!
//! A lock or a campaign enters the queue, and is served at some later instant at which none is ahead any more; none will be from then on, for
//! later keys have higher revisions (E-CC-11). A campaign whose key was there with another value gives it its own in between; it fails
//! if the key is another one by then, and if its lease is gone, after which it resigns (E-CC-20). A caller that has gone away may have entered or
//! not, and its key may be removed or stay (E-CC-13, E-CC-21): none of its steps must come, and none comes later than `GONE` and the lateness
//! after it went. Proclaim and resign are one step each (E-CC-22).

use fencepost_etcd::mvcc::{Contender, ContenderStep, EtcdAnswer, EtcdCall, Stage};

use super::crowd::{EtcdCrowd, TimedCall};
use super::order::SCAN;
use super::pair::EtcdExchange;
use super::state::{Choice, Event, State};

const SECOND: i64 = 1_000_000_000;

/// How long a server may need to notice that a caller has gone away, in nanoseconds.
const GONE: i64 = SECOND;

pub(super) struct Search<'a> {
    calls: Vec<&'a TimedCall>,
    lateness: i64,
    /// The call that the longest beginning of an order does not get past: the length, the place, both answers.
    pub farthest: Option<(usize, usize, EtcdExchange)>,
    /// Whether a call is about revisions of the past: without one, states that differ in them only are the same.
    needs_past: bool,
}

impl<'a> Search<'a> {
    pub(super) fn of(crowd: &'a EtcdCrowd, lateness: i64) -> Self {
        let calls: Vec<&TimedCall> = crowd.calls.iter().collect();
        let needs_past = calls.iter().any(|call| is_about_past(&call.call));
        Search { calls, lateness: lateness.max(0), farthest: None, needs_past }
    }

    pub(super) fn choices(&mut self, state: &State) -> Vec<Choice> {
        let candidates = self.candidates(state);
        let mut choices = Vec::new();
        for place in candidates.calls {
            if let Some(choice) = self.next_step(state, place) {
                let Choice { next, .. } = &choice;
                let is_changed = next.store != state.store || next.ends != state.ends || !next.done.has(place);
                if !is_changed && !self.makes_late(state, place, candidates.since) {
                    return vec![choice];
                }
                choices.push(choice);
            }
            choices.extend(self.withdrawal(state, place, candidates.until));
        }
        choices.iter_mut().for_each(|choice| self.forget(&mut choice.next));
        for lease in candidates.leases {
            let mut next = state.clone();
            next.ends.remove(&lease);
            if next.store.revoke(lease).is_ok() {
                choices.push(Choice { next, event: Event::LeaseEnds });
            }
        }
        choices.reverse();
        choices
    }

    /// What may come next: calls that were sent before the earliest answer that is to come, and leases that may end before it.
    fn candidates(&self, state: &State) -> Candidates {
        let places = || (state.done.before..self.calls.len()).filter(|place| !state.done.has(*place));
        let mut until = state.ends.values().map(|(_, latest)| *latest).min().unwrap_or(i64::MAX);
        // They are in the order of their sending.
        for place in places().filter(|place| !self.calls[*place].is_gone()) {
            if self.calls[place].sent > until {
                break;
            }
            until = until.min(self.calls[place].received);
        }
        // What is in the order was sent by then: nothing comes before it.
        let begun =
            (0..self.calls.len()).rev().find(|place| state.done.has(*place) || state.waiting.contains_key(place));
        let since = begun.map_or(i64::MIN, |place| self.calls[place].sent);
        let is_in_time = |place: &usize| !self.calls[*place].is_gone() || since <= self.latest(*place);
        let mut calls: Vec<usize> =
            places().take_while(|place| self.calls[*place].sent <= until).filter(is_in_time).collect();
        calls.sort_by_key(|place| self.calls[*place].received);
        let leases = state.ends.iter().filter(|(_, (earliest, _))| *earliest <= until).map(|(lease, _)| *lease);
        Candidates { calls, leases: leases.collect(), since, until }
    }

    /// Until when a caller that has gone away may have an effect.
    fn latest(&self, place: usize) -> i64 {
        self.calls[place].received.saturating_add(GONE).saturating_add(self.lateness)
    }

    /// Whether a step of a caller that has gone away is in time now, and too late behind this call.
    fn makes_late(&self, state: &State, place: usize, since: i64) -> bool {
        let gone = (0..self.calls.len()).filter(|other| self.calls[*other].is_gone() && !state.has(*other));
        gone.map(|other| self.latest(other)).any(|latest| since <= latest && latest < self.calls[place].sent)
    }

    /// The next step of a call, if the model answers it as the server has.
    fn next_step(&mut self, state: &State, place: usize) -> Option<Choice> {
        match state.waiting.get(&place) {
            Some(contender) => self.gone_on(state, place, *contender),
            None if self.calls[place].waits() => self.entered(state, place),
            None => self.taken(state, place),
        }
    }

    /// A call of one step.
    fn taken(&mut self, state: &State, place: usize) -> Option<Choice> {
        let TimedCall { call, sent, received, .. } = self.calls[place];
        let mut next = state.clone();
        let answer = next.store.ask(call);
        let exchange = self.alike(state, place, answer)?;
        match (call, &exchange.answer) {
            (EtcdCall::Grant { .. } | EtcdCall::Renew(_), EtcdAnswer::Lease { id, ttl, .. }) if *ttl > 0 => {
                let after = |instant: &i64| instant.saturating_add(ttl.saturating_mul(SECOND));
                let latest = after(received).saturating_add(SCAN).saturating_add(self.lateness);
                next.ends.insert(*id, (after(sent), latest));
            }
            (EtcdCall::Revoke(lease), EtcdAnswer::Done { .. }) => drop(next.ends.remove(lease)),
            _ => {}
        }
        next.done = state.done.with(place);
        Some(Choice { next, event: Event::Answered(Box::new(exchange)) })
    }

    /// A lock or a campaign enters the queue; one that finds none ahead is answered at once, and one that is refused has no effect.
    fn entered(&mut self, state: &State, place: usize) -> Option<Choice> {
        let mut next = state.clone();
        let contender = match next.store.enter(&self.calls[place].call) {
            Ok(contender) => contender,
            Err(_) if self.calls[place].is_gone() => return None,
            Err(refusal) => return self.over(state, next, place, EtcdAnswer::Refused(refusal)),
        };
        let has_effect = contender.stage != Stage::Waits || next.store != state.store;
        if self.calls[place].is_gone() && !has_effect {
            return None;
        }
        self.stays(state, next, place, contender)
    }

    /// The next step of a call in a queue: it has not come to its end, or it is answered.
    fn gone_on(&mut self, state: &State, place: usize, contender: Contender) -> Option<Choice> {
        let TimedCall { call, .. } = self.calls[place];
        let mut next = state.clone();
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
        if contender.stage == Stage::Waits {
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
    fn withdrawal(&self, state: &State, place: usize, until: i64) -> Option<Choice> {
        let TimedCall { call, received, .. } = self.calls[place];
        if !self.calls[place].is_gone() || *received > until {
            return None;
        }
        let (mut next, mut event) = (state.clone(), Event::Unanswered);
        let contender = match state.waiting.get(&place) {
            Some(contender) => *contender,
            None => {
                let contender = next.store.enter(call).ok()?;
                if contender.stage != Stage::Waits || next.store != state.store {
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

    /// What makes no difference any more: revisions of the past, and campaigns whose callers have gone away and whose keys are others by now.
    fn forget(&self, state: &mut State) {
        if !self.needs_past {
            // It is refused where nothing was written since.
            drop(state.store.ask(&EtcdCall::Compact(state.store.revision())));
        }
        let has_effect = |place: usize, contender: &Contender| {
            let call = self.calls[place];
            !call.is_gone() || matches!(call.call, EtcdCall::Lock { .. }) || state.store.is_own(&call.call, *contender)
        };
        let over: Vec<usize> =
            state.waiting.iter().filter(|(place, at)| !has_effect(**place, at)).map(|(place, _)| *place).collect();
        for place in over {
            state.waiting.remove(&place);
            state.done = state.done.with(place);
        }
    }

    fn exchange(&self, place: usize, answer: EtcdAnswer) -> EtcdExchange {
        let TimedCall { call, reply, .. } = self.calls[place];
        EtcdExchange { call: call.clone(), reply: reply.clone(), answer }
    }

    /// The call with both answers, if they are alike.
    fn alike(&mut self, state: &State, place: usize, answer: EtcdAnswer) -> Option<EtcdExchange> {
        let exchange = self.exchange(place, answer);
        if exchange.is_alike_beside_others() {
            return Some(exchange);
        }
        let length = state.done.count();
        if self.farthest.as_ref().is_none_or(|(farthest, ..)| *farthest < length) {
            self.farthest = Some((length, place, exchange));
        }
        None
    }
}

fn is_about_past(call: &EtcdCall) -> bool {
    match call {
        EtcdCall::Range(range) => range.revision != 0,
        EtcdCall::Compact(_) => true,
        EtcdCall::Txn(txn) => txn.success.iter().chain(&txn.failure).any(is_about_past),
        _ => false,
    }
}

/// What may come next.
struct Candidates {
    calls: Vec<usize>,
    leases: Vec<i64>,
    /// The earliest instant of what comes next.
    since: i64,
    /// The latest instant of what comes next.
    until: i64,
}
