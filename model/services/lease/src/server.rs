//! The server: lends the lock to one client at a time.

use serde::{Deserialize, Serialize};

use super::{Lease, LeaseMessage, Timer, client};
use crate::LeaseMutation;
use fencepost_model::assumption::Execution;
use fencepost_model::fact::{Ending, Fact, Refusal};
use fencepost_model::ids::{ClientId, Index, ProcessId, RawId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, Instant, Ticks};

/// The server. The end of a loan is no event: afterwards the server may lend again.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Lender {
    loan: Option<Loan>,
    /// The number of loans so far.
    loans: Index,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
struct Loan {
    to: ClientId,
    /// The instant from which the lock may be lent to another client.
    over: Deadline,
}

impl Lender {
    pub(super) fn owner(&self) -> Option<ClientId> {
        self.loan.map(|loan| loan.to)
    }

    pub(super) fn loans(&self) -> Index {
        self.loans
    }

    /// Checks that every loan ends that long after the step in which it began, by the server's clock.
    pub(super) fn lends_for(execution: &Execution<Lease>, length: Ticks) -> Result<(), String> {
        execution.each(|moment| {
            let (before, after) = (&moment.before.server.process, &moment.after.server.process);
            match after.loan {
                Some(loan)
                    if after.loans != before.loans && loan.over.0 - moment.after.clock(ProcessId::Server) != length =>
                {
                    Err(format!("the loan is over at {}", loan.over))
                }
                _ => Ok(()),
            }
        })
    }

    fn lend(&mut self, to: ClientId, context: &Context<'_, Lease>, out: &mut Outbox<Lease>) {
        if self.loan.is_some() {
            out.record(Fact::Freed { by: Ending::Invalidated });
        }
        let settings = &context.scenario.service;
        let grace = if context.is_mutated(LeaseMutation::GraceForgotten) { Ticks::ZERO } else { settings.grace };
        self.loan = Some(Loan { to, over: Deadline(context.now + settings.lease + grace) });
        self.loans = self.loans.next();
        out.record(Fact::Granted { client: to, token: self.loans.token(), fresh: true, stolen: false });
        out.send(to.into(), LeaseMessage::Lent(self.loans));
    }
}

impl Process<Lease> for Lender {
    fn on(&mut self, input: Input<Lease>, context: &Context<'_, Lease>, out: &mut Outbox<Lease>) {
        let Input::Message { from, message: Message::Service(message) } = input else { return };
        let from = client(from);
        let hurry = Ticks::new(i64::from(context.is_mutated(LeaseMutation::LentTooEarly)));
        let is_lax = context.is_mutated(LeaseMutation::StaleReturnFrees);
        match (self.loan, message) {
            (None, LeaseMessage::Borrow) => self.lend(from, context, out),
            (Some(loan), LeaseMessage::Borrow) if loan.over.is_due(context.now + hurry) => {
                self.lend(from, context, out)
            }
            (Some(_), LeaseMessage::Borrow) => {
                out.record(Fact::Refused { client: from, why: Refusal::Held });
                out.send(from.into(), LeaseMessage::Busy);
            }
            (Some(_), LeaseMessage::Return(loan)) if loan == self.loans || is_lax => {
                self.loan = None;
                out.record(Fact::Freed { by: Ending::Released });
            }
            // The return of an ended loan has no effect. Servers receive no responses.
            (_, LeaseMessage::Return(_) | LeaseMessage::Lent(_) | LeaseMessage::Busy) => {}
        }
    }

    fn wakes(&self, _: &Scenario<Lease>, _: &mut dyn FnMut(Timer, Instant)) {}

    fn restarted(&self, _: &Scenario<Lease>) -> Self {
        self.clone()
    }
}
