//! The key/value store: reading, writing, acquiring, releasing, deleting.

use super::{Server, is_lock};
use crate::fact::{Ending, Fact, Refusal};
use crate::ids::{ClientId, Index, SessionId};
use crate::mutation::Mutation;
use crate::process::{Context, Outbox};
use crate::protocols::consul::Consul;
use crate::protocols::consul::messages::{Answer, Claim, Entry, Key, Opaque};

/// What a caller writes besides the lock: value and flags.
type Content = (Opaque, u8);

impl Server {
    /// C-KV-5: the entry, or 404.
    pub(super) fn get(&self, key: Key) -> Answer {
        self.entry(key).map_or(Answer::Absent, Answer::Found)
    }

    /// C-KV-8: the session stays, LockIndex becomes 0. C-KV-1: always `true`.
    pub(super) fn put(&mut self, key: Key, value: Opaque, flags: u8, context: &Context<'_, Consul>) -> Answer {
        self.index = self.index.next();
        let old = self.entry(key);
        let lock_index = match old {
            Some(old) if context.is_mutated(Mutation::PutKeepsLockIndex) => old.lock_index,
            _ => 0,
        };
        self.write(key, lock_index, old.and_then(|old| old.session), (value, flags), context);
        Answer::Done(true)
    }

    /// C-KV-9: index 0 means only if absent; else only at that ModifyIndex. It does not look at the lock.
    pub(super) fn cas(
        &mut self,
        key: Key,
        index: Index,
        value: Opaque,
        flags: u8,
        context: &Context<'_, Consul>,
    ) -> Answer {
        if self.entry(key).map_or(Index(0), |entry| entry.modify) != index {
            // C-GEN-4: an answer `false` uses an index, too.
            self.index = self.index.next();
            return Answer::Done(false);
        }
        self.put(key, value, flags, context)
    }

    /// C-KV-10, C-KV-11, after the leader's look at the lock-delay (C-LD-2, C-LD-4).
    pub(super) fn acquire(
        &mut self,
        client: ClientId,
        claim: Claim,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let Claim { key, session, value, flags } = claim;
        if self.is_delayed(key, context) {
            // C-LD-4: before any look at the session, and without a log entry (C-GEN-4).
            out.record(Fact::Refused { client, why: Refusal::LockDelay });
            return Answer::Done(false);
        }
        self.index = self.index.next();
        if self.row(session).is_none() && !context.is_mutated(Mutation::AcquireWithoutSession) {
            out.record(Fact::Refused { client, why: Refusal::NoSession });
            return Answer::InvalidSession;
        }
        let old = self.entry(key);
        let owner = old.and_then(|old| old.session);
        let is_held = owner.is_some_and(|owner| owner != session);
        if is_held && !context.is_mutated(Mutation::AcquireSteals) {
            out.record(Fact::Refused { client, why: Refusal::Held });
            return Answer::Done(false);
        }
        let fresh = owner != Some(session);
        let counts = fresh || context.is_mutated(Mutation::ReacquireCounts);
        let lock_index = old.map_or(0, |old| old.lock_index) + u32::from(counts);
        let entry = self.write(key, lock_index, Some(session), (value, flags), context);
        if is_lock(key) {
            let token = context.scenario.service.token(&entry);
            out.record(Fact::Granted { client, token, fresh, stolen: is_held });
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
        self.index = self.index.next();
        let held = self.entry(key).filter(|entry| entry.session.is_some());
        let may = |entry: &Entry| entry.session == Some(session) || context.is_mutated(Mutation::ReleaseByAnybody);
        let Some(entry) = held.filter(may) else {
            if let Some(client) = from {
                out.record(Fact::Refused { client, why: Refusal::NotHeld });
            }
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
        self.index = self.index.next();
        let was_held = self.entry(key).is_some_and(|entry| entry.session.is_some());
        self.remove(key, context);
        if is_lock(key) && was_held {
            out.record(Fact::Freed { by: Ending::Deleted });
        }
        Answer::Done(true)
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
            Some(entry) if entry.modify != index => {
                self.index = self.index.next();
                Answer::Done(false)
            }
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
