//! Locks and elections of several clients at the same time at etcd: who waits, who is served, and who goes away.

use fencepost_conform::LATENESS;
use fencepost_conform::etcd::{EtcdCrowd, EtcdExchange, EtcdOrder, EtcdReply, RECORDED_CROWDS, TimedCall, order};
use fencepost_etcd::mvcc::{
    Contender, ContenderStep, EtcdAnswer, EtcdCall, EtcdVersion, LeaderKey, Mvcc, Put, RangeRead,
};
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

fn campaign(lease: i64, value: &str) -> EtcdCall {
    EtcdCall::Campaign { name: "n".to_owned(), lease, value: value.to_owned() }
}

fn elected(lease: i64, revisions: (i64, i64), at: (i64, i64)) -> TimedCall {
    elected_as("", lease, revisions, at)
}

fn elected_as(value: &str, lease: i64, (entered, created): (i64, i64), at: (i64, i64)) -> TimedCall {
    let leader = json!({ "name": "bg==", "key": key(lease), "rev": created.to_string(), "lease": lease.to_string() });
    said(campaign(lease, value), at, json!({ "header": header(entered), "leader": leader }))
}

fn leader(lease: i64, created: i64) -> LeaderKey {
    LeaderKey { name: "n".to_owned(), key: format!("n/{lease}"), created, lease }
}

fn proclaimed(leader: LeaderKey, revision: i64, at: (i64, i64)) -> TimedCall {
    said(EtcdCall::Proclaim { leader, value: "p".to_owned() }, at, json!({ "header": header(revision) }))
}

fn resigned(leader: LeaderKey, revision: i64, at: (i64, i64)) -> TimedCall {
    said(EtcdCall::Resign(leader), at, json!({ "header": header(revision) }))
}

/// A call that is refused as the gateway does it.
fn refused(call: EtcdCall, message: &str, at: (i64, i64)) -> TimedCall {
    let body = json!({ "error": message, "message": message, "code": 2 });
    let reply = EtcdReply { status: 500, body };
    TimedCall { reply, ..said(call, at, Value::Null) }
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
    let body = match count {
        0 => json!({ "header": header(revision) }),
        count => json!({ "header": header(revision), "count": count.to_string() }),
    };
    said(EtcdCall::Range(every), (at, at + 1), body)
}

fn found(calls: Vec<TimedCall>) -> EtcdOrder {
    found_of(EtcdVersion::default(), calls)
}

