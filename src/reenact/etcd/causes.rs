//! What an action means for an etcd server.

use fencepost_etcd::{Etcd, EtcdFault, EtcdMessage, OperatorAction, Request, Timer};
use fencepost_model::ids::{Call, ClientId, ProcessId};
use fencepost_model::process::Message;
use fencepost_model::world::{Action, Envelope, Fault};

use crate::plan::AtServer;

/// What is done to an etcd server from outside.
#[derive(Copy, Clone, Debug)]
pub enum Cause {
    /// It receives a request.
    Request(ClientId, Call, Request),
    /// An operator acts.
    Operator(OperatorAction),
    /// The connection of a client breaks.
    Disconnect(ClientId),
    /// Its process is stopped: it pauses, or is down from now on.
    Stop {
        /// Whether it will be restarted.
        is_restart: bool,
    },
    /// It goes on, or is restarted on its data.
    Return,
}

/// What an action means for the server.
pub(super) fn at_server(action: &Action<Etcd>) -> AtServer<Etcd> {
    let cause = match *action {
        Action::Deliver(Envelope {
            from: ProcessId::Client(client),
            to: ProcessId::Server,
            message: Message::Service(EtcdMessage::Request(call, request)),
            ..
        }) => Cause::Request(client, call, request),
        Action::Operator(action) => Cause::Operator(action),
        Action::Fault(Fault::Service(EtcdFault::Disconnect(client))) => Cause::Disconnect(client),
        Action::Fault(Fault::Service(EtcdFault::Freeze)) => Cause::Stop { is_restart: false },
        Action::Fault(Fault::Service(EtcdFault::Restart)) => Cause::Stop { is_restart: true },
        Action::Wake { process: ProcessId::Server, timer } => match timer {
            Timer::Return => Cause::Return,
            Timer::Revoke(_) => return AtServer::Fires(timer),
            _ => return AtServer::Itself,
        },
        _ => return AtServer::Nothing,
    };
    AtServer::Caused(cause)
}
