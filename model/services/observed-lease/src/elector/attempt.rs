//! One attempt to acquire or to renew: `tryAcquireOrRenew` (OL-K-5), and what its ports do differently.

use super::super::messages::{Entry, Request, Response, Shown};
use super::super::settings::{Acquire, Boundary, Expiry, RefusedCreate, Renewal};
use super::{Ask, Asking, Ctx, Elector, ElectorStep, Out, Seen};
use crate::ObservedLeaseMutation as Mutant;
use fencepost_model::fact::{Fact, Refusal};
use fencepost_model::ids::Index;
use fencepost_model::time::{Deadline, Instant, StartTime, Ticks};

/// Why an attempt failed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// Another's record is valid.
    Held,
    /// A write was refused.
    Refused,
    /// There was an error or no answer.
    Error,
}

impl Elector {
    /// Whether the observed record has expired. Guards are closed: a deadline at this instant counts (OL-K-4).
    fn has_expired(&self, context: &Ctx<'_>) -> bool {
        let is_early = context.is_mutated(Mutant::TakesOverEarly);
        let more = context.scenario.service.grain.times(is_early.into());
        self.seen.is_some_and(|seen| seen.free_from.is_some_and(|from| from.is_due(context.now + more)))
    }

    pub(super) fn attempt(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        let expired = self.has_expired(context);
        let is_valid = self.is_holder(settings) && !expired;
        let is_fast = match settings.renewal {
            Renewal::FastFirst => is_valid,
            Renewal::WriteOnly => true,
            Renewal::ReadWrite => false,
        };
        if self.leads && is_fast {
            self.put(Ask::Fast, expired, context, out);
        } else if settings.acquire == Acquire::CreateOnly && !self.leads {
            self.ask(Ask::Create, Request::Create(self.entry(context)), expired, context, out);
        } else {
            self.ask(Ask::Get, Request::Get, expired, context, out);
        }
    }

    /// A write with the version that it saw last.
    fn put(&mut self, what: Ask, expired: bool, context: &Ctx<'_>, out: Out<'_>) {
        self.ask(what, Request::Put(self.entry(context), self.version(context)), expired, context, out);
    }

    /// The version that a write names.
    fn version(&self, context: &Ctx<'_>) -> Option<Index> {
        let is_conditional = context.scenario.service.conditional && !context.is_mutated(Mutant::PutUnconditional);
        self.seen.map(|seen| seen.version).filter(|_| is_conditional)
    }

    /// The write after a read. fabric8's has the time from before the read (OL-K-20).
    fn write_after(&mut self, read: Asking, expired: bool, is_new: bool, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        let mut entry = self.entry(context);
        let began = read.sent.filter(|_| settings.reads_clock_first());
        if let Some(began) = began {
            entry.renewed = Some(StartTime(began + settings.ahead(context.client())));
        }
        match is_new {
            true => self.ask(Ask::Create, Request::Create(entry), expired, context, out),
            false => self.ask(Ask::Put, Request::Put(entry, self.version(context)), expired, context, out),
        }
        if let ElectorStep::Asking(write) = &mut self.step {
            write.sent = began.or(write.sent);
        }
    }

    /// Takes over what a read shows. The wait starts again only if the content has changed (OL-S-8).
    fn observe(&mut self, shown: Shown, context: &Ctx<'_>) -> bool {
        let settings = &context.scenario.service;
        let Shown { version, content, entry } = shown;
        let watched = if context.is_mutated(Mutant::WatchesVersion) { version } else { content };
        let before = self.seen.filter(|seen| seen.content == watched);
        let is_known = before.is_some() && !context.is_mutated(Mutant::ObservedAnew);
        let duration = match settings.expiry {
            Expiry::Own => settings.lease_of(context.client()),
            _ if context.is_mutated(Mutant::OwnDurationCounted) => settings.lease_of(context.client()),
            _ => entry.duration,
        };
        let length = Self::span(context, duration) + self.beyond(context);
        let free_from = match (settings.expiry, entry.renewed) {
            (Expiry::Never, _) => None,
            (Expiry::WriterClock, Some(renewed)) => {
                let is_alike = context.is_mutated(Mutant::WallClocksAlike);
                let ahead = if is_alike { Ticks::ZERO } else { settings.ahead(context.client()) };
                Some(Deadline(renewed + length - ahead))
            }
            _ if is_known => before.and_then(|seen| seen.free_from),
            _ => Some(Deadline(context.now + length)),
        };
        let Entry { holder, transitions, .. } = entry;
        self.seen = Some(Seen { version, content: watched, holder, transitions, free_from });
        !is_known
    }

