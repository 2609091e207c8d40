//! Sessions: creation, renewal, and the one routine that ends them.

use serde::{Deserialize, Serialize};

use super::{Server, is_lock, is_slot};
use crate::ConsulMutation;
use crate::messages::{Answer, ConsulEvent, Spelling, Terms, Timer};
use crate::settings::Expiry;
use crate::{Behavior, Consul};
use fencepost_model::fact::{Ending, Fact};
use fencepost_model::ids::{ClientId, RawId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::time::{Deadline, Instant, Ticks};

/// A live session.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Row {
    /// Its id. The creator in it stands for Consul's node.
    pub(super) id: SessionId,
    pub(super) terms: Terms,
    /// The leader's timer: the session may end from this instant on. C-TTL-1.
    pub(super) expires: Option<Deadline>,
    /// Its timer has fired, and its end is on its way through the log. C-TTL-4.
    pub(super) is_expiring: bool,
}

impl Server {
    pub(super) fn row(&self, session: SessionId) -> Option<&Row> {
        self.sessions.iter().find(|row| row.id == session)
    }

    /// C-SES-2: an id that was never used before.
    pub(super) fn fresh_session(&mut self, creator: ClientId) -> SessionId {
        if let Some(last) = self.given.iter_mut().find(|id| id.raw().creator == creator) {
            *last = last.next();
            return *last;
        }
        let first = SessionId::numbered(creator, 1);
        self.given.insert_sorted(first);
        first
    }

    /// C-SES-1, C-SES-2, C-SES-14: a fresh id at the next log position; C-TTL-1: the timer starts with it.
    pub(super) fn create_session(
        &mut self,
        creator: ClientId,
        terms: Terms,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        match self.refusal(creator, terms.checks.iter(), context) {
            Some(refusal) => refusal,
            None => Answer::Created(self.add_session(creator, terms, context, out)),
        }
    }

    /// Gives an id, and starts the timer.
    pub fn add_session(
        &mut self,
        creator: ClientId,
        terms: Terms,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> SessionId {
        let dead = self.given.iter().copied().find(|id| id.raw().creator == creator && self.row(*id).is_none());
        let reused = dead.filter(|_| context.is_mutated(ConsulMutation::SessionIdsReused));
        let id = reused.unwrap_or_else(|| self.fresh_session(creator));
        let expires = timer(&terms, context);
        self.sessions.insert_sorted(Row { id, terms, expires, is_expiring: false });
        self.note_sessions();
        if expires.is_some() {
            out.record(Fact::Renewed { session: id });
        }
        id
    }

    /// C-SES-18: only the timer restarts; there is no log entry and no index.
    pub fn renew_session(
        &mut self,
        session: SessionId,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let Some(row) = self.sessions.iter_mut().find(|row| row.id == session) else {
            let is_renewed = context.is_mutated(ConsulMutation::UnknownSessionRenewed);
            return if is_renewed { Answer::Renewed } else { Answer::UnknownSession };
        };
        if row.is_expiring {
            // C-TTL-5: answered with 200, with a new timer, and it ends anyway.
            out.record(Fact::Service(ConsulEvent::RenewedInVain(session)));
            row.is_expiring = !context.is_mutated(ConsulMutation::RenewalSavesDoomed);
        }
        if row.terms.ttl.is_some() {
            out.record(Fact::Renewed { session });
            if !context.is_mutated(ConsulMutation::RenewalForgotten) {
                row.expires = timer(&row.terms, context);
            }
        }
        Answer::Renewed
    }

    /// C-SES-19: always `true`, also for an unknown session. C-GEN-4: it uses an index in any case.
    pub fn destroy_session(
        &mut self,
        session: SessionId,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        if self.row(session).is_some() {
            out.record(Fact::Destroyed { session });
            self.invalidate(session, context, out);
        }
        Answer::Done(true)
    }

    /// C-TTL-4: the timer fires and is removed; a destroy entry enters the log, which applies it at once, or later.
    pub(super) fn timer_fires(&mut self, session: SessionId, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if context.scenario.service.servers.expiry == Expiry::OneStep {
            return self.expire(session, context, out);
        }
        self.decide_expiry(session);
    }

    /// Sessions whose timer may have fired by now, with the instant; without an instant, the timer has already fired.
    pub fn expirable(&self, now: Instant) -> impl Iterator<Item = (SessionId, Option<Deadline>)> + '_ {
        let is_due = move |row: &&Row| row.is_expiring || row.expires.is_some_and(|expires| expires.is_due(now));
        self.sessions.iter().filter(is_due).map(|row| (row.id, row.expires.filter(|_| !row.is_expiring)))
    }

