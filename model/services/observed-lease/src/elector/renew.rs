//! The loops around an attempt: a contender's without a deadline (OL-K-6), a holder's with one (OL-K-7).

use super::super::settings::{Acquire, Callback, GivesUp, Memory, OnLoss, PollFrom, Release, Renewal, SLEEPS_MAX};
use super::attempt::Failure;
use super::{Ask, Asking, Ctx, Elector, ElectorStep, Out, Poll, Waits};
use crate::ObservedLeaseMutation as Mutant;
use crate::messages::Request;
use fencepost_model::ids::Index;
use fencepost_model::time::{Deadline, Ticks};

impl Poll {
    /// A poll with this deadline, whose ticker ticks next at this instant and then after each retry period.
    fn new(deadline: Deadline, next: Deadline, retry: Ticks) -> Self {
        let phase = Ticks::new((deadline.0 - next.0).count().rem_euclid(retry.count()));
        Poll { deadline, next, phase }
    }

    /// A poll whose next attempt counts from the beginning of the one before: nothing else is to be remembered of its phase (OL-K-20).
    fn at_rate(deadline: Deadline, next: Deadline) -> Self {
        Poll { deadline, next, phase: Ticks::ZERO }
    }
}

impl Elector {
    /// A contender's loop begins, or its next call.
    pub(super) fn contend(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        if settings.memory == Memory::PerCall && !context.is_mutated(Mutant::CallRemembers) {
            self.seen = None;
        }
        self.waits = settings.patience.map(|patience| {
            // One look only, or a wait that must be exceeded.
            let is_one_look = patience == Ticks::ZERO;
            let more = settings.grain.times((!is_one_look).into());
            Waits { ends: Deadline(context.now + Self::span(context, patience) + more), is_extended: is_one_look }
        });
        self.attempt(context, out);
    }

    fn spread(context: &Ctx<'_>) -> i64 {
        context.scenario.service.sleep_spread(context.client())
    }

    /// The number of choices of a sleep.
    fn draws(context: &Ctx<'_>) -> u8 {
        u8::try_from(Self::spread(context).min(SLEEPS_MAX)).expect("at most 100") + 1
    }

    pub(super) fn sleep(&mut self, option: u8, context: &Ctx<'_>) {
        let last = i64::from(Self::draws(context) - 1).max(1);
        let more = i64::from(option) * Self::spread(context) / last;
        let more = context.scenario.service.grain.times(more);
        self.step = ElectorStep::Sleeping(Deadline(context.now + Self::retry(context) + more));
    }

    /// A write of its own was acknowledged.
    pub(super) fn succeed(&mut self, asking: Asking, version: Index, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        self.acknowledge(asking, version, context);
        let is_new = !self.leads;
        self.leads = true;
        self.waits = None;
        if is_new {
            self.begin_work(version, context, out);
        }
        let next = Deadline(context.now + Self::renewal_period(context));
        self.step = ElectorStep::Resting(next);
        let before = self.poll.take();
        match settings.gives_up {
            // Terraform's lock is never renewed.
            GivesUp::Never if settings.acquire == Acquire::CreateOnly => self.step = ElectorStep::Stopped,
            GivesUp::Never => {}
            GivesUp::AtTick => {
                // The first renewal comes at once, the others at a fixed rate (OL-K-20).
                let next = before.map_or(Deadline(context.now), |poll| Deadline(poll.next.0.max(context.now)));
                let deadline = Deadline(context.now + Self::deadline(context) + settings.grain);
                self.poll = Some(Poll::at_rate(deadline, next));
                self.step = ElectorStep::Resting(next);
            }
            GivesUp::AtDeadline | GivesUp::AfterAttempt => {
                if settings.poll_from == PollFrom::LastSuccess {
                    let deadline = Deadline(context.now + Self::deadline(context));
                    self.poll = Some(Poll::new(deadline, next, Self::retry(context)));
                }
                // The renew loop starts at once (OL-K-7).
                if is_new {
                    self.begin_poll(context, out);
                }
            }
        }
    }

    /// A renewal begins: the first attempt at once, the deadline from now (OL-K-7).
    fn begin_poll(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let next = Deadline(context.now + Self::retry(context));
        let from_poll = Deadline(context.now + Self::deadline(context));
        let kept = self.poll.map(|poll| poll.deadline);
        self.poll = Some(Poll::new(kept.unwrap_or(from_poll), next, Self::retry(context)));
        if kept.is_some_and(|deadline| deadline.is_due(context.now)) {
            return self.lose(context, out);
        }
        self.attempt(context, out);
    }

