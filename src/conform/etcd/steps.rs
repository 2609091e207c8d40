//! The steps of an order of calls that overlap: what may come next after a beginning of it.
//! `contend` has those of locks and campaigns.

use fencepost_etcd::mvcc::{Contender, EtcdAnswer, EtcdCall, EtcdVersion};

use super::crowd::{EtcdCrowd, TimedCall};
use super::members::{Promotion, are_several, promotions};
use super::order::SCAN;
use super::pair::EtcdExchange;
use super::state::{Choice, Event, State};

const SECOND: i64 = 1_000_000_000;

/// How long a server may need to notice that a caller has gone away, in nanoseconds.
const GONE: i64 = SECOND;

pub(super) struct Search<'a> {
    version: EtcdVersion,
    pub(super) calls: Vec<&'a TimedCall>,
    lateness: i64,
    promotions: Vec<Promotion>,
    /// Whether several members have answered.
    is_cluster: bool,
    /// The call that the longest beginning of an order does not get past: the length, the place, both answers.
    pub farthest: Option<(usize, usize, EtcdExchange)>,
    /// Whether a call is about revisions of the past: without one, states that differ in them only are the same.
    needs_past: bool,
}

impl<'a> Search<'a> {
    pub(super) fn of(crowd: &'a EtcdCrowd, lateness: i64) -> Self {
        let calls: Vec<&TimedCall> = crowd.calls.iter().collect();
        let needs_past = calls.iter().any(|call| is_about_past(&call.call));
        let (promotions, is_cluster) = (promotions(&calls), are_several(&calls));
        Search {
            version: crowd.version,
            calls,
            lateness: lateness.max(0),
            promotions,
            is_cluster,
            farthest: None,
            needs_past,
        }
    }

    pub(super) fn choices(&mut self, state: &State) -> Vec<Choice> {
        let candidates = self.candidates(state);
        let mut choices = Vec::new();
        for place in candidates.calls {
            if let Some(choice) = self.next_step(state, place, candidates.until) {
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
        if let Some(next) = self.promotions.get(state.promoted).filter(|next| next.since <= candidates.until) {
            choices.push(next.after(state, self.lateness));
        }
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
        let next = self.promotions.get(state.promoted);
        // What a leader should have ended shortly before the next one may live on: from when on it was no leader, nothing shows (E-LD-3).
        let must_end = |latest: &i64| next.is_none_or(|next| *latest < next.since);
        let latest = state.ends.values().map(|(_, latest)| *latest).filter(must_end).min();
        let mut until = latest.unwrap_or(i64::MAX).min(next.map_or(i64::MAX, |next| next.until));
        // They are in the order of their sending.
        for place in places().filter(|place| self.calls[*place].must_come()) {
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
    fn next_step(&mut self, state: &State, place: usize, until: i64) -> Option<Choice> {
        let promoted = state.promoted.checked_sub(1).and_then(|last| self.promotions.get(last));
        if self.calls[place].is_lost() {
            return self.lost(state, place, until);
        }
        if self.calls[place].is_stale(promoted) {
            let next = State { done: state.done.with(place), ..state.clone() };
            return Some(Choice { next, event: Event::Stale });
        }
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
        self.begin_ttl(&mut next, call, &exchange.answer, (*sent, *received));
        next.done = state.done.with(place);
        Some(Choice { next, event: Event::Answered(Box::new(exchange)) })
    }

    /// What a call does to the end of its lease, if it was carried out between two instants.
    fn begin_ttl(&self, state: &mut State, call: &EtcdCall, answer: &EtcdAnswer, (since, until): (i64, i64)) {
        match (call, answer) {
            (EtcdCall::Grant { .. } | EtcdCall::Renew(_), EtcdAnswer::Lease { id, ttl, .. }) if *ttl > 0 => {
                let after = |instant: i64| instant.saturating_add(ttl.saturating_mul(SECOND));
                let latest = after(until).saturating_add(SCAN).saturating_add(self.lateness);
                state.ends.insert(*id, (after(since), latest));
            }
            (EtcdCall::Revoke(lease), EtcdAnswer::Done { .. }) => drop(state.ends.remove(lease)),
            _ => {}
        }
    }

    /// A call whose outcome nothing tells, carried out: at any instant after it was sent, or never (E-GEN-8).
    fn lost(&self, state: &State, place: usize, until: i64) -> Option<Choice> {
        let TimedCall { call, sent, .. } = self.calls[place];
        let mut next = state.clone();
        let answer = next.store.ask(call);
        self.begin_ttl(&mut next, call, &answer, (*sent, until));
        next.done = state.done.with(place);
        (next.store != state.store || next.ends != state.ends).then_some(Choice { next, event: Event::Unanswered })
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

    pub(super) fn exchange(&self, place: usize, answer: EtcdAnswer) -> EtcdExchange {
        let TimedCall { call, reply, .. } = self.calls[place];
        EtcdExchange { version: self.version, call: call.clone(), reply: reply.clone(), answer }
    }

    /// The call with both answers, if they are alike.
    pub(super) fn alike(&mut self, state: &State, place: usize, answer: EtcdAnswer) -> Option<EtcdExchange> {
        let exchange = self.exchange(place, answer);
        // Each member answers a list of leases from its own copy, which may be old (E-GEN-2); the header of another call about leases is its own, too.
        let is_local = self.is_cluster && matches!(exchange.call, EtcdCall::Leases);
        if is_local || exchange.is_alike_beside_others(self.is_cluster) && self.is_rest(state, place) {
            return Some(exchange);
        }
        let length = state.done.count();
        if self.farthest.as_ref().is_none_or(|(farthest, ..)| *farthest < length) {
            self.farthest = Some((length, place, exchange));
        }
        None
    }
}

impl Search<'_> {
    /// Whether the time that remains of a lease is that from some instant of the question to some end of its TTL, in whole seconds (E-LS-6).
    fn is_rest(&self, state: &State, place: usize) -> bool {
        let TimedCall { call, reply, sent, received } = self.calls[place];
        let EtcdCall::TimeToLive { id, .. } = call else { return true };
        let (Some((earliest, latest)), Some(rest)) = (state.ends.get(id), reply.seconds_left()) else { return true };
        // Of several members another one than the leader may have answered the grant, sooner than the leader has applied it.
        let slack = if self.is_cluster { 0 } else { self.lateness };
        let least = earliest.saturating_sub(*received) / SECOND;
        let most = latest.saturating_sub(SCAN).saturating_sub(slack).saturating_sub(*sent) / SECOND;
        let is_unbounded = *latest == i64::MAX;
        (least..=most).contains(&rest) || is_unbounded && rest >= least
    }
}

fn is_about_past(call: &EtcdCall) -> bool {
    match call {
        EtcdCall::Range(range) => range.revision != 0,
        EtcdCall::Compact(_) | EtcdCall::Watch(_) => true,
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
