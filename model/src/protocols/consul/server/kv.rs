//! The key/value store: reading, writing, acquiring, releasing, deleting. Each effect happens at the present log position.

use serde::{Deserialize, Serialize};

use super::{Asker, Server, is_lock, is_slot};
use crate::fact::{Ending, Fact, Refusal};
use crate::ids::{Call, ClientId, Index, SessionId};
use crate::mutation::Mutation;
use crate::process::{Context, Outbox};
use crate::protocols::consul::Consul;
use crate::protocols::consul::messages::{Answer, Claim, Entry, Key, Listing, Opaque, Text, Timer, Word};
use crate::protocols::consul::settings::Log;
use crate::time::Instant;
use crate::world::normal::{Normal, Visitor};

/// What a caller writes besides the lock: value and flags.
pub(super) type Content = (Opaque, u8);

/// An acquire that has passed the leader's look at the lock-delay.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(super) struct Decided {
    client: ClientId,
    call: Call,
    claim: Claim,
}

impl Decided {
    pub(super) fn asker(&self) -> Asker {
        (self.client, self.call)
    }
}

impl Server {
    /// C-KV-5: the entry, or 404.
    pub(super) fn get(&self, key: Key) -> Answer {
        self.entry(key).map_or(Answer::Absent, Answer::Found)
    }

    /// C-KV-21, C-KV-22: all entries below the semaphore's prefix at once, with the index of the newest change.
    pub(super) fn list(&self) -> Listing {
        Listing { index: self.prefix_index(), slots: self.entry(Key::Slots), alive: self.contenders().collect() }
    }

    /// C-KV-21: the newest entry or deletion below the prefix.
    pub(super) fn prefix_index(&self) -> Index {
        let below = self.entries.iter().filter(|(key, _)| key.is_below_prefix());
        below.map(|(_, entry)| entry.modify).max().unwrap_or_default().max(self.tombstone)
    }

    /// C-KV-8: the session stays, LockIndex becomes 0. C-KV-1: always `true`.
    pub(super) fn put(
        &mut self,
        key: Key,
        content: Content,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let old = self.entry(key);
        let lock_index = match old {
            Some(old) if context.is_mutated(Mutation::PutKeepsLockIndex) => old.lock_index,
            _ => 0,
        };
        let new = self.write(key, lock_index, old.and_then(|old| old.session), content, context);
        note_holders(old, new, out);
        Answer::Done(true)
    }

    /// C-KV-9: index 0 means only if absent; else only at that ModifyIndex. It does not look at the lock.
    pub(super) fn cas(
        &mut self,
        key: Key,
        index: Index,
        content: Content,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let is_stale = self.entry(key).map_or(Index(0), |entry| entry.modify) != index;
        if is_stale && !context.is_mutated(Mutation::CasIgnoresIndex) {
            return Answer::Done(false);
        }
        self.put(key, content, context, out)
    }

