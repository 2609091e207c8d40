//! Whether calls that overlap are possible: whether there is an order of them, in which each lies between its sending and its answer, and in
//! which the model answers each as the server has (Wing & Gong; with Lowe's memory of states that lead nowhere).
//!
//! A lease may end by itself in such an order, once: from the end of its TTL on, counted from the sending of what granted or renewed it,
//! and no later than one scan and the lateness after it, counted from the answer (E-LS-2, E-LS-3, E-LS-5, E-T-1). A call that changes nothing
//! is taken as soon as its answer is right: whatever comes later finds the same state, unless it would be too late behind it.
//!
//! A lock or a campaign may be several steps; `steps` has them.

use std::collections::BTreeSet;

use super::crowd::EtcdCrowd;
use super::pair::EtcdExchange;
use super::state::{Choice, Event, State};
use super::steps::Search;

/// The period of the scan of leases, in nanoseconds: 0.5 s (E-LS-5).
pub const SCAN: i64 = 500_000_000;

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
    let mut search = Search::of(crowd, lateness);
    let state = State::at(crowd.version, crowd.revision);
    let mut path: Vec<Event> = Vec::new();
    // States that lead nowhere.
    let mut known = BTreeSet::new();
    let mut open = vec![Branching { options: search.choices(&state), print: state.print(), length: 0 }];
    let must_come: Vec<usize> = (0..crowd.calls.len()).filter(|place| crowd.calls[*place].must_come()).collect();
    let is_over = |state: &State| must_come.iter().all(|place| state.has(*place));
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

/// A state from which not every way has been tried.
struct Branching {
    /// The ways, the last one first.
    options: Vec<Choice>,
    /// The state.
    print: u64,
    /// How long the order was before it.
    length: usize,
}
