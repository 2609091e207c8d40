//! Locks and elections of several clients at the same time at etcd: who waits, who is served, and who goes away.

use fencepost_conform::LATENESS;
use fencepost_conform::etcd::{EtcdCrowd, EtcdExchange, EtcdOrder, EtcdReply, RECORDED_CROWDS, TimedCall, order};
use fencepost_etcd::mvcc::{Contender, EtcdAnswer, EtcdCall, Mvcc, RangeRead};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::Config;
use serde_json::{Value, json};

use crate::etcd_order::{MS, header, said};

/// A second, in milliseconds: how long a server may need to notice that a caller has gone.
const GONE: i64 = 1_000;

fn lock(lease: i64) -> EtcdCall {
    EtcdCall::Lock { name: "n".to_owned(), lease }
}

/// `bi83` and `bi84` are the keys `n/7` and `n/8`.
fn key(lease: i64) -> &'static str {
    if lease == 7 { "bi83" } else { "bi84" }
}

fn locked(lease: i64, revision: i64, at: (i64, i64)) -> TimedCall {
    said(lock(lease), at, json!({ "header": header(revision), "key": key(lease) }))
}

fn elected(lease: i64, (entered, created): (i64, i64), at: (i64, i64)) -> TimedCall {
    let call = EtcdCall::Campaign { name: "n".to_owned(), lease, value: String::new() };
    let leader = json!({ "name": "bg==", "key": key(lease), "rev": created.to_string(), "lease": lease.to_string() });
    said(call, at, json!({ "header": header(entered), "leader": leader }))
}

fn unlocked(lease: i64, revision: i64, at: (i64, i64)) -> TimedCall {
    said(EtcdCall::Unlock { key: format!("n/{lease}") }, at, json!({ "header": header(revision) }))
}

/// A lock whose caller went away.
fn gone(lease: i64, (sent, gone): (i64, i64)) -> TimedCall {
    TimedCall {
        call: lock(lease),
        reply: EtcdReply { status: 0, body: Value::Null },
        sent: sent * MS,
        received: gone * MS,
    }
}

/// A look at the number of keys.
fn keys(count: u8, revision: i64, at: i64) -> TimedCall {
    let every = RangeRead { key: "\0".to_owned(), end: "\0".to_owned(), count_only: true, ..RangeRead::default() };
    said(EtcdCall::Range(every), (at, at + 1), json!({ "header": header(revision), "count": count.to_string() }))
}

fn found(calls: Vec<TimedCall>) -> EtcdOrder {
    let granted = |lease: i64| {
        let body = json!({ "header": header(10), "ID": lease.to_string(), "TTL": "900" });
        said(EtcdCall::Grant { id: lease, ttl: 900 }, (0, 1), body)
    };
    order(&EtcdCrowd { revision: 10, calls: [granted(7), granted(8)].into_iter().chain(calls).collect() }, LATENESS)
}

fn is_possible(calls: Vec<TimedCall>) -> bool {
    matches!(found(calls), EtcdOrder::Possible { .. })
}

#[test]
fn e_cc_11_who_waits_is_served_when_none_is_ahead_any_more() {
    let second = |revision, answered| {
        is_possible(vec![locked(7, 11, (20, 30)), locked(8, revision, (40, answered)), unlocked(7, 13, (60, 70))])
    };
    assert!(second(13, 61), "the answer shows the revision after the unlock");
    assert!(!second(13, 59), "it was answered before the unlock was sent");
    assert!(!second(12, 100), "at the revision at which it entered the other was ahead");
    let later = vec![locked(7, 11, (20, 30)), locked(8, 13, (40, 100)), unlocked(7, 13, (60, 70)), keys(1, 13, 200)];
    assert!(is_possible(later));
}

#[test]
fn the_call_that_waits_is_named_where_others_stay_ahead() {
    let found = found(vec![locked(7, 11, (20, 30)), locked(8, 12, (40, 100))]);
    let EtcdOrder::Impossible { place: 3, exchange } = found else { panic!("{found:?}") };
    assert_eq!(exchange.answer, EtcdAnswer::Waits);
}

