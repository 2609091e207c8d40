//! One message as a mutex: the client that has got it and not acknowledged it has the lock (B-36, R-Q-70).

use serde::{Deserialize, Serialize};

use super::connection::{ClientConnection, ConnectionAnswer, Pending};
use crate::RabbitMq;
use crate::RabbitmqMutation;
use crate::messages::{Answer, Command, Name, Request, Timer};
use fencepost_model::fact::{Fact, Leaving, Refusal};
use fencepost_model::ids::{Call, ClientId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Context, Input, Outbox};
use fencepost_model::rounds;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, Instant};

/// A client that uses a message as a lock.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Getter {
    phase: Phase,
    connection: ClientConnection,
    rounds: u8,
    /// How often it may still write in one tenure.
    writes: u8,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    Idle,
    /// The queue was empty; it asks again.
    Waiting {
        retry: Deadline,
    },
    Getting(Pending<()>),
    /// It has the message.
    Inside {
        delivery: u32,
        writes: u8,
    },
}

impl Getter {
    pub(super) fn new(id: ClientId, scenario: &Scenario<RabbitMq>) -> Self {
        let connection = ClientConnection::new(id, scenario);
        Getter { phase: Phase::Idle, connection, rounds: scenario.rounds, writes: scenario.writes }
    }

    fn get(&mut self, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        self.phase = Phase::Getting(self.connection.ask((), Request::Get(Name::Lock), context, out));
    }

    pub(super) fn act(&mut self, input: Input<RabbitMq>, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        match (self.phase, input) {
            (Phase::Idle, Input::Command(Command::Acquire)) => {
                rounds::take(&mut self.rounds);
                self.get(context, out);
            }
            (Phase::Waiting { .. }, Input::Wake(Timer::Retry)) => self.get(context, out),
            (Phase::Inside { delivery, writes }, Input::Command(Command::Write)) => {
                self.phase = Phase::Inside { delivery, writes: writes - 1 };
                out.write(Default::default(), None);
            }
            (Phase::Inside { delivery, .. }, Input::Command(Command::Release)) => {
                out.record(Fact::Left { client: context.client(), why: Leaving::Done });
                let is_acked = context.is_mutated(RabbitmqMutation::ReleasesByAck);
                let request = if is_acked { Request::Ack(delivery) } else { Request::Requeue(delivery) };
                self.connection.ask((), request, context, out);
                self.phase = Phase::Idle;
            }
            _ => {}
        }
    }

    pub(super) fn hear(
        &mut self,
        to: Call,
        answer: Answer,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        let Phase::Getting(pending) = self.phase else { return };
        if pending.call != to {
            return;
        }
        match self.connection.take(&pending, answer) {
            ConnectionAnswer::Reopened => self.get(context, out),
            ConnectionAnswer::Over => {
                self.connection.forget();
                self.wait(context);
            }
            ConnectionAnswer::Answer(Answer::Got { delivery, .. }) => {
                self.phase = Phase::Inside { delivery, writes: self.writes };
                out.record(Fact::Entered { client: context.client(), token: Default::default() });
            }
            ConnectionAnswer::Answer(_) => {
                out.record(Fact::Refused { client: context.client(), why: Refusal::Held });
                self.wait(context);
            }
        }
    }

    fn wait(&mut self, context: &Context<'_, RabbitMq>) {
        self.phase = Phase::Waiting { retry: Deadline(context.now + context.scenario.service.retry_every) };
    }

    pub(super) fn lose_connection(
        &mut self,
        id: SessionId,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        if !self.connection.is(id) {
            return;
        }
        self.connection.forget();
        match self.phase {
            Phase::Inside { .. } if !context.is_mutated(RabbitmqMutation::GetterIgnoresLoss) => {
                out.record(Fact::Left { client: context.client(), why: Leaving::Notified });
                self.phase = Phase::Idle;
            }
            Phase::Getting(_) => self.wait(context),
            Phase::Idle | Phase::Waiting { .. } | Phase::Inside { .. } => {}
        }
    }

    pub(super) fn wakes(&self, due: &mut dyn FnMut(Timer, Instant)) {
        if let Phase::Waiting { retry } = self.phase {
            due(Timer::Retry, retry.0);
        }
    }

    pub(super) fn commands(&self, offer: &mut dyn FnMut(Command)) {
        match self.phase {
            Phase::Idle if self.rounds > 0 => offer(Command::Acquire),
            Phase::Inside { writes, .. } => {
                if writes > 0 {
                    offer(Command::Write);
                }
                offer(Command::Release);
            }
            _ => {}
        }
    }

    pub(super) fn belief(&self) -> Belief {
        match self.phase {
            Phase::Inside { .. } => Belief { is_inside: true, ..Belief::default() },
            Phase::Waiting { .. } | Phase::Getting(_) => Belief { is_waiting: true, ..Belief::default() },
            Phase::Idle => Belief::default(),
        }
    }

    pub(super) fn restarted(&self) -> Self {
        let mut connection = self.connection;
        connection.forget();
        Getter { phase: Phase::Idle, connection, ..*self }
    }
}
