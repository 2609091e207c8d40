//! A verdict about the clients of a log: who held a lock, who acted as if, and what was left out.

use fencepost_conform::{Ending, Kind, Stopped, clients, judge, picture, read};
use serde_json::{Value, json};

use crate::incidents::{A, B, acquire, by, create, judged, write};

/// Client a acquires and never renews; client b acquires when the TTL has run out.
fn paused_holder() -> Vec<Value> {
    vec![
        create("a", 0.0, A),
        create("b", 0.2, B),
        acquire("a", 1.0, A),
        write("a", 2.0),
        acquire("b", 25.0, B),
        write("b", 26.0),
        write("a", 34.0),
        by("b", 40.0, "PUT", &format!("/v1/kv/lead?release={B}"), "", "true"),
    ]
}

#[test]
fn a_report_about_another_lock_ends_no_belief() {
    let ends = |key: Option<&str>| {
        let mut lines = paused_holder();
        lines.push(json!({"report": "outside", "client": "a", "sent": 24.0}));
        if let Some(key) = key {
            lines[8]["key"] = json!(key);
        }
        judged(&lines).beliefs[0].stopped.clone()
    };
    assert_eq!((ends(None), ends(Some("lead"))), (Stopped::Said(10), Stopped::Said(10)));
    assert_eq!(ends(Some("another")), Stopped::Never);
}

#[test]
fn a_paused_holder_is_named_with_its_late_write_and_the_missing_step() {
    let clients = judged(&paused_holder());
    let [a, b] = &clients.tenures[..] else { panic!("{:?}", clients.tenures) };
    assert_eq!(a.certain(), Some((1_100_000_000, 20_000_000_000)), "twice the TTL after its creation was sent");
    assert_eq!((a.ended.1, &a.ending), (Some(25_100_000_000), &Ending::Expired(6)));
    assert_eq!((&b.ending, &clients.beliefs[0].stopped), (&Ending::Released(9), &Stopped::Never));
    let kinds: Vec<Kind> = clients.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [Kind::Overlap(0, 1), Kind::LateWrite(0, 8)]);
    assert_eq!(clients.findings[0].during, (25_100_000_000, 34_100_000_000), "nine seconds");
    let late = &clients.findings[1];
    assert!(late.sentence.contains("a wrote `data`") && late.sentence.contains("while b held it"), "{}", late.sentence);
    let first = &late.omissions[0];
    assert_eq!((first.hazard, first.scenario), ("B-01", "b01-no-fencing"));
    assert!(first.sentence.contains("did not renew"), "{}", first.sentence);
    assert!(late.omissions.iter().any(|omission| omission.sentence.contains("not fenced")), "{:?}", late.omissions);
    let picture = picture(&clients);
    assert!(picture.lines().nth(1).is_some_and(|line| line.contains('=') && line.contains('!')), "{picture}");
}

#[test]
fn clients_that_renew_look_and_release_are_not_blamed() {
    let renew = |at: f64| by("a", at, "PUT", &format!("/v1/session/renew/{A}"), "", "[]");
    let mut lines = vec![create("a", 0.0, A), create("b", 0.2, B), acquire("a", 1.0, A)];
    lines.extend((1..6).map(|lap| renew(5.0 * f64::from(lap))));
    lines.push(write("a", 26.0));
    lines.push(by("a", 28.0, "PUT", &format!("/v1/kv/lead?release={A}"), "", "true"));
    lines.extend([acquire("b", 29.0, B), write("b", 30.0)]);
    let clients = judged(&lines);
    assert_eq!(clients.findings, []);
    assert_eq!(clients.tenures[0].ending, Ending::Released(11));
    assert_eq!(clients.tenures[0].certain(), Some((1_100_000_000, 28_000_000_000)));
}

#[test]
fn a_client_that_is_told_and_stops_is_not_blamed() {
    let told = by("a", 24.0, "PUT", &format!("/v1/session/renew/{A}"), "", "Session id 'a' not found");
    let lines = [create("a", 0.0, A), create("b", 0.2, B), acquire("a", 1.0, A), told, acquire("b", 25.0, B)];
    let clients = judged(&lines);
    assert_eq!(clients.beliefs[0].stopped, Stopped::WasTold(5));
    assert_eq!(clients.findings, []);
}

#[test]
fn a_report_of_a_client_counts_more_than_its_requests() {
    let mut lines = paused_holder();
    lines.push(json!({"report": "outside", "client": "a", "sent": 19.0}));
    let clients = judged(&lines);
    assert_eq!(clients.beliefs[0].stopped, Stopped::Said(10));
    let kinds: Vec<Kind> = clients.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [Kind::WithoutTenure(8)], "it had left before the other client came in, and wrote nevertheless");
}

