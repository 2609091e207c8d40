//! Watches of the model of etcd's store, and what counts as the same stream.

use fencepost_conform::LATENESS;
use fencepost_conform::etcd::{EtcdCrowd, EtcdExchange, EtcdOrder, EtcdReply, TimedCall, order};
use fencepost_etcd::mvcc::{
    DeleteRange, EtcdAnswer, EtcdCall, EtcdRefusal, EtcdVersion, Mvcc, Put, Transaction, WatchBesides, WatchRange,
    WatchRefusal, WatchSaid,
};
use serde_json::{Value, json};

use super::etcd_order::MS;

fn put(key: &str, value: &str) -> EtcdCall {
    EtcdCall::Put(Put { key: key.to_owned(), value: value.to_owned(), ..Put::default() })
}

fn delete(key: &str) -> EtcdCall {
    EtcdCall::Delete(DeleteRange { key: key.to_owned(), ..DeleteRange::default() })
}

fn all_from(start: i64) -> WatchRange {
    WatchRange { end: "\0".to_owned(), start, previous: true, ..WatchRange::default() }
}

/// A store that was empty at revision 10, after calls.
fn store(calls: &[EtcdCall]) -> Mvcc {
    let mut store = Mvcc::empty_at(EtcdVersion::default(), 10);
    for call in calls {
        let answer = store.ask(call);
        assert!(!matches!(answer, EtcdAnswer::Refused(_)), "{call:?}: {answer:?}");
    }
    store
}

/// The events as key, revision, whether it is a put, and the value before.
fn events(store: &mut Mvcc, watch: WatchRange) -> Vec<(String, i64, bool, Option<String>)> {
    let EtcdAnswer::Watched { watches, .. } = store.ask(&EtcdCall::Watch(watch)) else { panic!("a watch") };
    let [WatchSaid::Events { events, .. }] = &watches[..] else { panic!("{watches:?}") };
    let told = events.iter().map(|event| {
        let before = event.previous.as_ref().map(|entry| entry.value.clone());
        (event.key.clone(), event.revision, event.entry.is_some(), before)
    });
    told.collect()
}

fn event(key: &str, revision: i64, is_put: bool, before: Option<&str>) -> (String, i64, bool, Option<String>) {
    (key.to_owned(), revision, is_put, before.map(str::to_owned))
}

#[test]
fn e_w_2_events_are_in_order_and_those_of_a_transaction_in_the_order_of_its_operations() {
    let txn = Transaction { success: vec![put("b", "1"), put("a", "2"), delete("c")], ..Transaction::default() };
    let mut store = store(&[put("c", "0"), EtcdCall::Txn(txn)]);
    let told = events(&mut store, all_from(11));
    let c = event("c", 12, false, Some("0"));
    assert_eq!(told, [event("c", 11, true, None), event("b", 12, true, None), event("a", 12, true, None), c]);
    assert_eq!(events(&mut store, all_from(12)).len(), 3);
    assert!(events(&mut store, all_from(13)).is_empty() && events(&mut store, all_from(0)).is_empty());
}

#[test]
fn e_w_5_a_deletion_at_the_compacted_revision_is_lost_and_a_put_is_not() {
    let calls = [put("a", "0"), put("b", "0"), delete("a"), put("a", "1")];
    let mut at_deletion = store(&calls);
    at_deletion.ask(&EtcdCall::Compact(13));
    assert_eq!(events(&mut at_deletion, all_from(13)), [event("a", 14, true, None)]);
    let mut at_put = store(&calls);
    at_put.ask(&EtcdCall::Compact(12));
    assert_eq!(events(&mut at_put, all_from(12))[0], event("b", 12, true, None));
    assert_eq!(events(&mut at_put, all_from(12))[1], event("a", 13, false, Some("0")), "revision 12 is readable");
    let compacted = |store: &mut Mvcc, start| {
        let answer = store.ask(&EtcdCall::Watch(all_from(start)));
        matches!(answer, EtcdAnswer::Watched { watches, .. } if matches!(watches[..], [WatchSaid::Compacted { .. }]))
    };
    assert!(compacted(&mut at_put, 11) && !compacted(&mut at_put, 12));
    assert!(compacted(&mut at_put, -1), "a revision below 0 is one before the compaction");
    assert!(!compacted(&mut Mvcc::default(), -1), "and from now on where there was none");
}

/// What a stream of a version says of one watch, after a key was put and deleted at revision 12, up to which the store is compacted; and whether it
/// tells progress.
fn said_by(version: &str, start: i64) -> (WatchSaid, bool) {
    let mut store = Mvcc::empty_at(version.parse().expect("a version"), 10);
    [put("a", "0"), delete("a"), EtcdCall::Compact(12)].iter().for_each(|call| drop(store.ask(call)));
    let watch = WatchRange { start, besides: WatchBesides::Progress, ..all_from(0) };
    match store.ask(&EtcdCall::Watch(watch)) {
        EtcdAnswer::Watched { mut watches, progress, .. } => (watches.remove(0), progress),
        other => panic!("{other:?}"),
    }
}

#[test]
fn e_w_5_since_3_4_34_and_3_5_16_a_deletion_at_the_compacted_revision_is_kept() {
    for (version, kept) in [("3.4.23", 0), ("3.4.34", 1), ("3.5.1", 0), ("3.5.16", 1), ("3.5.30", 1)] {
        let (WatchSaid::Events { events, .. }, _) = said_by(version, 12) else { panic!("{version}") };
        assert_eq!(events.len(), kept, "{version}");
    }
}

#[test]
fn e_w_2_since_3_4_38_and_3_5_30_a_watch_that_begins_below_0_is_refused() {
    let refused = |version| matches!(said_by(version, -1).0, WatchSaid::Refused(WatchRefusal::Compacted));
    assert_eq!(["3.4.37", "3.4.38", "3.5.16", "3.5.30"].map(refused), [false, true, false, true]);
}

