//! The client as a program: what its handle can do, and the same client as [`Borrower`](crate::Borrower), as plain async code.

use serde::{Deserialize, Serialize};

use super::{Command, Lease, LeaseMessage, Timer};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::{Call, Index, Token};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Alarm, First, Gone, Handle, Lap, Operation, Programmable, Recipe, UserCommand, Wanted};
use fencepost_model::time::Ticks;

impl Programmable for Lease {
    type Request = LeaseMessage;
    type Answer = LeaseMessage;

    /// There are no connections: a response is for the call that waits for one.
    fn ask(_: Call, request: LeaseMessage) -> LeaseMessage {
        request
    }

    fn answer(message: &LeaseMessage) -> Option<(Option<Call>, LeaseMessage)> {
        Some((None, *message))
    }

    fn timer(alarm: Alarm) -> Timer {
        Timer::Program(alarm)
    }

    fn alarm(timer: &Timer) -> Option<Alarm> {
        match timer {
            Timer::Program(alarm) => Some(*alarm),
            Timer::Lapse | Timer::Retry => None,
        }
    }

    fn command(command: UserCommand) -> Command {
        match command {
            UserCommand::Acquire => Command::Borrow,
            UserCommand::Write => Command::Write,
            UserCommand::Release => Command::Return,
        }
    }

    fn user_command(command: &Command) -> Option<UserCommand> {
        Some(match command {
            Command::Borrow => UserCommand::Acquire,
            Command::Write => UserCommand::Write,
            Command::Return => UserCommand::Release,
        })
    }
}

/// What a program can ask of the lender.
pub trait Lending {
    /// Asks for the lock, and waits for what the lender says next: [`LeaseMessage::Lent`] or [`LeaseMessage::Busy`]. A repeated
    /// answer to an earlier request counts, too: compare the loan.
    fn borrow(&self) -> Operation<Lease, LeaseMessage>;

    /// Waits for what the lender says next.
    fn hear(&self) -> Operation<Lease, LeaseMessage>;

    /// Gives the lock back. There is no answer.
    fn give_back(&self, loan: Index);

    /// The token of a loan: what the resource compares.
    fn token(&self, loan: Index) -> Token {
        loan.token()
    }
}

impl Lending for Handle<Lease> {
    fn borrow(&self) -> Operation<Lease, LeaseMessage> {
        self.request(LeaseMessage::Borrow)
    }

    fn hear(&self) -> Operation<Lease, LeaseMessage> {
        self.listen()
    }

    fn give_back(&self, loan: Index) {
        self.send(LeaseMessage::Return(loan));
    }
}

/// The client: borrows, works, and stops when its own clock says that the lease is over.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct Loan {
    /// How long the lock is lent.
    pub lease: Ticks,
    /// How long it waits after a refusal.
    pub retry_every: Ticks,
    /// The last loan it heard of: an answer that names no later one is a repetition.
    pub last: Index,
}

impl Recipe<Lease> for Loan {
    const NAME: &'static str = "loan";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        // The lease counts from here, not from the answer.
        let lease = lender.deadline(self.lease);
        let mut answer = lender.borrow().await;
        let loan = loop {
            match answer {
                LeaseMessage::Lent(loan) if loan > self.last => break loan,
                LeaseMessage::Busy => {
                    drop(lease);
                    lender.sleep(self.retry_every).await;
                    return Ok(Lap::Again);
                }
                // A repeated answer.
                LeaseMessage::Lent(_) | LeaseMessage::Borrow | LeaseMessage::Return(_) => answer = lender.hear().await,
            }
        };
        self.last = loan;
        if lease.is_over().await {
            return Ok(Lap::Done);
        }
        lender.lease_until(&lease);
        lender.enter(lender.token(loan));
        let why = loop {
            match lender.select(lease.passed(), lender.user()).await {
                First::One(()) => break Leaving::Lapsed,
                First::Other(Wanted::Write) if lease.is_over().await => break Leaving::Lapsed,
                First::Other(Wanted::Write) => lender.send_write(lender.token(loan)),
                First::Other(Wanted::Release) => break Leaving::Done,
            }
        };
        lender.leave(why);
        lender.no_lease();
        if why == Leaving::Done {
            lender.give_back(loan);
        }
        Ok(Lap::Done)
    }
}