    /// The time of the next attempt has come.
    pub(super) fn wake(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        match (self.step, settings.gives_up) {
            (ElectorStep::Sleeping(_), _) if self.waits.is_none() && settings.patience.is_some() => {
                self.contend(context, out);
            }
            (ElectorStep::Settling(_), _) => self.ask(Ask::ReadBack, Request::Get, false, context, out),
            (ElectorStep::Resting(_), GivesUp::AtDeadline | GivesUp::AfterAttempt) => self.begin_poll(context, out),
            (ElectorStep::Resting(_) | ElectorStep::Pausing(_), GivesUp::AfterAttempt | GivesUp::AtTick)
                if self.is_over(context) =>
            {
                self.lose(context, out);
            }
            (ElectorStep::Resting(_) | ElectorStep::Pausing(_), GivesUp::AtTick) => {
                let next = Deadline(context.now + Self::retry(context));
                self.poll = self.poll.map(|poll| Poll { next, ..poll });
                self.attempt(context, out);
            }
            // No attempt starts at or after the deadline (OL-K-7).
            (ElectorStep::Pausing(_), GivesUp::AtDeadline) if self.is_over(context) => {
                self.lose(context, out);
            }
            (ElectorStep::Pausing(_), GivesUp::AtDeadline) => {
                self.pass_tick(context);
                self.attempt(context, out);
            }
            _ => self.attempt(context, out),
        }
    }

    fn is_over(&self, context: &Ctx<'_>) -> bool {
        self.poll.is_some_and(|poll| poll.deadline.is_due(context.now))
    }

    /// The ticker's next tick after now: a long attempt swallows ticks (OL-K-7). It is counted from the deadline, which lies ahead.
    fn pass_tick(&mut self, context: &Ctx<'_>) {
        let retry = Self::retry(context).count();
        if let Some(poll) = &mut self.poll {
            let left = (poll.deadline.0 - context.now).count();
            let until_next = (left - poll.phase.count() - 1).rem_euclid(retry) + 1;
            poll.next = Deadline(context.now + Ticks::new(until_next));
        }
    }

    /// An attempt failed.
    pub(super) fn fail(&mut self, failure: Failure, context: &Ctx<'_>, out: Out<'_>) {
        if self.leads {
            return self.retry_renewal(failure, context, out);
        }
        if failure == Failure::Held {
            self.note_refusal(context, out);
        }
        self.limit_call(context);
        if self.waits.is_some_and(|waits| waits.ends.is_due(context.now)) {
            return self.end_call(context);
        }
        let draws = Self::draws(context);
        self.step = ElectorStep::Drawing(draws, Deadline(context.now));
        if draws == 1 {
            self.sleep(0, context);
        }
    }

    /// The wait is the patience and the recorded duration of the first record that the call has seen; it is never extended
    /// (OL-D-4).
    fn limit_call(&mut self, context: &Ctx<'_>) {
        let has_seen = self.seen.is_some();
        if let Some(waits) = &mut self.waits
            && has_seen
            && !waits.is_extended
        {
            *waits = Waits { ends: Deadline(waits.ends.0 + Self::lease(context)), is_extended: true };
        }
    }

    /// A call ends without the lease.
    fn end_call(&mut self, context: &Ctx<'_>) {
        self.waits = None;
        self.step = match context.scenario.service.call_again {
            Some(period) => ElectorStep::Sleeping(Deadline(context.now + Self::span(context, period))),
            None => ElectorStep::GaveUp,
        };
    }

    /// A holder's attempt failed: whatever the reason, it is tried again until the deadline (OL-K-9).
    fn retry_renewal(&mut self, failure: Failure, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        let later = Deadline(context.now + Self::retry(context));
        match settings.gives_up {
            GivesUp::AtDeadline if self.is_over(context) => self.lose(context, out),
            GivesUp::AtDeadline => match self.poll {
                Some(poll) if !poll.next.is_due(context.now) => self.step = ElectorStep::Pausing(poll.next),
                _ => {
                    self.pass_tick(context);
                    self.attempt(context, out);
                }
            },
            GivesUp::AfterAttempt => self.step = ElectorStep::Pausing(later),
            GivesUp::AtTick => {
                let next = self.poll.map_or(later, |poll| Deadline(poll.next.0.max(context.now)));
                self.step = ElectorStep::Pausing(next);
            }
            // A refusal ends the renewals without a word (OL-D-6).
            GivesUp::Never if settings.renewal == Renewal::WriteOnly && failure == Failure::Refused => {
                self.step = ElectorStep::Stopped;
            }
            GivesUp::Never => {
                if settings.holds_on_error && !context.is_mutated(Mutant::ErrorIsNoRenewal) {
                    self.hold(context);
                }
                self.step = ElectorStep::Pausing(Deadline(context.now + Self::renewal_period(context)));
            }
        }
    }

    /// fabric8's elector leaves at once when it reads another holder (OL-K-20).
    pub(super) fn leaves_to_another(&self, context: &Ctx<'_>) -> bool {
        context.scenario.service.gives_up == GivesUp::AtTick
    }

    /// The elector gives up. The lease is released, and then the work is told, or the other way round (OL-K-10).
    pub(super) fn lose(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        (self.leads, self.poll, self.leaving) = (false, None, None);
        if settings.callback == Callback::Silent {
            // As a contender it begins again, and its work goes on (OL-17).
            return self.fail(Failure::Error, context, out);
        }
        let tells_first = settings.on_loss == OnLoss::TellThenRelease || settings.release == Release::Never;
        if tells_first && !context.is_mutated(Mutant::LossUntold) {
            self.tell(false, context, out);
        }
        self.begin_release(context, out);
    }

    /// Whether a renewal was acknowledged in this instant.
    pub(super) fn has_just_renewed(&self, context: &Ctx<'_>) -> bool {
        matches!(self.step, ElectorStep::Resting(until) if until.0 - context.now == Self::renewal_period(context))
    }
}
