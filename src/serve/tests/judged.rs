//! The judge: the published mistakes of clients, as their requests show them.

use fencepost_conform::{Kind, clients, judge, picture, read};
use serde_json::Value;

use crate::bench::Bench;

fn says(bench: &mut Bench, client: &str, what: &str) -> Value {
    bench.put(client, &format!("/fencepost/{what}"), "")
}

/// A holder pauses for longer than its TTL, and goes on. The token of each tenure is the key's LockIndex, if there is one.
fn paused_holder(tokens: [&str; 2]) -> Bench {
    let mut bench = Bench::new();
    let first = bench.session("a", "10s", "1s");
    let second = bench.session("b", "10s", "1s");
    assert!(bench.acquire("a", "lead", &first));
    says(&mut bench, "a", &format!("inside?key=lead{}", tokens[0]));
    bench.put("b", &format!("/v1/session/renew/{second}"), "");
    bench.advance("15s");
    bench.put("b", &format!("/v1/session/renew/{second}"), "");
    bench.advance("6.1s");
    assert!(bench.acquire("b", "lead", &second));
    says(&mut bench, "b", &format!("inside?key=lead{}", tokens[1]));
    says(&mut bench, "b", &format!("resource/lead?x{}", tokens[1]));
    bench
}

#[test]
fn a_pause_longer_than_the_ttl_breaks_mutual_exclusion_and_loses_an_update() {
    let mut bench = paused_holder(["", ""]);
    bench.put("a", "/fencepost/resource/lead", "old");
    let verdict = bench.stand_in.verdict();
    let found: Vec<&str> = verdict.findings.iter().map(|found| found.property).collect();
    assert_eq!(found, ["mutual-exclusion", "no-lost-update"]);
    assert_eq!(verdict.findings[0].sentence, "a and b are both inside");
    let story = verdict.findings[0].story.join("\n");
    assert!(story.contains("session 1 of a (TTL 10s): time is up: it ends"), "{story}");
    assert!(story.contains("record: b        inside: a b"), "{story}");
    assert!(verdict.to_string().contains("clock: manual"));
    let told = bench.get("/fencepost/verdict");
    assert_eq!(told["verdict"], "violated");
    assert_eq!(told["findings"][1]["property"], "no-lost-update");
    let log = bench.stand_in.recorded();
    let possible = judge(&read(&log).expect("a log"), None).unwrap_or_else(|objection| panic!("{objection}\n{log}"));
    assert!(possible.lines >= 6, "{log}");
}

#[test]
fn a_recorded_run_is_drawn_with_who_was_inside() {
    let mut bench = paused_holder(["", ""]);
    says(&mut bench, "a", "inside?key=another");
    says(&mut bench, "a", "outside?key=another");
    bench.advance("1s");
    says(&mut bench, "b", "outside?key=lead");
    says(&mut bench, "a", "outside?key=lead");
    let episodes = read(&bench.stand_in.recorded()).expect("a log");
    let clients = clients(&episodes[0], &[]);
    assert!(clients.findings.iter().any(|finding| finding.kind == Kind::Overlap(0, 1)), "{:?}", clients.findings);
    let picture = picture(&clients);
    assert!(picture.contains("`lead` record: b") && picture.contains("takes itself for holder |===="), "{picture}");
}

#[test]
fn a_token_keeps_the_late_write_out_and_leaves_two_inside() {
    let mut bench = paused_holder(["&token=1", "&token=2"]);
    let answer = bench.ask("a", "PUT", "/fencepost/resource/lead?token=1", "old");
    assert_eq!(answer.status, 409);
    let found: Vec<&str> = bench.stand_in.verdict().findings.iter().map(|found| found.property).collect();
    assert_eq!(found, ["mutual-exclusion"], "fencing repairs the effect, and not the belief");
}

#[test]
fn a_lock_index_that_starts_again_is_no_token() {
    let mut bench = Bench::new();
    let session = bench.session("a", "", "0s");
    for token in [2, 1] {
        bench.acquire("a", "lead", &session);
        says(&mut bench, "a", &format!("inside?key=lead&token={token}"));
        says(&mut bench, "a", "outside?key=lead");
        assert_eq!(bench.ask("a", "DELETE", "/v1/kv/lead", "").status, 200);
    }
    let verdict = bench.stand_in.verdict();
    assert_eq!(verdict.findings[0].property, "token-order");
    assert_eq!(verdict.findings[0].sentence, "a begins a tenure with token 1, and there was 2 before");
}

