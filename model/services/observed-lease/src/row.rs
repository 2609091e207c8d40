//! A row with an end (ShedLock): the row in the database, and the client that takes it for a task. One statement takes the row if its
//! end has passed (OL-R-1). The client has no deadline of its own (OL-R-4).

use serde::{Deserialize, Serialize};

use super::ObservedLease;
use super::events::LeaseEvent;
use super::messages::{Command, ObservedLeaseMessage, Request, Response, RowEnd, Timer};
use super::settings::RowClock;
use crate::ObservedLeaseMutation as Mutant;
use fencepost_model::fact::{Ending, Fact, Leaving, Refusal};
use fencepost_model::ids::{Call, ClientId, Index, ProcessId, Token};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Belief, Client, Context, Input, Message, Outbox, Process};
use fencepost_model::rounds;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, Instant, StartTime, Ticks};

type Ctx<'a> = Context<'a, ObservedLease>;
type Out<'a> = &'a mut Outbox<ObservedLease>;

/// The row in the database.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub(super) struct Row {
    holder: Option<ClientId>,
    /// The end of the row: `lock_until`.
    until: Option<StartTime>,
    /// The start of the row: `locked_at`; kept only with `at_least`.
    since: Option<StartTime>,
}

impl Row {
    pub(super) fn owner(&self) -> Option<ClientId> {
        self.holder
    }

    /// Guards are closed: a row may be taken at its end, too (OL-R-1).
    fn has_ended(&self, now: StartTime, context: &Ctx<'_>) -> bool {
        let more = context.scenario.service.grain.times(context.is_mutated(Mutant::RowTakenEarly).into());
        self.until.is_none_or(|until| now.0 + more >= until.0)
    }

    pub(super) fn take(
        &mut self,
        client: ClientId,
        until: RowEnd,
        now: Option<StartTime>,
        context: &Ctx<'_>,
        out: Out<'_>,
    ) -> Response {
        let now = now.unwrap_or(StartTime(context.now));
        if !self.has_ended(now, context) {
            out.record(Fact::Refused { client, why: Refusal::Held });
            return Response::Conflict;
        }
        if let Some(from) = self.holder.filter(|from| *from != client) {
            out.record(Fact::Service(LeaseEvent::TakenOver { client, from }));
        }
        // A program may have a least time, whatever the settings say.
        let has_least = context.scenario.service.at_least > Ticks::ZERO || !context.scenario.programs.is_empty();
        let end = StartTime(until.from.unwrap_or(now) + until.length);
        *self = Row { holder: Some(client), until: Some(end), since: has_least.then_some(now) };
        out.record(Fact::Granted { client, token: Token::NONE, fresh: true, stolen: false });
        Response::Written(Index::NONE)
    }

    /// The row is extended if it is the client's and has not ended (OL-R-5).
    pub(super) fn extend(&mut self, client: ClientId, length: Ticks, context: &Ctx<'_>, out: Out<'_>) -> Response {
        let now = StartTime(context.now);
        if self.holder != Some(client) || self.until.is_some_and(|end| now.0 >= end.0) {
            out.record(Fact::Service(LeaseEvent::Refused { client }));
            return Response::Conflict;
        }
        self.until = Some(StartTime(now + length));
        Response::Written(Index::NONE)
    }

    /// The row ends at max(now, start + atLeast), if it is the client's (OL-R-4).
    pub(super) fn unlock(&mut self, client: ClientId, until: RowEnd, context: &Ctx<'_>, out: Out<'_>) -> Response {
        if self.holder != Some(client) && !context.is_mutated(Mutant::RowEndedByOther) {
            out.record(Fact::Service(LeaseEvent::Refused { client }));
            return Response::Conflict;
        }
        let least = self.since.filter(|_| !context.is_mutated(Mutant::AtLeastIgnored));
        let by_database = least.map_or(context.now, |since| (since + until.length).max(context.now));
        let end = until.from.map_or(by_database, |from| from + until.length);
        *self = Row { holder: None, until: Some(StartTime(end)), since: None };
        out.record(Fact::Freed { by: Ending::Released });
        Response::Gone
    }
}

