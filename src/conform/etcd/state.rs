//! A beginning of an order of calls that overlap: which are in it, and what is known after it.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use fencepost_etcd::mvcc::{Contender, EtcdVersion, Mvcc};

use super::pair::EtcdExchange;

/// The calls that are in the order so far.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Done {
    /// All of these, and no more in a row.
    pub before: usize,
    /// Some after them.
    beyond: BTreeSet<usize>,
}

impl Done {
    pub(super) fn with(&self, place: usize) -> Self {
        let mut done = self.clone();
        done.beyond.insert(place);
        while done.beyond.remove(&done.before) {
            done.before += 1;
        }
        done
    }

    pub(super) fn has(&self, place: usize) -> bool {
        place < self.before || self.beyond.contains(&place)
    }

    pub(super) fn count(&self) -> usize {
        self.before + self.beyond.len()
    }
}

/// A beginning of an order, and what is known after it.
#[derive(Clone, Hash)]
pub(super) struct State {
    pub store: Mvcc,
    /// From when on, and until when, a lease may end by itself.
    pub ends: BTreeMap<i64, (i64, i64)>,
    /// The calls of locks and campaigns that have entered a queue and are not over.
    pub waiting: BTreeMap<usize, Contender>,
    /// The number of promotions so far.
    pub promoted: usize,
    pub done: Done,
}

impl State {
    /// An empty store of a version at a revision, before any call.
    pub(super) fn at(version: EtcdVersion, revision: i64) -> Self {
        let done = Done { before: 0, beyond: BTreeSet::new() };
        let store = Mvcc::empty_at(version, revision);
        State { store, ends: BTreeMap::new(), waiting: BTreeMap::new(), promoted: 0, done }
    }

    /// Whether a call is in the order.
    pub(super) fn has(&self, place: usize) -> bool {
        self.done.has(place)
    }

    pub(super) fn print(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// What comes next in an order.
pub(super) enum Event {
    /// A call is answered, or its caller has gone away from a queue.
    Answered(Box<EtcdExchange>),
    /// A call enters a queue, or the key of a caller that has gone away is removed.
    Unanswered,
    /// A lease ends by itself.
    LeaseEnds,
    /// Another leader is promoted, or the same one anew.
    Promoted,
    /// A leader that is deposed answers for itself, without any effect.
    Stale,
}

impl Event {
    pub(super) fn exchange(self) -> Option<EtcdExchange> {
        if let Event::Answered(exchange) = self { Some(*exchange) } else { None }
    }
}

/// One way to go on.
pub(super) struct Choice {
    pub next: State,
    pub event: Event,
}
