//! What an action means for a Consul server.

use fencepost_consul::{
    CheckKind, Consul, ConsulFault, ConsulMessage, Key, LOCK, Operation, OperatorAction, Request, Timer,
};
use fencepost_model::ids::{Call, ClientId, Index, ProcessId};
use fencepost_model::process::Message;
use fencepost_model::world::{Action, Envelope, Fault};

use crate::plan::AtServer;

/// What is done to a Consul server from outside.
#[derive(Copy, Clone, Debug)]
pub enum Cause {
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
}

/// What an action means for the server.
pub(super) fn at_server(action: &Action<Consul>) -> AtServer<Consul> {
    let cause = match *action {
        Action::Deliver(Envelope {
            from: ProcessId::Client(client),
            to: ProcessId::Server,
            message: Message::Service(ConsulMessage::Request(call, request)),
            ..
        }) => Cause::Request(client, call, request),
        Action::Operator(action) => Cause::Operator(action),
        Action::Fault(Fault::Service(ConsulFault::FalseAlarm(node, kind))) => Cause::Critical(node, kind),
        Action::Fault(Fault::Service(ConsulFault::Restart)) => return AtServer::Restart,
        Action::Wake { process: ProcessId::Server, timer } => match timer {
            Timer::Suspect(node) => Cause::Critical(node, CheckKind::SerfHealth),
            Timer::CheckFails(node) => Cause::Critical(node, CheckKind::ServiceCheck),
            Timer::Reap(node) => Cause::Reap(node),
            Timer::Sync(node) => Cause::Sync(node),
            Timer::Expire(_) => return AtServer::Fires(timer),
            _ => return AtServer::Itself,
        },
        _ => return AtServer::Nothing,
    };
    AtServer::Caused(cause)
}

/// The keys that a request acquires.
pub(super) fn acquired(action: &Action<Consul>) -> Vec<Key> {
    match at_server(action) {
        AtServer::Caused(Cause::Request(_, _, Request::Acquire(claim))) => vec![claim.key],
        AtServer::Caused(Cause::Request(_, _, Request::Commit(transaction))) => {
            let key = |operation: &Operation| match operation {
                Operation::Lock(claim) => Some(claim.key),
                _ => None,
            };
            transaction.operations.iter().filter_map(key).collect()
        }
        AtServer::Caused(Cause::Operator(OperatorAction::Acquire(_) | OperatorAction::TakeOver(..))) => vec![LOCK],
        _ => Vec::new(),
    }
}

/// Where an operator has looked up the log positions of its request.
pub(super) fn looks(action: OperatorAction) -> Option<(Index, Key)> {
    match action {
        OperatorAction::Cas(index) | OperatorAction::DeleteCas(index) => Some((index, LOCK)),
        OperatorAction::DeleteSlots(index) => Some((index?, Key::Slots)),
        _ => None,
    }
}
