//! The key/value store: reading, writing, acquiring, releasing, deleting. Each effect happens at the current log
//! position.

use serde::{Deserialize, Serialize};

use super::{Asker, Server, is_lock, is_slot};
use crate::Consul;
use crate::ConsulMutation;
use crate::messages::{
    Answer, Claim, ConsulEvent, ConsulMessage, Entry, Key, Listing, Opaque, Prefix, Spelling, Timer,
};
use crate::settings::{Log, Prunes, TreeDeletions};
use fencepost_model::fact::{Ending, Fact, Refusal};
use fencepost_model::ids::{Call, ClientId, Index, RawId, SessionId};
use fencepost_model::inline_array::InlineArray;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::time::Instant;

/// The data of a write besides the lock: value and flags.
pub(super) type ValueAndFlags = (Opaque, u8);

/// An acquire that has passed the leader's check of the lock-delay.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Decided {
    client: ClientId,
    #[normal(of = client)]
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
    ///
    /// The client decides which holders are alive; the same read returns either kind of evidence: the sessions that
    /// hold a contender key, or the sessions after which one is named, held or not.
    pub(super) fn list(&self, context: &Context<'_, Consul>) -> Listing {
        let by_name =
            context.scenario.service.semaphore.as_ref().is_some_and(|semaphore| semaphore.prunes == Prunes::ByName);
        let named = self.entries.iter().filter_map(|(key, _)| match key {
            Key::Contender(session) if by_name => Some(*session),
            _ => None,
        });
        let held = self.contenders().filter(|_| !by_name);
        let mut alive = InlineArray::default();
        // C-SEM-5: a key in a semaphore whose prefix begins with this one counts as evidence, too.
        named.chain(held).for_each(|session| {
            if !alive.contains(&session) {
                alive.push(session)
            }
        });
        Listing { index: self.prefix_index(Prefix::Semaphore), slots: self.entry(Key::Slots), alive }
    }

    /// Entries below a prefix, by key (C-GEN-8).
    pub fn below(&self, prefix: Prefix) -> impl Iterator<Item = (Key, Entry)> + '_ {
        self.entries.iter().copied().filter(move |(key, _)| prefix.contains(*key))
    }

    /// C-KV-21: the newest entry or deletion below the prefix; if there is neither, and for the empty prefix, the index
    /// of the whole store. C-KV-23: the deletion of a longer prefix counts, the deletion of a shorter one does not.
    pub fn prefix_index(&self, prefix: Prefix) -> Index {
        if prefix == Prefix::All {
            return self.store_index();
        }
        let newest = self.below(prefix).map(|(_, entry)| entry.modify).max();
        let deleted = self.tombstones.iter().filter(|(name, _)| prefix.contains(*name)).map(|(_, index)| *index).max();
        newest.max(deleted).unwrap_or_else(|| self.store_index())
    }

    /// C-KV-8: the session stays, LockIndex becomes 0. C-KV-1: always `true`.
    pub fn put(
        &mut self,
        key: Key,
        content: ValueAndFlags,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let old = self.entry(key);
        let lock_index = match old {
            Some(old) if context.is_mutated(ConsulMutation::PutKeepsLockIndex) => old.lock_index,
            _ => 0,
        };
        let new = self.write(key, lock_index, old.and_then(|old| old.holder()), content, context);
        note_holders(old, new, out);
        Answer::Done(true)
    }

    /// C-KV-9: index 0 means only if absent; another index means only at that ModifyIndex. It ignores the lock.
    pub fn cas(
        &mut self,
        key: Key,
        index: Index,
        content: ValueAndFlags,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let is_stale = self.entry(key).map_or(Index::NONE, |entry| entry.modify) != index;
        if is_stale && !context.is_mutated(ConsulMutation::CasIgnoresIndex) {
            return Answer::Done(false);
        }
        self.put(key, content, context, out)
    }

    /// The leader's check of the lock-delay (C-LD-2, C-LD-4), then the log: at once, or later.
    pub(super) fn request_lock(
        &mut self,
        from: Option<Asker>,
        claim: Claim,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Option<Answer> {
        let client = from.map(|(client, _)| client);
        if self.is_delayed(claim.key, context) {
            // C-LD-4: before the check of the session, and without a log entry (C-GEN-4).
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

    /// C-LD-9: the log applies an acquire without another check of the lock-delay.
    pub(super) fn apply(&mut self, asker: Asker, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let place = self.decided.iter().position(|decided| decided.asker() == asker);
        let Some(place) = place else { return };
        let Decided { client, call, claim } = self.decided.remove(place);
        self.index = self.index.next();
        let answer = self.lock_late(Some(client), claim, context, out);
        out.send(client.into(), ConsulMessage::Response(call, answer));
    }

    /// C-LD-9: the log's treatment of an acquire some time after the leader has accepted it.
    pub fn lock_late(
        &mut self,
        client: Option<ClientId>,
        claim: Claim,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let is_late = context.is_mutated(ConsulMutation::ApplyLooksAtLockDelay) && self.is_delayed(claim.key, context);
        if is_late { Answer::Done(false) } else { self.lock(client, claim, context, out) }
    }

    pub(super) fn log_wakes(&self, due: &mut dyn FnMut(Timer, Instant)) {
        for decided in &self.decided {
            due(Timer::Apply(decided.client, decided.call), Instant::LONG_AGO);
        }
    }

    /// C-KV-10, C-KV-11: the log's treatment of an acquire.
    pub fn lock(
        &mut self,
        client: Option<ClientId>,
        claim: Claim,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let Claim { key, session, spelling, value, flags } = claim;
        let me = (session, spelling);
        if self.row(session).is_none() && !context.is_mutated(ConsulMutation::AcquireWithoutSession) {
            refuse(client, Refusal::NoSession, out);
            return Answer::InvalidSession;
        }
        let old = self.entry(key);
        // C-SES-20: a session's id in another letter case is another holder.
        let is_me = |owner: (SessionId, Spelling)| {
            owner == me || owner.0 == session && context.is_mutated(ConsulMutation::SpellingIgnored)
        };
        let owner = old.and_then(|old| old.holder());
        let is_held = owner.is_some_and(|owner| !is_me(owner));
        if is_held && !context.is_mutated(ConsulMutation::AcquireSteals) {
            refuse(client, Refusal::Held, out);
            return Answer::Done(false);
        }
        let fresh = !owner.is_some_and(is_me);
        let counts = fresh || context.is_mutated(ConsulMutation::ReacquireCounts);
        let lock_index = old.map_or(0, |old| old.lock_index) + u32::from(counts);
        let entry = self.write(key, lock_index, Some(me), (value, flags), context);
        let client = client.unwrap_or(session.raw().creator);
        if is_lock(key) {
            let token = context.scenario.service.token(&entry);
            out.record(Fact::Granted { client, token, fresh, stolen: is_held });
        }
        if is_slot(key, context) && fresh {
            out.record(Fact::Service(ConsulEvent::TookSlot(client)));
        }
        Answer::Done(true)
    }

    /// C-KV-12, C-KV-16: by the holder only; LockIndex stays, value and flags are the caller's.
    pub fn release(
        &mut self,
        from: Option<ClientId>,
        claim: Claim,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        let Claim { key, session, spelling, value, flags } = claim;
        let held = self.entry(key).filter(|entry| entry.session.is_some());
        let may = |entry: &Entry| {
            entry.holder() == Some((session, spelling)) || context.is_mutated(ConsulMutation::ReleaseByAnybody)
        };
        let Some(entry) = held.filter(may) else {
            refuse(from, Refusal::NotHeld, out);
            return Answer::Done(false);
        };
        let is_kept = context.is_mutated(ConsulMutation::ReleaseKeepsContent);
        let content = if is_kept { (entry.value, entry.flags) } else { (value, flags) };
        self.write(key, entry.lock_index, None, content, context);
        if context.is_mutated(ConsulMutation::LockDelayAfterRelease) {
            self.delay(key, context.scenario.service.lock_delay, context);
        }
        if is_lock(key) {
            out.record(Fact::Freed { by: Ending::Released });
        }
        Answer::Done(true)
    }

    /// C-KV-14: deletion ignores locks; the session lives on without the key, and there is no lock-delay (C-LD-6).
    pub fn delete(&mut self, key: Key, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) -> Answer {
        let holder = self.entry(key).and_then(|entry| entry.session);
        self.remove(key, context);
        if holder.is_some() && context.is_mutated(ConsulMutation::LockDelayAfterDelete) {
            self.delay(key, context.scenario.service.lock_delay, context);
        }
        if is_lock(key) && holder.is_some() {
            out.record(Fact::Freed { by: Ending::Deleted });
        }
        if let Some(session) = holder.filter(|_| is_slot(key, context)) {
            out.record(Fact::Service(ConsulEvent::FreedSlot(session.raw().creator)));
        }
        Answer::Done(true)
    }

    /// C-KV-17: deletes every key below the prefix at one log position; as a deletion it ignores locks. It leaves a
    /// tombstone for the prefix, and none for the empty prefix (C-KV-24).
    pub fn delete_tree(&mut self, prefix: Prefix, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) -> Answer {
        let keys: Vec<Key> = self.keys().filter(|key| prefix.contains(*key)).collect();
        let before = self.tombstones.clone();
        for key in &keys {
            self.delete(*key, context, out);
        }
        let for_each_key = context.scenario.service.servers.tree_deletions == TreeDeletions::ForEachKey;
        if for_each_key || context.is_mutated(ConsulMutation::TreeBuriesEachKey) {
            return Answer::Done(true);
        }
        self.tombstones = before;
        match prefix.name() {
            _ if keys.is_empty() => {}
            Some(name) => self.leave_tombstone(name, context),
            None => self.note_emptied(context),
        }
        Answer::Done(true)
    }

    /// Leaves a tombstone, if a client lists names with this prefix.
    fn leave_tombstone(&mut self, name: Key, context: &Context<'_, Consul>) {
        let tombstone = match name {
            // Contenders list the whole prefix only: one tombstone covers all of it.
            Key::Slots | Key::Contender(_) | Key::Neighbour(_) => Key::Slots,
            Key::Named(_) => name,
            Key::Lock | Key::Data | Key::Other => return,
        };
        if context.is_mutated(ConsulMutation::TombstonesForgotten) {
            return;
        }
        self.tombstones.retain(|(other, _)| *other != tombstone);
        self.tombstones.insert_sorted((tombstone, self.index));
    }

    /// C-KV-25: the leader removes the tombstones up to this position.
    pub fn reap_tombstones(&mut self, up_to: Index) {
        self.index = self.index.next();
        self.tombstones.retain(|(_, index)| *index > up_to);
    }

    /// C-KV-15: an absent key is `true` for any index; a present one only at its ModifyIndex.
    pub fn delete_cas(
        &mut self,
        key: Key,
        index: Index,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        match self.entry(key) {
            Some(entry) if entry.modify != index && !context.is_mutated(ConsulMutation::DeleteCasIgnoresIndex) => {
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
        holder: Option<(SessionId, Spelling)>,
        (value, flags): ValueAndFlags,
        context: &Context<'_, Consul>,
    ) -> Entry {
        let index = self.index;
        let old = self.entry(key);
        let create = old.map_or(index, |old| old.create);
        let (session, spelling) = holder.unzip();
        let spelling = spelling.unwrap_or_default();
        let new = Entry { value, flags, lock_index, session, spelling, create, modify: index };
        if let Some(old) = old.filter(|old| old.says(lock_index, holder, value, flags))
            && !context.is_mutated(ConsulMutation::EqualWriteCounts)
        {
            return old;
        }
        self.entries.retain(|(other, _)| *other != key);
        self.entries.insert_sorted((key, new));
        self.note_entries();
        new
    }

    /// C-KV-18: a key starts from zero after its deletion.
    pub(super) fn remove(&mut self, key: Key, context: &Context<'_, Consul>) {
        if self.entry(key).is_none() {
            return;
        }
        self.leave_tombstone(key, context);
        self.note_entries();
        if context.is_mutated(ConsulMutation::LockDelayGoesWithKey) {
            self.delays.retain(|delay| delay.key != key);
        }
        if !context.is_mutated(ConsulMutation::DeleteOnlyFrees) {
            self.entries.retain(|(other, _)| *other != key);
            return;
        }
        let index = self.index;
        for (_, entry) in self.entries.iter_mut().filter(|(other, _)| *other == key) {
            (entry.session, entry.modify) = (None, index);
        }
    }
}

/// An operator's refused request is no fact.
fn refuse(client: Option<ClientId>, why: Refusal, out: &mut Outbox<Consul>) {
    if let Some(client) = client {
        out.record(Fact::Refused { client, why });
    }
}

/// The clients that a write to the coordination entry makes holders of a slot, and those that it removes.
fn note_holders(old: Option<Entry>, new: Entry, out: &mut Outbox<Consul>) {
    let holders = |value: Option<Opaque>| match value {
        Some(Opaque::Slots(slots)) => slots.holders,
        _ => Default::default(),
    };
    let (before, after) = (holders(old.map(|old| old.value)), holders(Some(new.value)));
    for session in before.iter().filter(|session| !after.contains(session)) {
        out.record(Fact::Service(ConsulEvent::FreedSlot(session.raw().creator)));
    }
    for session in after.iter().filter(|session| !before.contains(session)) {
        out.record(Fact::Service(ConsulEvent::TookSlot(session.raw().creator)));
    }
}