#[test]
fn e_cc_20_a_campaign_shows_the_revision_at_which_it_entered() {
    let second = |entered, created| {
        is_possible(vec![locked(7, 11, (20, 30)), elected(8, (entered, created), (40, 100)), unlocked(7, 13, (60, 70))])
    };
    assert!(second(12, 12));
    assert!(!second(13, 12) && !second(12, 13));
}

#[test]
fn e_cc_12_who_waits_is_served_though_its_own_key_is_gone() {
    let calls = |revision| {
        vec![
            locked(7, 11, (20, 30)),
            locked(8, revision, (40, 100)),
            unlocked(8, 13, (50, 55)),
            unlocked(7, 14, (60, 70)),
        ]
    };
    assert!(is_possible(calls(14)));
    assert!(!is_possible(calls(13)), "the other was ahead then");
}

#[test]
fn e_cc_31_the_key_of_who_goes_away_is_removed_soon_or_stays() {
    let with = |looks: &[(u8, i64, i64)]| {
        let looks = looks.iter().map(|(count, revision, at)| keys(*count, *revision, *at));
        is_possible([locked(7, 11, (20, 30)), gone(8, (40, 340))].into_iter().chain(looks).collect())
    };
    assert!(with(&[(1, 11, 350)]), "it never came");
    assert!(with(&[(2, 12, 50), (2, 12, 9_000)]), "it came, and its key stays");
    assert!(with(&[(2, 12, 50), (1, 13, 350)]), "it came, and its key is removed");
    assert!(!with(&[(2, 12, 50), (1, 13, 330)]), "its key is removed while it waits");
    let latest = 340 + GONE + LATENESS / MS;
    assert!(with(&[(2, 12, latest), (1, 13, latest + 10)]));
    assert!(!with(&[(2, 12, latest + 1), (1, 13, latest + 10)]), "that is too late");
    assert!(!with(&[(1, 11, latest + 1), (2, 12, latest + 10)]), "it comes too late");
}

/// Callers of the recorded crowds waited and were served, and others went away.
#[test]
fn e_cc_11_and_e_cc_31_came_up_at_a_real_server() {
    let (mut served, mut gone) = (0, 0);
    for line in RECORDED_CROWDS.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        if line["call"]["lock"].is_object() || line["call"]["campaign"].is_object() {
            let took = line["at"][1].as_i64().expect("an instant") - line["at"][0].as_i64().expect("an instant");
            gone += u32::from(line["reply"]["status"] == 0);
            served += u32::from(line["reply"]["status"] == 200 && took > 20 * MS);
        }
    }
    assert_eq!((served, gone), (20, 67));
}

/// A call as it was drawn: how long before its steps it was sent, and how long after them it was answered.
type Drawn = (EtcdCall, i64, i64);

/// An execution: calls begin one after the other, those that wait are served as soon as they can be, and who waits at the end goes away. Then
/// two may swap what they were answered.
fn history() -> impl Strategy<Value = (Vec<TimedCall>, bool)> {
    let lease = || select(&[7_i64, 8][..]);
    let call = prop_oneof![
        4 => lease().prop_map(lock),
        2 => lease().prop_map(|lease| EtcdCall::Campaign { name: "n".to_owned(), lease, value: String::new() }),
        4 => lease().prop_map(|lease| EtcdCall::Unlock { key: format!("n/{lease}") }),
        1 => Just(EtcdCall::Range(RangeRead { key: "n".to_owned(), end: "o".to_owned(), ..RangeRead::default() })),
    ];
    let calls = prop::collection::vec((call, 0..25_i64, 0..25_i64), 2..6);
    (calls, any::<[Index; 2]>(), any::<bool>()).prop_map(|(drawn, swapped, swaps)| {
        let mut calls = executed(drawn);
        let [one, other] = swapped.map(|index| index.index(calls.len()));
        if swaps {
            let reply = calls[one].reply.clone();
            calls[one].reply = std::mem::replace(&mut calls[other].reply, reply);
        }
        calls.sort_by_key(|call| call.sent);
        (calls, swaps)
    })
}

