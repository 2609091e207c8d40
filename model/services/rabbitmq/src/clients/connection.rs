//! A client's end of its connections: one at a time, one request at a time.

use serde::{Deserialize, Serialize};

use crate::RabbitMq;
use crate::RabbitmqMutation;
use crate::messages::{Answer, Ask, Problem, RabbitmqMessage, Request};
use crate::settings::{AfterRefusal, Connections, Probe};
use fencepost_model::ids::{Call, ClientId, ProcessId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, LeaseEnd};

/// The connection that a client uses, or will open with its next request.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct ClientConnection {
    id: SessionId,
    /// Whether something was sent on it, and it is not known to be over.
    is_up: bool,
    /// Whether the broker has closed its channel.
    is_broken: bool,
    #[normal(counter)]
    last: Call,
}

/// A request under way.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Pending<T> {
    pub(super) call: Call,
    /// What it is about.
    pub(super) what: T,
    /// Whether the channel has to be opened before that can be sent.
    is_reopening: bool,
    /// When it is given up.
    give_up: Option<Deadline>,
    /// Until when the lease would last if it is answered (R-Q-90).
    until: Option<LeaseEnd>,
}

/// What an answer says of the line on which it came.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum ConnectionAnswer {
    /// The channel is open again.
    Reopened,
    /// It is an answer to what was asked.
    Answer(Answer),
    /// The connection is over.
    Over,
}

/// Whether a queue exists, as far as a probe tells (R-Q-81).
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
        ClientConnection { id: SessionId { creator, number: 1 }, is_up: false, is_broken: false, last: Call(0) }
    }

    /// Sends a request; on a channel that was closed, whatever opens it goes first, unless nobody thinks of that (R-Q-31).
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

    /// Takes in what an answer says of the line.
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

    /// Whether this is about the connection that is in use.
    pub(super) fn is(&self, id: SessionId) -> bool {
        self.is_up && self.id == id
    }

    /// The connection is over: the next request opens another one.
    pub(super) fn forget(&mut self) {
        if self.is_up {
            self.id.number += 1;
            (self.is_up, self.is_broken) = (false, false);
        }
    }

    /// Closes the socket without a word.
    pub(super) fn hang_up(&mut self, out: &mut Outbox<RabbitMq>) {
        if self.is_up {
            out.send(ProcessId::Server, RabbitmqMessage::SocketClosed(self.id));
        }
        self.forget();
    }
}

impl<T> Pending<T> {
    /// Until when the lease lasts, now that it is answered.
    pub(super) fn until(&self) -> Option<LeaseEnd> {
        self.until
    }

    /// When it is given up.
    pub(super) fn gives_up(&self) -> Option<Deadline> {
        self.give_up
    }
}

/// The request by which the existence of a queue is determined.
pub(super) fn probe(name: crate::Name, kind: Probe) -> Request {
    match kind {
        Probe::Publish => Request::Publish { name, mandatory: true },
        Probe::PublishUnchecked => Request::Publish { name, mandatory: false },
        Probe::Passive | Probe::PassiveCareless => Request::Look(name),
    }
}

/// What its answer tells.
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
