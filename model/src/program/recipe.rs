//! What a user writes: a recipe, and how it says that a lap is over.

use std::fmt::Debug;
use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Programmable;
use super::handle::Handle;
use crate::normal::Normal;

/// A client as ordinary async code against the handle of its service.
///
/// The code runs in *laps*. At the head of a lap the value of the recipe is all that is left of the past: it is encoded, kept in
/// the state of the client, and decoded for the next lap. Within a lap the state is that value and what the code has been told
/// since. States merge at the heads of laps, so a loop that waits is best written as laps: return [`Lap::Again`].
///
/// The code must be deterministic: what it does depends on the value at the head of its lap and on what the handle tells it, and
/// on nothing else, neither a clock nor a static nor chance. It is run again to come back to a state, and a run that differs
/// is reported with the place. It compares ids for equality only, log indexes for their order only.
pub trait Recipe<S: Programmable>: Serialize + DeserializeOwned + Normal + Debug + Send + Sync + 'static {
    /// The name in scenarios, traces and stories, in kebab-case.
    const NAME: &'static str;

    /// One lap. The first one of a round begins when the user asks for the lock.
    ///
    /// # Errors
    /// The client gives up: it leaves the critical section if it is inside, stops its tasks, and forgets everything. The next
    /// round begins with the recipe as the scenario has it.
    fn lap(&mut self, client: &Handle<S>) -> impl Future<Output = Result<Lap, Gone>>;
}

/// How a lap ends.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Lap {
    /// The next lap begins at once.
    Again,
    /// The round is over: the next lap begins when the user asks for the lock again. A task that was spawned ends. After the
    /// last round the process ends, and its tasks with it.
    Done,
}

/// Something that the client cannot do without is gone: it gives up its round.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Gone;

/// Time was up first.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TimedOut;

/// Which of two was first, with what came of it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum First<A, B> {
    /// The first one.
    One(A),
    /// The other one.
    Other(B),
}

/// What the user wants of a client that is inside.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Write to the resource.
    Write,
    /// Give the lock back.
    Release,
}