fn found_of(version: EtcdVersion, calls: Vec<TimedCall>) -> EtcdOrder {
    let granted = |lease: i64| {
        let body = json!({ "header": header(10), "ID": lease.to_string(), "TTL": "900" });
        said(EtcdCall::Grant { id: lease, ttl: 900 }, (0, 1), body)
    };
    let calls = [granted(7), granted(8)].into_iter().chain(calls).collect();
    order(&EtcdCrowd { version, revision: 10, calls }, LATENESS)
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
fn e_cc_12_since_3_5_a_lock_whose_key_is_gone_after_the_wait_has_failed() {
    let later: EtcdVersion = "3.5.16".parse().expect("a version");
    let is_possible = |version, third: TimedCall| {
        let calls = vec![locked(7, 11, (20, 30)), third, unlocked(8, 13, (60, 70)), unlocked(7, 14, (80, 90))];
        matches!(found_of(version, calls), EtcdOrder::Possible { .. })
    };
    let (served, failed) = (locked(8, 14, (40, 100)), refused(lock(8), "mutex: session is expired", (40, 100)));
    assert!(
        is_possible(EtcdVersion::default(), served.clone()) && !is_possible(EtcdVersion::default(), failed.clone())
    );
    assert!(is_possible(later, failed) && !is_possible(later, served));
    // Nothing is read by one that finds none ahead at once, and what it reads is what is there when it does.
    let at_once = |version| found_of(version, vec![locked(7, 11, (20, 30)), unlocked(7, 12, (25, 40))]);
    assert!(matches!(at_once(later), EtcdOrder::Possible { .. }));
    let shown = |revision| {
        let second = locked(8, revision, (40, 200));
        let put = Put { key: "z".to_owned(), ..Put::default() };
        let wrote = said(EtcdCall::Put(put), (80, 90), json!({ "header": header(14) }));
        let calls = vec![locked(7, 11, (20, 30)), second, unlocked(7, 13, (60, 70)), wrote];
        matches!(found_of(later, calls), EtcdOrder::Possible { .. })
    };
    assert!(shown(13) && shown(14) && !shown(12));
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
fn e_cc_20_a_campaign_gives_its_key_another_value_in_a_step_of_its_own() {
    let other = |entered, revision| {
        let looks = said(
            EtcdCall::Leader { name: "n".to_owned() },
            (45, 50),
            json!({ "header": header(revision), "kv": { "key": key(7), "create_revision": "11", "mod_revision": revision.to_string(),
                "version": "2", "value": "eA==", "lease": "7" } }),
        );
        is_possible(vec![elected(7, (11, 11), (20, 30)), elected_as("x", 7, (entered, 11), (40, 60)), looks])
    };
    assert!(other(11, 12), "its header is that of the first transaction");
    assert!(!other(12, 12));
    // Another client puts a key in the queue between both steps.
    let between = |removed, at| {
        let second = TimedCall { call: campaign(8, ""), ..gone(8, (at, at + 300)) };
        let unlocked = unlocked(7, removed, (400, 410));
        is_possible(vec![elected(7, (11, 11), (20, 30)), elected_as("x", 7, (11, 11), (40, 60)), second, unlocked])
    };
    assert!(between(14, 50) && between(14, 70) && between(13, 70), "both wrote before, or one is not there");
    assert!(!between(12, 70), "the value is written before the answer");
}

#[test]
fn e_cc_20_a_campaign_whose_key_goes_before_it_has_its_value_is_not_leader() {
    let with = |deleted: (i64, i64), message| {
        let campaign = refused(campaign(7, "x"), message, (40, 60));
        let mut calls = vec![elected(7, (11, 11), (20, 30)), campaign, unlocked(7, 12, deleted)];
        calls.sort_by_key(|call| call.sent);
        is_possible([calls, vec![keys(0, 12, 200)]].concat())
    };
    assert!(with((50, 70), "election: not leader"));
    assert!(!with((32, 38), "election: not leader"), "it was gone when the campaign began: there is a new one");
    assert!(!with((61, 70), "election: not leader"), "it was there until the answer");
    assert!(!with((50, 70), "etcdserver: requested lease not found"));
}

/// The key is moved to lease 8, and lease 7 revoked.
#[test]
fn e_cc_20_a_campaign_whose_lease_is_gone_cannot_proclaim_and_resigns() {
    let with = |last: TimedCall| {
        let moved = LeaderKey { lease: 8, ..leader(7, 11) };
        let revoked = said(EtcdCall::Revoke(7), (50, 55), json!({ "header": header(12) }));
        let refused = refused(campaign(7, "x"), "etcdserver: requested lease not found", (60, 70));
        is_possible(vec![elected(7, (11, 11), (20, 30)), proclaimed(moved, 12, (40, 45)), revoked, refused, last])
    };
    assert!(with(keys(0, 13, 80)), "its key is removed");
    assert!(!with(keys(1, 12, 80)), "the key is gone when the refusal is sent");
}

#[test]
fn e_cc_22_proclaim_and_resign_of_a_key_of_another_revision_do_nothing() {
    let first = || elected(7, (11, 11), (20, 30));
    let waits = || elected(8, (12, 12), (40, 200));
    assert!(is_possible(vec![
        first(),
        waits(),
        proclaimed(leader(7, 11), 13, (60, 70)),
        resigned(leader(7, 11), 14, (90, 95))
    ]));
    assert!(!is_possible(vec![
        first(),
        waits(),
        proclaimed(leader(7, 9), 13, (60, 70)),
        resigned(leader(7, 11), 14, (90, 95))
    ]));
    assert!(!is_possible(vec![first(), waits(), resigned(leader(7, 9), 12, (90, 95))]), "the first is still ahead");
    let not_leader =
        refused(EtcdCall::Proclaim { leader: leader(7, 9), value: "p".to_owned() }, "election: not leader", (60, 70));
    assert!(is_possible(vec![first(), waits(), not_leader, resigned(leader(7, 11), 13, (90, 95))]));
    // A waiter that resigns is served all the same.
    assert!(is_possible(vec![
        first(),
        waits(),
        resigned(leader(8, 12), 13, (60, 70)),
        resigned(leader(7, 11), 14, (90, 95))
    ]));
}

#[test]
fn e_cc_21_the_key_of_a_campaign_that_goes_away_is_removed_only_if_it_is_still_its_own() {
    let with = |call: EtcdCall, last: TimedCall| {
        let goes = TimedCall { call, ..gone(8, (40, 340)) };
        let again = TimedCall { call: campaign(8, ""), ..gone(8, (100, 5_000)) };
        let first = vec![locked(7, 11, (20, 30)), goes, keys(2, 12, 50), unlocked(8, 13, (60, 70)), again];
        is_possible([first, vec![keys(2, 14, 200), last]].concat())
    };
    assert!(with(lock(8), keys(1, 15, 350)), "a lock's goes by its name");
    assert!(!with(campaign(8, ""), keys(1, 15, 350)), "the second one still waits");
    assert!(with(campaign(8, ""), keys(2, 14, 350)));
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

/// The second call shows nothing, and comes when no key is removed any more; it is no reason that none was removed before.
#[test]
fn e_cc_31_a_key_may_be_removed_before_a_late_call_that_changes_nothing() {
    let refused = refused(campaign(9, ""), "etcdserver: requested lease not found", (3_000, 3_010));
    assert!(is_possible(vec![locked(7, 11, (20, 30)), gone(8, (40, 340)), refused, keys(1, 13, 4_000)]));
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
    assert_eq!((served, gone), (12, 51));
}

/// Proclaims that were carried out, those of another revision and those without a lease; resignations.
#[test]
fn e_cc_22_came_up_beside_others_at_a_real_server() {
    let count = |name: &str, status: u16| {
        let lines = RECORDED_CROWDS.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines.filter(|line| line["call"][name].is_object() && line["reply"]["status"] == status).count()
    };
    assert_eq!(
        [("proclaim", 200), ("proclaim", 500), ("resign", 200)].map(|(name, status)| count(name, status)),
        [21, 22, 32]
    );
}

/// A call as it was drawn: whether it lingers between two steps or names the present key, how long before its steps it was sent, and how long
/// after them it was answered.
type Drawn = (EtcdCall, bool, i64, i64);

/// An execution: calls begin one after the other, those that wait are served as soon as they can be, and who waits at the end goes away. Then
/// two may swap what they were answered.
fn history() -> impl Strategy<Value = (EtcdVersion, Vec<TimedCall>, bool)> {
    let lease = || select(&[7_i64, 8][..]);
    let value = || select(&["", "x"][..]);
    let call = prop_oneof![
        4 => lease().prop_map(lock),
        4 => (lease(), value()).prop_map(|(lease, value)| campaign(lease, value)),
        4 => lease().prop_map(|lease| EtcdCall::Unlock { key: format!("n/{lease}") }),
        1 => lease().prop_map(EtcdCall::Revoke),
        1 => (lease(), lease(), value()).prop_map(|(of_key, lease, value)| EtcdCall::Proclaim {
            leader: LeaderKey { lease, ..leader(of_key, 11) },
            value: value.to_owned(),
        }),
        1 => lease().prop_map(|lease| EtcdCall::Resign(leader(lease, 11))),
        1 => Just(EtcdCall::Range(RangeRead { key: "n".to_owned(), end: "o".to_owned(), ..RangeRead::default() })),
    ];
    let calls = prop::collection::vec((call, any::<bool>(), 0..25_i64, 0..25_i64), 2..6);
    let version = select(&["3.4.23", "3.5.16"][..]).prop_map(|text| text.parse::<EtcdVersion>().expect("a version"));
    (version, calls, any::<[Index; 2]>(), any::<bool>()).prop_map(|(version, drawn, swapped, swaps)| {
        let mut calls = executed(version, drawn);
        let [one, other] = swapped.map(|index| index.index(calls.len()));
        // A call that waits for none and has no answer may be carried out at any time: that is about clusters.
        let no_answer = |from: usize, to: usize| is_gone(&calls[from]) && !is_contest(&calls[to].call);
        if swaps && !no_answer(one, other) && !no_answer(other, one) {
            let reply = calls[one].reply.clone();
            calls[one].reply = std::mem::replace(&mut calls[other].reply, reply);
        }
        calls.sort_by_key(|call| call.sent);
        (version, calls, swaps)
    })
}

fn with_leases(version: EtcdVersion) -> Mvcc {
    let mut store = Mvcc::empty_at(version, 10);
    [7, 8].into_iter().for_each(|id| drop(store.ask(&EtcdCall::Grant { id, ttl: 900 })));
    store
}

fn is_contest(call: &EtcdCall) -> bool {
    matches!(call, EtcdCall::Lock { .. } | EtcdCall::Campaign { .. })
}

/// The creation revision of a key; without it: 11.
fn present(store: &Mvcc, key: &str) -> i64 {
    match store.clone().ask(&EtcdCall::Range(RangeRead { key: key.to_owned(), ..RangeRead::default() })) {
        EtcdAnswer::Range { entries, .. } => entries.first().map_or(11, |entry| entry.created),
        _ => 11,
    }
}

fn executed(version: EtcdVersion, drawn: Vec<Drawn>) -> Vec<TimedCall> {
    let mut store = with_leases(version);
    let mut calls: Vec<TimedCall> = Vec::new();
    // The place of a call, where it stands, how many turns it lingers, and how long it takes.
    let mut waiting: Vec<(usize, Contender, i64, i64)> = Vec::new();
    let none = || EtcdReply { status: 0, body: Value::Null };
    let reply = |call: &EtcdCall, answer| {
        EtcdExchange { version: EtcdVersion::default(), call: call.clone(), reply: none(), answer }.expected()
    };
    for (turn, (mut call, flag, before, after)) in (1..).zip(drawn) {
        if let (EtcdCall::Proclaim { leader, .. } | EtcdCall::Resign(leader), true) = (&mut call, flag) {
            leader.created = present(&store, &leader.key);
        }
        let answer = match is_contest(&call) {
            true => store.enter(&call).map_err(EtcdAnswer::Refused),
            false => Err(store.ask(&call)),
        };
        let mut timed = TimedCall { call, reply: none(), sent: turn * 10 - before, received: turn * 10 + after };
        match answer {
            Ok(contender) => {
                let until = turn + i64::from(flag && !contender.stage.is_queued());
                waiting.push((calls.len(), contender, until, after));
            }
            Err(answer) => timed.reply = reply(&timed.call, answer),
        }
        calls.push(timed);
        waiting.retain_mut(|(place, contender, until, after)| {
            if turn < *until {
                return true;
            }
            let call = &mut calls[*place];
            while let Some(step) = store.go_on(&call.call, *contender) {
                match step {
                    ContenderStep::GoesOn(next) => *contender = next,
                    ContenderStep::Answered(answer) => {
                        (call.reply, call.received) = (reply(&call.call, answer), turn * 10 + *after);
                        return false;
                    }
                }
            }
            true
        });
    }
    calls
}

/// Calls that are not over, with where they stand in a queue.
type Left = [(TimedCall, Option<Contender>)];

/// Whether one of all orders of all steps is right.
fn some_order_is_right(store: &Mvcc, left: &Left) -> bool {
    left.iter().all(|(call, _)| is_gone(call))
        || (0..left.len()).any(|place| step_is_right(store, left, place) || withdrawal_is_right(store, left, place))
}

/// Whether nothing else was over before this instant. No step is too late here: an execution takes less than a second.
fn may_come_at(earliest: i64, rest: &Left) -> bool {
    rest.iter().all(|(other, _)| other.received >= earliest || is_gone(other))
}

fn without(left: &Left, place: usize) -> Vec<(TimedCall, Option<Contender>)> {
    let mut rest = left.to_vec();
    rest.remove(place);
    rest
}

fn withdrawal_is_right(store: &Mvcc, left: &Left, place: usize) -> bool {
    let (call, Some(contender)) = &left[place] else { return false };
    let (rest, mut store) = (without(left, place), store.clone());
    store.withdraw(&call.call, *contender);
    is_gone(call) && may_come_at(call.received, &rest) && some_order_is_right(&store, &rest)
}

fn step_is_right(store: &Mvcc, left: &Left, place: usize) -> bool {
    let (TimedCall { call, reply, sent, .. }, stands) = &left[place];
    let (rest, mut store, is_gone) = (without(left, place), store.clone(), is_gone(&left[place].0));
    if !may_come_at(*sent, &rest) {
        return false;
    }
    let stays = |store: &Mvcc, contender| {
        let mut left = left.to_vec();
        left[place].1 = Some(contender);
        some_order_is_right(store, &left)
    };
    let answer = match stands {
        Some(contender) if is_gone && contender.stage.is_queued() => return false,
        Some(contender) => match store.go_on(call, *contender) {
            Some(ContenderStep::GoesOn(next)) => return stays(&store, next),
            Some(ContenderStep::Answered(answer)) => answer,
            None => return false,
        },
        None if is_contest(call) => match store.enter(call) {
            Err(_) if is_gone => return false,
            Err(refusal) => EtcdAnswer::Refused(refusal),
            Ok(contender) if is_gone || !contender.stage.is_queued() => return stays(&store, contender),
            Ok(contender) => match store.go_on(call, contender) {
                Some(ContenderStep::Answered(answer)) => answer,
                _ => return stays(&store, contender),
            },
        },
        None => store.ask(call),
    };
    let exchange = EtcdExchange { version: EtcdVersion::default(), call: call.clone(), reply: reply.clone(), answer };
    (is_gone || is_alike(&exchange)) && some_order_is_right(&store, &rest)
}

/// The header of a revocation may show a later revision.
fn is_alike(exchange: &EtcdExchange) -> bool {
    let revision =
        |reply: &EtcdReply| reply.body["header"]["revision"].as_str().and_then(|text| text.parse::<i64>().ok());
    match exchange.call {
        EtcdCall::Revoke(_) if exchange.reply.status == 200 && exchange.expected().status == 200 => {
            let is_plain = exchange.reply.body.as_object().is_some_and(|body| body.len() == 1);
            is_plain && revision(&exchange.reply) >= revision(&exchange.expected())
        }
        _ => exchange.is_alike(),
    }
}

/// Whether a caller waited, and went away.
fn is_gone(call: &TimedCall) -> bool {
    call.reply.status == 0 && is_contest(&call.call)
}

proptest! {
    #![proptest_config(Config { cases: 2_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_search_finds_an_order_of_steps_where_there_is_one((version, calls, is_swapped) in history()) {
        let granted = [7, 8].map(|id| {
            let call = EtcdCall::Grant { id, ttl: 900 };
            let answer = Mvcc::empty_at(version, 10).ask(&call);
            let reply = EtcdExchange { version: EtcdVersion::default(), call: call.clone(), reply: EtcdReply { status: 0, body: Value::Null }, answer }.expected();
            TimedCall { call, reply, sent: -100, received: -90 }
        });
        let crowd = EtcdCrowd { version, revision: 10, calls: granted.into_iter().chain(calls.clone()).collect() };
        let found = matches!(order(&crowd, LATENESS), EtcdOrder::Possible { .. });
        let left: Vec<_> = calls.into_iter().map(|call| (call, None)).collect();
        prop_assert_eq!(found, some_order_is_right(&with_leases(version), &left));
        prop_assert!(found || is_swapped);
    }
}