/// A client that takes the row for a task.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct RowLocker {
    phase: Phase,
    rounds: u8,
    call: Call,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Phase {
    Idle,
    /// The clock was read, and the time until the statement is drawn.
    Drawing {
        created: StartTime,
        lengths: u8,
        at: Deadline,
    },
    /// The statement is sent then.
    Preparing {
        created: StartTime,
        at: Deadline,
    },
    Asking {
        created: StartTime,
    },
    /// The row was another's.
    Waiting(Deadline),
    /// The task runs.
    Working {
        created: StartTime,
        ends: Deadline,
        extends: Option<Deadline>,
        /// For how long after its start the row is kept at least: each extension takes its period off (OL-R-5).
        least: Ticks,
    },
}

impl RowLocker {
    pub(super) fn new(scenario: &Scenario<ObservedLease>) -> Self {
        RowLocker { phase: Phase::Idle, rounds: scenario.rounds, call: Call(0) }
    }

    fn send(&mut self, request: Request, out: Out<'_>) {
        self.call = self.call.next();
        out.send(ProcessId::Server, ObservedLeaseMessage::Request(self.call, request));
    }

    /// The longest preparation, in grains.
    fn grains(context: &Ctx<'_>) -> i64 {
        let settings = &context.scenario.service;
        settings.preparation.count() / settings.grain.count()
    }

    /// The number of lengths of a preparation, beside none: all, or evenly spread ones.
    fn lengths(context: &Ctx<'_>) -> u8 {
        u8::try_from(Self::grains(context).min(100)).expect("at most 100")
    }

    /// The client reads its clock (OL-R-2).
    fn begin(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let created = StartTime(context.now);
        match Self::lengths(context) {
            0 => self.state(created, context, out),
            lengths => self.phase = Phase::Drawing { created, lengths, at: Deadline(context.now) },
        }
    }

    /// The client sends its statement.
    fn state(&mut self, created: StartTime, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        let ahead = settings.ahead(context.client());
        let request = match settings.row_clock {
            RowClock::Database if !context.is_mutated(Mutant::RowBelievesClient) => {
                Request::Take { until: RowEnd { from: None, length: settings.lease }, now: None }
            }
            RowClock::Client | RowClock::Database => {
                let from = if context.is_mutated(Mutant::RowCountsFromStatement) { context.now } else { created.0 };
                let until = RowEnd { from: Some(StartTime(from + ahead)), length: settings.lease };
                Request::Take { until, now: Some(StartTime(context.now + ahead)) }
            }
        };
        self.phase = Phase::Asking { created };
        self.send(request, out);
    }

    /// The period of extensions.
    fn half(context: &Ctx<'_>) -> Ticks {
        let settings = &context.scenario.service;
        settings.grain.times(settings.lease.count() / settings.grain.count() / 2)
    }

    fn extends(context: &Ctx<'_>) -> Option<Deadline> {
        context.scenario.service.keep_alive.then_some(Deadline(context.now + Self::half(context)))
    }

    fn hear(&mut self, response: Response, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        match (self.phase, response) {
            (Phase::Asking { created }, Response::Written(_)) => {
                let ends = Deadline(context.now + settings.task);
                let (extends, least) = (Self::extends(context), settings.at_least);
                self.phase = Phase::Working { created, ends, extends, least };
                out.record(Fact::Entered { client: context.client(), token: Token::NONE });
            }
            (Phase::Asking { .. }, _) => self.phase = Phase::Waiting(Deadline(context.now + settings.retry_period)),
            // A refused extension ends the extensions, silently (OL-R-5).
            (Phase::Working { created, ends, least, .. }, Response::Conflict) => {
                self.phase = Phase::Working { created, ends, extends: None, least };
            }
            (Phase::Working { created, ends, extends, least }, Response::Written(_)) => {
                let least = Ticks::new((least - Self::half(context)).count().max(0));
                self.phase = Phase::Working { created, ends, extends, least };
            }
            _ => {}
        }
    }

