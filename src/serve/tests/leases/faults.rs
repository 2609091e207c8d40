//! Faults at requests for leases.

use fencepost_serve::{Clock, Server, Settings};
use serde_json::json;

use super::bench::{LEAD, Leases, rewritten, version};

#[test]
fn a_lost_answer_has_an_effect_and_a_lost_request_has_none() {
    for (fault, is_applied) in [("lose-answer", true), ("lose-request", false), ("reset", false)] {
        let leases = Leases::new();
        let first = leases.acquired("a", 15);
        leases.plan(&format!("on PUT *leases/lead #1: {fault}"));
        let lost = leases.send("b", "PUT", LEAD, &rewritten(&first, "b", 1).to_string());
        assert_eq!(lost.answer(), None, "{fault}");
        assert_eq!(version(&leases.get(LEAD).1) > version(&first), is_applied, "{fault}");
        assert_eq!(
            leases.ask("b", "PUT", LEAD, &rewritten(&first, "b", 1)).0,
            if is_applied { 409 } else { 200 },
            "{fault}"
        );
    }
}

#[test]
fn a_late_answer_is_applied_at_once() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    leases.plan("on PATCH *leases/lead #1: delay 20s");
    let body = json!({"spec": {"holderIdentity": "b"}}).to_string();
    let late = leases.send("b", "PATCH application/merge-patch+json", LEAD, &body);
    leases.wait_for(1);
    assert_eq!(leases.get(LEAD).1["spec"]["holderIdentity"], "b");
    leases.advance("20s");
    assert_eq!(late.answer().expect("an answer").0, 200);
    assert!(version(&leases.get(LEAD).1) > version(&first));
}

#[test]
fn ol_s_6_an_error_of_the_server_leaves_in_doubt_whether_a_request_was_applied() {
    for (fault, status, reason, is_applied) in [
        ("status 500 \"etcdserver: request timed out\"", 500, "InternalError", false),
        ("status 500 \"etcdserver: leader changed\" after", 500, "InternalError", true),
        ("status 504 \"Timeout: request did not complete within requested timeout\" after", 504, "Timeout", true),
        ("status 503 \"the server is currently unable to handle the request\"", 503, "ServiceUnavailable", false),
        ("status 429 \"too many requests, please try again later\"", 429, "TooManyRequests", false),
    ] {
        let leases = Leases::new();
        let first = leases.acquired("a", 15);
        leases.plan(&format!("on PUT *leases/lead #1: {fault}"));
        let (code, told) = leases.ask("a", "PUT", LEAD, &rewritten(&first, "a", 1));
        assert_eq!((code, &told["reason"]), (status, &json!(reason)), "{fault}");
        assert!(fault.contains(told["message"].as_str().expect("a text")), "{fault}: {told}");
        assert_eq!(version(&leases.get(LEAD).1) > version(&first), is_applied, "{fault}");
    }
}

#[test]
fn a_repeated_update_is_refused_by_its_own_first_half() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    leases.plan("on PUT *leases/lead #1: repeat");
    assert_eq!(leases.ask("a", "PUT", LEAD, &rewritten(&first, "a", 1)).0, 409);
    assert_eq!(version(&leases.get(LEAD).1), version(&first) + 1);
}

#[test]
fn a_plan_with_faults_of_another_server_is_refused() {
    let leases = Leases::new();
    for (text, part) in [
        ("on GET *: leader-change", "the stand-in for leases has no such fault"),
        ("on GET *: status 500 \"No cluster leader\"", "the stand-in for leases has no such fault"),
        (
            "on PUT *: status 503 \"the server is currently unable to handle the request\" after",
            "has not carried the request out",
        ),
        ("on GET *: status 418 \"a teapot\"", "no rule allows that"),
    ] {
        let bytes = leases.send("test", "PUT", "/fencepost/faults", text);
        let (status, _) = bytes.answer().expect("an answer");
        assert_eq!(status, 400, "{text}");
        let settings =
            |plan: fencepost_serve::FaultPlan| Settings { clock: Clock::Manual, plan, ..Settings::default() };
        match text.parse::<fencepost_serve::FaultPlan>() {
            Ok(plan) => {
                let error = Server::start_leases(settings(plan), "127.0.0.1:0").expect_err("it is refused").to_string();
                assert!(error.contains(part), "{text}: {error}");
            }
            Err(error) => assert!(error.why.contains(part), "{text}: {error}"),
        }
    }
    let plan = "on GET *: lease-deleted".parse().expect("a plan");
    let error = Server::start(Settings { plan, ..Settings::default() }, "127.0.0.1:0").expect_err("it is refused");
    assert!(error.to_string().contains("the stand-in for consul has no such fault"), "{error}");
}

#[test]
fn every_request_and_answer_is_recorded_with_its_times() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    leases.plan("on PUT *leases/lead #1: delay 2s\non GET *leases/lead: lose-answer\n");
    let late = leases.send("a", "PUT", LEAD, &rewritten(&first, "a", 1).to_string());
    leases.wait_for(1);
    assert_eq!(leases.send("b", "GET", LEAD, "").answer(), None);
    leases.advance("2s");
    assert_eq!(late.answer().expect("an answer").0, 200);
    let record = leases.record();
    let lines: Vec<_> = record.iter().map(|line| json!([line["client"], line["method"], line["status"]])).collect();
    assert_eq!(lines, [json!(["a", "POST", 201]), json!(["b", "GET", null]), json!(["a", "PUT", 200])]);
    assert_eq!(record[2]["body"]["spec"]["holderIdentity"], "a");
    let [sent, received] =
        ["sent", "received"].map(|name| record[2][name].as_str().and_then(|at| at.parse::<f64>().ok()));
    assert!(received.expect("a time") - sent.expect("a time") >= 1.9, "{}", record[2]);
    assert_eq!(record[1]["received"], json!(null), "{}", record[1]);
}
