//! The nearest hazard of a log, with a small log for each row of the table.

use fencepost_conform::{Clients, clients, read};
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
