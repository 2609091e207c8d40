//! Keys with their create revisions, transactions, reads and compaction.

use super::{
    Asker, Cluster, Ctx, Ending, Entry, Etcd, EtcdEvent, EtcdValue, Fact, Index, InlineVec, Key, Out, Response,
    SessionId, Shown,
};
use crate::EtcdMutation as Mutant;
use crate::messages::{Compare, Operation};
use crate::settings::Reads;
use fencepost_model::fact::Refusal;
use fencepost_model::ids::{ClientId, RawId, Tenure};

impl Cluster {
    pub(super) fn entry(&self, key: Key) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The oldest key of the prefix: `sort_target CREATE, ASCEND, limit 1` (E-KV-7).
    pub(super) fn oldest(&self) -> Option<Shown> {
        self.entries.first().map(Entry::shown)
    }

    /// The same for a program. A local copy may lag behind; so may a linearizable read whose try repeats a request number (E-25).
    pub(super) fn read_oldest(
        &self,
        client: ClientId,
        is_serializable: bool,
        context: &Ctx<'_>,
        out: Out<'_>,
    ) -> Response {
        let lags = is_serializable
            || context.scenario.service.reads == Reads::ReusedNumber
            || context.is_mutated(Mutant::LinearizableReadsLag);
        let copy = self.behind.as_deref().filter(|_| lags).and_then(|behind| *behind.copy);
        if let Some((oldest, revision)) = copy {
            out.record(Fact::Service(EtcdEvent::ReadStale(client)));
            return Response::Found(oldest, revision);
        }
        let found = if context.is_mutated(Mutant::OldestIsNewest) { self.entries.last() } else { self.entries.first() };
        Response::Found(found.map(Entry::shown), self.revision)
    }

    /// The newest key of the prefix that was created before a revision (E-KV-7).
    pub(super) fn newest_before(&self, revision: Index, context: &Ctx<'_>) -> Option<Shown> {
        let is_inclusive = context.is_mutated(Mutant::NewestIncludesOwn);
        let is_before = |entry: &&Entry| entry.created < revision || is_inclusive && entry.created == revision;
        let found = self.entries.iter().rev().find(is_before);
        found.map(Entry::shown)
    }

    /// Each write of a log entry has the same, new revision (E-TXN-4).
    pub(super) fn advance(&mut self) -> Index {
        self.revision = self.revision.next();
        self.revision
    }

