//! Leases, keys and revisions of the world's store as the API's store has them, and the reads that show them.

use fencepost_etcd::mvcc::{EtcdAnswer, KeyValue, RangeRead, SortBy, Sorted};
use fencepost_etcd::{EtcdValue, Key, Shown};
use fencepost_model::ids::{ClientId, Index, RawId, SessionId};

/// The name of the lock.
pub(super) const NAME: &str = "lock";

/// The number of a lease.
pub(super) fn number(lease: SessionId) -> i64 {
    i64::from(lease.raw().creator.0) * 16 + i64::from(lease.raw().number)
}

/// The name of a key.
pub(super) fn path(key: Key) -> String {
    match key {
        Key::Of(lease) => format!("{NAME}/{:x}", number(lease)),
        Key::Below(lease) => format!("{NAME}/sub/{:x}", number(lease)),
        Key::Stranger => format!("{NAME}/stranger"),
    }
}

/// A fresh store of the world has revision 0, and a fresh server has 1 (E-GEN-3).
pub(super) fn shifted(index: Index) -> i64 {
    i64::from(index.raw()) + 1
}

pub(super) fn index(revision: i64) -> Index {
    Index::numbered(u32::try_from(revision - 1).expect("a small number"))
}

/// A value as text.
pub(super) fn text(value: EtcdValue) -> String {
    match value {
        EtcdValue::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

fn value(text: &str) -> EtcdValue {
    text.parse().map_or(EtcdValue::Empty, EtcdValue::Number)
}

pub(super) fn one(key: Key) -> RangeRead {
    RangeRead { key: path(key), ..RangeRead::default() }
}

/// The first key of the prefix in an order by create revision.
pub(super) fn first(sorted: Sorted) -> RangeRead {
    RangeRead { limit: 1, sorted, by: SortBy::Created, ..queue() }
}

/// All keys of the prefix.
pub(super) fn queue() -> RangeRead {
    RangeRead { key: format!("{NAME}/"), end: format!("{NAME}0"), ..RangeRead::default() }
}

pub(super) fn leases() -> impl Iterator<Item = SessionId> {
    (1..=3).flat_map(|client| (1..=2).map(move |number| SessionId::numbered(ClientId(client), number)))
}

pub(super) fn keys() -> impl Iterator<Item = Key> {
    leases().flat_map(|lease| [Key::Of(lease), Key::Below(lease)]).chain([Key::Stranger])
}

pub(super) fn entries(answer: EtcdAnswer) -> Vec<KeyValue> {
    match answer {
        EtcdAnswer::Range { entries, .. } => entries,
        other => panic!("not a range: {other:?}"),
    }
}

pub(super) fn shown(entry: &KeyValue) -> Shown {
    let key = keys().find(|key| path(*key) == entry.key).expect("it is one of ours");
    Shown { key, created: index(entry.created), value: value(&entry.value) }
}
