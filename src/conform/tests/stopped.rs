//! An agent that is stopped for longer than sessions last, and goes on: ten processes of `consul lock` wanted one lock of it, and every timer may
//! have fired before the renewals that it answered well.

use fencepost_conform::{Limits, Objection, Possible, judge_until, read};

/// Seven sessions are renewed in vain: they are unknown right after. C-TTL-5.
const IN_VAIN: &str = include_str!("../recorded/ten-lockers-in-vain-1.8.7.jsonl");

/// Three requests did not get into the log in time, the holder's session ends, and the others wait for its lock-delay to be over. C-CON-5, C-LD-2.
const DELAYED: &str = include_str!("../recorded/ten-lockers-stopped-agent-1.8.7.jsonl");

const FEW: Limits = Limits { states: 200, choices: 1_000 };

fn judged(text: &str) -> Result<Possible, Objection> {
    judge_until(&read(text).expect("a log"), None, FEW, &|| false)
}

#[test]
fn an_agent_that_was_stopped_for_longer_than_sessions_last_is_judged_at_once() {
    for (log, lines) in [(IN_VAIN, 111), (DELAYED, 160)] {
        let possible = judged(log).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(possible.lines, lines);
    }
}

#[test]
fn a_session_that_was_unknown_is_not_renewed_again() {
    let is_refused = |line: &&str| line.contains("invalid session");
    let refused = IN_VAIN.lines().find(is_refused).expect("one is unknown");
    let session = refused.split("acquire=").nth(1).and_then(|rest| rest.get(..36)).expect("its id");
    let url = format!("/v1/session/renew/{session}");
    let renewed = IN_VAIN.lines().find(|line| line.contains(&url)).expect("it was renewed");
    let mut again: serde_json::Value = serde_json::from_str(renewed).expect("a line");
    (again["sent"], again["received"]) = (50.into(), 51.into());
    let judged = judged(&format!("{IN_VAIN}{again}\n"));
    let last = IN_VAIN.lines().count() + 1;
    assert!(matches!(judged, Err(Objection::Impossible(ref flaw)) if flaw.line == last), "{judged:?}");
}

/// To say so, all must be tried: no client has looked at the key since. C-LD-2.
#[test]
fn the_lock_is_not_taken_within_the_lock_delay_of_a_session_whose_timer_has_fired() {
    let lines: Vec<&str> = DELAYED.lines().collect();
    let is_refused =
        |line: &str| line.contains("\"sent\":41.") && line.contains("?acquire=") && line.contains("\"answer\":\"false");
    let place = lines.iter().position(|line| is_refused(line)).expect("it was asked for");
    let taken = lines[place].replace("\"answer\":\"false", "\"answer\":\"true");
    let log = read(&[&lines[..place], &[&*taken]].concat().join("\n")).expect("a log");
    let judged = judge_until(&log, None, Limits::default(), &|| false);
    let Err(Objection::Impossible(flaw)) = judged else { panic!("{judged:?}") };
    assert_eq!((flaw.line, flaw.rule.map(|(rule, _)| rule)), (place + 1, Some("C-LD-2")));
}

#[test]
fn c_con_5_what_timed_out_before_it_was_in_the_log_was_not_carried_out() {
    let read_back = |head: &str, answer: &str, status: u16| {
        let put = r#"{"method": "PUT", "url": "/v1/kv/k", "body": "x", "sent": 1, "received": 32, "status": 500, "answer": "timed out enqueuing operation"}"#;
        let read = serde_json::json!({
            "method": "GET", "url": "/v1/kv/k", "sent": 33, "received": 34, "status": status, "answer": answer,
            "index": if status == 200 { 20 } else { 1 },
        });
        judged(&format!("{head}\n{put}\n{read}\n"))
    };
    let entry = r#"[{"LockIndex": 0, "Key": "k", "Flags": 0, "Value": "eA==", "CreateIndex": 20, "ModifyIndex": 20}]"#;
    let head = r#"{"consul": "1.8.7"}"#;
    assert!(read_back(head, "", 404).is_ok());
    assert!(matches!(read_back(head, entry, 200), Err(Objection::Impossible(_))));
}

/// C-SES-17: what ends by itself between two writes shows there as the index of the sessions.
#[test]
fn a_session_ended_at_the_log_position_that_a_later_read_of_the_sessions_shows() {
    let id = "aaaaaaaa-0000-0000-0000-000000000001";
    let line = |at: u32, method: &str, url: &str, body: &str, index: Option<u32>, answer: &str| {
        let (sent, received) = (f64::from(at), f64::from(at) + 0.1);
        serde_json::json!({
            "method": method, "url": url, "body": body, "sent": sent, "received": received, "status": 200, "index": index, "answer": answer
        })
        .to_string()
    };
    let entry = r#"[{"LockIndex": 0, "Key": "k", "Flags": 0, "Value": "eA==", "CreateIndex": 20, "ModifyIndex": 20}]"#;
    let shown_at = |index: u32| {
        let created = format!("{{\"ID\": \"{id}\"}}");
        let lines = [
            r#"{"consul": "1.8.7"}"#.to_owned(),
            line(1, "PUT", "/v1/session/create", r#"{"NodeChecks": [], "TTL": "10s"}"#, None, &created),
            line(50, "PUT", "/v1/kv/k", "x", None, "true"),
            line(51, "GET", "/v1/kv/k", "", Some(20), entry),
            line(52, "GET", &format!("/v1/session/info/{id}"), "", Some(index), "[]"),
        ];
        judged(&lines.join("\n"))
    };
    for index in [19, 21] {
        assert!(shown_at(index).is_ok(), "{index}: {:?}", shown_at(index));
    }
    assert!(matches!(shown_at(20), Err(Objection::Impossible(_))));
}
