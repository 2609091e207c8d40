//! The nearest hazard of a log, with a small log for each row of the table.

use fencepost_conform::{Clients, Kind, clients, read};
use serde_json::{Value, json};

use crate::incidents::{A, B, acquire, by, create, write};

const C: &str = "cccccccc-0000-0000-0000-000000000003";

fn judged(lines: &[Value]) -> Clients {
    let head = json!({"consul": "1.8.7", "node": "here", "nodes": ["there"], "session_ttl_min": "10s"});
    let text: Vec<String> = [&head].into_iter().chain(lines).map(Value::to_string).collect();
    clients(&read(&text.join("\n")).expect("a log")[0], &["data".to_owned()])
}

/// The causes of the first finding whose sentence has these words: the hazard, the scenario, and what the log shows.
fn causes(lines: &[Value], of: &str) -> Vec<(&'static str, &'static str, String)> {
    let found = judged(lines).findings;
    let finding = found.iter().find(|finding| finding.sentence.contains(of)).unwrap_or_else(|| panic!("{found:?}"));
    let causes = finding.omissions.iter();
    causes.map(|cause| (cause.hazard, cause.scenario, cause.sentence.clone())).collect()
}

/// Whether one of the causes is that hazard, told in these words; `place`: it is the nearest, or where it stands.
fn assert_cause(lines: &[Value], of: &str, place: usize, (hazard, scenario, words): (&str, &str, &str)) {
    let causes = causes(lines, of);
    let cause = causes.get(place).unwrap_or_else(|| panic!("{causes:?}"));
    assert_eq!((cause.0, cause.1), (hazard, scenario), "{causes:?}");
    assert!(cause.2.contains(words), "{causes:?}");
}

/// Whether none of the causes is that hazard with that scenario.
fn assert_no_cause(lines: &[Value], of: &str, scenario: &str) {
    let causes = causes(lines, of);
    assert!(causes.iter().all(|cause| cause.1 != scenario), "{causes:?}");
}

const BOTH: &str = "both took themselves";
const LATE: &str = "after it had lost";

fn session(client: &str, at: f64, id: &str, requested: &Value) -> Value {
    by(client, at, "PUT", "/v1/session/create", &requested.to_string(), &format!("{{\"ID\": \"{id}\"}}"))
}

fn renew(client: &str, at: f64, id: &str) -> Value {
    by(client, at, "PUT", &format!("/v1/session/renew/{id}"), "", "[]")
}

fn delete(client: &str, at: f64) -> Value {
    by(client, at, "DELETE", "/v1/kv/lead", "", "true")
}

fn release(client: &str, at: f64, id: &str) -> Value {
    by(client, at, "PUT", &format!("/v1/kv/lead?release={id}"), "", "true")
}

/// Client a holds the lock from 1 s on, and what happens then.
fn a_holds(then: &[Value]) -> Vec<Value> {
    [vec![create("a", 0.0, A), create("b", 0.2, B), acquire("a", 1.0, A)], then.to_vec()].concat()
}

/// Client a asks for a session, loses the lock without a renewal, and writes; client b has acquired it at an instant.
fn a_is_late(requested: &Value, acquired: f64, wrote: f64) -> Vec<Value> {
    let begin = [session("a", 0.0, A, requested), create("b", 0.2, B), acquire("a", 1.0, A)];
    let rest = [acquire("b", acquired, B), renew("b", acquired + 0.5, B), write("a", wrote)];
    [&begin[..], &rest].concat()
}

#[test]
fn b_10_two_clients_with_one_session() {
    let two = |one: &str, other: &str| a_holds(&[acquire(one, 2.0, A), write("a", 3.0), write(other, 4.0)]);
    let lines = two("b", "b");
    assert_cause(&lines, BOTH, 0, ("B-10", "b10-session-by-name", "a and b use the same session"));
    // The address of a connection is no name: a client may have several.
    let mut lines = two("127.0.0.1:5", "127.0.0.1:5");
    for line in &mut lines {
        if line["client"] == "a" {
            line["client"] = json!("127.0.0.1:4");
        }
    }
    assert_eq!(judged(&lines).tenures.len(), 1);
}

