//! Logs that do not say everything: what stays certain of them, what each uncertainty makes possible, and that real logs contradict
//! nothing of it.

use fencepost_conform::{Episode, Objection, Possible, RECORDED, Uncertainty, judge, read, uncertainties};

const A: &str = "aaaaaaaa-0000-0000-0000-000000000001";
const B: &str = "bbbbbbbb-0000-0000-0000-000000000002";
/// A head of a log that begins in mid-life.
const LATER: &str = r#"{"consul": "1.8.7", "begins": "later"}"#;
/// The same, and others write.
const OTHERS: &str = r#"{"consul": "1.8.7", "begins": "later", "others": "write"}"#;

/// A request that is sent at a second, and answered a tenth of it later.
fn line(at: f64, method: &str, url: &str, body: &str, answer: &str) -> String {
    let status = if answer.is_empty() { 404 } else { 200 };
    serde_json::json!({
        "method": method, "url": url, "body": body, "sent": at, "received": at + 0.1, "status": status, "answer": answer
    })
    .to_string()
}

/// A read of an entry: `k` at a position, since another, with a value, perhaps held.
fn shows(at: f64, (modify, create): (u64, u64), value: &str, session: Option<&str>) -> String {
    use base64::Engine;
    let coded = base64::engine::general_purpose::STANDARD.encode(value);
    let mut entry = serde_json::json!({
        "LockIndex": u8::from(session.is_some()), "Key": "k", "Flags": 0, "Value": coded, "CreateIndex": create,
        "ModifyIndex": modify
    });
    session.into_iter().for_each(|session| entry["Session"] = session.into());
    line(at, "GET", "/v1/kv/k", "", &serde_json::json!([entry]).to_string())
}

fn acquire(at: f64, session: &str, answer: &str) -> String {
    line(at, "PUT", &format!("/v1/kv/k?acquire={session}"), "x", answer)
}

fn create(at: f64, session: &str, terms: &str) -> String {
    line(at, "PUT", "/v1/session/create", terms, &format!("{{\"ID\": \"{session}\"}}"))
}

fn judged(head: &str, lines: &[&str]) -> Result<Possible, Objection> {
    judge(&read(&format!("{head}\n{}\n", lines.join("\n"))).expect("a log"), None)
}

/// The line that is impossible, and by which rule; none: it is possible.
fn verdict(head: &str, lines: &[&str]) -> Option<(usize, &'static str)> {
    match judged(head, lines) {
        Ok(_) => None,
        Err(Objection::Impossible(impossible)) => Some((impossible.line, impossible.rule.expect("a rule").0)),
        Err(undecided) => panic!("{undecided}"),
    }
}

const NO_CHECKS: &str = r#"{"NodeChecks": []}"#;

#[test]
fn an_entry_at_a_position_is_one_entry_with_other_writers() {
    let first = shows(1.0, (20, 10), "x", None);
    assert_eq!(verdict(OTHERS, &[&first, &shows(2.0, (20, 10), "y", None)]), Some((3, "C-GEN-3")));
    assert_eq!(verdict(OTHERS, &[&first, &shows(2.0, (20, 11), "x", None)]), Some((3, "C-GEN-3")));
    assert_eq!(verdict(OTHERS, &[&first, &shows(2.0, (21, 10), "y", None)]), None, "it was changed since");
}

#[test]
fn an_answer_agrees_with_itself() {
    let with = |index: u64, read: &str| read.replace("\"method\"", &format!("\"index\": {index}, \"method\""));
    let first = shows(1.0, (20, 10), "x", None);
    assert_eq!(verdict(OTHERS, &[&with(21, &first)]), Some((2, "C-KV-20")));
    assert_eq!(verdict(OTHERS, &[&with(20, &first)]), None);
    let list = first.replace("/v1/kv/k", "/v1/kv/?recurse");
    assert_eq!(verdict(OTHERS, &[&with(19, &list)]), Some((2, "C-KV-21")));
    assert_eq!(verdict(OTHERS, &[&with(21, &list)]), None);
    assert_eq!(verdict(OTHERS, &[&shows(1.0, (9, 10), "x", None)]), Some((2, "C-KV-7")));
}

