//! An administrator: it changes the number of slots, literally as published or corrected (R-Q-82 to R-Q-86).
//!
//! `plan` has the steps of an operation; this module takes them.

mod plan;

use serde::{Deserialize, Serialize};

use self::plan::AdministratorStep;
use super::connection::{ClientConnection, ConnectionAnswer, Pending, QueueExistence, known, probe};
use crate::RabbitMq;
use crate::RabbitmqMutation;
use crate::messages::{Answer, Command, Name, Problem, QueueProperties, RabbitmqEvent, Request, Timer};
use crate::settings::{Administration, Counts, Failure, NUMBERS, Operation, Release, Retries, Settings};
use fencepost_model::fact::Fact;
use fencepost_model::ids::{Call, ClientId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Input, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, Instant};

/// An administrator.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Administrator {
    phase: Phase,
    connection: ClientConnection,
    /// Its index among the administrators, from 0.
    place: u8,
    /// The index of its next operation.
    next: u8,
    /// Its knowledge about the operation in progress.
    task: Task,
    retries: u8,
}

/// The phase of an administrator.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    /// Idle: no operation is in progress.
    Idle,
    /// It takes this step when its timer fires.
    Waiting { retry: Deadline, step: AdministratorStep },
    /// A step is in progress.
    Working(Pending<AdministratorStep>),
}

/// The knowledge about the operation in progress.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
struct Task {
    /// The number of slots that it counted.
    counted: u8,
    /// The target number of slots, computed after the first count.
    asked: Option<u8>,
    /// Slots beyond the first gap, one bit each.
    strays: u8,
    /// The index of its next step in the plan.
    at: u8,
    /// How often it checked a holder without success.
    looked: u8,
    /// Whether some removed slots are still held.
    is_pending: bool,
}

impl Administrator {
    pub(super) fn new(id: ClientId, place: u8, scenario: &Scenario<RabbitMq>) -> Self {
        let (connection, retries) = (ClientConnection::new(id, scenario), scenario.budget.retries);
        Administrator { phase: Phase::Idle, connection, place, next: 0, task: Task::default(), retries }
    }

    /// Whether it is changing the slots, from the mutex to its end. Only one administrator should do that at a time.
    pub(super) fn is_at_work(&self) -> bool {
        let step = match self.phase {
            Phase::Idle => return false,
            Phase::Waiting { step, .. } => step,
            Phase::Working(pending) => pending.what,
        };
        !matches!(step, AdministratorStep::Lock | AdministratorStep::Unlock)
    }

    fn operations<'a>(&self, context: &'a Context<'_, RabbitMq>) -> &'a [Operation] {
        &administration(context).does[usize::from(self.place)]
    }

    fn operation(&self, context: &Context<'_, RabbitMq>) -> Operation {
        self.operations(context)[usize::from(self.next)]
    }

    pub(super) fn act(&mut self, input: Input<RabbitMq>, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        match (self.phase, input) {
            (Phase::Idle, Input::Command(Command::Administer)) => self.begin(context, out),
            (Phase::Waiting { step, .. }, Input::Wake(Timer::Retry)) => self.take(step, context, out),
            (Phase::Working(_), Input::Wake(Timer::GiveUp)) => {
                self.retries -= 1;
                self.abort(context, out);
            }
            _ => {}
        }
    }

    /// Starts an operation: first the mutex, if there is one (F-14).
    fn begin(&mut self, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        self.task = Task { asked: self.task.asked, ..Task::default() };
        if administration(context).mutex && !context.is_mutated(RabbitmqMutation::MutexForgotten) {
            self.take(AdministratorStep::Lock, context, out);
        } else {
            self.start_counting(context, out);
        }
    }

    fn start_counting(&mut self, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        match self.operation(context) {
            // F-20: creation may skip the count.
            Operation::Create(_) if !administration(context).converges => self.counted(0, context, out),
            _ => self.take(AdministratorStep::Count(1), context, out),
        }
    }

    fn take(&mut self, step: AdministratorStep, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        let settings = settings(context);
        let mutex = QueueProperties { exclusive: true, keeps: settings.holders_keep, ..QueueProperties::default() };
        let request = match step {
            AdministratorStep::Lock => Request::Declare { name: Name::Mutex, shape: mutex },
            AdministratorStep::Count(slot) | AdministratorStep::Scan(slot) => probe(Name::Slot(slot), settings.probe),
            AdministratorStep::Confirm(slot) => Request::Look(Name::Slot(slot)),
            AdministratorStep::Free(slot) | AdministratorStep::Await(slot) => probe(Name::Holder(slot), settings.probe),
            AdministratorStep::Declare(slot) => {
                Request::Declare { name: Name::Slot(slot), shape: settings.slot_shape() }
            }
            AdministratorStep::Delete(slot) => Request::Delete { name: Name::Slot(slot), if_empty: false },
            AdministratorStep::Unlock => match settings.administration.unlock {
                Release::Delete | Release::Never => Request::Delete { name: Name::Mutex, if_empty: false },
                Release::CloseChannel => Request::CloseChannel,
                Release::CloseConnection => Request::Close,
            },
            AdministratorStep::Start => return self.start(context, out),
            AdministratorStep::Report => return self.report(context, out),
        };
        self.phase = Phase::Working(self.connection.ask(step, request, context, out));
    }