    /// The instant of expiry itself does not count where the test is strict (OL-D-2).
    fn beyond(&self, context: &Ctx<'_>) -> Ticks {
        let is_strict = context.scenario.service.boundary == Boundary::Strict;
        let is_after = is_strict && !context.is_mutated(Mutant::StrictIsClosed);
        context.scenario.service.grain.times(is_after.into())
    }

    pub(super) fn hear(&mut self, asking: Asking, response: Response, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        match (asking.what, response) {
            (Ask::Get, Response::Found(None)) if settings.acquire == Acquire::WriteAndReadBack => {
                self.ask(Ask::Put, Request::Put(self.entry(context), None), false, context, out);
            }
            (Ask::Get, Response::Found(None)) => {
                self.seen = None;
                self.write_after(asking, false, true, context, out);
            }
            (Ask::Get, Response::Found(Some(shown))) => self.decide(asking, shown, context, out),
            (Ask::Put, Response::Written(_)) if settings.acquire == Acquire::WriteAndReadBack && !self.leads => {
                self.step = ElectorStep::Settling(Deadline(context.now + settings.read_back_after));
            }
            (Ask::ReadBack | Ask::Compare, Response::Found(Some(shown)))
                if shown.entry.holder == Some(self.name(settings)) =>
            {
                self.observe(shown, context);
                self.succeed(asking, shown.version, context, out);
            }
            (Ask::Fast | Ask::Create | Ask::Put, Response::Written(version)) => {
                self.succeed(asking, version, context, out);
            }
            // Any error of the fast path goes on with a read (OL-K-5).
            (Ask::Fast, _) if settings.renewal == Renewal::FastFirst => {
                self.ask(Ask::Get, Request::Get, asking.expired, context, out);
            }
            (Ask::Create, Response::Conflict) if settings.refused_create == RefusedCreate::ReRead => {
                self.ask(Ask::Compare, Request::Get, false, context, out);
            }
            (Ask::ReleaseGet | Ask::ReleasePut, _) => self.hear_release(asking, response, context, out),
            (Ask::Create, Response::Conflict) | (Ask::ReadBack | Ask::Compare, Response::Found(_)) => {
                self.fail(Failure::Held, context, out);
            }
            (_, Response::Conflict) => self.fail(Failure::Refused, context, out),
            _ => self.fail(Failure::Error, context, out),
        }
    }

    /// What follows the read of an attempt.
    fn decide(&mut self, asking: Asking, shown: Shown, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        let is_fresh = self.observe(shown, context);
        // DynamoDB's client and litestream take their own record for another's (OL-O-2).
        let is_mine = self.is_holder(settings) && (self.leads || settings.recognises_itself);
        let by_now = self.has_expired(context);
        let has_expired = match settings.expiry {
            Expiry::WriterClock => by_now,
            Expiry::Recorded | Expiry::Own if is_fresh => by_now && shown.entry.duration == Ticks::ZERO,
            Expiry::Recorded | Expiry::Own => asking.expired,
            Expiry::Never => false,
        };
        if is_mine || shown.entry.holder.is_none() || has_expired {
            return self.write_after(asking, has_expired, false, context, out);
        }
        if self.leads && self.leaves_to_another(context) {
            return self.lose(context, out);
        }
        self.fail(Failure::Held, context, out);
    }

    /// A contender is refused because another's record is valid.
    pub(super) fn note_refusal(&self, context: &Ctx<'_>, out: Out<'_>) {
        out.record(Fact::Refused { client: context.client(), why: Refusal::Held });
    }

    /// An acknowledged write of its own (OL-K-3): the record is observed now, and counts from now or from the sending.
    pub(super) fn acknowledge(&mut self, asking: Asking, version: Index, context: &Ctx<'_>) {
        let settings = &context.scenario.service;
        let transitions = self.entry(context).transitions;
        let length = match settings.expiry {
            Expiry::Own => Self::span(context, settings.lease_of(context.client())),
            _ => Self::lease(context),
        };
        let from: Instant = asking.sent.map_or(context.now, |sent| sent.0);
        let free_from = (settings.expiry != Expiry::Never).then(|| Deadline(from + length + self.beyond(context)));
        self.seen = Some(Seen { version, content: version, holder: Some(self.name(settings)), transitions, free_from });
        self.cover(from, length, context);
    }
}
