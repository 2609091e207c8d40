//! Calls of several clients at the same time at etcd: which orders there are, and when a lease may have ended by itself.

use fencepost_conform::LATENESS;
use fencepost_conform::etcd::{
    EtcdCrowd, EtcdExchange, EtcdOrder, EtcdReply, EtcdVerdict, RECORDED_CROWDS, TimedCall, judge, order, read,
};
use fencepost_etcd::mvcc::{DeleteRange, EtcdCall, EtcdVersion, Mvcc, Put, RangeRead};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;
use serde_json::{Value, json};

/// A millisecond.
pub(crate) const MS: i64 = 1_000_000;

const LEASE: i64 = 7;

/// A call, sent and answered at these milliseconds.
pub(crate) fn said(call: EtcdCall, (sent, received): (i64, i64), body: Value) -> TimedCall {
    TimedCall { call, reply: EtcdReply { status: 200, body }, sent: sent * MS, received: received * MS }
}

pub(crate) fn header(revision: i64) -> Value {
    json!({ "revision": revision.to_string() })
}

/// `YQ==` is the key `a`.
fn put(value: &str, lease: i64) -> EtcdCall {
    EtcdCall::Put(Put { key: "a".to_owned(), value: value.to_owned(), lease, ..Put::default() })
}

fn put_at(revision: i64, lease: i64, at: (i64, i64)) -> TimedCall {
    said(put("", lease), at, json!({ "header": header(revision) }))
}

fn count_only() -> EtcdCall {
    EtcdCall::Range(RangeRead { key: "a".to_owned(), count_only: true, ..RangeRead::default() })
}

fn counted(count: u8, revision: i64, at: (i64, i64)) -> TimedCall {
    let body = match count {
        0 => json!({ "header": header(revision) }),
        count => json!({ "header": header(revision), "count": count.to_string() }),
    };
    said(count_only(), at, body)
}

fn granted(at: (i64, i64)) -> TimedCall {
    let body = json!({ "header": header(10), "ID": LEASE.to_string(), "TTL": "2" });
    said(EtcdCall::Grant { id: LEASE, ttl: 2 }, at, body)
}

fn renewed(ttl: i64, at: (i64, i64)) -> TimedCall {
    let body = match ttl {
        0 => json!({ "result": { "ID": LEASE.to_string() } }),
        ttl => json!({ "result": { "ID": LEASE.to_string(), "TTL": ttl.to_string() } }),
    };
    said(EtcdCall::Renew(LEASE), at, body)
}

/// Whether there is an order of calls at a store that is empty at revision 10.
fn is_possible(calls: Vec<TimedCall>) -> bool {
    match order(&EtcdCrowd { version: EtcdVersion::default(), revision: 10, calls }, LATENESS) {
        EtcdOrder::Possible { .. } => true,
        EtcdOrder::Impossible { .. } => false,
        EtcdOrder::Undecided => panic!("undecided"),
    }
}

#[test]
fn what_overlaps_has_either_order_and_what_does_not_has_one() {
    assert!(is_possible(vec![put_at(11, 0, (0, 10)), put_at(12, 0, (5, 15))]));
    assert!(is_possible(vec![put_at(12, 0, (0, 10)), put_at(11, 0, (5, 15))]));
    assert!(is_possible(vec![put_at(11, 0, (0, 10)), put_at(12, 0, (11, 15))]));
    assert!(!is_possible(vec![put_at(12, 0, (0, 10)), put_at(11, 0, (11, 15))]));
    assert!(!is_possible(vec![put_at(11, 0, (0, 10)), put_at(11, 0, (5, 15))]), "two puts have two revisions");
    // A read that was answered before the put was sent knows nothing of it.
    assert!(!is_possible(vec![counted(1, 11, (0, 4)), put_at(11, 0, (5, 15))]));
    assert!(is_possible(vec![counted(1, 11, (0, 6)), put_at(11, 0, (5, 15))]));
}

#[test]
fn the_call_that_no_order_gets_past_is_named() {
    let calls =
        vec![put_at(11, 0, (0, 10)), put_at(12, 0, (20, 30)), counted(0, 12, (40, 50)), put_at(13, 0, (60, 70))];
    let found = order(&EtcdCrowd { version: EtcdVersion::default(), revision: 10, calls }, LATENESS);
    assert!(matches!(found, EtcdOrder::Impossible { place: 2, .. }), "{found:?}");
}

/// Its key is there, or is not, at this millisecond; the lease of 2 s was granted between 0 and 10 ms.
fn key_of_the_lease(count: u8, at: i64) -> bool {
    let revision = if count == 0 { 12 } else { 11 };
    is_possible(vec![granted((0, 10)), put_at(11, LEASE, (20, 30)), counted(count, revision, (at, at + 1))])
}

#[test]
fn e_t_1_a_lease_ends_no_sooner_than_its_ttl() {
    assert!(!key_of_the_lease(0, 1_998));
    assert!(key_of_the_lease(0, 1_999), "the grant may have been carried out at once");
    assert!(key_of_the_lease(1, 1_999), "or late");
}

