//! Our own search: level by level, as a timely dataflow (Murray et al., SOSP 2013) that sends each state to the worker that owns it.
//!
//! ```text
//!            ┌──────────────────── next level ─────────────────────┐
//!            ▼                                                     │
//!   start ─► exchange by partition key ─► seen? ─► frontier ─► expand
//! ```
//!
//! A worker owns the states whose partition key falls to it: it alone remembers them. What it finds for itself takes no detour through a
//! channel; so most successors of a state have its partition key (locality-preserving partitions: Lerda and Sisto, "Distributed-memory model
//! checking with SPIN", 1999). A worker expands what it owns, and then takes states from others of its process that have more of the level left
//! (work stealing). A level begins when the dataflow knows that nothing of it is under way any more, so the first violation found is a
//! shortest one. With one worker, states are expanded in the order in which they were found, which is that of their paths of action
//! indices; so the path kept is the smallest. With several workers arrival has no order: they count, and find the level of the first
//! violation, and one worker looks for its path again. So does a worker that is alone and notes no paths, because it expects no violation.
//!
//! Where some states cover others, `antichains` keeps those that none covers, by their `allowance`.
//!
//! `disk` is the same search with its states on disk.
//!
//! `cluster` puts the workers into several processes.

mod allowance;
mod antichains;
pub(crate) mod cluster;
mod counters;
mod dataflow;
pub(crate) mod disk;
mod frontier;
#[cfg(test)]
mod maze;
mod queues;
pub(crate) mod seen;
pub(crate) mod steps;
mod visited;
mod work_item;
mod worker;

use std::sync::Arc;

use fencepost_model::mutation::Mutation;
use serde::{Deserialize, Serialize};

pub use allowance::{Allowance, Lanes};
pub use cluster::Peers;
pub use dataflow::search;
pub(crate) use dataflow::search_together;
pub use disk::{SearchStore, StoreError, StoreFile, StoreFolder, Stored};
pub use frontier::{Chunk, PlainChunk};

use crate::limits::{Limits, Supervisor};

/// What can be searched.
pub trait Space: Send + Sync + 'static {
    /// A state.
    type State: Clone + Send + 'static;
    /// States that wait to be expanded. The smaller the better: every state of a level, and of the next one, waits in memory at once.
    type Chunk: Chunk<State = Self::State>;
    /// What one worker needs while it expands states, kept so that it need not be allocated each time.
    type Scratch: Default;

    /// Where every run starts.
    fn starts(&self) -> Vec<Self::State>;

    /// 64 bits by which a state is remembered: the same on every machine.
    fn fingerprint(&self, state: &Self::State) -> u64;

    /// By this states are divided among workers: a number from 0 to 2^32 - 1, evenly spread. Equal states have the same one, on every machine. The
    /// more successors of a state have its own, the less is sent.
    fn partition_key(&self, state: &Self::State) -> u32 {
        u32::try_from(self.fingerprint(state) >> u32::BITS).expect("these are the high bits")
    }

    /// Whether states are compared in full, and not by their fingerprints alone.
    fn is_exact(&self) -> bool {
        false
    }

    /// Adds a state as bytes, where states are compared in full: two states have the same bytes only if they are the same.
    fn write(&self, _: &Self::State, _: &mut Vec<u8>) {
        unreachable!("a space that compares its states in full can write them");
    }

    /// The lanes of the states' allowances, if some states cover others: those with the same fingerprint, no more on any lane and no shorter run.
    /// A state that is covered is neither counted nor expanded; whatever can follow it can follow the one that covers it.
    fn lanes(&self) -> Option<Lanes> {
        None
    }

    /// What a state has left.
    fn allowance(&self, _: &Self::State) -> Allowance {
        Allowance::default()
    }

    /// The fingerprint and the allowance of a state that waits, if some states cover others.
    fn identity(&self, _: &<Self::Chunk as Chunk>::Waiting, _: &mut Self::Scratch) -> Option<(u64, Allowance)> {
        None
    }

    /// The mutant that is switched on in the search.
    fn mutation(&self) -> Option<Mutation> {
        None
    }

    /// Whether a state by itself breaks a promise. Asked once for each state.
    fn is_broken(&self, _: &Self::State) -> bool {
        false
    }

    /// Shows every transition out of a state, in the order of action indices. A step that changes nothing is none.
    ///
    /// # Errors
    /// The model panicked; a sentence says where.
    fn expand(
        &self,
        state: &<Self::Chunk as Chunk>::Waiting,
        scratch: &mut Self::Scratch,
        found: impl FnMut(Transition<Self::State>),
    ) -> Result<(), String>;
}

/// One step of a run.
#[derive(Debug)]
pub struct Transition<S> {
    /// The place of its action among those of the state.
    pub action: u16,
    /// The successor.
    pub state: S,
    /// Whether the step breaks a promise, whatever the state says.
    pub is_violation: bool,
    /// What it shows, as bits; a search collects them.
    pub marks: Marks,
}

/// Bits that a search collects over all its transitions.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Marks {
    /// Goals reached.
    pub reached: u64,
    /// Kinds of action taken.
    pub kinds: u64,
}

impl Marks {
    pub(crate) fn add(&mut self, other: Marks) {
        self.reached |= other.reached;
        self.kinds |= other.kinds;
    }
}

/// How to search.
#[derive(Clone)]
pub struct SearchPlan {
    /// The number of threads.
    pub workers: usize,
    /// What may cut the search.
    pub limits: Limits,
    /// It is asked regularly whether the search should stop.
    pub supervisor: Arc<dyn Supervisor>,
    /// Where the run to a violation comes from.
    pub paths: Paths,
}

/// Where a search gets the run to a violation from. A worker that is alone can note how it found each state, in six bytes each.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Paths {
    /// One worker notes how it found each state; after a search with several, one worker searches again.
    Noted,
    /// No violation is expected, so nothing is noted; if there is one, one worker searches again.
    SearchedAgain,
    /// Nowhere: it is enough to know that there is a violation.
    Unwanted,
}

/// What a search came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SearchResult {
    /// Distinct states seen.
    pub states: u64,
    /// Transitions generated.
    pub transitions: u64,
    /// Levels, that of the initial state being the first.
    pub depth: u64,
    /// Why the search was cut, if it was.
    pub cut: Option<String>,
    /// What its transitions showed.
    pub marks: Marks,
    /// Whether a run breaks a promise.
    pub is_violated: bool,
    /// Unless it is unwanted, a shortest run that breaks a promise: the place of its start among the starts, then the action index of each step.
    pub violation: Option<Vec<u16>>,
}