    pub(super) fn hear(
        &mut self,
        to: Call,
        answer: Answer,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        let Phase::Working(pending) = self.phase else { return };
        if pending.call != to {
            return;
        }
        match self.connection.take(&pending, answer) {
            ConnectionAnswer::Reopened => self.take(pending.what, context, out),
            ConnectionAnswer::Over => self.connection_is_over(context, out),
            ConnectionAnswer::Answer(answer) => self.go_on(pending.what, answer, context, out),
        }
    }

    fn go_on(
        &mut self,
        step: AdministratorStep,
        answer: Answer,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        let settings = settings(context);
        let is_known = known(settings.probe, answer, context);
        match (step, is_known, answer) {
            (AdministratorStep::Lock, _, Answer::Declared { .. }) => self.start_counting(context, out),
            (AdministratorStep::Lock, _, Answer::Error(Problem::Locked))
                if context.is_mutated(RabbitmqMutation::BusyIgnored) =>
            {
                self.start_counting(context, out);
            }
            (AdministratorStep::Lock, _, Answer::Error(Problem::Locked)) => {
                out.record(Fact::Service(RabbitmqEvent::Busy(context.client())));
                self.wait(AdministratorStep::Lock, context);
            }
            (AdministratorStep::Count(slot), QueueExistence::Exists, _) if slot < NUMBERS => {
                self.take(AdministratorStep::Count(slot + 1), context, out);
            }
            (AdministratorStep::Count(slot), QueueExistence::Exists, _) => self.counted(slot, context, out),
            (AdministratorStep::Count(slot), QueueExistence::Absent, _) => match settings.administration.counts {
                Counts::ToFirstGap => self.counted(slot - 1, context, out),
                Counts::Confirmed if context.is_mutated(RabbitmqMutation::AbsenceUnconfirmed) => {
                    self.counted(slot - 1, context, out);
                }
                Counts::Confirmed => self.take(AdministratorStep::Confirm(slot), context, out),
            },
            // R-Q-82: only this 404 means that the queue does not exist.
            (AdministratorStep::Confirm(slot), _, Answer::Error(Problem::NoQueue)) => {
                self.counted(slot - 1, context, out)
            }
            (AdministratorStep::Scan(slot), QueueExistence::Exists | QueueExistence::Absent, _) => {
                self.task.strays |= u8::from(is_known == QueueExistence::Exists) << slot;
                self.scan_or_start(slot + 1, context, out);
            }
            (AdministratorStep::Free(_) | AdministratorStep::Await(_), QueueExistence::Absent, _)
            | (AdministratorStep::Declare(_), _, Answer::Declared { .. })
            | (AdministratorStep::Delete(_), _, Answer::Deleted { .. }) => self.next_of_plan(context, out),
            (AdministratorStep::Free(_) | AdministratorStep::Await(_), QueueExistence::Exists, _) => {
                self.look_again(step, context, out)
            }
            (AdministratorStep::Unlock, _, _) => {
                if answer == Answer::Closed {
                    self.connection.forget();
                }
                self.phase = Phase::Idle;
            }
            // F-21: a step was refused.
            (AdministratorStep::Declare(_) | AdministratorStep::Delete(_), _, Answer::Error(_))
                if settings.administration.failure == Failure::GoesOn =>
            {
                self.next_of_plan(context, out);
            }
            _ => self.abort(context, out),
        }
    }

    /// The number of slots is known, by its own count.
    fn counted(&mut self, count: u8, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        self.task.counted = count;
        let operation = self.operation(context);
        self.task.asked.get_or_insert_with(|| operation.size_after(count));
        self.scan_or_start(count + 2, context, out);
    }

    /// Strays are repaired, so that the count is right; afterwards slots are added or removed.
    fn start(&mut self, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        let is_blind = matches!(self.operation(context), Operation::Create(_)) && !administration(context).converges;
        let Task { counted, asked, .. } = self.task;
        if !is_blind {
            out.record(Fact::Service(RabbitmqEvent::Counted(context.client(), counted)));
        }
        out.record(Fact::Service(RabbitmqEvent::Began(context.client(), asked.unwrap_or(0).max(counted))));
        self.next_of_plan(context, out);
    }

    /// R-Q-84: beyond the first gap there may be strays.
    fn scan_or_start(&mut self, slot: u8, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        let beyond = (self.task.counted + 1 + administration(context).looks_beyond).min(NUMBERS);
        if slot <= beyond {
            self.take(AdministratorStep::Scan(slot), context, out);
        } else {
            self.go_to(0, context, out);
        }
    }