#[test]
fn positions_grow_and_a_stale_read_may_show_an_older_one() {
    let first = shows(1.0, (20, 10), "x", None);
    let older = shows(2.0, (15, 10), "w", None);
    assert_eq!(verdict(OTHERS, &[&first, &older]), Some((3, "C-KV-7")));
    assert_eq!(verdict(OTHERS, &[&first, &shows(1.05, (15, 10), "w", None)]), None, "at the same time");
    assert_eq!(verdict(OTHERS, &[&first, &older.replace("/v1/kv/k", "/v1/kv/k?stale")]), None);
    let restored = r#"{"event": "restore", "sent": 1.5, "received": 1.6}"#;
    assert_eq!(verdict(OTHERS, &[&first, restored, &older]), None, "an older snapshot");
    let failover = r#"{"event": "failover", "sent": 1.5, "received": 3.0}"#;
    assert_eq!(verdict(OTHERS, &[&first, failover, &older]), None, "the old leader");
    let consistent = older.replace("/v1/kv/k", "/v1/kv/k?consistent");
    assert_eq!(verdict(OTHERS, &[&first, failover, &consistent]), Some((4, "C-KV-7")), "it asks the others");
    let restart = r#"{"event": "restart", "sent": 1.5, "received": 3.0}"#;
    assert_eq!(verdict(OTHERS, &[&first, restart, &older]), None, "C-CON-3: not all of the log is applied");
    assert_eq!(verdict(OTHERS, &[&first, restart, &consistent]), Some((4, "C-KV-7")), "it waits for that");
    let before = r#"{"event": "restart", "sent": 1.5, "received": 1.8}"#;
    assert_eq!(verdict(OTHERS, &[&first, before, &older]), Some((4, "C-KV-7")), "what is committed is kept");
}

#[test]
fn an_overwritten_or_deleted_value_is_impossible_in_a_later_read() {
    let first = shows(1.0, (20, 10), "x", None);
    let again = shows(3.0, (20, 10), "x", None);
    let write = line(2.0, "PUT", "/v1/kv/k", "y", "true");
    assert_eq!(verdict(OTHERS, &[&first, &write, &again]), Some((4, "C-KV-8")));
    assert_eq!(verdict(OTHERS, &[&first, &line(2.0, "PUT", "/v1/kv/k", "x", "true"), &again]), None, "the same value");
    let during = line(2.95, "PUT", "/v1/kv/k", "y", "true");
    assert_eq!(verdict(OTHERS, &[&first, &during, &again]), None, "at the same time as the read");
    assert_eq!(verdict(OTHERS, &[&first, &acquire(2.0, A, "true"), &again]), Some((4, "C-KV-11")));
    assert_eq!(verdict(OTHERS, &[&first, &acquire(2.0, A, "false"), &again]), None);
    let release = line(2.0, "PUT", &format!("/v1/kv/k?release={A}"), "x", "true");
    assert_eq!(verdict(OTHERS, &[&first, &release, &again]), Some((4, "C-KV-12")));
    let delete = line(2.0, "DELETE", "/v1/kv/k", "", "true");
    assert_eq!(verdict(OTHERS, &[&first, &delete, &shows(3.0, (22, 10), "x", None)]), Some((4, "C-KV-14")));
    assert_eq!(verdict(OTHERS, &[&first, &delete, &shows(3.0, (22, 22), "x", None)]), None, "made anew");
    let absent = line(2.0, "GET", "/v1/kv/k", "", "");
    assert_eq!(verdict(OTHERS, &[&first, &absent, &shows(3.0, (22, 10), "x", None)]), Some((4, "C-KV-18")));
}

