//! What an action means for a RabbitMQ broker.

use fencepost_model::ids::{ClientId, ProcessId, SessionId};
use fencepost_model::process::Message;
use fencepost_model::world::{Action, Envelope, Fault};
use fencepost_rabbitmq::{Ask, OperatorAction, RabbitMq, RabbitmqFault, RabbitmqMessage, Timer};

use crate::plan::AtServer;

/// What is done to a RabbitMQ broker from outside.
#[derive(Copy, Clone, Debug)]
pub enum Cause {
    /// It receives a request.
    Ask(ClientId, Ask),
    /// A socket is closed without a method. A broker that notices the end of a client late is one that hears of it late.
    Close(SessionId),
    /// No more frames arrive from a client.
    Silence(ClientId),
    /// Frames of a client arrive again.
    Speech(ClientId),
    /// An operator acts.
    Operator(OperatorAction),
}

/// What an action means for the broker.
pub(super) fn at_server(action: &Action<RabbitMq>) -> AtServer<RabbitMq> {
    let cause = match *action {
        Action::Deliver(Envelope {
            from: ProcessId::Client(client),
            to: ProcessId::Server,
            message: Message::Service(message),
            ..
        }) => match message {
            RabbitmqMessage::Request(ask) => Cause::Ask(client, ask),
            RabbitmqMessage::SocketClosed(id) => Cause::Close(id),
            RabbitmqMessage::Response(..) | RabbitmqMessage::ConnectionClosed(..) => return AtServer::Nothing,
        },
        Action::Operator(action) => Cause::Operator(action),
        Action::Fault(Fault::Service(RabbitmqFault::Drop(id))) => Cause::Close(id),
        Action::Fault(Fault::Service(RabbitmqFault::Restart)) => return AtServer::Restart,
        Action::Fault(Fault::Crash(client) | Fault::Pause(ProcessId::Client(client))) => Cause::Silence(client),
        Action::Fault(Fault::Resume(ProcessId::Client(client))) => Cause::Speech(client),
        Action::Fault(Fault::Cut(link)) => match (link.from, link.to) {
            (ProcessId::Client(client), ProcessId::Server) => Cause::Silence(client),
            _ => return AtServer::Nothing,
        },
        Action::Fault(Fault::Heal(link)) => match (link.from, link.to) {
            (ProcessId::Client(client), ProcessId::Server) => Cause::Speech(client),
            _ => return AtServer::Nothing,
        },
        Action::Wake { process: ProcessId::Server, timer } => match timer {
            Timer::Notice(id) => Cause::Close(id),
            Timer::Miss(_) | Timer::Expire(_) => return AtServer::Fires(timer),
            _ => return AtServer::Itself,
        },
        _ => return AtServer::Nothing,
    };
    AtServer::Caused(cause)
}