/// What remains of the lease of 2 s, which was granted between 0 and 10 ms, is answered between two milliseconds.
fn rest(seconds: &str, at: (i64, i64)) -> bool {
    let body = json!({ "header": header(10), "ID": LEASE.to_string(), "grantedTTL": "2", "TTL": seconds });
    is_possible(vec![granted((0, 10)), said(EtcdCall::TimeToLive { id: LEASE, keys: false }, at, body)])
}

#[test]
fn e_ls_6_what_remains_of_a_lease_is_counted_from_its_grant() {
    assert!(rest("2", (5, 20)), "both may have come at once");
    assert!(!rest("2", (11, 20)) && rest("1", (11, 20)));
    assert!(rest("1", (1_010, 1_020)) && !rest("1", (1_011, 1_020)), "the whole seconds");
    assert!(rest("1", (980, 1_000)) && !rest("0", (980, 1_000)) && rest("0", (980, 1_001)));
    assert!(rest("-1", (2_980, 3_000)) && !rest("-1", (2_980, 2_999)) && rest("0", (2_980, 2_999)), "overdue");
}

#[test]
fn e_ls_5_a_lease_ends_no_later_than_a_scan_after_its_ttl() {
    let latest = 10 + 2_000 + 500 + LATENESS / MS;
    assert!(key_of_the_lease(1, latest));
    assert!(!key_of_the_lease(1, latest + 1));
    assert!(key_of_the_lease(0, latest + 1));
}

#[test]
fn e_ls_3_a_renewal_begins_the_ttl_anew() {
    let with = |ttl, looked| {
        let before = vec![granted((0, 10)), put_at(11, LEASE, (20, 30)), renewed(ttl, (1_500, 1_510))];
        is_possible(before.into_iter().chain([counted(1, 11, (looked, looked + 1))]).collect())
    };
    assert!(with(2, 3_490));
    assert!(!with(2, 4_911 + 1), "its new end has passed");
    assert!(!with(0, 1_600), "the lease was there");
}

#[test]
fn e_ls_6_the_remaining_time_of_an_overdue_lease_may_be_below_0() {
    let left = |ttl: &str, at| {
        let body = json!({ "header": header(10), "ID": LEASE.to_string(), "TTL": ttl, "grantedTTL": "2" });
        is_possible(vec![granted((0, 10)), said(EtcdCall::TimeToLive { id: LEASE, keys: false }, (at, at + 1), body)])
    };
    assert!(left("1", 500) && left("-1", 3_100));
    assert!(!left("3", 500));
}

#[test]
fn e_ls_6_a_renewal_of_an_overdue_lease_is_answered_after_its_end() {
    let calls = |answered| {
        vec![
            granted((0, 10)),
            put_at(11, LEASE, (20, 30)),
            renewed(0, (2_100, answered)),
            counted(1, 11, (2_300, 2_301)),
        ]
    };
    assert!(!is_possible(calls(2_200)), "the key was there after the answer");
    assert!(is_possible(calls(2_400)));
}

/// 1,092 calls of 35 crowds; in the order that is found, 11 whose callers went away never came.
#[test]
fn the_recorded_crowds_of_a_real_server_are_possible() {
    let EtcdVerdict::Possible(possible) = judge(&read(RECORDED_CROWDS).expect("a log"), LATENESS) else {
        panic!("impossible")
    };
    assert_eq!((possible.tally.total(), possible.at_the_same_time, possible.ended), (1_081, 1_081, 7));
}

