//! The elector as a process: inputs, deadlines, commands and belief.

use super::super::messages::{Command, ObservedLeaseMessage, Request, Response, Timer};
use super::super::settings::{GivesUp, Identity, NapsFrom, Work};
use super::{Ask, Asking, Ctx, Doing, Elector, ElectorStep, Out};
use crate::ObservedLease;
use crate::ObservedLeaseMutation as Mutant;
use fencepost_model::ids::RawId;
use fencepost_model::process::{Belief, Client, Context, Input, Message, Process};
use fencepost_model::rounds;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, Instant};

impl Elector {
    /// Whether the process may fall asleep now: it waits for no answer.
    pub(crate) fn may_nap(&self, context: &Ctx<'_>) -> bool {
        let rests = match context.scenario.service.naps_from {
            NapsFrom::AnyTime => {
                matches!(self.step, ElectorStep::Sleeping(_) | ElectorStep::Resting(_) | ElectorStep::Pausing(_))
            }
            NapsFrom::Renewal => self.has_just_renewed(context),
        };
        rests && self.nap.is_none()
    }

    fn nap(&mut self, grains: u16, context: &Ctx<'_>) {
        if self.may_nap(context) {
            let length = context.scenario.service.grain.times(grains.into());
            self.nap = Some(Deadline(context.now + length));
        }
    }

    fn command(&mut self, command: Command, context: &Ctx<'_>, out: Out<'_>) {
        match (command, self.work) {
            (Command::Run, _) => {
                rounds::take(&mut self.rounds);
                if context.scenario.service.work == Work::Unasked {
                    self.enter(context, out);
                }
                self.contend(context, out);
            }
            (Command::Cancel, _) => self.cancel(context, out),
            (Command::Write, Doing::Acting { writes }) => {
                self.work = Doing::Acting { writes: writes - 1 };
                out.write(self.token, None);
            }
            (Command::Write, Doing::Nothing | Doing::Stopping { .. }) => {}
        }
    }

    /// No answer came in time: it is an error, or a library repeats the request (OL-D-9).
    fn time_out(&mut self, asking: Asking, context: &Ctx<'_>, out: Out<'_>) {
        let repeats = context.scenario.service.repeats_requests && !asking.is_repeated;
        if repeats && asking.what == Ask::Create {
            self.ask(Ask::Create, Request::Create(self.entry(context)), asking.expired, context, out);
            if let ElectorStep::Asking(asking) = &mut self.step {
                asking.is_repeated = true;
            }
            return;
        }
        self.hear(asking, Response::Unavailable, context, out);
    }

    fn wake_for(&mut self, timer: Timer, context: &Ctx<'_>, out: Out<'_>) {
        match (timer, self.step, self.work) {
            (Timer::Draw, ..) => self.sleep(0, context),
            (Timer::Attempt, ..) => self.wake(context, out),
            (Timer::RequestTimeout, ElectorStep::Asking(asking), _) => self.time_out(asking, context, out),
            (Timer::RenewDeadline, ..) => self.lose(context, out),
            (Timer::ReleaseDeadline, ..) => self.end_release(context, out),
            (Timer::Grace, ..) => self.withdraw(context, out),
            (Timer::Guard, ..) => self.lapse(context, out),
            (Timer::WorkStops, _, Doing::Stopping { is_cancelled, .. }) => {
                self.leave(is_cancelled, context, out);
                if self.leaving.is_some() {
                    self.withdraw(context, out);
                }
            }
            _ => {}
        }
    }

    /// Whether the deadline fires by itself, also while a request is in flight: the context is passed to every request (OL-K-7).
    fn has_own_deadline(&self, scenario: &Scenario<ObservedLease>) -> bool {
        let settings = &scenario.service;
        let cuts = settings.cuts_requests && !scenario.is_mutated(Mutant::DeadlineWaitsForAnswer);
        let is_free = !matches!(self.step, ElectorStep::Asking(_)) || cuts;
        settings.gives_up == GivesUp::AtDeadline && is_free && !matches!(self.step, ElectorStep::Resting(_))
    }
}