fn entry(client: &str, at: f64, url: &str, limit: u32, holders: &[&str]) -> Value {
    let content = json!({"Limit": limit, "Holders": holders}).to_string();
    by(client, at, "PUT", &format!("/v1/kv/sem/.lock{url}"), &content, "true")
}

const TWO: [(&str, f64, &str); 2] = [("a", 0.0, A), ("b", 0.2, B)];

fn semaphore(then: &[Value]) -> Vec<Value> {
    let begin = TWO.map(|(client, at, id)| create(client, at, id));
    [&begin[..], then].concat()
}

#[test]
fn b_28_another_limit() {
    let lines = semaphore(&[entry("a", 1.0, "?cas=0", 1, &[A]), entry("b", 2.0, "?cas=7", 2, &[A, B])]);
    let lines = [lines, vec![renew("b", 3.0, B), renew("a", 4.0, A)]].concat();
    assert_cause(
        &lines,
        "all took",
        0,
        ("B-28", "b28-ignore-conflict", "the limit was 1 when a came in, and b wrote 2 into the entry, in line 5"),
    );
}

#[test]
fn b_32_an_entry_that_is_written_without_a_comparison() {
    let entries = |url: &str| semaphore(&[entry("a", 1.0, "?cas=0", 1, &[A]), entry("b", 2.0, url, 1, &[A, B])]);
    let said = "the entry was written in line 5 without a look";
    assert_cause(&entries(""), "put 2 holders", 0, ("B-32", "b32-count-then-register", said));
    assert_eq!(causes(&entries("?cas=7"), "put 2 holders"), []);
}

#[test]
fn b_29_the_entry_is_deleted_under_its_holders() {
    let deleted = by("operator", 2.0, "DELETE", "/v1/kv/sem/.lock", "", "true");
    let lines = semaphore(&[entry("a", 1.0, "?cas=0", 1, &[A]), deleted, entry("b", 3.0, "?cas=0", 1, &[B])]);
    let lines = [lines, vec![renew("b", 4.0, B), renew("a", 5.0, A)]].concat();
    assert_cause(&lines, "all took", 0, ("B-29", "b29-plain-delete", "deleted under its holders, in line 5"));
}

#[test]
fn b_46_a_client_that_is_late_deletes_the_lock_of_another() {
    let mut lines = a_holds(&[acquire("b", 25.0, B), delete("a", 26.0), create("c", 26.5, C), acquire("c", 27.0, C)]);
    lines.extend([renew("c", 27.5, C), write("b", 28.0)]);
    let said = "a deleted the key under it, in line 6, after it had lost the lock itself";
    assert_cause(&lines, "b and c both", 0, ("B-46", "b46-plain-delete", said));
}

#[test]
fn b_46_another_client_releases_the_lock() {
    let lines = a_holds(&[release("operator", 3.0, A), acquire("b", 4.0, B), renew("b", 4.5, B), write("a", 5.0)]);
    assert_cause(
        &lines,
        BOTH,
        0,
        ("B-46", "b46-plain-delete", "operator released it in the name of its session, in line 5"),
    );
}

#[test]
fn b_16_the_key_is_deleted_under_its_holder() {
    let lines = a_holds(&[delete("operator", 3.0), acquire("b", 4.0, B), renew("b", 4.5, B), write("a", 5.0)]);
    assert_cause(&lines, BOTH, 0, ("B-16", "b16-delete-held-key", "the key was deleted under it, in line 5"));
}

