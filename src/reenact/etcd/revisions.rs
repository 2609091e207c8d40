//! Revisions of the model and of the server. Other executions write to the same store, so only their order is the same.

use std::collections::BTreeMap;

use fencepost_model::ids::Index;

/// The revisions that were met.
#[derive(Default)]
pub(super) struct Revisions {
    /// At which keys were created.
    created: BTreeMap<Index, i64>,
    /// Of the whole store, when it was read: other executions may have written since the last revision of this one.
    read: BTreeMap<Index, i64>,
}

impl Revisions {
    /// Whether a key may have been created at both revisions: one that was met stays the same, and their order does.
    pub(super) fn meet(&mut self, model: Index, server: i64) -> bool {
        if let Some(known) = self.created.get(&model) {
            return *known == server;
        }
        let is_after = self.created.range(..model).next_back().is_none_or(|(_, before)| *before < server);
        let is_before = self.created.range(model..).next().is_none_or(|(_, after)| *after > server);
        self.created.insert(model, server);
        is_after && is_before
    }

    /// The store was read at this revision.
    pub(super) fn note_read(&mut self, model: Index, server: i64) {
        self.read.insert(model, server);
    }

    /// The revision of the server; 0 is none (E-TXN-2).
    pub(super) fn at_server(&self, model: Index) -> Option<i64> {
        if model == Index::NONE {
            return Some(0);
        }
        self.read.get(&model).or(self.created.get(&model)).copied()
    }

    /// The revision at which a key was created.
    pub(super) fn created(&self, model: Index) -> Option<i64> {
        if model == Index::NONE { Some(0) } else { self.created.get(&model).copied() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_may_have_gaps_but_keep_their_order() {
        let mut revisions = Revisions::default();
        assert!(
            revisions.meet(Index::numbered(2), 17)
                && revisions.meet(Index::numbered(4), 90)
                && revisions.meet(Index::numbered(3), 40)
        );
        assert!(revisions.meet(Index::numbered(4), 90));
        assert!(!revisions.meet(Index::numbered(4), 91), "it was another one");
        assert!(!revisions.meet(Index::numbered(5), 89), "it went back");
    }

    #[test]
    fn a_watch_begins_where_the_store_was_read() {
        let mut revisions = Revisions::default();
        revisions.meet(Index::numbered(2), 17);
        assert_eq!(revisions.at_server(Index::numbered(2)), Some(17));
        revisions.note_read(Index::numbered(2), 30);
        assert_eq!(
            (revisions.at_server(Index::numbered(2)), revisions.created(Index::numbered(2))),
            (Some(30), Some(17))
        );
        assert_eq!((revisions.at_server(Index::NONE), revisions.at_server(Index::numbered(7))), (Some(0), None));
    }
}
