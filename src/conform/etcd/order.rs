//! Whether calls that overlap are possible: whether there is an order of them, in which each lies between its sending and its answer, and in
//! which the model answers each as the server has (Wing & Gong; with Lowe's memory of states that lead nowhere).
//!
//! A lease may end by itself in such an order, once: from the end of its TTL on, counted from the sending of what granted or renewed it,
//! and no later than one scan and the lateness after it, counted from the answer (E-LS-2, E-LS-3, E-LS-5, E-T-1). A call that changes nothing
//! is taken as soon as its answer is right: whatever comes later finds the same state.
//!
//! A lock or a campaign is two steps where others are ahead: it enters the queue, and is served at some later instant at which none is
//! ahead any more; none will be from then on, for later keys have higher revisions (E-CC-11). A caller that has gone away may have entered or
//! not, and its key may be removed or stay (E-CC-13): neither step must come, and none comes later than `GONE` and the lateness after it went.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use fencepost_etcd::mvcc::{Contender, EtcdAnswer, EtcdCall, Mvcc};

use super::crowd::{EtcdCrowd, TimedCall};
use super::pair::EtcdExchange;

/// The period of the scan of leases, in nanoseconds: 0.5 s (E-LS-5).
pub const SCAN: i64 = 500_000_000;

const SECOND: i64 = 1_000_000_000;

/// How long a server may need to notice that a caller has gone away, in nanoseconds.
const GONE: i64 = SECOND;

/// How many states are looked at before a judgement is given up.
const STATES: usize = 1_000_000;

/// What the model says of a crowd.
#[derive(Clone, PartialEq, Debug)]
pub enum EtcdOrder {
    /// There is such an order.
    Possible {
        /// The calls in it, with the model's answers.
        exchanges: Vec<EtcdExchange>,
        /// The number of leases that ended by themselves in it.
        ended: u64,
    },
    /// No order is right.
    Impossible {
        /// The place of the call that the longest beginning of an order does not get past.
        place: usize,
        /// That call with both answers.
        exchange: Box<EtcdExchange>,
    },
    /// It was not found among as many states as are looked at.
    Undecided,
}

/// Judges a crowd; leases may end later than the scan finds them by this number of nanoseconds.
pub fn order(crowd: &EtcdCrowd, lateness: i64) -> EtcdOrder {
    let calls: Vec<&TimedCall> = crowd.calls.iter().collect();
    let mut search = Search { calls, lateness: lateness.max(0), farthest: None };
    let state = State {
        store: Mvcc::empty_at(crowd.revision),
        ends: BTreeMap::new(),
        waiting: BTreeMap::new(),
        done: Done { before: 0, beyond: BTreeSet::new() },
    };
    let mut path: Vec<Event> = Vec::new();
    // States that lead nowhere.
    let mut known = BTreeSet::new();
    let mut open = vec![Branching { options: search.choices(&state), print: state.print(), length: 0 }];
    let must_come: Vec<usize> = (0..crowd.calls.len()).filter(|place| !crowd.calls[*place].is_gone()).collect();
    let is_over = |state: &State| must_come.iter().all(|place| state.done.has(*place));
    if is_over(&state) {
        return EtcdOrder::Possible { exchanges: Vec::new(), ended: 0 };
    }
    while let Some(branching) = open.last_mut() {
        let Some(Choice { next, event }) = branching.options.pop() else {
            known.insert(branching.print);
            path.truncate(branching.length);
            open.pop();
            continue;
        };
        let print = next.print();
        if known.contains(&print) {
            continue;
        }
        if known.len() >= STATES {
            return EtcdOrder::Undecided;
        }
        let length = path.len();
        path.push(event);
        if is_over(&next) {
            let ended = path.iter().filter(|event| matches!(event, Event::LeaseEnds)).count() as u64;
            return EtcdOrder::Possible { exchanges: path.into_iter().filter_map(Event::exchange).collect(), ended };
        }
        open.push(Branching { options: search.choices(&next), print, length });
    }
    let (_, place, exchange) = search.farthest.expect("an order that does not go on is stopped by a call");
    EtcdOrder::Impossible { place, exchange: Box::new(exchange) }
}

/// The calls that are in the order so far.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Done {
    /// All of these, and no more in a row.
    before: usize,
    /// Some after them.
    beyond: BTreeSet<usize>,
}

impl Done {
    fn with(&self, place: usize) -> Self {
        let mut done = self.clone();
        done.beyond.insert(place);
        while done.beyond.remove(&done.before) {
            done.before += 1;
        }
        done
    }

