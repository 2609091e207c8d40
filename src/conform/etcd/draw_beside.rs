//! Random calls of a client among others.

use fencepost_etcd::mvcc::{EtcdCall, LeaderKey, Put, RangeRead};
use proptest::prelude::*;
use proptest::sample::select;

use super::draw::{
    KEYS, LEASES, LONG, NAMES, about_keys, about_leases, leader, lease, lease_of_key, marked, name, revision, seldom,
    unlock, value,
};

/// A call for a client among others: one that is a single step of the server. Those of locks and elections that take a lease are several.
pub(super) fn beside_others() -> impl Strategy<Value = EtcdCall> {
    let recipes = prop_oneof![
        unlock(),
        name().prop_map(|name| EtcdCall::Leader { name }),
        (leader(), value()).prop_map(|(leader, value)| EtcdCall::Proclaim { leader, value }),
        leader().prop_map(EtcdCall::Resign),
    ];
    prop_oneof![40 => about_keys(), 20 => about_leases(), 4 => recipes]
}

/// The same among clients that make pauses: mostly leases of 2 and 3 s, keys that belong to them, and looks at what is left.
pub(super) fn beside_ends() -> impl Strategy<Value = EtcdCall> {
    let of_lease = (select(&KEYS[..3]), lease_of_key());
    let every_key = RangeRead { key: "\0".to_owned(), end: "\0".to_owned(), ..RangeRead::default() };
    prop_oneof![
        6 => (lease(), 2..4_i64).prop_map(|(id, ttl)| EtcdCall::Grant { id, ttl }),
        6 => of_lease.prop_map(|(key, lease)| EtcdCall::Put(Put { key: marked(key), lease, ..Put::default() })),
        6 => Just(EtcdCall::Range(every_key)),
        3 => lease().prop_map(EtcdCall::Renew),
        2 => (lease(), any::<bool>()).prop_map(|(id, keys)| EtcdCall::TimeToLive { id, keys }),
        1 => Just(EtcdCall::Leases),
        2 => beside_others(),
    ]
}

/// The same about locks and elections of few names, leases and values. A leader is mostly one whose key was shown before.
pub(super) fn in_queues() -> impl Strategy<Value = EtcdCall> {
    let lease = || select(&LEASES[..4]);
    let name = || prop_oneof![3 => Just(marked(NAMES[0])), 1 => Just(marked(NAMES[1]))];
    let key = (name(), lease()).prop_map(|(name, lease)| format!("{name}/{lease:x}"));
    let value = || select(&["", "x", "y"][..]).prop_map(str::to_owned);
    let leader = || {
        (name(), lease(), lease(), seldom(), revision()).prop_map(|(name, lease, other, is_other, created)| {
            let key = format!("{name}/{lease:x}");
            LeaderKey { name, key, created, lease: if is_other { other } else { lease } }
        })
    };
    let every_key = RangeRead { key: "\0".to_owned(), end: "\0".to_owned(), ..RangeRead::default() };
    prop_oneof![
        2 => (lease(), LONG..1000_i64).prop_map(|(id, ttl)| EtcdCall::Grant { id, ttl }),
        7 => (name(), lease()).prop_map(|(name, lease)| EtcdCall::Lock { name, lease }),
        7 => (name(), lease(), value()).prop_map(|(name, lease, value)| EtcdCall::Campaign { name, lease, value }),
        4 => (leader(), value()).prop_map(|(leader, value)| EtcdCall::Proclaim { leader, value }),
        4 => leader().prop_map(EtcdCall::Resign),
        9 => key.prop_map(|key| EtcdCall::Unlock { key }),
        1 => lease().prop_map(EtcdCall::Revoke),
        2 => Just(EtcdCall::Range(every_key)),
        1 => name().prop_map(|name| EtcdCall::Leader { name }),
        // Beside callers that wait.
        1 => (3..6_i64).prop_map(EtcdCall::Compact),
    ]
}
