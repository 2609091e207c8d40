//! Watches of one key until it is deleted (E-CC-11). A watch that begins at the revision at which its client saw the key shows every
//! later event of it (E-W-2): the key was deleted since if it is gone, or was created later.

use super::{Asker, Cluster, Ctx, Index, Key, Out, Response, Watch};
use crate::EtcdMutation as Mutant;

impl Cluster {
    /// Whether the key that a client saw at a revision was deleted since.
    fn is_deleted_since(&self, key: Key, from: Index) -> bool {
        self.entry(key).is_none_or(|entry| entry.created > from)
    }

    /// A watch from a revision on. One before the compaction is cancelled (E-W-5).
    pub(super) fn watch(&mut self, asker: Asker, key: Key, from: Index, context: &Ctx<'_>, out: Out<'_>) {
        let (client, call) = asker;
        if from < self.compacted && !context.is_mutated(Mutant::CompactionIgnored) {
            super::answer(out, asker, Response::Compacted);
        } else if self.is_deleted_since(key, from) && !context.is_mutated(Mutant::WatchFromNow) {
            super::answer(out, asker, Response::Deleted);
        } else {
            self.watches.insert_sorted(Watch { client, call, key, from });
        }
    }

    /// Answers the watches whose key was deleted.
    pub(super) fn tell_watchers(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        if context.is_mutated(Mutant::DeletionUntold) {
            return;
        }
        let is_over = |watch: &Watch| self.is_deleted_since(watch.key, watch.from);
        let over: Vec<Watch> = self.watches.iter().copied().filter(is_over).collect();
        for watch in over {
            self.watches.take(&watch);
            super::answer(out, (watch.client, watch.call), Response::Deleted);
        }
    }
}