    /// Puts a key. An existing one keeps its create revision (E-KV-1), and belongs to the new lease (E-LS-9).
    pub(super) fn put(
        &mut self,
        key: Key,
        (lease, value): (Option<SessionId>, EtcdValue),
        client: Option<ClientId>,
        context: &Ctx<'_>,
        out: Out<'_>,
    ) {
        let revision = self.advance();
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.key == key) {
            entry.lease = lease;
            if !context.is_mutated(Mutant::PutKeepsValue) {
                entry.value = value;
            }
            let entry = *entry;
            return self.note_put(entry, context, out);
        }
        let is_first = self.entries.is_empty();
        let jumps = context.is_mutated(Mutant::NewKeyIsOldest);
        let entry = Entry { key, created: revision, lease, client, value };
        self.entries.push(entry);
        if jumps {
            self.entries.rotate_right(1);
        }
        match client {
            Some(client) if is_first || jumps => Self::grant(client, revision, out),
            Some(client) => out.record(Fact::Refused { client, why: Refusal::Held }),
            None => {}
        }
        self.note_put(entry, context, out);
    }

    /// A put by name, which creates the key or keeps its create revision (E-KV-1). A lease that is gone is refused (E-LS-6).
    pub(super) fn put_by_name(
        &mut self,
        key: Key,
        (lease, value): (Option<SessionId>, EtcdValue),
        client: ClientId,
        context: &Ctx<'_>,
        out: Out<'_>,
    ) -> Response {
        if lease.is_some_and(|lease| self.lease(lease).is_none()) {
            return Response::NoLease;
        }
        self.put(key, (lease, value), Some(client), context, out);
        Response::Done
    }

    fn grant(client: ClientId, created: Index, out: Out<'_>) {
        out.record(Fact::Granted { client, token: created.token(), fresh: true, stolen: false });
    }

    /// Deletes keys at one revision (E-KV-2, E-LS-8). Whose key is the oldest then has the lock.
    pub(super) fn delete_where(
        &mut self,
        is_deleted: impl Fn(&Entry) -> bool,
        by: Ending,
        context: &Ctx<'_>,
        out: Out<'_>,
    ) {
        let Some(first) = self.entries.first().copied() else { return };
        let deleted: InlineVec<Entry, 3> = self.entries.iter().copied().filter(&is_deleted).collect();
        if deleted.is_empty() {
            return;
        }
        self.entries.retain(|entry| !is_deleted(entry));
        self.advance();
        let next = self.entries.first().copied();
        if next.is_none_or(|next| next.created != first.created) {
            if first.client.is_some() {
                out.record(Fact::Freed { by });
            }
            if let Some(Entry { client: Some(client), created, .. }) = next {
                Self::grant(client, created, out);
            }
        }
        self.tell_watchers(context, out);
        self.note_deletes(deleted, context, out);
    }

    /// A transaction on one key, and the oldest key of the prefix after it (E-TXN-1, E-TXN-4).
    pub(super) fn transact(
        &mut self,
        client: ClientId,
        compare: Compare,
        operation: Operation,
        context: &Ctx<'_>,
        out: Out<'_>,
    ) -> Response {
        let Compare { key, created } = compare;
        let found = self.entry(key).map(|entry| entry.created);
        // E-TXN-2: a missing key compares as 0.
        let holds = found.unwrap_or_default() == created || context.is_mutated(Mutant::CompareIgnored);
        match operation {
            Operation::Put(lease) | Operation::PutValue(lease, _) if holds => {
                // E-TXN-6: refused without any effect.
                if self.lease(lease).is_none() && !context.is_mutated(Mutant::PutWithoutLease) {
                    return Response::NoLease;
                }
                self.put(key, (Some(lease), operation.value()), Some(client), context, out);
            }
            Operation::Delete if holds => {
                self.delete_where(|entry| entry.key == key, Ending::Released, context, out);
            }
            Operation::Write(tenure) => self.write(client, created, tenure, holds, out),
            // `Proclaim` reads nothing where its compare fails.
            Operation::Put(_) | Operation::PutValue(..) if created == Index::NONE => self.confirm(client, key, out),
            Operation::Put(_) | Operation::PutValue(..) => {}
            Operation::Delete => {}
        }
        if matches!(operation, Operation::PutValue(..)) {
            return Response::Key(self.entry(key).map(Entry::shown));
        }
        Response::Txn { created: self.entry(key).map(|entry| entry.created), oldest: self.oldest() }
    }

    /// The key exists and is the oldest: each client that uses its lease has the lock (E-CC-15).
    fn confirm(&self, client: ClientId, key: Key, out: Out<'_>) {
        if let Some(entry) = self.entries.first().filter(|entry| entry.key == key) {
            let token = entry.created.token();
            out.record(Fact::Granted { client, token, fresh: false, stolen: false });
        }
    }

    /// A write to the protected value, which is a key of this store (E-CC-24).
    fn write(&mut self, client: ClientId, created: Index, tenure: Tenure, holds: bool, out: Out<'_>) {
        let token = created.token();
        if holds {
            self.advance();
            out.record(Fact::<Etcd>::Written { client, token, tenure, key: None });
        } else {
            out.record(Fact::WriteRefused { client, token, tenure });
        }
    }

    /// Compaction: earlier revisions are no longer readable (E-KV-9).
    pub(super) fn compact(&mut self) {
        self.compacted = self.revision;
        self.compact_log();
    }

    pub(super) fn may_compact(&self) -> bool {
        self.compacted < self.revision
    }

    /// `Unlock`: a plain delete by name (E-CC-14).
    pub(super) fn delete(&mut self, asker: Asker, key: Key, context: &Ctx<'_>, out: Out<'_>) {
        self.delete_where(|entry| entry.key == key, Ending::Released, context, out);
        super::answer(out, asker, Response::Done);
    }
}
