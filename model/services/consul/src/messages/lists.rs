//! Answers to reads of several things at once. A message has a fixed size: a list says how much had no room.

use serde::{Deserialize, Serialize};

use super::{Entry, Key, Plain, Terms};
use crate::Status;
use crate::settings::CheckKind;
use fencepost_model::ids::{ClientId, Index, SessionId};
use fencepost_model::inline_array::InlineArray;
use fencepost_model::normal::Normal;

/// A session as `GET /v1/session/info/:id` shows it. C-SES-1.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct SessionInfo {
    /// Its id. Its creator stands for its node.
    pub id: SessionId,
    /// TTL, lock-delay, behaviour and checks.
    pub terms: Terms,
}

/// Live sessions.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct SessionList {
    /// Their ids, in no order that means anything.
    #[normal(sorted)]
    pub ids: InlineArray<SessionId, 16>,
    /// How many more there are.
    pub more: u16,
}

/// The names of the keys below a prefix.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct KeyList {
    /// The index of the result. C-KV-21.
    pub index: Index,
    /// The keys, by name.
    #[normal(sorted)]
    pub keys: InlineArray<Key, 8>,
    /// How many more there are.
    pub more: u16,
}

/// The entries of the keys below a prefix.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Tree {
    /// The index of the result. C-KV-21.
    pub index: Index,
    /// The rows, by key.
    #[normal(sorted)]
    pub rows: InlineArray<Row, 3>,
    /// How many more there are.
    pub more: u16,
}

/// A key with its entry, except for flags and LockIndex, which a `get` reads.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Row {
    /// The key.
    pub key: Key,
    /// The value; none: the coordination entry of a semaphore, which a `get` and a [`Listing`](super::Listing) read.
    pub value: Option<Plain>,
    /// The session that holds it.
    pub session: Option<SessionId>,
    /// The log position of its creation.
    pub create: Index,
    /// The log position of its last real change.
    pub modify: Index,
}

impl Row {
    /// What a list shows of an entry.
    pub fn new(key: Key, entry: &Entry) -> Self {
        let Entry { value, session, create, modify, .. } = *entry;
        Row { key, value: value.plain(), session, create, modify }
    }
}

/// The nodes of the catalogue.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct NodeList {
    /// Each by the client that runs on it.
    #[normal(sorted)]
    pub nodes: InlineArray<ClientId, 16>,
    /// How many more there are.
    pub more: u16,
}

/// The checks of a node. C-INV-3.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct NodeHealth {
    /// Those of [`CheckKind::ALL`] that are registered, each with its status; none of a node that is not.
    pub checks: InlineArray<(CheckKind, Status), 3>,
}

impl NodeHealth {
    /// The status of a check; none: it is not registered.
    pub fn status(&self, kind: CheckKind) -> Option<Status> {
        self.checks.iter().find(|(other, _)| *other == kind).map(|(_, status)| *status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_model::world::Rename;

    /// The server lists by key: a list on its way is in the order that the server would have when clients have changed places.
    #[test]
    fn keys_and_rows_are_in_order_after_clients_have_changed_places() {
        let contender = |client| Key::Contender(SessionId::numbered(ClientId(client), 1));
        let row = |client| Row { key: contender(client), ..Row::default() };
        let swap = |client: ClientId| ClientId(3 - client.0);
        let mut keys =
            KeyList { index: Index::numbered(1), keys: [contender(1), contender(2)].into_iter().collect(), more: 0 };
        let mut tree = Tree { index: Index::numbered(1), rows: [row(1), row(2)].into_iter().collect(), more: 0 };
        let before = (keys, tree);
        keys.visit(&mut Rename::permuting(&swap));
        keys.sort();
        tree.visit(&mut Rename::permuting(&swap));
        tree.sort();
        assert_eq!((keys, tree), before);
    }
}