impl Process<ObservedLease> for Elector {
    fn on(&mut self, input: Input<ObservedLease>, context: &Ctx<'_>, out: Out<'_>) {
        if let Input::Message { message: Message::Service(ObservedLeaseMessage::Sleep(length)), .. } = input {
            return self.nap(length, context);
        }
        self.nap = None;
        match (self.step, input) {
            (_, Input::Command(command)) => self.command(command, context, out),
            (_, Input::Wake(timer)) => self.wake_for(timer, context, out),
            (ElectorStep::Drawing(..), Input::Choice(option)) => self.sleep(option + 1, context),
            (
                ElectorStep::Asking(asking),
                Input::Message { message: Message::Service(ObservedLeaseMessage::Response(call, response)), .. },
            ) if call == self.call => self.hear(asking, response, context, out),
            // A response that the client no longer waits for (OL-S-6).
            _ => {}
        }
    }

    fn wakes(&self, scenario: &Scenario<ObservedLease>, due: &mut dyn FnMut(Timer, Instant)) {
        let mut due = |timer, at: Deadline| due(timer, self.nap.map_or(at.0, |nap| nap.0.max(at.0)));
        match self.step {
            ElectorStep::Sleeping(at)
            | ElectorStep::Settling(at)
            | ElectorStep::Resting(at)
            | ElectorStep::Pausing(at) => due(Timer::Attempt, at),
            ElectorStep::Drawing(_, at) => due(Timer::Draw, at),
            ElectorStep::Asking(Asking { times_out: Some(at), .. }) => due(Timer::RequestTimeout, at),
            _ => {}
        }
        if let Some(poll) = self.poll.filter(|_| self.has_own_deadline(scenario)) {
            due(Timer::RenewDeadline, poll.deadline);
        }
        if let Some(at) = self.release_ends {
            due(Timer::ReleaseDeadline, at);
        }
        if let Some(at) = self.leaving.and_then(|leave| leave.grace) {
            due(Timer::Grace, at);
        }
        match self.work {
            Doing::Acting { .. } => self.guard.into_iter().for_each(|at| due(Timer::Guard, at)),
            Doing::Stopping { until: Some(at), .. } => due(Timer::WorkStops, at),
            Doing::Stopping { until: None, .. } | Doing::Nothing => {}
        }
    }

    fn choices(&self) -> u8 {
        match self.step {
            // The first length is that of the deadline, which keeps time from passing.
            ElectorStep::Drawing(lengths, _) => lengths - 1,
            _ => 0,
        }
    }

    /// Its user starts the round again in which the client crashed.
    fn restarted(&self, scenario: &Scenario<ObservedLease>) -> Self {
        let client = self.me.raw().creator;
        let is_new = scenario.service.identity == Identity::Unique && !scenario.is_mutated(Mutant::RestartKeepsName);
        let me = if is_new { self.me.next() } else { self.me };
        let rounds = rounds::with_another(self.rounds, self.step != ElectorStep::Idle);
        Elector { me, rounds, call: self.call, ..Elector::new(client, scenario) }
    }
}

impl Client<ObservedLease> for Elector {
    fn commands(&self, context: &Context<'_, ObservedLease>, offer: &mut dyn FnMut(Command)) {
        let is_idle =
            matches!(self.step, ElectorStep::Idle | ElectorStep::Stopped) && self.work == Doing::Nothing && !self.leads;
        if is_idle && self.rounds > 0 {
            offer(Command::Run);
        }
        if self.may_cancel(context) {
            offer(Command::Cancel);
        }
        if matches!(self.work, Doing::Acting { writes } if writes > 0) {
            offer(Command::Write);
        }
    }

    fn belief(&self) -> Belief {
        let is_inside = self.work != Doing::Nothing;
        let contends = match self.step {
            ElectorStep::Asking(asking) => !matches!(asking.what, Ask::ReleaseGet | Ask::ReleasePut),
            ElectorStep::Drawing(..) | ElectorStep::Sleeping(_) | ElectorStep::Settling(_) | ElectorStep::GaveUp => {
                true
            }
            _ => false,
        };
        Belief { is_inside, until: self.covered, is_waiting: contends && !is_inside, ..Belief::default() }
    }
}
