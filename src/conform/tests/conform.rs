//! The model held against the recorded answers of a real Consul 1.8.7, and against a live agent where there is one.

mod once_wrong;

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, io};

use base64::Engine;
use fencepost_conform::{
    Consul, Episode, LATENESS, Limits, Objection, RECORDED, Removal, crowd, hunt, judge, judge_until, read,
    slow_crowds, timed, watches,
};
use fencepost_consul::ConsulMutation;
use fencepost_model::mutation::LayerKind;

/// A log that begins with an empty store.
fn log(lines: &[&str]) -> Vec<Episode> {
    let head = r#"{"consul": "1.8.7", "node": "here", "session_ttl_min": "1s"}"#;
    read(&format!("{head}\n{}\n", lines.join("\n"))).expect("a log")
}

const ONE: &str = "aaaaaaaa-0000-0000-0000-000000000001";
const TWO: &str = "aaaaaaaa-0000-0000-0000-000000000002";

/// A request that takes no time, at a second.
fn line(at: f64, method: &str, url: &str, body: &str, answer: &str) -> String {
    during((at, at), method, url, body, answer)
}

fn during((sent, received): (f64, f64), method: &str, url: &str, body: &str, answer: &str) -> String {
    let status = if answer.starts_with("invalid") { 500 } else { 200 };
    serde_json::json!({
        "method": method, "url": url, "body": body, "sent": sent, "received": received, "status": status, "answer": answer
    })
    .to_string()
}

fn session(at: f64, requested: &str, id: &str) -> String {
    line(at, "PUT", "/v1/session/create", requested, &format!("{{\"ID\": \"{id}\"}}"))
}

fn acquire(times: (f64, f64), session: &str, answer: &str) -> String {
    during(times, "PUT", &format!("/v1/kv/lead?acquire={session}"), "", answer)
}

/// Why a log is impossible: the line and the rule; none if it is possible.
fn verdict(lines: &[String]) -> Option<(usize, &'static str)> {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    match judge(&log(&lines), None) {
        Ok(_) => None,
        Err(Objection::Impossible(impossible)) => Some((impossible.line, impossible.rule.map_or("", |(rule, _)| rule))),
        Err(Objection::Undecided { line, .. }) => Some((line, "undecided")),
    }
}

fn destroy(times: (f64, f64), session: &str) -> String {
    during(times, "PUT", &format!("/v1/session/destroy/{session}"), "", "true")
}

#[test]
fn two_holders_are_impossible_because_of_c_kv_10() {
    let plain = r#"{"NodeChecks": [], "LockDelay": "0s"}"#;
    let start = [session(0.0, plain, ONE), session(0.1, plain, TWO), acquire((0.2, 0.2), ONE, "true")];
    let with = |answer: &str| [&start[..], &[acquire((0.3, 0.3), TWO, answer)]].concat();
    assert_eq!(verdict(&with("false")), None);
    assert_eq!(verdict(&with("true")), Some((5, "C-KV-10")));
}

#[test]
fn requests_that_overlap_may_have_happened_in_either_order() {
    let plain = r#"{"NodeChecks": [], "LockDelay": "0s"}"#;
    let race = |second: (f64, f64)| {
        [
            session(0.0, plain, ONE),
            session(0.1, plain, TWO),
            acquire((0.2, 0.4), ONE, "false"),
            acquire(second, TWO, "true"),
        ]
    };
    assert_eq!(verdict(&race((0.3, 0.5))), None);
    assert_eq!(
        verdict(&race((0.5, 0.6))),
        Some((4, "C-KV-10")),
        "the second began after the first had lost without a winner"
    );
}