    fn extend(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        if let Phase::Working { extends, .. } = &mut self.phase {
            *extends = Self::extends(context);
        }
        self.send(Request::Extend(context.scenario.service.lease), out);
    }

    fn finish(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let Phase::Working { created, least, extends, .. } = self.phase else { return };
        let settings = &context.scenario.service;
        let ahead = settings.ahead(context.client());
        self.phase = Phase::Idle;
        out.record(Fact::Left { client: context.client(), why: Leaving::Done });
        // After an extension that was refused there is nothing to end (OL-R-5).
        if settings.keep_alive && extends.is_none() {
            return;
        }
        let is_own = settings.row_clock == RowClock::Client;
        let end = (created + settings.at_least).max(context.now) + ahead;
        self.send(
            Request::Unlock(match is_own {
                true => RowEnd { from: Some(StartTime(end)), length: Ticks::ZERO },
                false => RowEnd { from: None, length: least },
            }),
            out,
        );
    }
}

impl Process<ObservedLease> for RowLocker {
    fn on(&mut self, input: Input<ObservedLease>, context: &Ctx<'_>, out: Out<'_>) {
        match (self.phase, input) {
            (Phase::Idle, Input::Command(Command::Run)) => {
                rounds::take(&mut self.rounds);
                self.begin(context, out);
            }
            (Phase::Drawing { created, .. }, Input::Choice(option)) => {
                let grains = Self::grains(context) * (i64::from(option) + 1) / i64::from(Self::lengths(context));
                let at = Deadline(context.now + context.scenario.service.grain.times(grains));
                self.phase = Phase::Preparing { created, at };
            }
            (Phase::Preparing { created, .. } | Phase::Drawing { created, .. }, Input::Wake(Timer::Statement)) => {
                self.state(created, context, out)
            }
            (Phase::Waiting(_), Input::Wake(Timer::Attempt)) => self.begin(context, out),
            (Phase::Working { .. }, Input::Wake(Timer::WorkStops)) => self.finish(context, out),
            (Phase::Working { .. }, Input::Wake(Timer::KeepAlive)) => self.extend(context, out),
            (_, Input::Message { message: Message::Service(ObservedLeaseMessage::Response(call, response)), .. })
                if call == self.call =>
            {
                self.hear(response, context, out);
            }
            _ => {}
        }
    }

    fn wakes(&self, _: &Scenario<ObservedLease>, due: &mut dyn FnMut(Timer, Instant)) {
        match self.phase {
            Phase::Preparing { at, .. } | Phase::Drawing { at, .. } => due(Timer::Statement, at.0),
            Phase::Waiting(at) => due(Timer::Attempt, at.0),
            Phase::Working { ends, extends, .. } => {
                due(Timer::WorkStops, ends.0);
                extends.into_iter().for_each(|at| due(Timer::KeepAlive, at.0));
            }
            Phase::Idle | Phase::Asking { .. } => {}
        }
    }

    fn choices(&self) -> u8 {
        match self.phase {
            Phase::Drawing { lengths, .. } => lengths,
            _ => 0,
        }
    }

    fn restarted(&self, scenario: &Scenario<ObservedLease>) -> Self {
        let rounds = rounds::with_another(self.rounds, self.phase != Phase::Idle);
        RowLocker { rounds, call: self.call, ..RowLocker::new(scenario) }
    }
}

impl Client<ObservedLease> for RowLocker {
    fn commands(&self, _: &Ctx<'_>, offer: &mut dyn FnMut(Command)) {
        if self.phase == Phase::Idle && self.rounds > 0 {
            offer(Command::Run);
        }
    }

    fn belief(&self) -> Belief {
        match self.phase {
            Phase::Working { .. } => Belief { is_inside: true, ..Belief::default() },
            Phase::Idle => Belief::default(),
            _ => Belief { is_waiting: true, ..Belief::default() },
        }
    }
}