    /// The leader's look at the lock-delay (C-LD-2, C-LD-4), then the log: at once, or later.
    pub(super) fn request_lock(
        &mut self,
        from: Option<Asker>,
        claim: Claim,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Option<Answer> {
        let client = from.map(|(client, _)| client);
        if self.is_delayed(claim.key, context) {
            // C-LD-4: before any look at the session, and without a log entry (C-GEN-4).
            refuse(client, Refusal::LockDelay, out);
            return Some(Answer::Done(false));
        }
        if let (Log::Delayed, Some((client, call))) = (context.scenario.service.servers.log, from) {
            self.decided.insert_sorted(Decided { client, call, claim });
            return None;
        }
        self.index = self.index.next();
        Some(self.lock(client, claim, context, out))
    }

    /// C-LD-9: the log applies an acquire without another look at the lock-delay.
    pub(super) fn apply(&mut self, asker: Asker, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let place = self.decided.iter().position(|decided| decided.asker() == asker);
        let Some(place) = place else { return };
        let Decided { client, call, claim } = self.decided.remove(place);
        self.index = self.index.next();
        let is_late = context.is_mutated(Mutation::ApplyLooksAtLockDelay) && self.is_delayed(claim.key, context);
        let answer = if is_late { Answer::Done(false) } else { self.lock(Some(client), claim, context, out) };
        out.send(client.into(), Text::Tell(call, answer));
    }

    pub(super) fn log_wakes(&self, due: &mut dyn FnMut(Timer, Instant)) {
        for decided in &self.decided {
            due(Timer::Apply(decided.client, decided.call), Instant::LONG_AGO);
        }
    }

    /// C-KV-10, C-KV-11: what the log does with an acquire.
    pub(super) fn lock(
        &mut self,
        client: Option<ClientId>,
        claim: Claim,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let Claim { key, session, value, flags } = claim;
        if self.row(session).is_none() && !context.is_mutated(Mutation::AcquireWithoutSession) {
            refuse(client, Refusal::NoSession, out);
            return Answer::InvalidSession;
        }
        let old = self.entry(key);
        let owner = old.and_then(|old| old.session);
        let is_held = owner.is_some_and(|owner| owner != session);
        if is_held && !context.is_mutated(Mutation::AcquireSteals) {
            refuse(client, Refusal::Held, out);
            return Answer::Done(false);
        }
        let fresh = owner != Some(session);
        let counts = fresh || context.is_mutated(Mutation::ReacquireCounts);
        let lock_index = old.map_or(0, |old| old.lock_index) + u32::from(counts);
        let entry = self.write(key, lock_index, Some(session), (value, flags), context);
        let client = client.unwrap_or(session.creator);
        if is_lock(key) {
            let token = context.scenario.service.token(&entry);
            out.record(Fact::Granted { client, token, fresh, stolen: is_held });
        }
        if is_slot(key, context) && fresh {
            out.record(Fact::Service(Word::TookSlot(client)));
        }
        Answer::Done(true)
    }

    /// C-KV-12, C-KV-16: by the holder only; LockIndex stays, value and flags are the caller's.
    pub(super) fn release(
        &mut self,
        from: Option<ClientId>,
        claim: Claim,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let Claim { key, session, value, flags } = claim;
        let held = self.entry(key).filter(|entry| entry.session.is_some());
        let may = |entry: &Entry| entry.session == Some(session) || context.is_mutated(Mutation::ReleaseByAnybody);
        let Some(entry) = held.filter(may) else {
            refuse(from, Refusal::NotHeld, out);
            return Answer::Done(false);
        };
        self.write(key, entry.lock_index, None, (value, flags), context);
        if context.is_mutated(Mutation::LockDelayAfterRelease) {
            self.delay(key, context.scenario.service.lock_delay, context);
        }
        if is_lock(key) {
            out.record(Fact::Freed { by: Ending::Released });
        }
        Answer::Done(true)
    }

    /// C-KV-14: deletion ignores locks; the session lives on without the key, and there is no lock-delay (C-LD-6).
    pub(super) fn delete(&mut self, key: Key, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) -> Answer {
        let holder = self.entry(key).and_then(|entry| entry.session);
        self.remove(key, context);
        if is_lock(key) && holder.is_some() {
            out.record(Fact::Freed { by: Ending::Deleted });
        }
        if let Some(session) = holder.filter(|_| is_slot(key, context)) {
            out.record(Fact::Service(Word::FreedSlot(session.creator)));
        }
        Answer::Done(true)
    }

    /// C-KV-17: every key at one log position; as a deletion it ignores locks.
    pub(in crate::protocols::consul) fn delete_tree(
        &mut self,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        self.index = self.index.next();
        for key in self.keys().collect::<Vec<_>>() {
            self.delete(key, context, out);
        }
    }

    /// C-KV-15: an absent key is `true` for any index; a present one only at its ModifyIndex.
    pub(super) fn delete_cas(
        &mut self,
        key: Key,
        index: Index,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        match self.entry(key) {
            Some(entry) if entry.modify != index => Answer::Done(false),
            _ => self.delete(key, context, out),
        }
    }

    /// C-KV-7: the common write rule. CreateIndex stays; a write that changes nothing leaves ModifyIndex alone, too.
    fn write(
        &mut self,
        key: Key,
        lock_index: u32,
        session: Option<SessionId>,
        (value, flags): Content,
        context: &Context<'_, Consul>,
    ) -> Entry {
        let index = self.index;
        let old = self.entry(key);
        let create = old.map_or(index, |old| old.create);
        let new = Entry { value, flags, lock_index, session, create, modify: index };
        let is_equal =
            |old: &Entry| (old.lock_index, old.flags, old.value, old.session) == (lock_index, flags, value, session);
        if let Some(old) = old.filter(is_equal)
            && !context.is_mutated(Mutation::EqualWriteCounts)
        {
            return old;
        }
        self.entries.retain(|(other, _)| *other != key);
        self.entries.insert_sorted((key, new));
        new
    }

    /// C-KV-18: what comes after a deletion starts anew.
    pub(super) fn remove(&mut self, key: Key, context: &Context<'_, Consul>) {
        if key.is_below_prefix() && self.entry(key).is_some() {
            self.tombstone = self.index;
        }
        if !context.is_mutated(Mutation::DeleteOnlyFrees) {
            self.entries.retain(|(other, _)| *other != key);
            return;
        }
        let index = self.index;
        for (_, entry) in self.entries.iter_mut().filter(|(other, _)| *other == key) {
            (entry.session, entry.modify) = (None, index);
        }
    }
}

impl Normal for Decided {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.call_of(self.client, &mut self.call);
        visitor.client(&mut self.client);
        self.claim.visit(visitor);
    }
}

/// An operator who is refused is no fact.
fn refuse(client: Option<ClientId>, why: Refusal, out: &mut Outbox<Consul>) {
    if let Some(client) = client {
        out.record(Fact::Refused { client, why });
    }
}

/// Who has become a holder of a slot by a write to the coordination entry, and who is one no more.
fn note_holders(old: Option<Entry>, new: Entry, out: &mut Outbox<Consul>) {
    let holders = |value: Option<Opaque>| match value {
        Some(Opaque::Slots(slots)) => slots.holders,
        _ => Default::default(),
    };
    let (before, after) = (holders(old.map(|old| old.value)), holders(Some(new.value)));
    for session in before.iter().filter(|session| !after.contains(session)) {
        out.record(Fact::Service(Word::FreedSlot(session.creator)));
    }
    for session in after.iter().filter(|session| !before.contains(session)) {
        out.record(Fact::Service(Word::TookSlot(session.creator)));
    }
}