#[test]
fn a_session_does_not_end_before_twice_its_ttl_and_may_end_any_time_after() {
    let seen = |at: f64| {
        [
            session(0.0, r#"{"NodeChecks": [], "TTL": "10s"}"#, ONE),
            line(at, "GET", &format!("/v1/session/info/{ONE}"), "", "[]"),
        ]
    };
    assert_eq!(verdict(&seen(19.9)), Some((3, "C-SES-16")));
    assert_eq!(verdict(&seen(20.0)), None);
    assert_eq!(verdict(&seen(9999.0)), None);
}

#[test]
fn c_ld_9_an_acquire_on_its_way_may_slip_past_the_lock_delay_and_a_later_one_may_not() {
    let plain = r#"{"NodeChecks": []}"#;
    let start = [
        session(0.0, plain, ONE),
        session(0.1, plain, TWO),
        acquire((0.2, 0.2), ONE, "true"),
        destroy((1.0, 1.2), ONE),
    ];
    let then = |times| [&start[..], &[acquire(times, TWO, "true")]].concat();
    assert_eq!(verdict(&then((1.1, 1.3))), None, "the leader let it pass before the session was destroyed");
    assert_eq!(verdict(&then((1.3, 1.4))), Some((6, "C-LD-2")));
    assert_eq!(verdict(&then((16.3, 16.4))), None, "the lock-delay is over");
}

#[test]
fn c_ld_3_a_lock_delay_counts_from_some_instant_within_a_slow_request() {
    let plain = r#"{"NodeChecks": []}"#;
    let polled = |ends: &[String], [refused, granted]: [f64; 2]| {
        let requested = r#"{"NodeChecks": [], "LockDelay": "10s", "TTL": "10s"}"#;
        let start = [session(0.0, requested, ONE), session(0.1, plain, TWO), acquire((0.2, 0.2), ONE, "true")];
        let polls = [acquire((refused, refused), TWO, "false"), acquire((granted, granted), TWO, "true")];
        verdict(&[&start[..], ends, &polls[..]].concat())
    };
    let destroyed = [destroy((1.0, 3.0), ONE)];
    assert_eq!(polled(&destroyed, [12.0, 12.5]), None, "it was destroyed between 2.0 and 2.5");
    assert_eq!(polled(&destroyed, [10.9, 10.95]), Some((7, "C-LD-2")), "it was not destroyed before it was asked for");
    assert_eq!(polled(&destroyed, [13.1, 13.2]), Some((6, "C-KV-10")), "it was destroyed before that was said");
    let gone = [line(28.0, "GET", &format!("/v1/session/info/{ONE}"), "", "[]")];
    assert_eq!(polled(&gone, [33.0, 33.5]), None, "its timer fired between 23.0 and 23.5");
    assert_eq!(polled(&gone, [29.0, 29.5]), Some((7, "C-LD-2")), "its timer did not fire before 20.0");
}

#[test]
fn c_con_5_a_request_without_an_answer_may_have_been_carried_out() {
    let plain = r#"{"NodeChecks": [], "LockDelay": "0s"}"#;
    let lost = format!(r#"{{"method": "PUT", "url": "/v1/kv/lead?acquire={ONE}", "sent": 0.2}}"#);
    let in_doubt = format!(
        r#"{{"method": "PUT", "url": "/v1/kv/lead?acquire={ONE}", "sent": 0.2, "received": 0.2, "status": 500, "answer": "No cluster leader"}}"#
    );
    for unknown in [lost, in_doubt] {
        for answer in ["true", "false"] {
            let lines =
                [session(0.0, plain, ONE), session(0.1, plain, TWO), unknown.clone(), acquire((5.0, 5.0), TWO, answer)];
            assert_eq!(verdict(&lines), None, "{unknown}: {answer}");
        }
    }
}

#[test]
fn c_blk_1_a_read_that_is_answered_at_its_index_has_waited_for_its_time() {
    let put = line(0.0, "PUT", "/v1/kv/k", "x", "true");
    let read = |url: &str, seconds: f64, index: u64| {
        let answer =
            r#"[{"Key": "k", "Value": "eA==", "Flags": 0, "LockIndex": 0, "CreateIndex": 17, "ModifyIndex": 17}]"#;
        serde_json::json!({
            "method": "GET", "url": url, "sent": 1.0, "received": 1.0 + seconds, "status": 200, "index": index, "answer": answer
        })
        .to_string()
    };
    for (url, seconds, rule) in [
        ("/v1/kv/k?index=17&wait=5s", 5.1, None),
        ("/v1/kv/k?index=17&wait=5s", 1.0, Some((3, "C-BLK-1"))),
        ("/v1/kv/k?index=99&wait=5s", 1.0, Some((3, "C-BLK-1"))),
        ("/v1/kv/k?index=17", 299.0, Some((3, "C-BLK-1"))),
        ("/v1/kv/k?index=16&wait=5s", 1.0, None),
        ("/v1/kv/k?index=0&wait=5s", 1.0, None),
    ] {
        assert_eq!(verdict(&[put.clone(), read(url, seconds, 17)]), rule, "{url} after {seconds} s");
    }
    let untimed = |line: &str| {
        let mut record: serde_json::Value = serde_json::from_str(line).expect("an object");
        record.as_object_mut().expect("an object").retain(|key, _| key != "sent" && key != "received");
        record.to_string()
    };
    let lines = [untimed(&put), untimed(&read("/v1/kv/k?index=17&wait=5s", 0.0, 17))];
    assert_eq!(verdict(&lines), None, "its wait is unknown");
}

#[test]
fn an_index_that_was_never_read_is_learned_from_the_cas_that_knew_it() {
    let put = line(0.0, "PUT", "/v1/kv/k", "x", "true");
    let cas = |at, index: u64, answer: &str| line(at, "PUT", &format!("/v1/kv/k?cas={index}"), "y", answer);
    assert_eq!(verdict(&[put.clone(), cas(0.1, 17, "true"), cas(0.2, 17, "false")]), None);
    assert_eq!(verdict(&[put, cas(0.1, 17, "true"), cas(0.2, 17, "true")]), Some((4, "C-KV-9")));
}

#[test]
fn an_endpoint_that_the_model_lacks_leaves_open_whether_sessions_have_ended() {
    let plain = r#"{"NodeChecks": [], "LockDelay": "0s"}"#;
    let start = [session(0.0, plain, ONE), session(0.1, plain, TWO), acquire((0.2, 0.2), ONE, "true")];
    let unknown = line(0.3, "PUT", "/v1/agent/service/register", "{}", "");
    let second = acquire((0.4, 0.4), TWO, "true");
    assert_eq!(verdict(&[&start[..], &[unknown, second.clone()]].concat()), None);
    assert_eq!(verdict(&[&start[..], &[second]].concat()), Some((5, "C-KV-10")));
}

#[test]
fn the_recorded_answers_of_a_real_agent_are_possible() {
    let possible = judge(&read(RECORDED).expect("a log"), None).unwrap_or_else(|impossible| panic!("{impossible}"));
    assert!(possible.lines > 2_800, "{}", possible.lines);
    let kinds = possible.tally.iter().filter(|(_, count)| *count > 0).count();
    assert!(kinds > 90, "{kinds} classes of answers");
}

#[test]
fn every_fault_of_the_server_is_seen_in_the_recorded_answers() {
    let episodes = read(RECORDED).expect("a log");
    let is_refuted = |own: ConsulMutation| matches!(judge(&episodes, Some(own.into())), Err(Objection::Impossible(_)));
    let is_of_the_server = |own: &&ConsulMutation| own.mutation().layer().kind == LayerKind::Server;
    let survivors: Vec<&ConsulMutation> =
        ConsulMutation::ALL.iter().filter(is_of_the_server).filter(|own| !is_refuted(**own)).collect();
    // What takes an election, a client that waits, an agent that tests a node, a minute, or a nanosecond.
    use ConsulMutation::*;
    assert_eq!(
        survivors,
        [
            &RestartLosesEntries,
            &LeaderIsBehind,
            &LockDelayTooShort,
            &WatchForgotten,
            &ElectionKeepsTimers,
            &HeldRequestsForgotten,
            &LockDelayUncapped,
            &ElectionLosesDelays,
            &ReplayLosesDelays,
            &DeletionWakesNobody,
            &QueryDeadlineForgotten,
            &SuspectedAtOnce,
            &SilenceOutlivesHeal,
            &DeposedReadsConsistently,
            &QueueCountsItself,
        ]
    );
}

/// One test at a time talks to the live agent.
static AGENT: Mutex<()> = Mutex::new(());

/// The agent that runs for these tests, if there is one.
fn agent() -> Option<Consul> {
    let Ok(address) = env::var("FENCEPOST_CONSUL") else {
        // Written to the terminal even if the test harness keeps what is printed.
        let _ = io::stderr().write_all(
            b"skipped: no live Consul agent; start `consul agent -dev` and set FENCEPOST_CONSUL=http://127.0.0.1:8500 (.ci/run does)\n",
        );
        return None;
    };
    Some(Consul::connect(&address).expect("an agent"))
}

#[test]
fn a_live_agent_answers_as_the_model_says() {
    let _alone = AGENT.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut consul) = agent() else { return };
    consul.make_room(Removal::Nothing).expect("an empty agent");
    let found = hunt(&consul, 1, 3_000, &mut |_| {}).expect("answers");
    assert!(found.difference.is_none(), "{:?}", found.difference);
    let watched = watches(&consul, 1, 20).expect("answers");
    assert!(watched.is_ok(), "{watched:?}");
    let mut crowds = slow_crowds(&consul, 1, 8, LATENESS).expect("answers");
    crowds.push(crowd(&consul, 1, 0, LATENESS).expect("answers"));
    let mut possible = 0;
    for episode in crowds {
        let end = Instant::now() + Duration::from_secs(20);
        match judge_until(&[episode], None, Limits::default(), &|| Instant::now() >= end) {
            Ok(_) => possible += 1,
            // What overlaps with what is up to the machine: an order may take long to find.
            Err(Objection::Undecided { .. }) => {}
            Err(impossible) => panic!("{impossible}"),
        }
    }
    assert!(possible >= 6, "of 9 crowds, only {possible} were judged");
    let slow = timed(&consul, LATENESS).expect("answers");
    judge(&slow, None).unwrap_or_else(|impossible| panic!("{impossible}"));
    // A model that is wrong is found out, by a sequence made as short as it goes.
    consul.options.mutation = Some(ConsulMutation::PutKeepsLockIndex.into());
    let found = hunt(&consul, 1, 3_000, &mut |_| {}).expect("answers");
    let difference = found.difference.expect("LockIndex is 0 after a put, and the model says that it is not");
    let asked: Vec<&str> = difference.iter().map(|exchange| exchange.line.question.url.as_str()).collect();
    assert!(difference.last().is_some_and(|exchange| exchange.difference.is_some()), "{asked:?}");
    assert!(difference.len() <= 16, "of a hundred commands these are left: {asked:?}");
    assert!(consul.contents().expect("answers").is_empty(), "something was left behind");
}

/// The lines of a request that is answered with an index.
fn told(
    times: (f64, f64),
    method: &str,
    url: &str,
    body: &str,
    index: Option<u64>,
    answer: &serde_json::Value,
) -> String {
    let text = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
    serde_json::json!({
        "method": method, "url": url, "body": body, "sent": times.0, "received": times.1, "status": 200, "index": index, "answer": text
    })
    .to_string()
}

fn entry(key: &str, value: &str, modify: u64) -> serde_json::Value {
    let code = base64::engine::general_purpose::STANDARD.encode(value);
    serde_json::json!([{
        "Key": key, "Value": code, "Flags": 0, "LockIndex": 0, "CreateIndex": 10, "ModifyIndex": modify
    }])
}

#[test]
fn c_txn_5_a_key_that_was_not_read_before_is_found_by_a_transaction_that_adds_one_before_it() {
    let put = line(0.0, "PUT", "/v1/kv/b", "x", "true");
    let operations = r#"[{"KV": {"Verb": "get", "Key": "b"}}, {"KV": {"Verb": "set", "Key": "a", "Value": "eA=="}}]"#;
    let result = |key: &str, index: u64| {
        let value = if key == "b" { serde_json::json!("eA==") } else { serde_json::Value::Null };
        serde_json::json!({"KV": {"LockIndex": 0, "Key": key, "Flags": 0, "Value": value, "CreateIndex": index, "ModifyIndex": index}})
    };
    let done = serde_json::json!({"Results": [result("b", 13), result("a", 14)], "Errors": null}).to_string();
    assert_eq!(verdict(&[put.clone(), line(0.1, "PUT", "/v1/txn", operations, &done)]), None);
    let absent = serde_json::json!({
        "method": "PUT", "url": "/v1/txn", "body": operations, "status": 409,
        "answer": r#"{"Results": null, "Errors": [{"OpIndex": 0, "What": "key \"b\" doesn't exist"}]}"#
    });
    assert_eq!(verdict(&[put, absent.to_string()]).map(|(line, _)| line), Some(3));
}

#[test]
fn c_gen_7_an_index_on_a_write_is_impossible_and_so_is_a_read_without_one() {
    let put = |index| told((0.0, 0.0), "PUT", "/v1/kv/k", "x", index, &serde_json::json!(true));
    assert_eq!(verdict(&[put(None)]), None);
    assert_eq!(verdict(&[put(Some(7))]), Some((2, "C-KV-8")));
    let read = |index| told((0.1, 0.1), "GET", "/v1/kv/k", "", index, &entry("k", "x", 10));
    assert_eq!(verdict(&[put(None), read(Some(10))]), None);
    assert_eq!(verdict(&[put(None), read(None)]), Some((3, "C-KV-6")));
}

#[test]
fn c_blk_2_a_read_that_waits_is_answered_when_its_time_is_up() {
    let after = |seconds: f64, lateness: Option<&str>| {
        let mut head = serde_json::json!({"consul": "1.8.7"});
        lateness.into_iter().for_each(|lateness| head["lateness"] = serde_json::json!(lateness));
        let put = line(0.0, "PUT", "/v1/kv/k", "x", "true");
        let read = told((1.0, 1.0 + seconds), "GET", "/v1/kv/k?index=10&wait=16s", "", Some(10), &entry("k", "x", 10));
        judge(&read_log(&format!("{head}\n{put}\n{read}\n")), None).err().map(|why| why.to_string())
    };
    assert_eq!(after(17.8, Some("900ms")), None);
    assert!(after(18.5, Some("900ms")).is_some_and(|why| why.contains("C-BLK-2")));
    assert_eq!(after(999.0, None), None, "its lateness is unbounded");
}

#[test]
fn c_blk_5_a_read_that_waits_does_not_sleep_through_a_change_of_its_key() {
    let judged = |answered: f64, shown: (&str, u64)| {
        let head = serde_json::json!({"consul": "1.8.7", "lateness": "900ms"});
        let first = line(0.0, "PUT", "/v1/kv/k", "x", "true");
        let (value, index) = shown;
        let waits = "/v1/kv/k?index=10&wait=16s";
        let read = told((1.0, answered), "GET", waits, "", Some(index), &entry("k", value, index));
        let change = line(2.0, "PUT", "/v1/kv/k", "y", "true");
        let after = told((60.0, 60.1), "GET", "/v1/kv/k", "", Some(12), &entry("k", "y", 12));
        let lines = [head.to_string(), first, read, change, after].join("\n");
        judge(&read_log(&lines), None).err().map(|why| why.to_string())
    };
    assert_eq!(judged(2.5, ("y", 12)), None);
    assert!(judged(17.5, ("x", 10)).is_some_and(|why| why.contains("C-BLK-5")), "it slept through it");
    assert!(judged(9.0, ("y", 12)).is_some_and(|why| why.contains("C-BLK-5")), "it woke far too late");
}

#[test]
fn c_blk_5_a_list_that_waits_does_not_sleep_through_a_change_below_its_prefix() {
    let judged = |url: &str, changed: &str, answered: f64, between: &[String]| {
        let head = serde_json::json!({"consul": "1.8.7", "lateness": "900ms"});
        let first = line(0.0, "PUT", "/v1/kv/d/k", "x", "true");
        let answer = if url.contains("keys") { serde_json::json!(["d/k"]) } else { entry("d/k", "x", 10) };
        let read = told((1.0, answered), "GET", &format!("{url}&index=10&wait=16s"), "", Some(10), &answer);
        let change = line(2.0, "PUT", &format!("/v1/kv/{changed}"), "y", "true");
        let mut made = entry(changed, "y", 12);
        made[0]["CreateIndex"] = serde_json::json!(12);
        let after = told((60.0, 60.1), "GET", &format!("/v1/kv/{changed}"), "", Some(12), &made);
        let lines = [&[head.to_string(), first, read, change], between, &[after]].concat().join("\n");
        judge(&read_log(&lines), None).err().map(|why| why.to_string())
    };
    let says = "C-BLK-5 (a list that waits is answered when a key below its prefix changes)";
    for url in ["/v1/kv/d/?recurse", "/v1/kv/d/?keys", "/v1/kv/?recurse", "/v1/kv/?keys&separator=x"] {
        let slept = judged(url, "d/j", 17.5, &[]);
        assert!(slept.as_ref().is_some_and(|why| why.contains(says)), "{url}: {slept:?}");
    }
    assert_eq!(judged("/v1/kv/d/?recurse", "e/j", 17.5, &[]), None, "it is not below the prefix");
    // C-BLK-7: what is below a shorter prefix may have been deleted before the list was looked at again.
    let slept =
        |between: &[String]| judged("/v1/kv/d/?recurse", "d/j", 17.5, between).is_some_and(|why| why.contains(says));
    assert!(slept(&[]));
    let delete = |prefix: &str| during((1.5, 2.5), "DELETE", &format!("/v1/kv/{prefix}?recurse"), "", "true");
    assert!(!slept(&[delete("d")]) && !slept(&[delete("")]));
    assert!(slept(&[delete("c")]));
}

fn read_log(text: &str) -> Vec<Episode> {
    read(text).expect("a log")
}

/// Sessions that are created at the same time, and a list of them with these indexes.
fn creates(indexes: &[u64]) -> Vec<String> {
    let id = |number: usize| format!("aaaaaaaa-0000-0000-0000-{number:012}");
    let requested = r#"{"NodeChecks": [], "LockDelay": "0s"}"#;
    let create = |number: usize| {
        let answer = serde_json::json!({"ID": id(number)}).to_string();
        during((0.001 * number as f64, 1.0 + 0.001 * number as f64), "PUT", "/v1/session/create", requested, &answer)
    };
    let shown = |(number, index): (usize, &u64)| {
        serde_json::json!({
            "ID": id(number), "Name": "", "Node": "here", "LockDelay": 0, "Behavior": "release", "TTL": "",
            "NodeChecks": [], "ServiceChecks": null, "CreateIndex": index, "ModifyIndex": index
        })
    };
    let list: Vec<serde_json::Value> = indexes.iter().enumerate().map(shown).collect();
    let last = indexes.iter().max().copied();
    let list = told((9.0, 9.1), "GET", "/v1/session/list", "", last, &serde_json::json!(list));
    (0..indexes.len()).map(create).chain([list]).collect()
}

#[test]
fn sessions_that_are_created_at_the_same_time_are_ordered_as_later_reads_tell() {
    let backwards: Vec<u64> = (0..40).map(|number| 99 - number).collect();
    assert_eq!(verdict(&creates(&backwards)), None);
    assert_eq!(verdict(&creates(&[5, 4, 4, 7])), Some((6, "C-SES-15")), "two at one position");
}

#[test]
fn a_judgement_that_takes_too_much_says_how_far_it_came() {
    let log =
        read_log(&format!("{}\n{}\n", r#"{"consul": "1.8.7", "node": "here"}"#, creates(&[5, 4, 4, 7, 8]).join("\n")));
    let judged = judge_until(&log, None, Limits { states: 1, ..Limits::default() }, &|| false);
    assert!(matches!(judged, Err(Objection::Undecided { line: 7, .. })), "{judged:?}");
    let judged = judge_until(&log, None, Limits { choices: 1, ..Limits::default() }, &|| false);
    assert!(matches!(judged, Err(Objection::Undecided { .. })), "what was dropped is not impossible: {judged:?}");
}

#[test]
fn a_session_list_of_timers_that_all_may_have_fired_is_judged() {
    let ten: Vec<String> = (0..10).map(|number| format!("aaaaaaaa-0000-0000-0000-{number:012}")).collect();
    let mut lines: Vec<String> = ten.iter().map(|id| session(0.0, r#"{"NodeChecks": [], "TTL": "10s"}"#, id)).collect();
    lines.push(line(100.0, "GET", "/v1/session/list", "", "[]"));
    assert_eq!(verdict(&lines), None);
}

/// Ten clients of a real agent that acquire, release and read one lock at the same time.
const TEN_CLIENTS: &str = include_str!("../recorded/ten-clients.jsonl");

#[test]
fn ten_clients_on_one_lock_are_possible_and_one_answer_more_of_a_holder_is_not() {
    let possible = judge(&read_log(TEN_CLIENTS), None).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(possible.lines, 310);
    assert!(possible.states < 1000, "{} states", possible.states);
    let is_refused = |line: &&str| line.contains("?acquire=") && line.contains(r#""answer":"false"#);
    let refused = TEN_CLIENTS.lines().filter(is_refused).nth(100).expect("more than a hundred");
    let altered = TEN_CLIENTS.replace(refused, &refused.replace(r#""answer":"false"#, r#""answer":"true"#));
    let limits = Limits { states: 1_000, ..Limits::default() };
    assert!(judge_until(&read_log(&altered), None, limits, &|| false).is_err(), "{refused}");
}

#[test]
fn an_endpoint_that_the_model_lacks_is_skipped_and_counted() {
    let leader = line(0.0, "GET", "/v1/status/leader", "", "\"127.0.0.1:8300\"");
    let fired = line(0.05, "PUT", "/v1/event/fire/deploy", "", "{}");
    let judged = judge(&log(&[&leader, &fired, &session(0.1, "{}", ONE)]), None).expect("possible");
    assert_eq!((judged.lines, judged.skipped), (1, 2));
}