fn with_leases() -> Mvcc {
    let mut store = Mvcc::empty_at(10);
    [7, 8].into_iter().for_each(|id| drop(store.ask(&EtcdCall::Grant { id, ttl: 900 })));
    store
}

fn executed(drawn: Vec<Drawn>) -> Vec<TimedCall> {
    let mut store = with_leases();
    let mut calls: Vec<TimedCall> = Vec::new();
    let mut waiting: Vec<(usize, Contender, i64)> = Vec::new();
    let none = || EtcdReply { status: 0, body: Value::Null };
    let reply = |call: &EtcdCall, answer| EtcdExchange { call: call.clone(), reply: none(), answer }.expected();
    for (turn, (call, before, after)) in (1..).zip(drawn) {
        let answer = store.ask(&call);
        let mut timed = TimedCall { call, reply: none(), sent: turn * 10 - before, received: turn * 10 + after };
        match answer {
            EtcdAnswer::Waits => {
                waiting.push((calls.len(), store.contender(&timed.call).expect("it has entered"), after));
            }
            answer => timed.reply = reply(&timed.call, answer),
        }
        calls.push(timed);
        waiting.retain(|(place, contender, after)| {
            let served = store.served(&calls[*place].call, *contender);
            let is_served = served.is_some();
            if let Some(answer) = served {
                let call = &mut calls[*place];
                (call.reply, call.received) = (reply(&call.call, answer), turn * 10 + after);
            }
            !is_served
        });
    }
    calls
}

/// Whether one of all orders of all steps is right.
fn some_order_is_right(store: &Mvcc, left: &[(TimedCall, Option<Contender>)]) -> bool {
    left.iter().all(|(call, _)| is_gone(call))
        || (0..left.len()).any(|place| {
            let (TimedCall { call, reply, sent, received }, entered) = &left[place];
            let goes_away = is_gone(&left[place].0);
            let earliest = if goes_away && entered.is_some() { received } else { sent };
            let mut rest = left.to_vec();
            rest.remove(place);
            // No step is too late here: an execution takes less than a second.
            if !rest.iter().all(|(other, _)| other.received >= *earliest || is_gone(other)) {
                return false;
            }
            let mut store = store.clone();
            let answer = match entered {
                Some(_) if goes_away => {
                    store.leave(call);
                    return some_order_is_right(&store, &rest);
                }
                Some(contender) => match store.served(call, *contender) {
                    Some(answer) => answer,
                    None => return false,
                },
                None => store.ask(call),
            };
            if answer == EtcdAnswer::Waits || goes_away {
                let Some(contender) = store.contender(call) else { return false };
                let mut waits = left.to_vec();
                waits[place].1 = Some(contender);
                return some_order_is_right(&store, &waits);
            }
            let exchange = EtcdExchange { call: call.clone(), reply: reply.clone(), answer };
            exchange.is_alike() && some_order_is_right(&store, &rest)
        })
}

/// Whether a caller waited, and went away.
fn is_gone(call: &TimedCall) -> bool {
    call.reply.status == 0 && matches!(call.call, EtcdCall::Lock { .. } | EtcdCall::Campaign { .. })
}

proptest! {
    #![proptest_config(Config { cases: 2_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_search_finds_an_order_of_steps_where_there_is_one((calls, is_swapped) in history()) {
        let granted = [7, 8].map(|id| {
            let call = EtcdCall::Grant { id, ttl: 900 };
            let answer = Mvcc::empty_at(10).ask(&call);
            let reply = EtcdExchange { call: call.clone(), reply: EtcdReply { status: 0, body: Value::Null }, answer }.expected();
            TimedCall { call, reply, sent: -100, received: -90 }
        });
        let crowd = EtcdCrowd { revision: 10, calls: granted.into_iter().chain(calls.clone()).collect() };
        let found = matches!(order(&crowd, LATENESS), EtcdOrder::Possible { .. });
        let left: Vec<_> = calls.into_iter().map(|call| (call, None)).collect();
        prop_assert_eq!(found, some_order_is_right(&with_leases(), &left));
        prop_assert!(found || is_swapped);
    }
}