#[test]
fn b_18_gossip_gives_the_node_up_before_the_ttl_is_over() {
    let failed = json!({"event": "node-failed", "node": "there", "sent": 3.0});
    let lost = |requested: Value, acquired: f64| {
        let mut lines = a_is_late(&requested, acquired, acquired + 1.0);
        lines.push(failed.clone());
        lines
    };
    let said = "gossip gave its node `there` up, after 3.000 s";
    let lines = lost(json!({"Node": "there", "TTL": "30s", "LockDelay": "0s"}), 10.0);
    assert_cause(&lines, BOTH, 0, ("B-18", "b18-serf-health", said));
    // C-SES-10: it hangs on no check; another node failed; the TTL may have done it.
    let others = [
        (json!({"Node": "there", "TTL": "30s", "NodeChecks": []}), 10.0),
        (json!({"Node": "there", "TTL": "30s", "Checks": ["c"], "NodeChecks": []}), 10.0),
        (json!({"TTL": "30s"}), 10.0),
        (json!({"Node": "there", "TTL": "10s"}), 25.0),
    ];
    others.into_iter().for_each(|(requested, at)| assert_no_cause(&lost(requested, at), BOTH, "b18-serf-health"));
}

#[test]
fn b_19_the_node_is_taken_out_of_the_catalogue() {
    let removed = |body: &str| {
        let mut lines = a_is_late(&json!({"TTL": "30s", "NodeChecks": [], "LockDelay": "0s"}), 10.0, 11.0);
        lines.insert(3, by("operator", 3.0, "PUT", "/v1/catalog/deregister", body, "true"));
        lines
    };
    let said = "its node `here` was taken out of the catalogue, in line 5";
    assert_cause(&removed(r#"{"Node": "here"}"#), BOTH, 0, ("B-19", "b19-reap", said));
    assert_no_cause(&removed(r#"{"Node": "here", "CheckID": "c"}"#), BOTH, "b19-reap");
    assert_no_cause(&removed(r#"{"Node": "there"}"#), BOTH, "b19-reap");
}

#[test]
fn b_13_a_renewal_fails_and_is_not_tried_again() {
    let failed = |again: Option<f64>| {
        let mut failed = renew("a", 5.0, A);
        (failed["status"], failed["answer"]) = (json!(500), json!("No cluster leader"));
        let mut lines = vec![failed];
        lines.extend(again.map(|at| renew("a", at, A)));
        lines.extend([acquire("b", 30.0, B), renew("b", 30.5, B), write("a", 31.0)]);
        a_holds(&lines)
    };
    let said = "its renewal at 5.000 s (line 5) failed, and it did not try again";
    assert_cause(&failed(None), BOTH, 0, ("B-13", "b13-give-up", said));
    assert_no_cause(&failed(Some(6.0)), BOTH, "b13-give-up");
}

#[test]
fn b_01_a_session_that_is_not_renewed() {
    let lines = a_holds(&[acquire("b", 25.0, B), renew("b", 25.5, B), write("a", 34.0)]);
    let said = "it did not renew its session for 20.000 s, and the TTL is 10.000 s";
    assert_cause(&lines, BOTH, 0, ("B-01", "b01-no-fencing", said));
}

#[test]
fn b_01_a_session_that_ends_by_its_ttl_during_a_pause() {
    let paused = |work: &[Value]| {
        let then = [work, &[acquire("b", 25.0, B), renew("b", 25.5, B), write("a", 34.0)]].concat();
        a_holds(&then)
    };
    let said = "it sent nothing between 2.100 s and 34.000 s: it was paused, or cut off";
    assert_cause(&paused(&[write("a", 2.0)]), BOTH, 1, ("B-01", "b01-one-pause", said));
    // It worked on, and was not paused.
    let work: Vec<Value> = (1..8).map(|lap| write("a", 4.0 * f64::from(lap))).collect();
    assert_no_cause(&paused(&work), BOTH, "b01-one-pause");
}

#[test]
fn b_27_no_lock_delay_protects_a_slot() {
    let lines = semaphore(&[entry("a", 1.0, "?cas=0", 1, &[A]), renew("b", 9.0, B), renew("b", 18.0, B)]);
    let lines = [lines, vec![entry("b", 25.0, "?cas=7", 1, &[B]), renew("b", 26.0, B), write("a", 30.0)]].concat();
    let said = "its slot could be given on as soon as its session had ended";
    let told = causes(&lines, "all took").into_iter().find(|cause| cause.0 == "B-27").expect("a cause");
    assert!(told.1 == "b27-no-delay" && told.2.contains(said), "{told:?}");
    assert_no_cause(&a_holds(&[acquire("b", 25.0, B), renew("b", 25.5, B), write("a", 34.0)]), BOTH, "b27-no-delay");
}

fn with_delay(delay: Value, wrote: f64) -> Vec<Value> {
    a_is_late(&json!({"TTL": "10s", "NodeChecks": [], "LockDelay": delay}), 25.0, wrote)
}

fn has_cause(lines: &[Value], scenario: &str, words: &str) -> bool {
    causes(lines, LATE).iter().any(|cause| cause.1 == scenario && cause.2.contains(words))
}

#[test]
fn b_22_a_lock_delay_in_other_units_than_it_was_meant() {
    let said = "asks for a lock-delay of 5000, which is 5000 nanoseconds";
    assert!(has_cause(&with_delay(json!(5000), 34.0), "b22-raw-5000", said));
    assert_no_cause(&with_delay(json!(5), 34.0), LATE, "b22-raw-5000");
    assert_no_cause(&with_delay(json!("5s"), 34.0), LATE, "b22-raw-5000");
}

#[test]
fn b_22_a_lock_delay_of_more_than_a_minute() {
    let said = "asks for a lock-delay of 90.000 s, and Consul keeps 60 s of it; it acted 64.900 s after";
    assert!(has_cause(&with_delay(json!("90s"), 90.0), "b22-ninety-seconds", said));
    assert_no_cause(&with_delay(json!("90s"), 34.0), LATE, "b22-ninety-seconds");
    assert_no_cause(&with_delay(json!("50s"), 90.0), LATE, "b22-ninety-seconds");
}

#[test]
fn b_02_a_lock_delay_shorter_than_what_was_late() {
    let said = "its write came 8.900 s after its session had ended, and the lock-delay is 5.000 s";
    assert!(has_cause(&with_delay(json!("5s"), 34.0), "b02-delay-too-short", said));
    assert!(has_cause(&with_delay(json!(5), 34.0), "b02-delay-too-short", said), "C-SES-8: seconds");
    assert!(has_cause(&with_delay(Value::Null, 41.0), "b02-delay-too-short", "the lock-delay is 15.000 s"), "C-SES-1");
    assert_no_cause(&with_delay(json!("20s"), 34.0), LATE, "b02-delay-too-short");
}

#[test]
fn b_17_a_client_that_gives_the_lock_back_and_writes_on() {
    let lines = a_holds(&[release("a", 3.0, A), acquire("b", 4.0, B), renew("b", 4.5, B), write("a", 5.0)]);
    let said = "it gave the lock back, in line 5, before it had stopped";
    assert_cause(&lines, "held no lock", 0, ("B-17", "b17-release-then-stop", said));
    let inside = json!({"report": "inside", "client": "a", "key": "lead", "sent": 5.0});
    let lines = a_holds(&[release("a", 3.0, A), acquire("b", 4.0, B), inside]);
    assert_cause(&lines, "did not hold", 0, ("B-17", "b17-release-then-stop", said));
}

#[test]
fn b_04_a_look_right_before_the_write() {
    let look = |at: f64, session: &str| {
        let entry = json!([{
            "LockIndex": 1, "Key": "lead", "Flags": 0, "Value": null, "Session": session, "CreateIndex": 10, "ModifyIndex": 20
        }]);
        by("a", at, "GET", "/v1/kv/lead", "", &entry.to_string())
    };
    let late =
        |then: &[Value]| a_holds(&[then, &[acquire("b", 25.0, B), renew("b", 25.5, B), write("a", 34.0)]].concat());
    let said = "it looked at 5.000 s (line 5) that it held the lock, and wrote 28.900 s later";
    let lines = late(&[look(5.0, A)]);
    assert!(has_cause(&lines, "b04-check-then-write", said), "{:?}", causes(&lines, LATE));
    assert_no_cause(&lines, LATE, "b11-patient");
    let lines = late(&[look(5.0, A), write("a", 6.0)]);
    assert_no_cause(&lines, LATE, "b04-check-then-write");
    assert!(has_cause(&lines, "b11-patient", "(last at 5.000 s)"), "{:?}", causes(&lines, LATE));
}

#[test]
fn b_11_a_client_that_does_not_look() {
    let lines = a_holds(&[acquire("b", 25.0, B), renew("b", 25.5, B), write("a", 34.0)]);
    assert!(has_cause(&lines, "b11-patient", "it did not look whether it still held the lock (never)"));
}

#[test]
fn b_01_a_write_that_is_not_fenced() {
    let late = |write: Value| a_holds(&[acquire("b", 25.0, B), renew("b", 25.5, B), write]);
    let said = "its write in line 7 was not fenced";
    assert!(has_cause(&late(write("a", 34.0)), "b01-no-fencing", said));
    let cas = by("a", 34.0, "PUT", "/v1/kv/data?cas=7", "a", "true");
    assert!(!has_cause(&late(cas), "b01-no-fencing", said));
    let operations = json!([
        {"KV": {"Verb": "check-session", "Key": "other", "Session": A}},
        {"KV": {"Verb": "set", "Key": "data", "Value": "YQ=="}}
    ]);
    let checked = by("a", 34.0, "PUT", "/v1/txn", &operations.to_string(), r#"{"Results": [], "Errors": null}"#);
    assert!(!has_cause(&late(checked), "b01-no-fencing", said));
}

fn with_event(mut lines: Vec<Value>, sent: f64, received: f64) -> Vec<Value> {
    lines.push(json!({"event": "failover", "sent": sent, "received": received}));
    lines
}

/// An answer that shows the key, held by a session.
fn shown(client: &str, at: f64, url: &str, session: &str, lock_index: u32) -> Value {
    let entry = json!([{
        "LockIndex": lock_index, "Key": "lead", "Flags": 0, "Value": null, "Session": session, "CreateIndex": 10, "ModifyIndex": 20
    }]);
    by(client, at, "GET", &format!("/v1/kv/lead{url}"), "", &entry.to_string())
}

fn refused(client: &str, at: f64, id: &str) -> Value {
    by(client, at, "PUT", &format!("/v1/kv/lead?acquire={id}"), client, "false")
}

fn failed(mut line: Value, answer: &str) -> Value {
    (line["status"], line["answer"]) = (json!(500), json!(answer));
    line
}

#[test]
fn b_03_a_client_that_gives_the_lock_back_while_its_write_is_open() {
    let with = |received: f64, client: &str| {
        let mut open = write(client, 2.0);
        open["received"] = json!(received);
        a_holds(&[open, release("a", 3.0, A), acquire("b", 4.0, B), write("b", 5.0), release("b", 6.0, B)])
    };
    let said = "it did not await the answer to its write in line 5 before it gave the lock back, in line 6";
    assert_cause(&with(5.5, "a"), "had no answer when it gave `lead` back", 0, ("B-03", "b03-async-write", said));
    let kinds = |lines: &[Value]| judged(lines).findings.iter().map(|finding| finding.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&with(5.5, "a")), [Kind::InFlight(0, 5)]);
    // It was answered before, or before another client came.
    assert_eq!(kinds(&with(2.5, "a")), []);
    assert_eq!(kinds(&with(3.5, "a")), []);
}

#[test]
fn b_05_a_client_whose_renewals_fail_and_that_works_on() {
    let tries = |count: u32| {
        let renewals = (0..count).map(|lap| failed(renew("a", 5.0 + 3.0 * f64::from(lap), A), "No cluster leader"));
        let rest = [acquire("b", 30.0, B), renew("b", 30.5, B), write("a", 31.0)];
        a_holds(&renewals.chain(rest).collect::<Vec<_>>())
    };
    let said = "its renewals failed from 5.000 s on (line 5; 4 of them), its TTL was over at 10.000 s";
    assert_cause(&tries(4), BOTH, 0, ("B-05", "b05-ignore-jeopardy", said));
    assert_no_cause(&tries(1), BOTH, "b05-ignore-jeopardy");
}

/// Client a writes late, after client b has acquired; both looked at their LockIndex.
fn tokens(then: &[Value], second: u32) -> Vec<Value> {
    let looks = [shown("b", 25.5, "", B, second), write("a", 34.0)];
    a_holds(&[&[shown("a", 1.5, "", A, 1)], then, &[acquire("b", 25.0, B)], &looks].concat())
}

#[test]
fn b_06_a_lock_index_that_begins_again_after_a_cleanup() {
    let cleaned = [release("a", 3.0, A), delete("operator", 4.0)];
    let said = "`lead` was deleted in line 7, and its LockIndex began again: it was 1 for a and 1 for b";
    let nearest = causes(&tokens(&cleaned, 1), "held no lock");
    assert!(nearest.iter().any(|cause| cause.1 == "b06-lock-index-cleanup" && cause.2.contains(said)), "{nearest:?}");
    assert_no_cause(&tokens(&cleaned, 2), "held no lock", "b06-lock-index-cleanup");
    assert_no_cause(&tokens(&cleaned[..1], 1), "held no lock", "b06-lock-index-cleanup");
}

#[test]
fn b_07_a_lock_index_that_begins_again_with_the_behaviour_delete() {
    let with = |behavior: &str, second: u32| {
        let mut lines = tokens(&[], second);
        lines[0] =
            session("a", 0.0, A, &json!({"TTL": "10s", "NodeChecks": [], "LockDelay": "0s", "Behavior": behavior}));
        causes(&lines, LATE).iter().any(|cause| cause.1 == "b07-lock-index" && cause.2.contains("took `lead` with it"))
    };
    assert!(with("delete", 1));
    assert!(!with("release", 1) && !with("delete", 2));
}

#[test]
fn b_23_a_former_leader_shows_a_former_holder() {
    let look = |at: f64, url: &str| {
        let rest = [
            acquire("b", 25.0, B),
            renew("b", 25.5, B),
            renew("b", 40.0, B),
            shown("a", at, url, A, 1),
            write("a", 34.0),
        ];
        with_event(a_holds(&rest), 20.0, 35.0)
    };
    let said = "a server showed it as the holder at 33.000 s (line 8), after b had acquired the lock in line 5";
    let of = |lines: &[Value]| causes(lines, LATE).into_iter().find(|cause| cause.0 == "B-23");
    assert!(of(&look(33.0, "")).is_some_and(|cause| cause.1 == "b23-default-read" && cause.2.contains(said)));
    assert_eq!(of(&look(33.0, "?consistent")), None);
    assert_eq!(of(&look(24.0, "")), None);
}

/// Client a renews at an instant, and its session has ended when b acquires the lock at 10 s.
fn ends_early(renewed: f64, failover: (f64, f64)) -> Vec<(&'static str, &'static str, String)> {
    let rest = [renew("a", renewed, A), acquire("b", 10.0, B), renew("b", 10.5, B), write("a", 11.0)];
    causes(&with_event(a_holds(&rest), failover.0, failover.1), BOTH)
}

#[test]
fn b_24_a_former_leader_ends_a_session_that_was_renewed() {
    let told = ends_early(6.0, (3.0, 5.0));
    let said = "it renewed with the new leader at 6.000 s (line 5), and its session had ended by 10.100 s nevertheless";
    assert!(told[0].1 == "b24-no-term-check" && told[0].2.contains(said), "{told:?}");
    assert!(ends_early(6.0, (7.0, 8.0)).iter().all(|cause| cause.0 != "B-24" && cause.0 != "B-25"));
}

#[test]
fn b_25_a_former_leader_answers_a_renewal() {
    let told = ends_early(6.0, (3.0, 8.0));
    let said =
        "its renewal at 6.000 s (line 5) was answered while another server came to lead, by one that led no longer";
    assert!(told[0].1 == "b25-unbounded" && told[0].2.contains(said), "{told:?}");
}

/// The finding that begins with this line and does not end: what it says, and its cause.
fn stuck(lines: &[Value]) -> Option<(usize, String, &'static str, String)> {
    let found = judged(lines).findings;
    found.into_iter().find_map(|finding| {
        let Kind::Stuck(line) = finding.kind else { return None };
        let [cause] = &finding.omissions[..] else { panic!("{:?}", finding.omissions) };
        Some((line, finding.sentence, cause.scenario, cause.sentence.clone()))
    })
}

#[test]
fn b_14_a_client_that_waits_for_the_lock_that_it_holds() {
    let with = |client: &str, renewed: f64| {
        let begin = [session("a", 2.0, C, &json!({"TTL": "10s"})), refused(client, 3.0, C), renew("a", renewed, A)];
        stuck(&a_holds(&begin))
    };
    let (line, said, scenario, cause) = with("a", 5.0).expect("it waits");
    assert_eq!((line, scenario), (6, "b14-renew-after-loss"));
    assert!(
        said.contains(&format!("a asked for `lead` at 3.000 s (line 6) for session {C}, and held it itself")),
        "{said}"
    );
    assert!(cause.contains("last at 5.000 s, and waits for itself"), "{cause}");
    assert_eq!(with("b", 5.0), None, "another client");
    assert_eq!(with("a", 2.5), None, "the session of the lock is not renewed any more: it will end");
}

#[test]
fn b_15_a_client_that_asks_for_a_session_that_is_gone() {
    let invalid = |at: f64| failed(refused("b", at, C), &format!("invalid session \"{C}\""));
    let lines = |then: &[Value]| a_holds(&[&[release("a", 2.0, A)], then].concat());
    let (line, said, scenario, _) = stuck(&lines(&[invalid(3.0), invalid(4.0), invalid(5.0)])).expect("it asks");
    assert_eq!((line, scenario), (6, "b15-reuse-session"));
    assert_eq!(
        said,
        format!("b asked for `lead` 3 times from 3.000 s (line 6) to 5.000 s for session {C}, which was gone")
    );
    assert_eq!(stuck(&lines(&[invalid(3.0)])), None);
    assert_eq!(stuck(&lines(&[invalid(3.0), invalid(4.0), create("b", 5.0, B)])), None, "it creates another one");
}

#[test]
fn b_20_a_holder_without_a_ttl_that_is_not_heard_of() {
    let with = |requested: &Value, last: f64| {
        let lines = [session("a", 0.0, A, requested), create("b", 0.2, B), acquire("a", 1.0, A), refused("b", 2.0, B)];
        stuck(&[&lines[..], &[refused("b", last, B)]].concat())
    };
    let plain = json!({"NodeChecks": []});
    let (line, said, scenario, _) = with(&plain, 90.0).expect("it waits");
    assert_eq!((line, scenario), (5, "b20-no-ttl"));
    let expected = "b asked for `lead` in vain until 90.000 s (line 6; 2 requests), and nothing was heard of a, which holds it, since 1.000 s";
    assert_eq!(said, expected);
    assert_eq!(with(&plain, 50.0), None, "not for long");
    assert_eq!(with(&json!({"NodeChecks": [], "TTL": "10s"}), 90.0), None);
}

#[test]
fn b_21_a_timer_that_begins_anew_with_each_failover() {
    let with = |looked: f64, failovers: &[f64]| {
        let mut lines = a_holds(&[shown("b", looked, "", A, 1)]);
        for at in failovers {
            lines = with_event(lines, *at, at + 1.0);
        }
        stuck(&lines)
    };
    let (line, said, scenario, cause) = with(40.0, &[12.0, 24.0]).expect("it lasts");
    assert_eq!((line, scenario), (5, "b21-reset-on-election"));
    assert!(
        said.contains("a still held `lead` at 40.000 s (line 5), and its session was renewed at 0.000 s"),
        "{said}"
    );
    assert!(cause.contains("failed over 2 times since"), "{cause}");
    assert_eq!(with(40.0, &[]), None);
    assert_eq!(with(19.0, &[12.0]), None);
}

fn in_vain(mut line: Value) -> Value {
    line["answer"] = json!("false");
    line
}

#[test]
fn b_30_a_slot_that_is_given_back_in_vain() {
    let with = |then: &[Value]| {
        let begin = [entry("a", 1.0, "?cas=0", 2, &[A]), entry("b", 2.0, "?cas=7", 2, &[A, B])];
        let release = [entry("a", 3.0, "?cas=8", 2, &[B]), in_vain(entry("b", 3.05, "?cas=8", 2, &[A]))];
        stuck(&semaphore(&[&begin[..], &release, then].concat()))
    };
    let (line, said, scenario, _) = with(&[renew("b", 4.0, B)]).expect("the slot is taken");
    assert_eq!((line, scenario), (7, "b30-no-retry"));
    assert_eq!(said, "b gave its slot of `sem/.lock` back at 3.050 s (line 7), in vain: the slot is still taken");
    assert_eq!(with(&[entry("b", 4.0, "?cas=9", 2, &[])]), None, "it tries again");
    let contender = by("b", 4.0, "DELETE", &format!("/v1/kv/sem/{B}"), "", "true");
    assert_eq!(with(&[contender]), None, "others may take it out");
}

#[test]
fn b_31_a_client_that_is_never_told_of_its_slot() {
    let contend = by("a", 0.5, "PUT", &format!("/v1/kv/sem/{A}?acquire={A}"), "", "true");
    let mut lost = entry("a", 1.0, "?cas=0", 2, &[A]);
    ["received", "status", "answer"].iter().for_each(|name| drop(lost.as_object_mut().expect("a line").remove(*name)));
    let with = |then: &[Value]| {
        let begin = [contend.clone(), lost.clone(), entry("b", 2.0, "?cas=7", 2, &[A, B])];
        stuck(&semaphore(&[&begin[..], then].concat()))
    };
    let (line, said, scenario, _) = with(&[renew("a", 4.0, A)]).expect("the slot is taken");
    assert_eq!((line, scenario), (5, "b31-no-reread"));
    assert_eq!(
        said,
        "a got a slot of `sem/.lock` by its request at 1.000 s (line 5), as line 6 shows, and no answer told it"
    );
    assert_eq!(
        with(&[in_vain(entry("a", 3.0, "?cas=0", 2, &[A]))]).map(|told| told.2),
        Some("b31-no-reread"),
        "a blind retry"
    );
    let content = "eyJMaW1pdCI6IDIsICJIb2xkZXJzIjogWyJhIl19";
    let read = json!([{"LockIndex": 0, "Key": "sem/.lock", "Flags": 0, "Value": content, "CreateIndex": 10, "ModifyIndex": 20}]);
    assert_eq!(with(&[by("a", 3.0, "GET", "/v1/kv/sem/.lock", "", &read.to_string())]), None, "it looks");
}
