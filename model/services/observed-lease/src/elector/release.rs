//! The way out: giving the lease back (OL-K-12), and cancelling (OL-K-10, OL-4).

use super::super::messages::{Entry, Request, Response, Shown};
use super::super::settings::{GivesUp, OnCancel, Release};
use super::{Ask, Asking, Ctx, Doing, Elector, ElectorStep, Leave, Out};
use crate::ObservedLeaseMutation as Mutant;
use fencepost_model::ids::Index;
use fencepost_model::time::{Deadline, Ticks};

impl Elector {
    /// A record without a holder. Its duration is one second, because 0 is invalid (OL-S-5).
    fn empty(&self, context: &Ctx<'_>) -> Entry {
        let settings = &context.scenario.service;
        let is_zero = context.is_mutated(Mutant::ReleasesForNothing);
        let duration = if is_zero { Ticks::ZERO } else { settings.second.unwrap_or(settings.grain) };
        let transitions = self.seen.map_or(0, |seen| seen.transitions);
        let holder = context.is_mutated(Mutant::ReleaseKeepsHolder).then(|| self.name(settings));
        Entry { holder, duration, renewed: None, transitions, preferred: None }
    }

    pub(super) fn begin_release(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        // fabric8's release has no deadline (OL-K-20).
        let ends = Deadline(context.now + Self::deadline(context));
        self.release_ends = (settings.gives_up != GivesUp::AtTick).then_some(ends);
        match settings.release {
            Release::Never => self.end_release(context, out),
            Release::CachedVersion | Release::Delete => match self.seen {
                // Only a holder releases, by the cached record (OL-K-12).
                Some(seen) if self.is_holder(settings) || context.is_mutated(Mutant::AnyoneReleases) => {
                    self.give_back(Some(seen.version), context, out);
                }
                _ => self.end_release(context, out),
            },
            Release::FreshVersion | Release::FreshRecord | Release::LookThenDelete | Release::LookThenDeleteVersion => {
                self.ask(Ask::ReleaseGet, Request::Get, false, context, out);
            }
        }
    }

    fn give_back(&mut self, version: Option<Index>, context: &Ctx<'_>, out: Out<'_>) {
        let version = version.filter(|_| !context.is_mutated(Mutant::ReleaseUnconditional));
        let request = match context.scenario.service.release {
            Release::Delete | Release::LookThenDelete | Release::LookThenDeleteVersion => Request::Delete(version),
            _ => Request::Put(self.empty(context), version),
        };
        self.ask(Ask::ReleasePut, request, false, context, out);
    }

    pub(super) fn hear_release(&mut self, asking: Asking, response: Response, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        match (asking.what, response) {
            (Ask::ReleaseGet, Response::Found(Some(Shown { version, entry, .. }))) => {
                let is_mine = entry.holder == Some(self.name(settings));
                // From v0.34 on, the record just read is not looked at, except for its version (OL-K-12).
                let goes_on = match settings.release {
                    Release::FreshVersion => self.is_holder(settings),
                    _ => is_mine || context.is_mutated(Mutant::AnyoneReleases),
                };
                let named = (settings.release != Release::LookThenDelete).then_some(version);
                match goes_on {
                    true => self.give_back(named, context, out),
                    false => self.end_release(context, out),
                }
            }
            (Ask::ReleasePut, Response::Conflict) if settings.release_repeats => {
                self.ask(Ask::ReleaseGet, Request::Get, false, context, out);
            }
            _ => self.end_release(context, out),
        }
    }

    /// The release is over, with or without success: the work is told now, if it was not before.
    pub(super) fn end_release(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        self.release_ends = None;
        self.seen = None;
        self.step = ElectorStep::Stopped;
        if !context.is_mutated(Mutant::LossUntold) {
            self.tell(false, context, out);
        }
    }

    /// The caller cancels: the leading context ends at once (OL-K-10).
    pub(super) fn cancel(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        if settings.releases_before_telling() {
            return self.withdraw(context, out);
        }
        self.tell(true, context, out);
        match settings.on_cancel {
            OnCancel::ReleaseAtOnce => self.withdraw(context, out),
            OnCancel::Wait | OnCancel::WaitRenewing => {
                let grace = settings.grace.filter(|_| !context.is_mutated(Mutant::GraceUnlimited));
                let grace = grace.map(|grace| Deadline(context.now + Self::span(context, grace)));
                self.leaving = Some(Leave { grace });
                if settings.on_cancel == OnCancel::Wait {
                    (self.leads, self.poll, self.step) = (false, None, ElectorStep::Awaiting);
                }
                if self.work == Doing::Nothing {
                    self.withdraw(context, out);
                }
            }
        }
    }

    /// A cancelled elector ends: its work has stopped, or it waits no longer.
    pub(super) fn withdraw(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        (self.leads, self.poll, self.leaving) = (false, None, None);
        self.begin_release(context, out);
    }
}