#[test]
fn a_key_that_is_deleted_under_its_holder_is_the_cause() {
    let delete = by("operator", 5.0, "DELETE", "/v1/kv/lead", "", "true");
    let lines =
        [create("a", 0.0, A), create("b", 0.2, B), acquire("a", 1.0, A), delete, acquire("b", 6.0, B), write("a", 7.0)];
    let clients = judged(&lines);
    assert_eq!(clients.tenures[0].ending, Ending::Deleted(5));
    assert_eq!(clients.findings[0].omissions[0].hazard, "B-16");
}

/// Two workers that use python-consul as its documentation shows it (a session with a TTL, an acquire, and nothing else), recorded
/// by the proxy in front of a real agent.
const TWO_WORKERS: &str = include_str!("../recorded/two-workers.jsonl");

/// The same two workers, which renew their sessions before each write.
const TWO_WORKERS_THAT_RENEW: &str = include_str!("../recorded/two-workers-that-renew.jsonl");

#[test]
fn two_workers_of_python_consul_that_renew_were_never_inside_together() {
    let episodes = read(TWO_WORKERS_THAT_RENEW).expect("a log");
    assert_eq!(judge(&episodes, None).expect("possible").lines, 134);
    let clients = clients(&episodes[0], &["data".to_owned()]);
    assert_eq!((clients.tenures.len(), clients.findings), (2, vec![]));
}

#[test]
fn two_workers_of_python_consul_were_inside_together_for_nine_seconds_and_every_answer_was_right() {
    let episodes = read(TWO_WORKERS).expect("a log");
    assert_eq!(judge(&episodes, None).expect("possible").lines, 55);
    let clients = clients(&episodes[0], &["data".to_owned()]);
    let first = &clients.findings[0];
    assert!(first.sentence.starts_with("worker-a and worker-b both"), "{}", first.sentence);
    assert_eq!((first.during.1 - first.during.0) / 1_000_000_000, 9);
    assert_eq!(first.omissions[0].scenario, "b01-no-fencing");
    let late = clients.findings.iter().filter(|finding| matches!(finding.kind, Kind::LateWrite(0, _)));
    assert_eq!(late.count(), 3, "{:?}", clients.findings);
}

/// Two clients that take turns, and a third one.
fn turns(third: &[Value]) -> Vec<Value> {
    let release = |client: &str, at: f64, session: &str| {
        by(client, at, "PUT", &format!("/v1/kv/lead?release={session}"), "", "true")
    };
    let mut lines = vec![create("a", 0.0, A), create("b", 0.2, B), acquire("a", 1.0, A), write("a", 2.0)];
    lines.extend(third.iter().cloned());
    lines.extend([release("a", 6.0, A), acquire("b", 7.0, B), write("b", 8.0), release("b", 9.0, B)]);
    lines
}