#[test]
fn a_semaphore_is_judged_by_its_limit() {
    let mut bench = Bench::new();
    for client in ["a", "b"] {
        says(&mut bench, client, "inside?key=slots&limit=2");
    }
    assert_eq!(bench.stand_in.verdict().name(), "no-violation");
    says(&mut bench, "c", "inside?key=slots&limit=2");
    assert_eq!(bench.stand_in.verdict().findings[0].property, "slot-limit-belief");
}

#[test]
fn a_client_that_waits_has_its_turn_in_time() {
    let mut bench = Bench::new();
    let session = bench.session("a", "", "0s");
    assert!(bench.acquire("a", "lead", &session));
    says(&mut bench, "a", "inside?key=lead");
    says(&mut bench, "b", "waiting?key=lead&within=30s");
    says(&mut bench, "c", "waiting?key=lead&within=20s");
    bench.advance("10s");
    says(&mut bench, "c", "outside?key=lead");
    bench.advance("19s");
    let verdict = bench.stand_in.verdict();
    assert_eq!(verdict.name(), "no-violation");
    let open = "b still waits for lead: eventually-acquired would be judged at 30.000";
    assert!(verdict.assumptions.iter().any(|line| line.starts_with(open)), "{:?}", verdict.assumptions);
    assert_eq!(bench.get("/fencepost/clock")["next"]["what"], "a client has waited for a lock for too long");
    bench.advance("1s");
    let verdict = bench.stand_in.verdict();
    assert_eq!(verdict.findings[0].property, "eventually-acquired");
    assert_eq!(verdict.findings[0].sentence, "b has waited for 30 s, and is not inside");
    let story = verdict.findings[0].story.join("\n");
    assert!(story.contains("b waits for lead") && story.contains("record: a        inside: a"), "{story}");
    assert_eq!(verdict.findings.len(), 1);
}

#[test]
fn misuse_of_a_session_is_reported_once() {
    let mut bench = Bench::new();
    let session = bench.session("a", "10s", "0s");
    assert!(bench.acquire("a", "lead", &session));
    says(&mut bench, "a", "inside?key=lead");
    for _ in 0..2 {
        bench.put("b", &format!("/v1/session/renew/{session}"), "");
    }
    bench.advance("20s");
    for _ in 0..3 {
        assert_eq!(bench.ask("a", "PUT", &format!("/v1/session/renew/{session}"), "").status, 404);
    }
    bench.put("a", "/fencepost/resource/lead", "x");
    says(&mut bench, "a", "outside?key=lead");
    bench.put("a", "/fencepost/resource/lead", "y");
    let verdict = bench.stand_in.verdict();
    let names: Vec<&str> = verdict.misuse.iter().map(|misuse| misuse.name).collect();
    assert_eq!(names, ["foreign-session", "lost-session", "write-after-loss", "write-outside"]);
    assert_eq!(verdict.misuse[0].sentence, "b renews session 1 of a (TTL 10s), which it has not made");
    assert_eq!(verdict.name(), "no-violation");
}

#[test]
fn no_client_inside_is_vacuous_and_bad_questions_are_refused() {
    let mut bench = Bench::new();
    assert_eq!(bench.stand_in.verdict().name(), "vacuous");
    for (method, url, status, part) in [
        ("PUT", "inside", 400, "which lock?"),
        ("PUT", "inside?key=lead&token=high", 400, "token=high is no number"),
        ("PUT", "inside?key=lead&limit=0", 400, "1 or more"),
        ("PUT", "waiting?key=lead", 400, "when is it too long?"),
        ("PUT", "waiting?key=lead&within=soon", 400, "soon"),
        ("PUT", "waiting?key=lead&within=0s", 400, "takes some time"),
        ("PUT", "outside?key=lead", 409, "test is not inside lead, and does not wait for it"),
        ("GET", "resource/lead", 404, ""),
        ("PUT", "sleep", 400, "sleep?for=2s"),
        ("PUT", "dance", 404, "There are PUT clock/advance"),
    ] {
        let answer = bench.ask("test", method, &format!("/fencepost/{url}"), "");
        assert_eq!(answer.status, status, "{url}");
        assert!(String::from_utf8_lossy(&answer.body).contains(part), "{url}: {answer:?}");
    }
}