#[test]
fn a_cas_is_done_at_just_its_index() {
    let (first, again) = (shows(1.0, (20, 10), "x", None), shows(3.0, (20, 10), "x", None));
    let cas = |index: u64, answer: &str| line(2.0, "PUT", &format!("/v1/kv/k?cas={index}"), "x", answer);
    assert_eq!(verdict(OTHERS, &[&first, &cas(15, "true")]), Some((3, "C-KV-9")));
    assert_eq!(verdict(OTHERS, &[&first, &cas(25, "true")]), None, "others may have written at 25");
    assert_eq!(verdict(OTHERS, &[&first, &cas(20, "false"), &again]), Some((3, "C-KV-9")));
    assert_eq!(verdict(OTHERS, &[&first, &cas(20, "false")]), None);
    assert_eq!(verdict(OTHERS, &[&first, &cas(0, "true"), &again]), Some((3, "C-KV-9")));
}

#[test]
fn the_index_of_the_store_grows() {
    let first = shows(1.0, (20, 10), "x", None);
    let absent = |at: f64, index: u64| {
        let read = line(at, "GET", "/v1/kv/other", "", "");
        read.replace("\"method\"", &format!("\"index\": {index}, \"method\""))
    };
    assert_eq!(verdict(OTHERS, &[&first, &absent(2.0, 19)]), Some((3, "C-KV-20")));
    assert_eq!(verdict(OTHERS, &[&first, &absent(2.0, 30), &absent(3.0, 29)]), Some((4, "C-KV-20")));
    assert_eq!(verdict(OTHERS, &[&first, &absent(2.0, 30), &absent(3.0, 30)]), None);
}

#[test]
fn a_session_that_has_ended_does_not_live_and_ids_are_given_once() {
    let destroy = line(2.0, "PUT", &format!("/v1/session/destroy/{A}"), "", "true");
    let renew = line(3.0, "PUT", &format!("/v1/session/renew/{A}"), "", "[]");
    let gone = line(1.0, "GET", &format!("/v1/session/info/{A}"), "", "[]");
    assert_eq!(verdict(OTHERS, &[&destroy, &renew]), Some((3, "C-INV-1")));
    assert_eq!(verdict(OTHERS, &[&gone, &acquire(2.0, A, "true")]), Some((3, "C-INV-1")));
    assert_eq!(verdict(OTHERS, &[&gone, &shows(2.0, (20, 10), "x", Some(A))]), Some((3, "C-INV-1")));
    assert_eq!(verdict(OTHERS, &[&gone, &acquire(2.0, A, "false")]), None);
    assert_eq!(verdict(OTHERS, &[&gone, &create(1.5, A, NO_CHECKS), &acquire(2.0, A, "true")]), None);
    assert_eq!(
        verdict(OTHERS, &[&acquire(1.0, A, "true"), &create(1.5, A, NO_CHECKS)]),
        Some((2, "C-SES-2")),
        "it lived before it was created"
    );
    assert_eq!(verdict(OTHERS, &[&create(1.0, A, NO_CHECKS), &create(1.5, A, NO_CHECKS)]), Some((3, "C-SES-2")));
    let info = |at: f64, name: &str| {
        line(at, "GET", &format!("/v1/session/info/{A}"), "", &format!("[{{\"ID\": \"{A}\", \"Name\": \"{name}\"}}]"))
    };
    assert_eq!(verdict(OTHERS, &[&info(1.0, "x"), &info(2.0, "y")]), Some((3, "C-SES-14")));
}

