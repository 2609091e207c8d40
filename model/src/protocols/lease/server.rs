//! The server: lends the lock to one client at a time.

use serde::{Deserialize, Serialize};

use super::{Lease, Timer, Word, client};
use crate::fact::{Ending, Fact, Refusal};
use crate::ids::{ClientId, Index, Token};
use crate::process::{Context, Input, Message, Outbox, Process};
use crate::scenario::Scenario;
use crate::time::Instant;
use crate::world::normal::{Normal, Visitor};

/// The server. Nothing happens when a loan is over, except that the lock may be lent again.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Lender {
    loan: Option<Loan>,
    /// How many loans there were.
    loans: Index,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
struct Loan {
    to: ClientId,
    /// From here on the lock may be lent to somebody else.
    over: Instant,
}

impl Lender {
    pub(super) fn owner(&self) -> Option<ClientId> {
        self.loan.map(|loan| loan.to)
    }

    pub(super) fn loans(&self) -> Index {
        self.loans
    }

    fn lend(&mut self, to: ClientId, context: &Context<'_, Lease>, out: &mut Outbox<Lease>) {
        if self.loan.is_some() {
            out.record(Fact::Freed { by: Ending::Invalidated });
        }
        let settings = &context.scenario.service;
        self.loan = Some(Loan { to, over: context.now + settings.lease + settings.grace });
        self.loans = self.loans.next();
        out.record(Fact::Granted { client: to, token: Token(self.loans.0), fresh: true, stolen: false });
        out.send(to.into(), Word::Lent(self.loans));
    }
}

impl Process<Lease> for Lender {
    fn on(&mut self, input: Input<Lease>, context: &Context<'_, Lease>, out: &mut Outbox<Lease>) {
        let Input::Message { from, message: Message::Service(word) } = input else { return };
        let from = client(from);
        match (self.loan, word) {
            (None, Word::Borrow) => self.lend(from, context, out),
            (Some(loan), Word::Borrow) if context.now >= loan.over => self.lend(from, context, out),
            (Some(_), Word::Borrow) => {
                out.record(Fact::Refused { client: from, why: Refusal::Held });
                out.send(from.into(), Word::Busy);
            }
            (Some(_), Word::Return(loan)) if loan == self.loans => {
                self.loan = None;
                out.record(Fact::Freed { by: Ending::Released });
            }
            // A loan that is over already is returned in vain; answers are not for servers.
            (_, Word::Return(_) | Word::Lent(_) | Word::Busy) => {}
        }
    }

    fn wakes(&self, _: &Scenario<Lease>, _: &mut dyn FnMut(Timer, Instant)) {}

    fn restarted(&self, _: &Scenario<Lease>) -> Self {
        self.clone()
    }
}

impl Normal for Lender {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.index(&mut self.loans);
        if let Some(loan) = &mut self.loan {
            visitor.client(&mut loan.to);
            visitor.deadline(&mut loan.over);
        }
    }
}