    fn next_of_plan(&mut self, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        self.go_to(self.task.at + 1, context, out);
    }

    fn go_to(&mut self, at: u8, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        (self.task.at, self.task.looked) = (at, 0);
        let plan = plan::plan(self.operation(context), &self.task, administration(context), context.scenario.mutation);
        self.take(plan[usize::from(at)], context, out);
    }

    /// A client still holds the slot.
    fn look_again(&mut self, step: AdministratorStep, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        if let Some(patience) = administration(context).patience {
            self.task.looked += 1;
            if self.task.looked >= patience {
                if matches!(step, AdministratorStep::Free(_)) {
                    return self.abort(context, out);
                }
                self.task.is_pending = true;
                return self.next_of_plan(context, out);
            }
        }
        self.wait(step, context);
    }

    fn wait(&mut self, step: AdministratorStep, context: &Context<'_, RabbitMq>) {
        self.phase = Phase::Waiting { retry: Deadline(context.now + settings(context).retry_every), step };
    }

    /// The operation is done, and is reported.
    fn report(&mut self, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        let size = self.task.asked.unwrap_or(self.task.counted);
        out.record(Fact::Service(match self.task.is_pending {
            true => RabbitmqEvent::Pending(context.client(), size),
            false => RabbitmqEvent::Finished(context.client(), size),
        }));
        self.next += 1;
        self.task = Task::default();
        if administration(context).mutex && !context.is_mutated(RabbitmqMutation::MutexForgotten) {
            self.take(AdministratorStep::Unlock, context, out);
        } else {
            self.phase = Phase::Idle;
        }
    }

    pub(super) fn lose_connection(
        &mut self,
        id: SessionId,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        if self.connection.is(id) {
            self.connection_is_over(context, out);
        }
    }

    /// The connection's end released the mutex (F-15).
    fn connection_is_over(&mut self, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        self.connection.forget();
        match self.phase {
            Phase::Idle => {}
            Phase::Working(Pending { what: AdministratorStep::Unlock, .. }) => self.phase = Phase::Idle,
            Phase::Working(pending) if administration(context).reconnects => self.take(pending.what, context, out),
            Phase::Waiting { .. } if administration(context).reconnects => {}
            Phase::Waiting { .. } | Phase::Working(_) => self.abort(context, out),
        }
    }

    /// R-Q-83: any error ends the session; a new session counts again.
    fn abort(&mut self, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        if matches!(self.phase, Phase::Working(Pending { what: AdministratorStep::Unlock, .. })) {
            // The operation is complete; only the mutex was left.
            self.connection.hang_up(out);
            self.phase = Phase::Idle;
            return;
        }
        out.record(Fact::Service(RabbitmqEvent::Aborted(context.client())));
        if !context.is_mutated(RabbitmqMutation::MutexKept) {
            self.connection.hang_up(out);
        }
        match administration(context).retries {
            Retries::Never => {
                self.next += 1;
                (self.phase, self.task) = (Phase::Idle, Task::default());
            }
            Retries::ToTarget | Retries::Relative => {
                let has_mutex = administration(context).mutex;
                self.task = Task { asked: self.task.asked, ..Task::default() };
                self.wait(if has_mutex { AdministratorStep::Lock } else { AdministratorStep::Count(1) }, context);
            }
        }
    }

    pub(super) fn wakes(&self, due: &mut dyn FnMut(Timer, Instant)) {
        match self.phase {
            Phase::Idle => {}
            Phase::Waiting { retry, .. } => due(Timer::Retry, retry.0),
            Phase::Working(pending) => {
                pending.gives_up().iter().filter(|_| self.retries > 0).for_each(|at| due(Timer::GiveUp, at.0));
            }
        }
    }

    pub(super) fn commands(&self, context: &Context<'_, RabbitMq>, offer: &mut dyn FnMut(Command)) {
        if self.phase == Phase::Idle && usize::from(self.next) < self.operations(context).len() {
            offer(Command::Administer);
        }
    }

    /// The state that survives a crash: the number of the operation, and its target size if that is stored.
    pub(super) fn restarted(&self, scenario: &Scenario<RabbitMq>) -> Self {
        let mut connection = self.connection;
        connection.forget();
        let is_written = scenario.service.administration.retries == Retries::ToTarget;
        let asked = self.task.asked.filter(|_| is_written);
        Administrator { phase: Phase::Idle, connection, task: Task { asked, ..Task::default() }, ..*self }
    }
}

fn settings<'a>(context: &'a Context<'_, RabbitMq>) -> &'a Settings {
    &context.scenario.service
}

fn administration<'a>(context: &'a Context<'_, RabbitMq>) -> &'a Administration {
    &context.scenario.service.administration
}
