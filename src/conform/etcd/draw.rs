//! Random calls. Keys, leases and names are few, so that they meet. A revision is drawn as a distance and placed when the call is made, so
//! that a sequence means the same wherever the server's log is: 0 is 0, below 0 stays, 1 and 2 are yet to come, 3 is now, 4 the one before.

use fencepost_etcd::mvcc::{
    Compared, Comparison, DeleteRange, EtcdCall, LeaderKey, Put, RangeRead, Relation, SortBy, Sorted, Transaction,
    WatchBesides, WatchRange,
};
use proptest::prelude::*;
use proptest::sample::select;

/// What the names of a run's keys begin with.
pub(super) const MARK: &str = "fencepost/";

/// The leases of a run: ids that no other program chooses.
pub(super) const LEASES: [i64; 6] = [0x66656e63, 0x66656e64, 0x66656e65, 0x66656e66, -0x66656e63, 0x66656e6365706f73];

/// A TTL that does not run out in a sequence, in seconds.
pub(super) const LONG: i64 = 100;

pub(super) const KEYS: [&str; 6] = ["a", "b", "c", "n", "n/66656e63", "n/-66656e63"];
pub(super) const NAMES: [&str; 2] = ["n", "m"];

pub(super) fn marked(name: &str) -> String {
    format!("{MARK}{name}")
}

pub(super) fn lease() -> impl Strategy<Value = i64> {
    select(&LEASES[..])
}

/// A lease for a put: mostly none, and mostly one that is granted often.
pub(super) fn lease_of_key() -> impl Strategy<Value = i64> {
    prop_oneof![4 => Just(0_i64), 3 => Just(LEASES[0]), 2 => lease()]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![40 => select(&KEYS[..]).prop_map(marked), 1 => Just(String::new())]
}

fn end() -> impl Strategy<Value = String> {
    let ends = select(&["b", "c", "d", "n0", "o"][..]).prop_map(marked);
    prop_oneof![4 => Just(String::new()), 2 => Just("\0".to_owned()), 4 => ends]
}

pub(super) fn value() -> impl Strategy<Value = String> {
    select(&["", "x", "y", "zz"][..]).prop_map(str::to_owned)
}

pub(super) fn revision() -> impl Strategy<Value = i64> {
    prop_oneof![8 => Just(0_i64), 6 => 3..20_i64, 1 => 1..3_i64, 1 => Just(-1_i64)]
}

pub(super) fn seldom() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.15)
}

fn range() -> impl Strategy<Value = RangeRead> {
    let sorted = select(&[Sorted::Unsaid, Sorted::Ascending, Sorted::Descending][..]);
    let by = select(&[SortBy::Key, SortBy::Version, SortBy::Created, SortBy::Modified, SortBy::Value][..]);
    let bound = || prop_oneof![6 => Just(0_i64), 1 => 3..15_i64];
    let bounds = (bound(), bound(), bound(), bound());
    (key(), end(), -1..4_i64, revision(), sorted, by, (seldom(), seldom()), bounds).prop_map(
        |(key, end, limit, revision, sorted, by, (keys_only, count_only), bounds)| {
            let (min_modified, max_modified, min_created, max_created) = bounds;
            RangeRead {
                key,
                end,
                limit,
                revision,
                sorted,
                by,
                keys_only,
                count_only,
                min_modified,
                max_modified,
                min_created,
                max_created,
            }
        },
    )
}

fn put() -> impl Strategy<Value = Put> {
    (key(), value(), lease_of_key(), any::<bool>(), seldom(), seldom(), seldom()).prop_map(
        |(key, value, lease, previous, ignore_value, ignore_lease, is_wrong)| {
            // What is ignored must not be given; now and then it is.
            let value = if ignore_value && !is_wrong { String::new() } else { value };
            let lease = if ignore_lease && !is_wrong { 0 } else { lease };
            Put { key, value, lease, previous, ignore_value, ignore_lease }
        },
    )
}

fn delete() -> impl Strategy<Value = DeleteRange> {
    (key(), end(), any::<bool>()).prop_map(|(key, end, previous)| DeleteRange { key, end, previous })
}

fn comparison() -> impl Strategy<Value = Comparison> {
    let relation = select(&[Relation::Equal, Relation::Greater, Relation::Less, Relation::NotEqual][..]);
    let compared = prop_oneof![
        (0..4_i64).prop_map(Compared::Version),
        revision().prop_map(Compared::Created),
        revision().prop_map(Compared::Modified),
        value().prop_map(Compared::Value),
        lease_of_key().prop_map(Compared::Lease),
    ];
    (key(), end(), relation, compared).prop_map(|(key, end, relation, compared)| Comparison {
        key,
        end,
        relation,
        compared,
    })
}

/// A delete within a transaction never goes up to the last key: etcd 3.4.23 does not see that a put in the same transaction is about a key of
/// that range, so that a put with `ignore_value` of a key that is gone by then ends the server, and every restart on its data.
fn delete_within() -> impl Strategy<Value = DeleteRange> {
    delete().prop_map(|delete| match delete.end.as_str() {
        "\0" => DeleteRange { end: String::new(), ..delete },
        _ => delete,
    })
}

fn transaction() -> impl Strategy<Value = EtcdCall> {
    let simple = prop_oneof![
        1 => range().prop_map(EtcdCall::Range),
        3 => put().prop_map(EtcdCall::Put),
        1 => delete_within().prop_map(EtcdCall::Delete),
    ];
    let around = |inner: BoxedStrategy<EtcdCall>| {
        let calls = || prop::collection::vec(inner.clone(), 0..4);
        let compare = prop::collection::vec(comparison(), 0..3);
        (compare, calls(), calls())
            .prop_map(|(compare, success, failure)| EtcdCall::Txn(Transaction { compare, success, failure }))
    };
    let simple = simple.boxed();
    let nested = prop_oneof![3 => simple.clone(), 1 => around(simple.clone())].boxed();
    prop_oneof![2 => around(simple), 1 => around(nested)]
}

