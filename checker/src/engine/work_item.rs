//! States on their way to the worker that owns them, of whichever type.

use std::any::Any;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// States on their way to the worker that owns them. Their type is erased, so that the dataflow is compiled once for all services;
/// between threads of a process they are moved, and never written as bytes.
pub(super) struct WorkItem {
    /// Which worker, by its index.
    pub(super) to: u64,
    states: Box<dyn States>,
}

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
    /// A work item with these states.
    pub(super) fn new<T: Clone + Send + 'static>(to: usize, states: Vec<T>) -> Self {
        WorkItem { to: to as u64, states: Box::new(states) }
    }

    /// What is in it.
    ///
    /// # Panics
    /// It was packed with states of another type: all workers of a search have the same.
    pub(super) fn states<T: 'static>(self) -> Vec<T> {
        let states: Box<dyn Any> = self.states;
        *states.downcast().expect("all workers of a search have the same type of state")
    }
}

impl Clone for WorkItem {
    fn clone(&self) -> Self {
        WorkItem { to: self.to, states: self.states.copy() }
    }
}

/// Timely asks for this of whatever it exchanges; it writes bytes between processes only.
const ONE_PROCESS: &str = "the states of a search stay in one process";

impl Serialize for WorkItem {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom(ONE_PROCESS))
    }
}

impl<'de> Deserialize<'de> for WorkItem {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom(ONE_PROCESS))
    }
}
