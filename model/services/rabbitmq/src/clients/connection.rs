//! A client's end of its connections: one connection at a time, one request at a time.

use serde::{Deserialize, Serialize};

use crate::RabbitMq;
use crate::RabbitmqMutation;
use crate::messages::{Answer, Ask, Problem, RabbitmqMessage, Request};
use crate::settings::{AfterRefusal, Connections, Probe};
use fencepost_model::ids::{Call, ClientId, ProcessId, RawId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, LeaseEnd};

/// The connection that a client uses, or opens with its next request.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct ClientConnection {
    id: SessionId,
    /// Whether a request was sent on it, and it is not known to have ended.
    is_up: bool,
    /// Whether the broker has closed its channel.
    is_broken: bool,
    #[normal(counter)]
    last: Call,
}

/// A request in progress.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Pending<T> {
    pub(super) call: Call,
    /// The purpose of the request.
    pub(super) what: T,
    /// Whether the client must open the channel before it can send the request.
    is_reopening: bool,
    /// The deadline at which the client gives it up.
    give_up: Option<Deadline>,
    /// The end of the lease if the request is answered (R-Q-90).
    until: Option<LeaseEnd>,
}

/// The meaning of a response for the connection.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum ConnectionAnswer {
    /// The channel is open again.
    Reopened,
    /// It is the response to the request.
    Answer(Answer),
    /// The connection has ended.
    Over,
}

/// The result of a probe for a queue (R-Q-81).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum QueueExistence {
    Exists,
    Absent,
    Unknown,
}

impl ClientConnection {
    pub(super) fn new(client: ClientId, scenario: &Scenario<RabbitMq>) -> Self {
        let is_shared = scenario.service.connections == Connections::Shared;
        let creator = if is_shared { ClientId(1) } else { client };
        ClientConnection { id: SessionId::numbered(creator, 1), is_up: false, is_broken: false, last: Call(0) }
    }

    /// Sends a request. On a closed channel, `open` is sent first, unless the client's recipe forgets that (R-Q-31).
    pub(super) fn ask<T>(
        &mut self,
        what: T,
        request: Request,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) -> Pending<T> {
        let settings = &context.scenario.service;
        let is_reopening =
            self.is_broken && settings.after_refusal != AfterRefusal::GoesOn && request != Request::Close;
        let request = if is_reopening { Request::OpenChannel { confirms: true } } else { request };
        self.last = self.last.next();
        let close_ok = std::mem::take(&mut self.is_broken) && !context.is_mutated(RabbitmqMutation::CloseOkForgotten);
        self.is_up = true;
        let ask = Ask { connection: self.id, channel: 1, close_ok, call: self.last, request };
        out.send(ProcessId::Server, RabbitmqMessage::Request(ask));
        let give_up = settings.patience.map(|patience| Deadline(context.now + patience));
        let lease = settings.lease_margin.and_then(|margin| Some(settings.heartbeat?.times(2) - margin));
        let until = lease.map(|lease| LeaseEnd(context.now + lease));
        Pending { call: self.last, what, is_reopening, give_up, until }
    }

    /// Updates the connection with a response.
    pub(super) fn take<T>(&mut self, pending: &Pending<T>, answer: Answer) -> ConnectionAnswer {
        match answer {
            Answer::Reset => ConnectionAnswer::Over,
            Answer::Error(problem) if problem.is_fatal() => ConnectionAnswer::Over,
            Answer::Opened if pending.is_reopening => ConnectionAnswer::Reopened,
            Answer::Error(_) => {
                self.is_broken = true;
                ConnectionAnswer::Answer(answer)
            }
            _ => ConnectionAnswer::Answer(answer),
        }
    }

    /// Whether the message is about the connection in use.
    pub(super) fn is(&self, id: SessionId) -> bool {
        self.is_up && self.id == id
    }

    /// The connection has ended: the next request opens another one.
    pub(super) fn forget(&mut self) {
        if self.is_up {
            self.id = self.id.next();
            (self.is_up, self.is_broken) = (false, false);
        }
    }

    /// Closes the socket without a close method.
    pub(super) fn hang_up(&mut self, out: &mut Outbox<RabbitMq>) {
        if self.is_up {
            out.send(ProcessId::Server, RabbitmqMessage::SocketClosed(self.id));
        }
        self.forget();
    }
}

impl<T> Pending<T> {
    /// The end of the lease, now that the request is answered.
    pub(super) fn until(&self) -> Option<LeaseEnd> {
        self.until
    }

    /// The deadline at which the client gives it up.
    pub(super) fn gives_up(&self) -> Option<Deadline> {
        self.give_up
    }
}

/// The request that probes for a queue.
pub(super) fn probe(name: crate::Name, kind: Probe) -> Request {
    match kind {
        Probe::Publish => Request::Publish { name, mandatory: true },
        Probe::PublishUnchecked => Request::Publish { name, mandatory: false },
        Probe::Passive | Probe::PassiveCareless => Request::Look(name),
    }
}

/// The result of its response.
pub(super) fn known(kind: Probe, answer: Answer, context: &Context<'_, RabbitMq>) -> QueueExistence {
    match (kind, answer) {
        (_, Answer::Returned { .. }) if context.is_mutated(RabbitmqMutation::ReturnTakenForAck) => {
            QueueExistence::Exists
        }
        (_, Answer::Nacked) if context.is_mutated(RabbitmqMutation::NackTakenForAbsent) => QueueExistence::Absent,
        (_, Answer::Confirmed | Answer::Nacked | Answer::Declared { .. }) => QueueExistence::Exists,
        (_, Answer::Returned { .. } | Answer::Error(Problem::NoQueue)) => QueueExistence::Absent,
        (Probe::PassiveCareless, Answer::Error(_)) => QueueExistence::Absent,
        (_, Answer::Error(Problem::Locked)) => QueueExistence::Exists,
        _ => QueueExistence::Unknown,
    }
}
