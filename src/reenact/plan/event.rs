//! A step of an execution, and what it means for the server.

use fencepost_model::ids::{Call, ClientId};

use crate::driven::Driven;

/// A step.
#[derive(Clone, Debug)]
pub struct PlannedStep<S: Driven> {
    /// Its number in the trace, from 1.
    pub(crate) number: usize,
    /// The step as a sentence.
    pub(crate) label: String,
    /// What it means for the server.
    pub(crate) event: AtServer<S>,
    /// The instant at which it begins, as an index of the schedule.
    pub(crate) start: usize,
    /// The instant at which it has ended.
    pub(crate) end: usize,
    /// What the server answers in this step.
    pub(crate) answers: Vec<Expected<S>>,
}

/// What a step means for the server.
#[derive(Copy, Clone, Debug)]
pub enum AtServer<S: Driven> {
    /// Nothing: it is a matter of clients, of messages under way, or of the resource.
    Nothing,
    /// Something is done to it from outside.
    Caused(S::Cause),
    /// A timer fires whose time others can tell.
    Fires(S::Timer),
    /// Something else that it does by itself.
    Itself,
    /// It restarts.
    Restart,
}

impl<S: Driven> AtServer<S> {
    /// Whether something happens at the server.
    pub(crate) fn is_at_server(self) -> bool {
        !matches!(self, AtServer::Nothing)
    }

    /// Whether it is asked or changed from outside.
    pub(crate) fn is_from_outside(self) -> bool {
        matches!(self, AtServer::Caused(_) | AtServer::Restart)
    }
}

/// An answer of the model.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Expected<S: Driven> {
    pub(crate) client: ClientId,
    pub(crate) call: Call,
    pub(crate) answer: S::Answer,
}