#[test]
fn a_lock_passes_on_only_if_something_ends_it_and_others_may() {
    let held = [create(0.0, A, NO_CHECKS), acquire(1.0, A, "true")];
    let with = |head: &str, between: &[&str], last: &str| {
        let lines: Vec<&str> = held.iter().map(String::as_str).chain(between.iter().copied()).chain([last]).collect();
        verdict(head, &lines)
    };
    let second = acquire(5.0, B, "true");
    assert_eq!(with(LATER, &[], &second), Some((4, "C-KV-10")));
    assert_eq!(with(OTHERS, &[], &second), None, "others may have released it");
    for ends in [
        line(2.0, "PUT", &format!("/v1/session/destroy/{A}"), "", "true"),
        line(2.0, "PUT", &format!("/v1/kv/k?release={A}"), "", "true"),
        line(2.0, "DELETE", "/v1/kv/k", "", "true"),
        line(2.0, "DELETE", "/v1/kv/?recurse", "", "true"),
        line(2.0, "PUT", "/v1/agent/leave", "", "true"),
        r#"{"event": "node-failed", "node": "agent", "sent": 2.0}"#.to_owned(),
    ] {
        assert_eq!(with(LATER, &[&ends], &second), None, "{ends}");
    }
    let refused = line(2.0, "PUT", &format!("/v1/kv/k?release={A}"), "", "false");
    assert_eq!(with(LATER, &[&refused], &second), Some((5, "C-KV-10")));
    let other = line(2.0, "DELETE", "/v1/kv/l?recurse", "", "true");
    assert_eq!(with(LATER, &[&other], &second), Some((5, "C-KV-10")));
    // A session of unknown terms may have run out; not if it is alive afterwards.
    let unknown = [acquire(1.0, A, "true"), second.clone()];
    let renew = line(6.0, "PUT", &format!("/v1/session/renew/{A}"), "", "[]");
    assert_eq!(verdict(LATER, &[&unknown[0], &unknown[1]]), None);
    assert_eq!(verdict(LATER, &[&unknown[0], &unknown[1], &renew]), Some((3, "C-KV-10")));
    let with_ttl = create(0.0, A, r#"{"NodeChecks": [], "TTL": "10s"}"#);
    assert_eq!(verdict(LATER, &[&with_ttl, &held[1], &acquire(19.0, B, "true")]), Some((4, "C-KV-10")));
    assert_eq!(verdict(LATER, &[&with_ttl, &held[1], &acquire(21.0, B, "true")]), None);
}

#[test]
fn a_value_was_written_by_a_request_unless_others_write() {
    let first = shows(1.0, (20, 10), "x", None);
    let other = shows(3.0, (22, 10), "y", None);
    assert_eq!(verdict(LATER, &[&first, &other]), Some((3, "C-KV-8")));
    assert_eq!(verdict(OTHERS, &[&first, &other]), None);
    let write = line(2.0, "PUT", "/v1/kv/k", "y", "true");
    assert_eq!(verdict(LATER, &[&first, &write, &other]), None);
    let unknown = write.replace(r#""body":"y""#, r#""body":null"#);
    assert_eq!(verdict(LATER, &[&first, &unknown, &other]), None, "it may have written it");
    assert_eq!(verdict(LATER, &[&shows(1.0, (20, 10), "x", Some(A)), &shows(3.0, (22, 10), "x", None)]), None);
}

#[test]
fn a_timer_takes_its_time_and_restarts_with_the_servers() {
    let created = create(0.0, A, r#"{"NodeChecks": [], "TTL": "10s"}"#);
    let renew = |at: f64| line(at, "PUT", &format!("/v1/session/renew/{A}"), "", "[]");
    let gone = |at: f64| line(at, "GET", &format!("/v1/session/info/{A}"), "", "[]");
    assert_eq!(verdict(LATER, &[&created, &gone(15.0)]), Some((3, "C-TTL-2")));
    assert_eq!(verdict(OTHERS, &[&created, &gone(15.0)]), None, "others may have destroyed it");
    assert_eq!(verdict(LATER, &[&created, &gone(20.5)]), None);
    assert_eq!(verdict(LATER, &[&created, &renew(10.0), &gone(25.0)]), Some((4, "C-TTL-2")));
    assert_eq!(verdict(LATER, &[&created, &renew(19.95), &gone(25.0)]), None, "C-TTL-5: in vain");
    let late = LATER.replace('}', r#", "lateness": "1s"}"#);
    assert_eq!(verdict(&late, &[&created, &renew(22.0)]), Some((3, "C-TTL-2")));
    assert_eq!(verdict(LATER, &[&created, &renew(22.0)]), None, "no bound is said");
    let restart = r#"{"event": "restart", "sent": 15.0, "received": 16.0}"#;
    assert_eq!(verdict(&late, &[&created, restart, &renew(22.0)]), None);
    let unknown = |at: f64| line(at, "PUT", &format!("/v1/session/renew/{A}"), "", "not found").replace("200", "404");
    assert_eq!(verdict(LATER, &[&created, &unknown(15.5)]), Some((3, "C-TTL-2")));
    assert_eq!(verdict(LATER, &[&created, restart, &unknown(15.5)]), None, "C-CON-3");
    assert_eq!(verdict(LATER, &[&created, restart, &unknown(16.5)]), Some((4, "C-TTL-2")));
}

#[test]
fn a_request_that_cannot_be_read_is_refused_in_any_state() {
    let both = line(1.0, "PUT", "/v1/kv/k?cas=1&acquire=x", "", "true");
    assert_eq!(verdict(OTHERS, &[&both]), Some((2, "C-KV-1")));
    let refused = line(1.0, "PUT", "/v1/kv/k", "x", "method PUT not allowed").replace("200", "405");
    assert_eq!(verdict(OTHERS, &[&refused]), Some((2, "C-GEN-5")));
}

#[test]
fn every_uncertainty_is_listed() {
    let head = r#"{"consul": "1.15.2", "begins": "later", "others": "write", "unknown": ["bodies", "answers"], "stamps": "1s", "acl": true}"#;
    let lines = [
        r#"{"method": "PUT", "url": "/v1/kv/k", "sent": 10, "took": 0.1, "status": 200}"#,
        r#"{"method": "PUT", "url": "/v1/kv/k", "sent": 1, "took": 0.1, "status": 403, "answer": "denied", "body": ""}"#,
        r#"{"method": "PUT", "url": "/v1/kv/k", "sent": 1, "took": 0.1, "status": 504, "answer": "", "body": ""}"#,
        r#"{"method": "PUT", "url": "/v1/agent/check/fail/x", "sent": 1, "took": 0.1, "status": 200, "answer": "", "body": ""}"#,
        r#"{"method": "PUT", "url": "/v1/snapshot", "sent": 1, "took": 0.1, "status": 200, "answer": "", "body": ""}"#,
        r#"{"event": "restart", "sent": 2}"#,
        r#"{"event": "failover", "sent": 3}"#,
        r#"{"event": "node-failed", "node": "b", "sent": 3}"#,
    ];
    let episodes = read(&format!("{head}\n{}\n", lines.join("\n"))).expect("a log");
    let expected = [
        Uncertainty::Beginning,
        Uncertainty::Others,
        Uncertainty::Bodies(1),
        Uncertainty::Answers(1),
        Uncertainty::InDoubt(1),
        Uncertainty::Stamps(1_000_000_000),
        Uncertainty::Restarts(2),
        Uncertainty::Restores(1),
        Uncertainty::UnknownWrites(1),
        Uncertainty::Refused(1),
        Uncertainty::NodeFailed("b".to_owned()),
        Uncertainty::Version("1.15.2".to_owned()),
    ];
    assert_eq!(uncertainties(&episodes), expected);
    assert_eq!(
        judge(&episodes, None).expect("possible").lines,
        1,
        "those before the restore overlap with it, by their stamps"
    );
    let plain = read(&format!("{}\n{}\n", r#"{"consul": "1.8.7"}"#, shows(1.0, (20, 10), "x", None))).expect("a log");
    assert_eq!(uncertainties(&plain), []);
}

#[test]
fn the_agent_that_is_asked_gives_a_session_its_node() {
    let head = r#"{"consul": "1.8.7", "node": "Web-1", "nodes": ["web-2"]}"#;
    let info = |node: &str| {
        let shown = format!(
            "[{{\"ID\": \"{A}\", \"Name\": \"\", \"Node\": \"{node}\", \"LockDelay\": 15000000000, \"Behavior\": \"release\", \
             \"TTL\": \"\", \"NodeChecks\": [\"serfHealth\"], \"ServiceChecks\": null, \"CreateIndex\": 9, \"ModifyIndex\": 9}}]"
        );
        line(2.0, "GET", &format!("/v1/session/info/{A}"), "", &shown)
    };
    let at_first = create(1.0, A, "{}");
    let at_second = at_first.replace("\"method\"", "\"agent\": \"web-2\", \"method\"");
    assert_eq!(verdict(head, &[&at_first, &info("Web-1")]), None);
    assert_eq!(verdict(head, &[&at_second, &info("web-2")]), None);
    assert_eq!(verdict(head, &[&at_second, &info("Web-1")]), Some((3, "C-SES-16")));
}

/// Real logs, as if less were known of them.
fn with_less(less: impl Fn(&mut Episode)) -> Vec<Episode> {
    let logs = [RECORDED, include_str!("../recorded/ten-clients.jsonl"), include_str!("../recorded/two-workers.jsonl")];
    let mut episodes: Vec<Episode> = logs.iter().flat_map(|log| read(log).expect("a log")).collect();
    episodes.iter_mut().for_each(less);
    episodes
}

#[test]
fn real_logs_contradict_nothing_however_little_is_known_of_them() {
    let lines = |judged: Result<Possible, Objection>| judged.map(|possible| (possible.lines, possible.compared));
    let later = with_less(|episode| episode.begins_later = true);
    let (all, compared) = lines(judge(&later, None)).unwrap_or_else(|why| panic!("{why}"));
    assert!(all > 3_000 && compared * 3 > all, "{compared} of {all}");
    let others = with_less(|episode| (episode.begins_later, episode.gaps.others_write) = (true, true));
    lines(judge(&others, None)).unwrap_or_else(|why| panic!("{why}"));
    let bodies = with_less(|episode| {
        for line in &mut episode.lines {
            (line.details.lacks_body, line.details.lacks_answer) = (line.question.method != "GET", true);
        }
    });
    lines(judge(&bodies, None)).unwrap_or_else(|why| panic!("{why}"));
    let coarse = with_less(|episode| {
        episode.begins_later = true;
        for line in &mut episode.lines {
            line.sent = line.sent / 1_000_000_000 * 1_000_000_000;
            line.received = (line.received / 1_000_000_000 + 1) * 1_000_000_000;
        }
    });
    lines(judge(&coarse, None)).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn altered_positions_in_real_logs_are_found_out_although_the_beginning_is_unknown() {
    let text = include_str!("../recorded/ten-clients.jsonl").replacen("{", r#"{"begins": "later", "#, 1);
    let reads: Vec<&str> = text.lines().filter(|line| line.contains("ModifyIndex")).collect();
    let mut found = 0;
    for read_line in &reads {
        let start = read_line.find("ModifyIndex\\\":").expect("it is there") + 14;
        let digits: String = read_line[start..].chars().take_while(char::is_ascii_digit).collect();
        let lower = digits.parse::<u64>().expect("digits") - 5;
        let altered = format!("{}{lower}{}", &read_line[..start], &read_line[start + digits.len()..]);
        let log = read(&text.replacen(*read_line, &altered, 1)).expect("a log");
        found += usize::from(judge(&log, None).is_err());
    }
    assert!(found * 10 > reads.len() * 9, "{found} of {}", reads.len());
}