/// A watch that is cancelled has nothing to say: what it would say comes before that, or not at all.
fn watch() -> impl Strategy<Value = EtcdCall> {
    let besides = prop_oneof![
        6 => Just(WatchBesides::Nothing),
        2 => Just(WatchBesides::Again),
        1 => Just(WatchBesides::Cancel),
        1 => Just(WatchBesides::Progress),
    ];
    let id = prop_oneof![2 => Just(0_i64), 1 => Just(5)];
    let start = prop_oneof![1 => Just(0_i64), 1 => Just(-1), 1 => 1..3_i64, 9 => 3..20_i64];
    (key(), end(), start, id, besides, (any::<bool>(), seldom(), seldom())).prop_map(
        |(key, end, start, id, besides, (previous, no_put, no_delete))| {
            let start = if besides == WatchBesides::Cancel { 0 } else { start };
            EtcdCall::Watch(WatchRange { key, end, start, previous, no_put, no_delete, id, besides })
        },
    )
}

pub(super) fn leader() -> impl Strategy<Value = LeaderKey> {
    (select(&NAMES[..]), lease(), select(&LEASES[..2]), seldom(), revision()).prop_map(
        |(name, lease, of_key, is_other, created)| {
            let of_key = if is_other { of_key } else { lease };
            let sign = if of_key < 0 { "-" } else { "" };
            let key = format!("{}/{sign}{:x}", marked(name), of_key.unsigned_abs());
            LeaderKey { name: marked(name), key, created, lease }
        },
    )
}

pub(super) fn name() -> impl Strategy<Value = String> {
    select(&NAMES[..]).prop_map(marked)
}

pub(super) fn unlock() -> impl Strategy<Value = EtcdCall> {
    select(&KEYS[3..]).prop_map(|key| EtcdCall::Unlock { key: marked(key) })
}

pub(super) fn about_keys() -> impl Strategy<Value = EtcdCall> {
    prop_oneof![
        5 => range().prop_map(EtcdCall::Range),
        6 => put().prop_map(EtcdCall::Put),
        2 => delete().prop_map(EtcdCall::Delete),
        6 => transaction(),
        1 => revision().prop_map(EtcdCall::Compact),
    ]
}

pub(super) fn about_leases() -> impl Strategy<Value = EtcdCall> {
    let ttl = prop_oneof![12 => LONG..1000_i64, 1 => -2..4_i64, 1 => Just(9_000_000_001), 1 => Just(9_000_000_000)];
    prop_oneof![
        6 => (lease(), ttl).prop_map(|(id, ttl)| EtcdCall::Grant { id, ttl }),
        1 => lease().prop_map(EtcdCall::Renew),
        2 => lease().prop_map(EtcdCall::Revoke),
        1 => (lease(), any::<bool>()).prop_map(|(id, keys)| EtcdCall::TimeToLive { id, keys }),
        1 => Just(EtcdCall::Leases),
    ]
}

/// A call whose revisions are distances.
pub(super) fn call() -> impl Strategy<Value = EtcdCall> {
    let recipes = prop_oneof![
        2 => (name(), lease()).prop_map(|(name, lease)| EtcdCall::Lock { name, lease }),
        2 => unlock(),
        3 => (name(), lease(), value()).prop_map(|(name, lease, value)| EtcdCall::Campaign { name, lease, value }),
        2 => (leader(), value()).prop_map(|(leader, value)| EtcdCall::Proclaim { leader, value }),
        3 => leader().prop_map(EtcdCall::Resign),
        2 => name().prop_map(|name| EtcdCall::Leader { name }),
    ];
    prop_oneof![40 => about_keys(), 16 => about_leases(), 4 => recipes, 2 => watch()]
}

/// The same call with revisions in place of distances; `created` knows the creation revisions of keys.
pub(super) fn placed(call: &EtcdCall, now: i64, created: impl FnOnce(&str) -> Option<i64>) -> EtcdCall {
    let mut call = call.clone();
    if let EtcdCall::Proclaim { leader, .. } | EtcdCall::Resign(leader) = &mut call {
        leader.created = match created(&leader.key) {
            Some(created) if leader.created < 3 || leader.created % 2 == 0 => created,
            _ => place(leader.created, now),
        };
    }
    place_all(&mut call, now);
    call
}

fn place(distance: i64, now: i64) -> i64 {
    if distance > 0 { (now + 3 - distance).max(1) } else { distance }
}

fn place_all(call: &mut EtcdCall, now: i64) {
    let put = |distance: &mut i64| *distance = place(*distance, now);
    match call {
        EtcdCall::Range(range) => {
            let RangeRead { revision, min_modified, max_modified, min_created, max_created, .. } = range;
            [revision, min_modified, max_modified, min_created, max_created].into_iter().for_each(put);
        }
        EtcdCall::Compact(revision) => put(revision),
        EtcdCall::Watch(watch) => put(&mut watch.start),
        EtcdCall::Txn(txn) => {
            for compare in &mut txn.compare {
                if let Compared::Created(operand) | Compared::Modified(operand) = &mut compare.compared {
                    put(operand);
                }
            }
            txn.success.iter_mut().chain(&mut txn.failure).for_each(|call| place_all(call, now));
        }
        _ => {}
    }
}