    fn has(&self, place: usize) -> bool {
        place < self.before || self.beyond.contains(&place)
    }

    fn count(&self) -> usize {
        self.before + self.beyond.len()
    }
}

/// A beginning of an order, and what is known after it.
#[derive(Clone, Hash)]
struct State {
    store: Mvcc,
    /// From when on, and until when, a lease may end by itself.
    ends: BTreeMap<i64, (i64, i64)>,
    /// The calls of locks and campaigns that have entered a queue and are not over.
    waiting: BTreeMap<usize, Contender>,
    done: Done,
}

impl State {
    fn print(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// What comes next in an order.
enum Event {
    /// A call is answered, or its caller has gone away from a queue.
    Answered(Box<EtcdExchange>),
    /// A call enters a queue, or the key of a caller that has gone away is removed.
    Unanswered,
    /// A lease ends by itself.
    LeaseEnds,
}

impl Event {
    fn exchange(self) -> Option<EtcdExchange> {
        if let Event::Answered(exchange) = self { Some(*exchange) } else { None }
    }
}

/// One way to go on.
struct Choice {
    next: State,
    event: Event,
}

/// A state from which not every way has been tried.
struct Branching {
    /// The ways, the last one first.
    options: Vec<Choice>,
    /// The state.
    print: u64,
    /// How long the order was before it.
    length: usize,
}

struct Search<'a> {
    calls: Vec<&'a TimedCall>,
    lateness: i64,
    /// The call that the longest beginning of an order does not get past: the length, the place, both answers.
    farthest: Option<(usize, usize, EtcdExchange)>,
}

impl Search<'_> {
    fn choices(&mut self, state: &State) -> Vec<Choice> {
        let candidates = self.candidates(state);
        let mut choices = Vec::new();
        for place in candidates.calls {
            let Some((next, event)) = self.taken(state, place) else { continue };
            let is_changed = next.store != state.store || next.ends != state.ends || !next.done.has(place);
            let choice = Choice { next, event };
            if !is_changed {
                return vec![choice];
            }
            choices.push(choice);
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
        let may_come = |place: &usize| {
            let call = self.calls[*place];
            let is_too_late =
                call.is_gone() && since > call.received.saturating_add(GONE).saturating_add(self.lateness);
            let earliest = if call.is_gone() && state.waiting.contains_key(place) { call.received } else { call.sent };
            !is_too_late && earliest <= until
        };
        let mut calls: Vec<usize> =
            places().take_while(|place| self.calls[*place].sent <= until).filter(may_come).collect();
        calls.sort_by_key(|place| self.calls[*place].received);
        let leases = state.ends.iter().filter(|(_, (earliest, _))| *earliest <= until).map(|(lease, _)| *lease);
        Candidates { calls, leases: leases.collect() }
    }

    /// The state after the next step of a call, if the model answers it as the server has.
    fn taken(&mut self, state: &State, place: usize) -> Option<(State, Event)> {
        let TimedCall { call, sent, received, .. } = self.calls[place];
        if let Some(contender) = state.waiting.get(&place) {
            return self.waited(state, place, *contender);
        }
        let mut next = state.clone();
        let answer = next.store.ask(call);
        let is_gone = self.calls[place].is_gone();
        if answer == EtcdAnswer::Waits || is_gone {
            // A call that is refused has no effect.
            next.waiting.insert(place, next.store.contender(call)?);
            let event = match is_gone && answer == EtcdAnswer::Waits {
                true => Event::Answered(Box::new(self.exchange(place, answer))),
                false => Event::Unanswered,
            };
            return Some((next, event));
        }
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
        Some((next, Event::Answered(Box::new(exchange))))
    }

    /// The state after a call that was in a queue is served, or its caller's key is removed.
    fn waited(&mut self, state: &State, place: usize, contender: Contender) -> Option<(State, Event)> {
        let call = &self.calls[place].call;
        let mut next = state.clone();
        next.waiting.remove(&place);
        next.done = state.done.with(place);
        if self.calls[place].is_gone() {
            next.store.leave(call);
            return (next.store != state.store).then_some((next, Event::Unanswered));
        }
        // Others are still ahead: the model says that it waits, and the server has answered.
        let answer = state.store.served(call, contender).unwrap_or(EtcdAnswer::Waits);
        let exchange = self.alike(state, place, answer)?;
        Some((next, Event::Answered(Box::new(exchange))))
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

/// What may come next.
struct Candidates {
    calls: Vec<usize>,
    leases: Vec<i64>,
}