/// Leases of 2 and 3 s ended by themselves: had they been longer ones, the answers would be impossible.
#[test]
fn e_ls_5_leases_of_the_recorded_crowds_ended_by_themselves() {
    let longer = |text: &str, seconds: u8| {
        let text = text.replace(&format!(r#""ttl":{seconds}}}"#), r#""ttl":200}"#);
        text.replace(&format!(r#""TTL":"{seconds}""#), r#""TTL":"200""#)
    };
    let text = longer(&longer(RECORDED_CROWDS, 2), 3);
    assert!(matches!(judge(&read(&text).expect("a log"), LATENESS), EtcdVerdict::Impossible { .. }));
}

#[test]
fn an_answer_of_a_crowd_that_is_changed_is_impossible() {
    let parts: Vec<Vec<&str>> = RECORDED_CROWDS.lines().fold(Vec::new(), |mut parts, line| {
        if line.starts_with(r#"{"etcd""#) {
            parts.push(Vec::new());
        }
        parts.last_mut().expect("it begins with a server").push(line);
        parts
    });
    let (mut tried, mut missed) = (0, Vec::new());
    for part in &parts {
        for (place, line) in part.iter().enumerate() {
            let changed = match line {
                line if line.contains(r#""count":"1""#) => line.replacen(r#""count":"1""#, r#""count":"2""#, 1),
                line if line.contains(r#""succeeded":true"#) => {
                    line.replacen(r#""succeeded":true"#, r#""succeeded":false"#, 1)
                }
                line if line.contains(r#""deleted":"1""#) => line.replacen(r#""deleted":"1""#, r#""deleted":"2""#, 1),
                line if line.contains(r#""mod_revision":""#) => {
                    line.replacen(r#""mod_revision":""#, r#""mod_revision":"9"#, 1)
                }
                line if line.contains(r#"{"put":"#) => line.replacen(r#""revision":""#, r#""revision":"9"#, 1),
                line if line.contains(r#""ID""#) => line.replacen(r#""ID":""#, r#""ID":"9"#, 1),
                _ => continue,
            };
            if changed == *line {
                continue;
            }
            let mut log = part.clone();
            log[place] = &changed;
            tried += 1;
            if !matches!(judge(&read(&log.join("\n")).expect("a log"), LATENESS), EtcdVerdict::Impossible { .. }) {
                missed.push(changed);
            }
        }
    }
    assert!(tried > 250, "{tried}");
    assert!(missed.is_empty(), "{} of {tried}: {}", missed.len(), missed.join("\n"));
}

/// A few calls about two keys, in an order; each was sent some time before its turn and answered some time after it. Then two may swap what
/// they were answered.
fn history() -> impl Strategy<Value = (Vec<TimedCall>, bool)> {
    let key = || select(&["a", "b"][..]).prop_map(str::to_owned);
    let call = prop_oneof![
        2 => (key(), select(&["", "x"][..])).prop_map(|(key, value)| {
            EtcdCall::Put(Put { key, value: value.to_owned(), previous: true, ..Put::default() })
        }),
        1 => key().prop_map(|key| EtcdCall::Delete(DeleteRange { key, ..DeleteRange::default() })),
        2 => key().prop_map(|key| EtcdCall::Range(RangeRead { key, ..RangeRead::default() })),
        1 => Just(EtcdCall::Range(RangeRead { key: "a".to_owned(), count_only: true, ..RangeRead::default() })),
    ];
    let calls = prop::collection::vec((call, 0..25_i64, 0..25_i64), 2..6);
    (calls, any::<[prop::sample::Index; 2]>(), any::<bool>()).prop_map(|(drawn, swapped, swaps)| {
        let mut store = Mvcc::empty_at(EtcdVersion::default(), 10);
        let answered = |(turn, (call, before, after)): (i64, (EtcdCall, i64, i64))| {
            let answer = store.ask(&call);
            let none = EtcdReply { status: 0, body: Value::Null };
            let reply =
                EtcdExchange { version: EtcdVersion::default(), call: call.clone(), reply: none, answer }.expected();
            TimedCall { call, reply, sent: turn * 10 - before, received: turn * 10 + after }
        };
        let mut calls: Vec<TimedCall> = (1..).zip(drawn).map(answered).collect();
        let [one, other] = swapped.map(|index| index.index(calls.len()));
        if swaps {
            let reply = calls[one].reply.clone();
            calls[one].reply = std::mem::replace(&mut calls[other].reply, reply);
        }
        calls.sort_by_key(|call| call.sent);
        (calls, swaps)
    })
}

/// Whether one of all orders is right.
fn some_order_is_right(store: &Mvcc, left: &[TimedCall]) -> bool {
    left.is_empty()
        || (0..left.len()).any(|place| {
            let TimedCall { call, reply, sent, .. } = &left[place];
            let mut store = store.clone();
            let answer = store.ask(call);
            let exchange =
                EtcdExchange { version: EtcdVersion::default(), call: call.clone(), reply: reply.clone(), answer };
            let mut rest = left.to_vec();
            rest.remove(place);
            let is_next = rest.iter().all(|other| other.received >= *sent);
            is_next && exchange.is_alike() && some_order_is_right(&store, &rest)
        })
}

proptest! {
    #![proptest_config(Config { cases: 2_000, failure_persistence: None, ..Config::default() })]

    /// The search takes a call that changes nothing at once, and forgets what leads nowhere; trying all orders says the same.
    #[test]
    fn the_search_finds_an_order_where_there_is_one((calls, is_swapped) in history()) {
        let found = matches!(order(&EtcdCrowd { version: EtcdVersion::default(), revision: 10, calls: calls.clone() }, LATENESS), EtcdOrder::Possible { .. });
        prop_assert_eq!(found, some_order_is_right(&Mvcc::empty_at(EtcdVersion::default(), 10), &calls));
        prop_assert!(found || is_swapped);
    }
}

#[test]
fn a_log_with_instants_for_some_calls_only_is_refused() {
    let lines: Vec<&str> = RECORDED_CROWDS.lines().take(3).collect();
    let without = lines[2].split(r#","at":"#).next().expect("a line").to_owned() + "}";
    let refused = read(&[lines[0], lines[1], &without].join("\n")).expect_err("some have none");
    assert_eq!(refused.line, 3);
    assert!(refused.why.contains("either all calls"), "{refused}");
    let backwards = r#"{"call":"leases","reply":{"status":200,"body":{}},"at":[5,4]}"#;
    assert!(read(&[lines[0], backwards].join("\n")).expect_err("backwards").why.contains("before it was sent"));
}
