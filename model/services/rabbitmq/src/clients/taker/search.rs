//! The way in: slot by slot, until one is free (R-Q-87).

use super::super::connection::{Pending, QueueExistence, known, probe};
use super::{Check, Phase, Position, Search, Taker, settings};
use crate::RabbitMq;
use crate::RabbitmqMutation;
use crate::messages::{Answer, Name, Problem, RabbitmqEvent, Request};
use crate::settings::{AfterRace, AfterRefusal, NUMBERS, Silence, Verify};
use fencepost_model::fact::Fact;
use fencepost_model::process::{Context, Outbox};

impl Taker {
    pub(super) fn search_from(&mut self, first: u8, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        self.send(Search::Slot, Position { slot: first, first, lost: 0 }, context, out);
    }

    pub(super) fn send(
        &mut self,
        what: Search,
        at: Position,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        let settings = settings(context);
        let request = match what {
            Search::Slot => probe(Name::Slot(at.slot), settings.probe),
            Search::Holder => probe(Name::Holder(at.slot), settings.probe),
            Search::Take => Request::Declare { name: Name::Holder(at.slot), shape: settings.holder_shape() },
            Search::Check(check) => check_request(check, at.slot, context),
            Search::Undo => Request::Delete { name: Name::Holder(at.slot), if_empty: false },
        };
        self.phase = Phase::Searching { pending: self.connection.ask(what, request, context, out), at };
    }

    pub(super) fn go_on(
        &mut self,
        pending: Pending<Search>,
        at: Position,
        answer: Answer,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        let settings = settings(context);
        let is_known = known(settings.probe, answer, context);
        match (pending.what, is_known) {
            (Search::Slot, QueueExistence::Exists) => self.send(Search::Holder, at, context, out),
            (Search::Slot, QueueExistence::Absent) => {
                out.record(Fact::Service(RabbitmqEvent::Full(context.client())));
                self.fail(context);
            }
            (Search::Holder, QueueExistence::Exists) if at.slot < NUMBERS => {
                self.send(Search::Slot, Position { slot: at.slot + 1, ..at }, context, out);
            }
            (Search::Holder, QueueExistence::Absent) => self.send(Search::Take, at, context, out),
            (Search::Slot | Search::Holder, _) => self.fail(context),
            (Search::Take, _) => self.taken(pending, at, answer, context, out),
            (Search::Check(check), _) => self.check_before_success(check, pending, at, answer, context, out),
            (Search::Undo, _) => self.fail(context),
        }
    }

    /// The response to the declaration of the holder's queue.
    fn taken(
        &mut self,
        pending: Pending<Search>,
        at: Position,
        answer: Answer,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        let settings = settings(context);
        let is_ok = matches!(answer, Answer::Declared { .. })
            || context.is_mutated(RabbitmqMutation::EntersWhenLocked) && answer == Answer::Error(Problem::Locked);
        if is_ok && settings.verifies_first && !context.is_mutated(RabbitmqMutation::EntersUnverified) {
            return self.send(Search::Check(first_check(settings.verify)), at, context, out);
        }
        if is_ok {
            return self.enter(at.slot, pending.until(), context, out);
        }
        if answer != Answer::Error(Problem::Locked) {
            return self.fail(context);
        }
        // R-Q-52: busy, or the owner's connection is ending.
        let lost = at.lost.saturating_add(u8::from(settings.attempts.is_some()));
        let has_enough = settings.attempts.is_some_and(|attempts| lost >= attempts);
        if has_enough || settings.after_refusal == AfterRefusal::GivesUp {
            out.record(Fact::Service(RabbitmqEvent::GaveUp(context.client())));
            let is_final = settings.after_refusal == AfterRefusal::GivesUp;
            self.phase = if is_final { Phase::Resigned } else { Phase::Idle };
            return;
        }
        let slot = match settings.after_race {
            AfterRace::First => at.first,
            AfterRace::Same => at.slot,
            AfterRace::Next => (at.slot + 1).min(NUMBERS),
        };
        self.send(Search::Slot, Position { slot, lost, ..at }, context, out);
    }

    /// R-Q-87: success is reported for a verified slot; a removed slot is released.
    fn check_before_success(
        &mut self,
        check: Check,
        pending: Pending<Search>,
        at: Position,
        answer: Answer,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        match (check, is_passed(check, answer, context)) {
            (Check::Slot, true) => self.enter(at.slot, pending.until(), context, out),
            (_, true) => self.send(Search::Check(Check::Slot), at, context, out),
            (Check::Slot, false) if context.is_mutated(RabbitmqMutation::KeepsUnverified) => self.fail(context),
            (Check::Slot, false) => self.send(Search::Undo, at, context, out),
            (_, false) => self.fail(context),
        }
    }

    fn fail(&mut self, context: &Context<'_, RabbitMq>) {
        if settings(context).persists {
            self.wait(context);
        } else {
            self.phase = Phase::Idle;
        }
    }

    /// No response came in time.
    pub(super) fn give_up(&mut self, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        match (settings(context).silence, self.phase) {
            (Silence::Absent, Phase::Searching { pending, at })
                if matches!(pending.what, Search::Slot | Search::Holder) =>
            {
                self.go_on(pending, at, Answer::Returned { confirmed: true }, context, out);
            }
            (Silence::Forget, _) => self.connection_is_over(context, out),
            (Silence::HangUp | Silence::Absent, _) => {
                self.connection.hang_up(out);
                self.connection_is_over(context, out);
            }
        }
    }
}

/// The first step of a verification.
pub(super) fn first_check(verify: Verify) -> Check {
    match verify {
        Verify::Slot => Check::Slot,
        Verify::SlotAndProbe => Check::Probe,
        Verify::Redeclare => Check::Redeclare,
        Verify::Both => Check::Look,
    }
}

pub(super) fn check_request(check: Check, slot: u8, context: &Context<'_, RabbitMq>) -> Request {
    let settings = settings(context);
    match check {
        Check::Look => Request::Look(Name::Holder(slot)),
        Check::Probe => probe(Name::Holder(slot), settings.probe),
        Check::Redeclare | Check::Recover => {
            Request::Declare { name: Name::Holder(slot), shape: settings.holder_shape() }
        }
        Check::Slot => probe(Name::Slot(slot), settings.probe),
    }
}

/// Whether a response passes a step of a verification.
pub(super) fn is_passed(check: Check, answer: Answer, context: &Context<'_, RabbitMq>) -> bool {
    match check {
        // R-Q-89: 404 and 405 both mean that the slot is lost.
        Check::Look
            if context.is_mutated(RabbitmqMutation::LockedCountsAsMine) && answer == Answer::Error(Problem::Locked) =>
        {
            true
        }
        Check::Look | Check::Redeclare => matches!(answer, Answer::Declared { .. }),
        Check::Probe | Check::Slot => known(settings(context).probe, answer, context) == QueueExistence::Exists,
        Check::Recover => true,
    }
}
