//! An administrator of the persistent semaphore: "Lock Administration", "Waiting on Lock Holders", "Administration Mutex" and
//! "Overshooting". What the text leaves open, and what is corrected (R-Q-82 to R-Q-86), are its terms.
//!
//! `todo` has the steps after the count, `session` what refusals and lost connections mean to it.

mod session;
mod todo;

use serde::{Deserialize, Serialize};

use self::todo::{Todo, todo};
use super::session::{Existence, Session};
use super::{Doing, Report};
use crate::{Administration, Counts, NUMBERS, Name, Operation, Problem, QueueProperties, RabbitMq, Retries, Settings};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};
use fencepost_model::time::Ticks;

/// An administrator. Each of its rounds is an operation.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct SlotAdministrator {
    /// What the text leaves open.
    #[normal(skip = "constants")]
    pub terms: Administration,
    /// What it does, one after the other.
    #[normal(skip = "constants")]
    operations: Vec<Operation>,
    retry_every: Ticks,
    /// The properties of A queues.
    slot: QueueProperties,
    /// Those of the mutex: "the mutex acquired by lock administrators".
    mutex: QueueProperties,
    session: Session,
    /// How many operations it has done.
    done: u8,
    /// The number of slots that there should be after the operation: computed after the first count.
    asked: Option<u8>,
    /// The operation in progress, once the slots are counted.
    #[normal(skip = "numbers of slots")]
    work: Option<Work>,
}

/// What is left of an operation.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Work {
    todo: Vec<Todo>,
    /// How often it has found the same slot held.
    looked: u8,
    /// A removed slot is still held.
    is_pending: bool,
}

/// The operation cannot be carried out.
struct Stopped;

impl Recipe<RabbitMq> for SlotAdministrator {
    const NAME: &'static str = "slot-administrator";

    async fn lap(&mut self, broker: &Handle<RabbitMq>) -> Result<Lap, Gone> {
        let lap = match self.work.take() {
            None => self.begin(broker).await,
            Some(work) => self.go_on(broker, work).await,
        };
        Ok(match lap {
            Ok(lap) => lap,
            Err(Stopped) => self.abort(broker).await,
        })
    }
}

impl SlotAdministrator {
    /// The administrator of this place, from 0, with the settings of a scenario, and this number of requests that it may give up.
    pub fn of(settings: &Settings, place: usize, retries: u8) -> Self {
        let terms = Administration { does: Vec::new(), ..settings.administration.clone() };
        SlotAdministrator {
            terms,
            operations: settings.administration.does[place].clone(),
            retry_every: settings.retry_every,
            slot: settings.slot_shape(),
            mutex: settings.holder_shape(),
            session: Session::of(settings, retries),
            done: 0,
            asked: None,
            work: None,
        }
    }

    fn operation(&self) -> Operation {
        self.operations[usize::from(self.done)]
    }

    /// "Before all administrative actions, the lock administrator must acquire a mutex", and then count.
    async fn begin(&mut self, broker: &Handle<RabbitMq>) -> Result<Lap, Stopped> {
        let mutex = self.mutex;
        if self.terms.mutex {
            match self.ask(broker, async |channel| channel.declare(broker, Name::Mutex, mutex).await).await? {
                Ok(_) => {}
                Err(Problem::Locked) => {
                    broker.send(Doing::Report(Report::Busy));
                    self.pause(broker).await?;
                    return Ok(Lap::Again);
                }
                Err(_) => return Err(Stopped),
            }
        }
        broker.begin_work();
        // "To create a semaphore, a lock administrator should create all of the A queues": it does not count (F-20).
        let is_blind = matches!(self.operation(), Operation::Create(_)) && !self.terms.converges;
        let count = if is_blind { 0 } else { self.count(broker).await? };
        let asked = *self.asked.get_or_insert(self.operation().size_after(count));
        let strays = self.strays(broker, count).await?;
        let target = match self.terms.retries {
            Retries::ToTarget => asked,
            Retries::Relative | Retries::Never => self.operation().size_after(count),
        };
        let began = Todo::Begin { counted: (!is_blind).then_some(count), limit: asked.max(count) };
        let is_creation = matches!(self.operation(), Operation::Create(_));
        self.work =
            Some(Work { todo: todo(&self.terms, is_creation, strays, began, count, target), ..Work::default() });
        if is_blind && !self.terms.mutex {
            // It has not waited for anything yet.
            let work = self.work.take().unwrap_or_default();
            return self.go_on(broker, work).await;
        }
        Ok(Lap::Again)
    }

