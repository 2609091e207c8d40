//! What an operator does to the store.

use super::{Cluster, Ctx, Ending, Entry, Key, Out};
use crate::settings::OperatorKind;

impl Cluster {
    /// Whether the action changes anything. Without a leader there is no answer to it.
    pub(crate) fn can_operate(&self, kind: OperatorKind) -> bool {
        if self.is_away() {
            return false;
        }
        let held = self.entries.first();
        match kind {
            OperatorKind::DeleteHeld => held.is_some(),
            OperatorKind::DeleteWaiting => self.entries.len() > 1,
            OperatorKind::RevokeWaiting => self.entries.get(1).is_some_and(|entry| entry.lease.is_some()),
            OperatorKind::RevokeHeld | OperatorKind::Detach => held.is_some_and(|entry| entry.lease.is_some()),
            OperatorKind::PutStranger => self.entry(Key::Stranger).is_none(),
            OperatorKind::Compact => self.may_compact(),
        }
    }

    pub(crate) fn operate(&mut self, kind: OperatorKind, context: &Ctx<'_>, out: Out<'_>) {
        let held: Option<Entry> = self.entries.first().copied();
        match (kind, held) {
            (OperatorKind::DeleteHeld, Some(held)) => {
                self.delete_where(|entry| entry.key == held.key, Ending::Deleted, context, out);
            }
            (OperatorKind::DeleteWaiting, _) => {
                if let Some(key) = self.entries.get(1).map(|entry| entry.key) {
                    self.delete_where(|entry| entry.key == key, Ending::Deleted, context, out);
                }
            }
            (OperatorKind::RevokeHeld, Some(Entry { lease: Some(lease), .. })) => {
                self.revoke(lease, context, out);
            }
            (OperatorKind::RevokeWaiting, _) => {
                if let Some(lease) = self.entries.get(1).and_then(|entry| entry.lease) {
                    self.revoke(lease, context, out);
                }
            }
            (OperatorKind::PutStranger, _) => self.put(Key::Stranger, Default::default(), None, context, out),
            (OperatorKind::Detach, Some(held)) => self.put(held.key, Default::default(), held.client, context, out),
            (OperatorKind::Compact, _) => self.compact(),
            (OperatorKind::DeleteHeld | OperatorKind::RevokeHeld | OperatorKind::Detach, _) => {}
        }
    }
}
