//! The work that the elector leads: when it begins, what it believes, and when it stops.

use super::super::settings::{Callback, Cancels, Guard, Tokens};
use super::{Ctx, Doing, Elector, ElectorStep, Out};
use crate::ObservedLeaseMutation as Mutant;
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{Index, Token};
use fencepost_model::time::{Deadline, Instant, LeaseEnd, Ticks};

impl Elector {
    pub(super) fn begin_work(&mut self, version: Index, context: &Ctx<'_>, out: Out<'_>) {
        self.token = match context.scenario.service.token {
            Tokens::None => Token::NONE,
            Tokens::Transitions => Token::numbered(self.seen.map_or(0, |seen| u32::from(seen.transitions)) + 1),
            Tokens::ResourceVersion => version.token(),
        };
        self.enter(context, out);
    }

    /// The work begins, unless it is at it already.
    pub(super) fn enter(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        if self.work == Doing::Nothing {
            self.work = Doing::Acting { writes: context.scenario.writes };
            out.record(Fact::Entered { client: context.client(), token: self.token });
        }
    }

    /// The lease that a write gives, and the deadline of the work, from an instant on.
    pub(super) fn cover(&mut self, from: Instant, length: Ticks, context: &Ctx<'_>) {
        let settings = &context.scenario.service;
        self.covered = self.seen.and_then(|seen| seen.free_from).map(|_| LeaseEnd(from + length - settings.grain));
        let from = if context.is_mutated(Mutant::GuardFromAnswer) { context.now } else { from };
        self.guard = match settings.guard {
            Guard::None => None,
            Guard::Lease => Some(Deadline(from + length)),
            Guard::BeforeLease => Some(Deadline(from + length - settings.grain)),
            Guard::SafeTime => Some(Deadline(from + Self::span(context, settings.safe_time))),
        };
    }

    /// An error of the store counts as a renewal (OL-D-8).
    pub(super) fn hold(&mut self, context: &Ctx<'_>) {
        self.cover(context.now, Self::lease(context), context);
    }

    /// The work is told to stop; it acts for some time yet.
    pub(super) fn tell(&mut self, is_cancelled: bool, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        let heeds = is_cancelled || settings.callback == Callback::Heeded;
        if !matches!(self.work, Doing::Acting { .. }) || !heeds {
            return;
        }
        if settings.stop_time == Ticks::ZERO && settings.work_ends {
            return self.leave(is_cancelled, context, out);
        }
        let until = Deadline(context.now + Self::span(context, settings.stop_time));
        self.work = Doing::Stopping { until: settings.work_ends.then_some(until), is_cancelled };
    }

    /// The work has stopped.
    pub(super) fn leave(&mut self, is_cancelled: bool, context: &Ctx<'_>, out: Out<'_>) {
        let why = if is_cancelled { Leaving::Done } else { Leaving::Lapsed };
        self.work = Doing::Nothing;
        (self.covered, self.guard) = (None, None);
        out.record(Fact::Left { client: context.client(), why });
    }

    /// The deadline of the work itself is over. The elector ends with it.
    pub(super) fn lapse(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        self.guard = None;
        (self.leads, self.poll, self.step) = (false, None, ElectorStep::Stopped);
        self.tell(false, context, out);
    }

    /// Whether the caller may cancel now.
    pub(super) fn may_cancel(&self, context: &Ctx<'_>) -> bool {
        let acts = self.leads && matches!(self.work, Doing::Acting { .. });
        acts && match context.scenario.service.cancels {
            Cancels::Never => false,
            Cancels::AnyTime => true,
            Cancels::AfterRenewal => self.has_just_renewed(context),
        }
    }
}