    /// "Determining the Maximum Number of Slots": "by checking the existence of all A queues of the semaphore in order".
    async fn count(&mut self, broker: &Handle<RabbitMq>) -> Result<u8, Stopped> {
        for slot in 1..=NUMBERS {
            match self.probe(broker, Name::Slot(slot)).await? {
                Existence::Exists => {}
                // "When the first NO_ROUTE or NOT_FOUND occurs" (F-3, F-4).
                Existence::Absent if self.terms.counts == Counts::ToFirstGap => return Ok(slot - 1),
                // R-Q-82: only this 404 says that the queue does not exist.
                Existence::Absent => {
                    let name = Name::Slot(slot);
                    let looked = self.ask(broker, async |channel| channel.declare_passive(broker, name).await).await?;
                    return if looked == Err(Problem::NoQueue) { Ok(slot - 1) } else { Err(Stopped) };
                }
                Existence::Unknown => return Err(Stopped),
            }
        }
        Ok(NUMBERS)
    }

    /// Slots beyond the first gap (R-Q-84).
    async fn strays(&mut self, broker: &Handle<RabbitMq>, count: u8) -> Result<Vec<u8>, Stopped> {
        let mut strays = Vec::new();
        for slot in count + 2..=(count + 1 + self.terms.looks_beyond).min(NUMBERS) {
            match self.probe(broker, Name::Slot(slot)).await? {
                Existence::Exists => strays.push(slot),
                Existence::Absent => {}
                Existence::Unknown => return Err(Stopped),
            }
        }
        Ok(strays)
    }

    /// The rest of an operation, up to a slot that is still held.
    async fn go_on(&mut self, broker: &Handle<RabbitMq>, mut work: Work) -> Result<Lap, Stopped> {
        while let Some(step) = work.todo.first().copied() {
            match step {
                Todo::Begin { counted, limit } => {
                    counted.into_iter().for_each(|count| broker.send(Doing::Report(Report::Counted(count))));
                    broker.send(Doing::Report(Report::Began(limit)));
                }
                Todo::Declare(slot) => {
                    let (name, shape) = (Name::Slot(slot), self.slot);
                    let declared = self.ask(broker, async |channel| channel.declare(broker, name, shape).await).await?;
                    self.carry_on_after(declared)?;
                }
                // "It is imperative that clients wait for the delete-ok message from the broker before continuing".
                Todo::Delete(slot) => {
                    let name = Name::Slot(slot);
                    let deleted = self.ask(broker, async |channel| channel.delete(broker, name, false).await).await?;
                    self.carry_on_after(deleted)?;
                }
                // "By polling the existence of a B queue for a given slot."
                Todo::Free(slot) | Todo::Await(slot) => match self.probe(broker, Name::Holder(slot)).await? {
                    // "When existence-checking fails, the lock has been relinquished."
                    Existence::Absent => work.looked = 0,
                    Existence::Exists if !self.is_patient(&mut work) => {
                        if matches!(step, Todo::Free(_)) {
                            return Err(Stopped);
                        }
                        (work.is_pending, work.looked) = (true, 0);
                    }
                    Existence::Exists => {
                        self.pause(broker).await?;
                        self.work = Some(work);
                        return Ok(Lap::Again);
                    }
                    Existence::Unknown => return Err(Stopped),
                },
            }
            work.todo.remove(0);
        }
        self.finish(broker, work.is_pending).await;
        Ok(Lap::Done)
    }
}
