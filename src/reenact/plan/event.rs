//! A step of an execution, and what it means for the server.

use fencepost_consul::{Answer, CheckKind, Key, OperatorAction, Request};
use fencepost_model::ids::{Call, ClientId, Index, SessionId};

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct PlannedStep {
    /// Its number in the trace, from 1.
    pub(crate) number: usize,
    /// The step as a sentence.
    pub(crate) label: String,
    /// What it means for the server.
    pub(crate) event: AtServer,
    /// The instant at which it begins, as an index of the schedule.
    pub(crate) start: usize,
    /// The instant at which it has ended.
    pub(crate) end: usize,
    /// What the server answers in this step.
    pub(crate) answers: Vec<Expected>,
    /// Log positions in requests of this step, with the key that has them. An operator has looked there.
    pub(crate) looks: Vec<(Index, Key)>,
}

/// What a step means for the server.
#[derive(Copy, Clone, Debug)]
pub(crate) enum AtServer {
    /// Nothing: it is a matter of clients, of messages under way, or of the resource.
    Nothing,
    /// It receives a request.
    Request(ClientId, Call, Request),
    /// An operator asks.
    Operator(OperatorAction),
    /// A check of a node turns critical.
    Critical(ClientId, CheckKind),
    /// A node that was silent for long is removed.
    Reap(ClientId),
    /// A node is registered, and each of its checks passes.
    Sync(ClientId),
    /// A session ends because its TTL is over.
    Expire(SessionId),
    /// Something else that the server does by itself.
    Itself,
    /// It restarts.
    Restart,
}

impl AtServer {
    /// Whether something happens at the server.
    pub(crate) fn is_at_server(self) -> bool {
        !matches!(self, AtServer::Nothing)
    }
}

/// An answer of the model.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Expected {
    pub(crate) client: ClientId,
    pub(crate) call: Call,
    pub(crate) answer: Answer,
}
