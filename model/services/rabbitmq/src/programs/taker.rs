//! The client of the persistent semaphore, step by step: "Acquiring a Lock". Where the text leaves a choice, or is wrong and
//! corrected (R-Q-87, R-Q-90), the client has terms.

use serde::{Deserialize, Serialize};

use super::session::{Existence, MethodError, Session};
use super::verify::{Verified, verify};
use super::{Doing, Report, TakerTerms};
use crate::{AfterRace, AfterRefusal, First, NUMBERS, Name, Problem, RabbitMq, Settings};
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};

/// A client of the semaphore.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct SlotTaker {
    /// What the text leaves open.
    #[normal(skip = "constants")]
    pub terms: TakerTerms,
    pub(super) session: Session,
    /// The number that L started at.
    first: u8,
    /// The number L, and how many races were lost, in a search that goes on.
    next: Option<(u8, u8)>,
    /// The slot that it holds.
    pub(super) held: Option<u8>,
}

/// How a search ends.
enum Search {
    /// "Lock-acquire success", with L.
    Success(u8),
    /// "Lock-acquire failure".
    Failure,
    /// "Go to step 1", with another L.
    GoesOn,
    /// It has lost too many races.
    GaveUp,
    /// It takes a refusal as final, although its user still waits (B-38).
    Resigned,
}

impl Recipe<RabbitMq> for SlotTaker {
    const NAME: &'static str = "slot-taker";

    async fn lap(&mut self, broker: &Handle<RabbitMq>) -> Result<Lap, Gone> {
        Ok(match self.held {
            None => self.acquire(broker).await,
            Some(slot) => self.hold(broker, slot).await,
        })
    }
}

impl SlotTaker {
    /// The client with the settings of a scenario, and this number of requests that it may give up.
    pub fn of(settings: &Settings, retries: u8) -> Self {
        let terms = TakerTerms::of(settings);
        SlotTaker { terms, session: Session::of(settings, retries), first: 0, next: None, held: None }
    }

    /// A search, and what its result means to the user.
    async fn acquire(&mut self, broker: &Handle<RabbitMq>) -> Lap {
        match self.search(broker).await {
            // R-Q-90: the answer may be too late.
            Ok(Search::Success(_)) if broker.lease_is_over().await => {
                self.session.hang_up(broker);
                self.pause(broker).await
            }
            Ok(Search::Success(slot)) => {
                self.held = Some(slot);
                broker.enter_numbered(Token::default(), slot);
                Lap::Again
            }
            Ok(Search::GoesOn) => Lap::Again,
            Ok(Search::Failure) if !self.terms.persists => Lap::Done,
            Ok(Search::Failure) | Err(_) => self.pause(broker).await,
            Ok(Search::GaveUp) => {
                broker.send(Doing::Report(Report::GaveUp));
                Lap::Done
            }
            Ok(Search::Resigned) => {
                broker.send(Doing::Report(Report::GaveUp));
                loop {
                    broker.listen().await;
                }
            }
        }
    }

    /// "Acquiring a Lock".
    async fn search(&mut self, broker: &Handle<RabbitMq>) -> Result<Search, MethodError> {
        // 1. "For some number L that starts at 1".
        let (slot, lost) = match self.next.take() {
            Some(next) => next,
            None => {
                self.first = match self.terms.first {
                    First::At(first) => first,
                    First::Random(options) => broker.random(options).await + 1,
                };
                (self.first, 0)
            }
        };
        // "Poll the existence of the A queue for L." 2. "If A[L] does not exist, return lock-acquire failure."
        match self.session.probe(broker, Name::Slot(slot)).await? {
            Existence::Exists => {}
            Existence::Absent => {
                broker.send(Doing::Report(Report::Full));
                return Ok(Search::Failure);
            }
            Existence::Unknown => return Ok(Search::Failure),
        }
        // 3. "If A[L] exists, poll the existence of the B queue for L."
        match self.session.probe(broker, Name::Holder(slot)).await? {
            // 4. "If B[L] exists, increment L by 1 and go to step 1."
            Existence::Exists if slot < NUMBERS => {
                self.next = Some((slot + 1, lost));
                return Ok(Search::GoesOn);
            }
            Existence::Absent => {}
            Existence::Exists | Existence::Unknown => return Ok(Search::Failure),
        }
        // 5. "If B[L] does not exist, attempt to declare it".
        let (name, shape) = (Name::Holder(slot), self.terms.holder);
        match self.session.ask(broker, async |channel| channel.declare(broker, name, shape).await).await {
            Ok(_) => {}
            // 6. "If declaration fails with RESOURCE_LOCKED".
            Err(MethodError::Refused(Problem::Locked)) => return Ok(self.lost_race(slot, lost)),
            Err(MethodError::Refused(_)) => return Ok(Search::Failure),
            Err(MethodError::Lost) => return Err(MethodError::Lost),
        }
        // 7. "If declaration succeeds, return lock-acquire success."
        if self.terms.verifies_first {
            match verify(&mut self.session, broker, slot, (self.terms.verify, shape), false).await? {
                Verified::Held => {}
                Verified::HolderGone => return Ok(Search::Failure),
                // R-Q-87: a slot that was removed is given back.
                Verified::SlotGone => {
                    self.delete(broker, slot).await?;
                    return Ok(Search::Failure);
                }
            }
        }
        Ok(Search::Success(slot))
    }

    /// 6. "Re-connect the channel, re-set L to 1 and go to step 1."
    fn lost_race(&mut self, slot: u8, lost: u8) -> Search {
        let lost = lost + u8::from(self.terms.attempts.is_some());
        if self.terms.after_refusal == AfterRefusal::GivesUp {
            return Search::Resigned;
        }
        if self.terms.attempts.is_some_and(|attempts| lost >= attempts) {
            return Search::GaveUp;
        }
        let next = match self.terms.after_race {
            AfterRace::First => self.first,
            AfterRace::Same => slot,
            AfterRace::Next => (slot + 1).min(NUMBERS),
        };
        self.next = Some((next, lost));
        Search::GoesOn
    }

    /// "Delete the B queue for L."
    pub(super) async fn delete(&mut self, broker: &Handle<RabbitMq>, slot: u8) -> Result<(), MethodError> {
        let name = Name::Holder(slot);
        match self.session.ask(broker, async |channel| channel.delete(broker, name, false).await).await {
            Err(MethodError::Lost) => Err(MethodError::Lost),
            Ok(_) | Err(MethodError::Refused(_)) => Ok(()),
        }
    }

    /// Waits until the user tries again.
    async fn pause(&mut self, broker: &Handle<RabbitMq>) -> Lap {
        let deadline = broker.deadline(self.terms.retry_every);
        if self.session.wait(broker, &deadline).await.is_err() {
            deadline.passed().await;
        }
        Lap::Again
    }
}
