//! A search by several processes, each with its share of the states: the dataflow of one process, over connections.
//!
//! Which worker owns a state is a matter of the contents of its parts, which are the same everywhere. Numbers of parts are not: each process numbers
//! the parts that it meets, so a part travels by value, once to each worker of another process, and the states that follow name it by
//! the place that it had in this conversation. Where a level ends, each process tells the others what it has counted on it; so all of them
//! know the same before they begin with the next, and come to the same result.
//!
//! ```text
//! checkpoint  how far each worker has come, on disk
//! state_log   the states that a worker has found, written to its checkpoint and read again
//! numbers     what the two ends of a conversation call a part
//! wire        states as bytes, from one worker to another
//! totals      what a process tells the others at the end of a level
//! ```

mod checkpoint;
mod numbers;
#[cfg(any(test, feature = "stateright"))]
pub(crate) mod pipes;
mod state_log;
#[cfg(test)]
mod tests;
mod totals;
mod wire;

use std::net::TcpStream;
use std::sync::Arc;

pub(super) use self::checkpoint::{Checkpoint, Checkpoints};
pub(crate) use self::numbers::{Heard, Told};
pub(super) use self::state_log::StateLog;
pub(super) use self::totals::Totals;
pub(super) use self::wire::Wire;
use super::{SearchStore, StoreError};

/// The processes that search together, seen from one of them.
pub trait Peers: Send + Sync {
    /// How many there are, this one included.
    fn processes(&self) -> usize;

    /// The place of this one among them, from 0.
    fn process(&self) -> usize;

    /// Connects to each of the others for one search; none at the place of this process. `search`: what all must agree on, as questions and
    /// answers.
    ///
    /// # Errors
    /// Another process cannot be reached or searches something else; a sentence says which and why.
    fn connect(&self, search: &[(String, String)]) -> Result<Vec<Option<TcpStream>>, String>;
}

/// States that another process can read.
pub(crate) trait Portable<S>: Send + Sync {
    /// Adds a state as bytes. Parts that the other worker has not been told of are added to `parts`.
    ///
    /// # Errors
    /// A part cannot be written; a sentence says why.
    fn pack(&self, state: &S, told: &mut Told, parts: &mut Vec<u8>, to: &mut Vec<u8>) -> Result<(), String>;

    /// Reads parts that another worker has written.
    ///
    /// # Errors
    /// These are not the bytes of parts.
    fn learn(&self, parts: &[u8], heard: &mut Heard) -> Result<(), String>;

    /// Reads a state that another worker has written; none if these are not the bytes of one.
    fn unpack(&self, bytes: &[u8], heard: &Heard) -> Option<S>;

    /// What the space counts beside the search.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Adds what another process has counted.
    fn add(&self, _: &[u64]) {}
}

/// A search in which several processes take part.
pub(crate) struct Together<S> {
    /// The processes.
    pub(crate) peers: Arc<dyn Peers>,
    /// What is searched and how, as questions and answers.
    pub(crate) identity: Vec<(String, String)>,
    /// What may cut it, on which all have to agree; a checkpoint does not depend on that.
    pub(crate) limits: Vec<(String, String)>,
    /// How states travel.
    pub(crate) portable: Arc<dyn Portable<S>>,
    /// Where this process keeps its checkpoints.
    pub(crate) store: Option<SearchStore>,
}

impl<S> Together<S> {
    /// The checkpoints of this process with this number of workers, if it keeps some.
    pub(super) fn checkpoints(&self, workers: usize) -> Result<Option<Checkpoints>, ClusterSearchError> {
        let Some(store) = &self.store else { return Ok(None) };
        let (all, own) = (self.peers.processes(), self.peers.process());
        let mut identity = self.identity.clone();
        identity.push(("the number of processes".to_owned(), all.to_string()));
        identity.push(("--process".to_owned(), own.to_string()));
        let opened = Checkpoints::open(store, &identity, own * workers..(own + 1) * workers);
        opened.map(Some).map_err(ClusterSearchError::Store)
    }
}

/// Why a search of several processes has no result.
pub(crate) enum ClusterSearchError {
    /// The others cannot be reached, or one of them ended; a sentence says more.
    Peers(String),
    /// The store of this process is refused.
    Store(StoreError),
    /// The model panicked; a sentence says where.
    Model(String),
}