#[test]
fn a_client_that_writes_or_is_inside_without_a_lock_is_named() {
    let denied = by("c", 3.0, "PUT", "/v1/kv/lead?acquire=cccccccc-0000-0000-0000-000000000003", "c", "false");
    let found = |third: &[Value]| {
        judged(&turns(third)).findings.into_iter().map(|finding| finding.sentence).collect::<Vec<_>>()
    };
    assert_eq!(found(&[]), [""; 0]);
    let wrote = found(&[denied, write("c", 4.0)]);
    assert_eq!(wrote, ["c wrote `data` at 4.000 s (line 7), and held no lock, while a held `lead`"]);
    let said = |key: Value| json!({"report": "inside", "client": "c", "sent": 4.0, "key": key});
    assert_eq!(
        found(&[said(json!("lead"))]),
        ["c said at 4.000 s (line 6) that it is inside, and did not hold `lead`, while a held `lead`"]
    );
    // A key that no holder writes is none that the lock protects, unless it is named.
    let other = || by("c", 4.0, "PUT", "/v1/kv/other", "c", "true");
    assert_eq!(found(&[other()]), [""; 0]);
    let lines = turns(&[other()]);
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let head = r#"{"consul": "1.8.7", "node": "here", "session_ttl_min": "10s"}"#;
    let named = |head: &str| {
        let log = read(&format!("{head}\n{}", text.join("\n"))).expect("a log");
        clients(&log[0], &["other".to_owned()])
    };
    assert_eq!(named(head).findings[0].kind, Kind::WithoutTenure(6));
    // It may hold a lock from before.
    let later = named(&head.replace(r#""1.8.7","#, r#""1.8.7", "begins": "later","#));
    assert_eq!(later.findings, []);
    assert!(later.assumptions.iter().any(|text| text.contains("from before the log began")), "{:?}", later.assumptions);
}

#[test]
fn c_txn_1_locks_of_transactions_are_tenures() {
    let operation =
        |verb: &str, session: &str| json!([{"KV": {"Verb": verb, "Key": "lead", "Session": session}}]).to_string();
    let txn = |client: &str, at: f64, verb: &str, session: &str| {
        by(client, at, "PUT", "/v1/txn", &operation(verb, session), r#"{"Results": [], "Errors": null}"#)
    };
    let lines = [
        create("a", 0.0, A),
        create("b", 0.2, B),
        txn("a", 1.0, "lock", A),
        txn("a", 3.0, "unlock", A),
        txn("b", 4.0, "lock", B),
        by("operator", 5.0, "DELETE", "/v1/kv/le?recurse", "", "true"),
    ];
    let clients = judged(&lines);
    let endings: Vec<&Ending> = clients.tenures.iter().map(|tenure| &tenure.ending).collect();
    assert_eq!(endings, [&Ending::Released(5), &Ending::Deleted(7)]);
    assert_eq!(clients.findings, []);
}

/// The paused holder, whose last request is another one than a write of `data`.
fn paused_holder_that(last: Value) -> Vec<Value> {
    let mut lines = paused_holder();
    lines[6] = last;
    lines
}

/// What its late write is, with the keys that are named as protected.
fn late_write(last: Value, protected: &[&str]) -> Option<String> {
    let head = json!({"consul": "1.8.7", "node": "here", "session_ttl_min": "10s"});
    let text: Vec<String> = [&head].into_iter().chain(&paused_holder_that(last)).map(Value::to_string).collect();
    let protected: Vec<String> = protected.iter().map(|key| (*key).to_owned()).collect();
    let found = clients(&read(&text.join("\n")).expect("a log")[0], &protected).findings;
    let mut late = found.into_iter().filter(|finding| matches!(finding.kind, Kind::LateWrite(0, 8)));
    late.next().map(|finding| finding.sentence)
}

#[test]
fn c_kv_17_a_recursive_delete_writes_every_key_below_its_prefix() {
    let delete = |prefix: &str| by("a", 34.0, "DELETE", &format!("/v1/kv/{prefix}?recurse"), "", "true");
    let below = Some("a deleted `data`, with every key below `da`, at 34.000 s (line 8), 8.900 s after it had lost `lead` at the latest, while b held it".to_owned());
    assert_eq!((late_write(delete("da"), &["data"]), late_write(delete("da"), &[])), (below.clone(), below));
    assert_eq!(late_write(delete("other"), &["data"]), None);
    // A key of the log that is no lock is protected; a lock is not, and nor is a key that is not named.
    assert!(
        late_write(delete(""), &[]).is_some_and(|said| said.starts_with("a deleted `data`, with every key below ``"))
    );
    assert_eq!(late_write(delete("lea"), &[]), None);
    assert!(
        late_write(delete("other/"), &[]).is_some_and(|said| said.starts_with("a deleted every key below `other/` at"))
    );
    let alone = by("a", 34.0, "DELETE", "/v1/kv/da", "", "true");
    assert_eq!(late_write(alone, &["data"]), None, "it deletes one key");
}

#[test]
fn c_txn_2_a_delete_tree_writes_every_key_below_its_prefix() {
    let body = json!([{"KV": {"Verb": "delete-tree", "Key": "da"}}]).to_string();
    let delete = by("a", 34.0, "PUT", "/v1/txn", &body, r#"{"Results": [], "Errors": null}"#);
    let said = late_write(delete, &["data"]).expect("a late write");
    assert!(said.starts_with("a deleted `data`, with every key below `da`, at 34.000 s (line 8)"), "{said}");
}

#[test]
fn a_client_without_a_lock_that_deletes_what_a_holder_writes_is_named() {
    let deleted = |prefix: &str| {
        let third = by("c", 4.0, "DELETE", &format!("/v1/kv/{prefix}?recurse"), "", "true");
        let found = judged(&turns(&[third])).findings;
        found.into_iter().map(|finding| finding.sentence).collect::<Vec<_>>()
    };
    let said = "c deleted `data`, with every key below `d`, at 4.000 s (line 6), and held no lock, while a held `lead`";
    assert_eq!(deleted("d"), [said]);
    assert_eq!(deleted("other/"), [""; 0]);
}
