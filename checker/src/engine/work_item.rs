//! States on their way to the worker that owns them, of whichever type.

use std::any::Any;
use std::borrow::Cow;

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::cluster::Totals;

/// States on their way to the worker that owns them. Their type is erased, so that the dataflow is compiled once for all services.
#[derive(Clone)]
pub(super) struct WorkItem {
    /// Which worker, by its index.
    pub(super) to: u64,
    pub(super) load: Load,
}

/// What a worker gets.
#[derive(Clone)]
pub(super) enum Load {
    /// States of a worker in the same process: they are moved.
    Moved(MovedStates),
    /// States of a worker in another process, and which one that is.
    Written(u64, Vec<u8>),
    /// What another process has counted.
    Totals(Totals),
}

/// States of whichever type.
pub(super) struct MovedStates(Box<dyn States>);

/// A list of states that the dataflow may copy.
trait States: Any + Send {
    fn copy(&self) -> Box<dyn States>;
}

impl<T: Clone + Send + 'static> States for Vec<T> {
    fn copy(&self) -> Box<dyn States> {
        Box::new(self.clone())
    }
}

impl WorkItem {
    /// These states, for a worker in the same process.
    pub(super) fn new<T: Clone + Send + 'static>(to: usize, states: Vec<T>) -> Self {
        WorkItem { to: to as u64, load: Load::Moved(MovedStates(Box::new(states))) }
    }
}

impl MovedStates {
    /// The states.
    ///
    /// # Panics
    /// They are of another type: all workers of a search have the same.
    pub(super) fn states<T: 'static>(self) -> Vec<T> {
        let states: Box<dyn Any> = self.0;
        *states.downcast().expect("all workers of a search have the same type of state")
    }
}

impl Clone for MovedStates {
    fn clone(&self) -> Self {
        MovedStates(self.0.copy())
    }
}

/// A work item between processes.
#[derive(Serialize, Deserialize)]
enum Sent<'a> {
    Written(u64, u64, Cow<'a, [u8]>),
    Totals(u64, Cow<'a, Totals>),
}

impl Serialize for WorkItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.load {
            Load::Moved(_) => Err(S::Error::custom("the states of a process do not leave it unwritten")),
            Load::Written(from, bytes) => Sent::Written(self.to, *from, bytes.into()).serialize(serializer),
            Load::Totals(totals) => Sent::Totals(self.to, Cow::Borrowed(totals)).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for WorkItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Sent::deserialize(deserializer)? {
            Sent::Written(to, from, bytes) => WorkItem { to, load: Load::Written(from, bytes.into_owned()) },
            Sent::Totals(to, totals) => WorkItem { to, load: Load::Totals(totals.into_owned()) },
        })
    }
}