    /// The requested lock-delay of each session.
    pub fn lock_delays(&self) -> impl Iterator<Item = Ticks> + '_ {
        self.sessions.iter().map(|row| row.terms.lock_delay)
    }

    /// The timer of a session has fired; the log has not applied its end yet.
    pub fn decide_expiry(&mut self, session: SessionId) {
        for row in self.sessions.iter_mut().filter(|row| row.id == session) {
            (row.expires, row.is_expiring) = (None, true);
        }
    }

    pub(super) fn session_wakes(&self, due: &mut dyn FnMut(Timer, Instant)) {
        for row in &self.sessions {
            if let Some(expires) = row.expires {
                due(Timer::Expire(row.id), expires.0);
            }
            if row.is_expiring {
                due(Timer::Destroy(row.id), Instant::LONG_AGO);
            }
        }
    }

    /// The log applies the destroy entry of a timer that has fired.
    pub fn expire(&mut self, session: SessionId, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.index = self.index.next();
        out.record(Fact::Expired { session });
        self.invalidate(session, context, out);
    }

    /// C-INV-1: the one invalidation routine. All its effects have the same log position.
    pub(super) fn invalidate(&mut self, session: SessionId, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Some(terms) = self.row(session).map(|row| row.terms) else { return };
        self.sessions.retain(|row| row.id != session);
        self.note_sessions();
        if !context.is_mutated(ConsulMutation::QueriesSurvive) {
            self.drop_queries(|query| query.session.is_some_and(|(bound, _)| bound == session));
        }
        if context.is_mutated(ConsulMutation::InvalidationLeavesKeys) {
            return;
        }
        let index = self.index;
        let behavior =
            if context.is_mutated(ConsulMutation::DeleteBehaviorReleases) { Behavior::Release } else { terms.behavior };
        let is_held = |entry_session: Option<SessionId>| entry_session == Some(session);
        let keys_max = if context.is_mutated(ConsulMutation::OnlyFirstKeyReleased) { 1 } else { usize::MAX };
        let held = self.entries.iter().filter(|(_, entry)| is_held(entry.session)).take(keys_max);
        let keys: Vec<_> = held.map(|(key, _)| *key).collect();
        for (_, entry) in self.entries.iter_mut().filter(|(_, entry)| is_held(entry.session)).take(keys_max) {
            // C-INV-1 step 4: Value, Flags, LockIndex and CreateIndex stay; C-INV-11.
            (entry.session, entry.spelling) = (None, Spelling::default());
            entry.modify = index;
        }
        if !keys.is_empty() {
            self.note_entries();
        }
        for key in keys {
            self.delay(key, terms.lock_delay, context);
            if behavior == Behavior::Delete {
                self.remove(key, context);
            }
            if is_lock(key) {
                out.record(Fact::Freed { by: Ending::Invalidated });
            }
            if is_slot(key, context) {
                out.record(Fact::Service(ConsulEvent::FreedSlot(session.raw().creator)));
            }
        }
    }
}

/// C-TTL-2: the timer is a multiple of the TTL, twice in Consul.
pub(super) fn timer(terms: &Terms, context: &Context<'_, Consul>) -> Option<Deadline> {
    let ttl = terms.ttl?;
    if context.is_mutated(ConsulMutation::TtlTooShort) {
        return Some(Deadline(context.now + ttl - Ticks::new(1)));
    }
    let is_plain = context.is_mutated(ConsulMutation::TtlNotMultiplied);
    let multiplier = if is_plain { 1 } else { context.scenario.service.ttl_multiplier };
    Some(Deadline(context.now + ttl.times(multiplier.into())))
}
