//! The client: it borrows the lock, works, and stops when its own clock says that the lease is over.

use serde::{Deserialize, Serialize};

use super::{Command, Lease, LeaseMessage, Timer};
use crate::LeaseMutation;
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{Index, ProcessId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Client, Context, Input, Message, Outbox, Process};
use fencepost_model::rounds;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, Instant, LeaseEnd};

/// A client.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Borrower {
    phase: Phase,
    /// How often the user may still ask for the lock.
    rounds: u8,
    /// The last loan that the client received. A response that names no later loan is a repetition.
    loan: Index,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    /// Idle: the user has given no command.
    Idle,
    /// A request is in flight. The lease counts from the request, not from the response.
    Asking { until_if_lent: LeaseEnd },
    /// It was refused, and will ask again.
    Waiting { retry: Deadline },
    /// It believes that it has the lock.
    Inside { until: LeaseEnd, writes: u8 },
}

impl Borrower {
    pub(super) fn new(scenario: &Scenario<Lease>) -> Self {
        Borrower { phase: Phase::Idle, rounds: scenario.rounds, loan: Index::NONE }
    }

    fn ask(&mut self, context: &Context<'_, Lease>, out: &mut Outbox<Lease>) {
        self.phase = Phase::Asking { until_if_lent: LeaseEnd(context.now + context.scenario.service.lease) };
        out.send(ProcessId::Server, LeaseMessage::Borrow);
    }

    fn enter(&mut self, loan: Index, until: LeaseEnd, context: &Context<'_, Lease>, out: &mut Outbox<Lease>) {
        self.loan = loan;
        let until = match context.is_mutated(LeaseMutation::LoanCountedFromAnswer) {
            true => LeaseEnd(context.now + context.scenario.service.lease),
            false => until,
        };
        if !until.covers(context.now) {
            self.phase = Phase::Idle;
            return;
        }
        self.phase = Phase::Inside { until, writes: context.scenario.writes };
        out.record(Fact::Entered { client: context.client(), token: loan.token() });
    }

    fn leave(&mut self, why: Leaving, context: &Context<'_, Lease>, out: &mut Outbox<Lease>) {
        self.phase = Phase::Idle;
        out.record(Fact::Left { client: context.client(), why });
    }
}

impl Process<Lease> for Borrower {
    fn on(&mut self, input: Input<Lease>, context: &Context<'_, Lease>, out: &mut Outbox<Lease>) {
        match (self.phase, input) {
            (Phase::Idle, Input::Command(Command::Borrow)) => {
                rounds::take(&mut self.rounds);
                self.ask(context, out);
            }
            (Phase::Waiting { .. }, Input::Wake(Timer::Retry)) => self.ask(context, out),
            (
                Phase::Asking { until_if_lent },
                Input::Message { message: Message::Service(LeaseMessage::Lent(loan)), .. },
            ) if loan > self.loan || context.is_mutated(LeaseMutation::RepeatedAnswerHeeded) => {
                self.enter(loan, until_if_lent, context, out);
            }
            (Phase::Asking { .. }, Input::Message { message: Message::Service(LeaseMessage::Busy), .. }) => {
                self.phase = Phase::Waiting { retry: Deadline(context.now + context.scenario.service.retry_every) };
            }
            (Phase::Inside { until, .. }, Input::Command(Command::Write))
                if !until.covers(context.now) && !context.is_mutated(LeaseMutation::WritesAfterLapse) =>
            {
                self.leave(Leaving::Lapsed, context, out);
            }
            (Phase::Inside { until, writes }, Input::Command(Command::Write)) => {
                self.phase = Phase::Inside { until, writes: writes - 1 };
                out.write(self.loan.token(), None);
            }
            (Phase::Inside { .. }, Input::Command(Command::Return)) => {
                self.leave(Leaving::Done, context, out);
                out.send(ProcessId::Server, LeaseMessage::Return(self.loan));
            }
            (Phase::Inside { .. }, Input::Wake(Timer::Lapse)) => self.leave(Leaving::Lapsed, context, out),
            // A repeated or late response: the client's state has changed since.
            _ => {}
        }
    }

    fn wakes(&self, _: &Scenario<Lease>, due: &mut dyn FnMut(Timer, Instant)) {
        match self.phase {
            Phase::Waiting { retry } => due(Timer::Retry, retry.0),
            Phase::Inside { until, .. } => due(Timer::Lapse, until.0),
            Phase::Idle | Phase::Asking { .. } => {}
        }
    }

    fn restarted(&self, _: &Scenario<Lease>) -> Self {
        Borrower { phase: Phase::Idle, rounds: self.rounds, loan: Index::NONE }
    }
}

impl Client<Lease> for Borrower {
    fn commands(&self, _: &Context<'_, Lease>, offer: &mut dyn FnMut(Command)) {
        match self.phase {
            Phase::Idle if self.rounds > 0 => offer(Command::Borrow),
            Phase::Inside { writes, .. } => {
                if writes > 0 {
                    offer(Command::Write);
                }
                offer(Command::Return);
            }
            _ => {}
        }
    }

    fn belief(&self) -> Belief {
        match self.phase {
            Phase::Inside { until, .. } => Belief { is_inside: true, until: Some(until), ..Belief::default() },
            Phase::Asking { .. } | Phase::Waiting { .. } => Belief { is_waiting: true, ..Belief::default() },
            Phase::Idle => Belief::default(),
        }
    }
}