#[test]
fn e_w_6_since_3_4_25_and_3_5_8_progress_is_told_only_where_all_has_been_told() {
    let told = |version| [0, 12, 13, -1].map(|start| said_by(version, start).1);
    for version in ["3.4.23", "3.5.1"] {
        assert_eq!(told(version), [true; 4], "{version}");
    }
    for version in ["3.4.25", "3.5.8", "3.5.16"] {
        assert_eq!(told(version), [true, false, true, false], "{version}: a revision to come is told");
    }
    assert_eq!(told("3.5.30"), [true, false, false, false]);
}

#[test]
fn e_w_1_a_stream_counts_its_watches_and_refuses_an_id_in_use() {
    let mut store = store(&[put("a", "0")]);
    let mut said = |watch: WatchRange| match store.ask(&EtcdCall::Watch(watch)) {
        EtcdAnswer::Watched { watches, .. } => watches,
        other => panic!("{other:?}"),
    };
    let twice = |id| WatchRange { besides: WatchBesides::Again, id, ..all_from(11) };
    assert!(matches!(said(twice(0))[..], [WatchSaid::Events { id: 0, .. }, WatchSaid::Events { id: 1, .. }]));
    assert!(matches!(said(twice(5))[..], [WatchSaid::Events { id: 5, .. }, WatchSaid::Refused(_)]));
    for end in ["a", "A"] {
        let empty = WatchRange { key: "a".to_owned(), end: end.to_owned(), ..WatchRange::default() };
        assert!(matches!(said(empty)[..], [WatchSaid::Refused(_)]), "{end}");
    }
}

/// What the server has said, against what it should.
fn is_alike(body: Value) -> bool {
    let mut store = store(&[put("a", "0"), put("a", "1")]);
    let call = EtcdCall::Watch(WatchRange { key: "a".to_owned(), start: 11, ..WatchRange::default() });
    let answer = store.ask(&call);
    EtcdExchange { version: EtcdVersion::default(), call, reply: EtcdReply { status: 200, body }, answer }.is_alike()
}

#[test]
fn e_w_3_how_events_are_grouped_is_no_difference_unless_a_revision_is_split() {
    let created = json!({ "header": { "revision": "12" }, "created": true });
    let kv = |revision: &str, version: &str, value: &str| json!({ "kv": { "key": "YQ==", "create_revision": "11", "mod_revision": revision, "version": version, "value": value } });
    let (first, second) = (kv("11", "1", "MA=="), kv("12", "2", "MQ=="));
    let alike = |events: &[Value]| {
        let messages = events.iter().map(|events| json!({ "header": { "revision": "99" }, "events": events }));
        let messages: Vec<Value> = [created.clone()].into_iter().chain(messages).collect();
        is_alike(json!({ "messages": messages }))
    };
    assert!(alike(&[json!([first, second])]));
    assert!(alike(&[json!([first]), json!([second])]));
    assert!(!alike(&[json!([first])]), "one is missing");
    assert!(!alike(&[json!([second, first])]), "out of order");
    assert!(!alike(&[json!([first, second]), json!([second])]), "told twice");
}

/// A campaign of lease 8 waits behind that of lease 7; the store is compacted; the wait fails, and the key is looked for.
fn overtaken(call: fn(i64) -> EtcdCall, is_compacted: bool, key_stays: bool) -> bool {
    let mut model = Mvcc::empty_at(EtcdVersion::default(), 10);
    let mut calls = Vec::new();
    let mut said = |call: EtcdCall, reply: Option<EtcdReply>, (sent, received): (i64, i64)| {
        let answer = model.ask(&call);
        let none = EtcdReply { status: 0, body: Value::Null };
        let exchange = EtcdExchange { version: EtcdVersion::default(), call: call.clone(), reply: none, answer };
        let reply = reply.unwrap_or_else(|| exchange.expected());
        calls.push(TimedCall { call, reply, sent: sent * MS, received: received * MS });
    };
    for lease in [7, 8] {
        said(EtcdCall::Grant { id: lease, ttl: 900 }, None, (lease, lease));
    }
    said(call(7), None, (20, 21));
    let failed = EtcdExchange {
        version: EtcdVersion::default(),
        call: call(8),
        reply: EtcdReply { status: 0, body: Value::Null },
        answer: EtcdAnswer::Refused(EtcdRefusal::RecipeCompacted),
    };
    said(call(8), Some(failed.expected()), (30, 60));
    if is_compacted {
        said(put("b", ""), None, (40, 41));
        said(EtcdCall::Compact(13), None, (42, 43));
    }
    if !key_stays {
        said(delete("n/8"), Some(EtcdReply { status: 200, body: json!({ "header": { "revision": "14" } }) }), (80, 81));
    } else {
        said(delete("n/8"), None, (80, 81));
    }
    matches!(
        order(&EtcdCrowd { version: EtcdVersion::default(), revision: 10, calls }, LATENESS),
        EtcdOrder::Possible { .. }
    )
}

#[test]
fn e_cc_21_the_key_of_a_campaign_stays_when_its_wait_is_compacted_and_e_cc_13_that_of_a_lock_goes() {
    let campaign = |lease| EtcdCall::Campaign { name: "n".to_owned(), lease, value: String::new() };
    let lock = |lease| EtcdCall::Lock { name: "n".to_owned(), lease };
    assert!(overtaken(campaign, true, true) && !overtaken(campaign, true, false));
    assert!(overtaken(lock, true, false) && !overtaken(lock, true, true));
    assert!(!overtaken(campaign, false, true), "nothing is compacted");
}
