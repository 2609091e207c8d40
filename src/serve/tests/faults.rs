//! Faults at requests, and what the log of such a run says.

use fencepost_conform::{judge, read};
use fencepost_serve::RequestOutcome;

use crate::bench::Bench;

fn plan(bench: &mut Bench, text: &str) {
    bench.put("test", "/fencepost/faults", text);
}

/// The recorded run is possible, as the judge of logs says; the number of its requests without an answer.
#[track_caller]
fn is_possible(bench: &Bench, unanswered: usize) {
    let text = bench.stand_in.recorded();
    let episodes = read(&text).expect("a log");
    let without = episodes.iter().flat_map(|episode| &episode.lines).filter(|line| line.reply.is_none()).count();
    assert_eq!(without, unanswered, "{text}");
    judge(&episodes, None).unwrap_or_else(|objection| panic!("{objection}\n{text}"));
}

#[test]
fn a_lost_answer_has_an_effect_and_a_lost_request_has_none() {
    for (fault, holds, outcome) in [
        ("lose-answer", true, RequestOutcome::Close),
        ("lose-request", false, RequestOutcome::Close),
        ("reset", false, RequestOutcome::Reset),
    ] {
        let mut bench = Bench::new();
        let session = bench.session("a", "10s", "0s");
        plan(&mut bench, &format!("on PUT /v1/kv/*?acquire=* #1: {fault}"));
        let ticket = bench.send("a", "PUT", &format!("/v1/kv/lead?acquire={session}"), "");
        assert_eq!(bench.outcome(ticket), Some(outcome), "{fault}");
        assert_eq!(bench.get("/v1/kv/lead")[0]["Session"] == session.as_str(), holds, "{fault}");
        assert!(bench.acquire("a", "lead", &session), "{fault}: the second one gets through");
        is_possible(&bench, 1);
    }
}

#[test]
fn a_delayed_answer_is_carried_out_at_once_and_a_delayed_request_is_not() {
    for (fault, holds) in [("delay 20s", true), ("delay-request 20s", false)] {
        let mut bench = Bench::new();
        let session = bench.session("a", "", "0s");
        plan(&mut bench, &format!("on PUT /v1/kv/lead from a: {fault}"));
        let ticket = bench.send("a", "PUT", &format!("/v1/kv/lead?acquire={session}"), "");
        assert_eq!(bench.get("/v1/kv/lead")[0]["Session"] == session.as_str(), holds, "{fault}");
        bench.advance("19s");
        assert_eq!(bench.outcome(ticket), None, "{fault}");
        bench.advance("1s");
        assert!(
            matches!(bench.outcome(ticket), Some(RequestOutcome::Answer(answer)) if answer.body == b"true"),
            "{fault}"
        );
        is_possible(&bench, 0);
    }
}

#[test]
fn a_request_whose_client_has_gone_still_arrives() {
    let mut bench = Bench::new();
    plan(&mut bench, "on PUT /v1/kv/lead: delay-request 5s");
    let ticket = bench.send("a", "PUT", "/v1/kv/lead", "late");
    bench.stand_in.forget(ticket);
    bench.advance("5s");
    assert_eq!(bench.get("/v1/kv/lead")[0]["Key"], "lead");
}

#[test]
fn a_server_without_a_leader_carries_nothing_out_and_one_that_loses_it_may() {
    for (fault, index, lines) in [
        ("status 500 \"No cluster leader\"", 1, 0),
        ("status 500 \"leadership lost while committing log\" after", 2, 0),
        ("status 500 \"rpc error making call: EOF\"", 1, 0),
    ] {
        let mut bench = Bench::new();
        plan(&mut bench, &format!("on * /v1/kv/lead #1: {fault}"));
        let answer = bench.ask("a", "PUT", "/v1/kv/lead", "1");
        assert_eq!(answer.status, 500, "{fault}");
        assert!(fault.contains(&String::from_utf8_lossy(&answer.body).into_owned()), "{fault}: {answer:?}");
        let found = bench.ask("a", "GET", "/v1/kv/lead", "");
        assert_eq!(found.status == 200, index == 2, "{fault}");
        is_possible(&bench, lines);
    }
}

#[test]
fn a_repeated_request_is_carried_out_twice() {
    let mut bench = Bench::new();
    bench.put("a", "/v1/kv/lead", "0");
    let modified = bench.get("/v1/kv/lead")[0]["ModifyIndex"].as_u64().expect("an index");
    plan(&mut bench, "on PUT /v1/kv/lead?cas=*: repeat");
    // What the client hears is that it failed, and it did not.
    assert_eq!(bench.put("a", &format!("/v1/kv/lead?cas={modified}"), "1"), false);
    assert_eq!(bench.ask("a", "GET", "/v1/kv/lead?raw", "").body, b"1");
    is_possible(&bench, 1);
}

#[test]
fn a_half_open_connection_is_silent() {
    let mut bench = Bench::new();
    plan(&mut bench, "on GET /v1/kv/lead #1: half-open");
    let ticket = bench.send("a", "GET", "/v1/kv/lead", "");
    bench.advance("3600s");
    assert_eq!(bench.outcome(ticket), None);
    assert_eq!(bench.ask("a", "GET", "/v1/kv/lead", "").status, 404);
}

#[test]
fn plans_come_and_go_over_http_and_bad_ones_are_refused_with_their_line() {
    let mut bench = Bench::new();
    plan(&mut bench, "on GET /v1/kv/a: reset");
    assert_eq!(bench.ask("test", "POST", "/fencepost/faults", "on GET /v1/kv/b: repeat").status, 200);
    let rules = bench.get("/fencepost/faults");
    assert_eq!(rules[1]["rule"], "on GET /v1/kv/b: repeat");
    assert_eq!(rules[0]["allowed_by"], "a network that loses messages");
    let answer = bench.ask("test", "PUT", "/fencepost/faults", "\non GET /v1/kv/b: explode");
    assert_eq!(answer.status, 400);
    assert!(String::from_utf8_lossy(&answer.body).starts_with("line 2: `explode`"), "{answer:?}");
    assert_eq!(bench.get("/fencepost/faults").as_array().map(Vec::len), Some(2), "a bad plan changes nothing");
    bench.ask("test", "DELETE", "/fencepost/faults", "");
    assert_eq!(bench.ask("a", "GET", "/v1/kv/a", "").status, 404);
}
