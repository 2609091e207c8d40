//! Locks and elections, and clients that are judged.

use fencepost_serve::RequestOutcome;
use serde_json::{Value, json};

use super::bench::{Bench, bytes};

fn lock(lease: i64) -> Value {
    json!({"name": bytes("lead"), "lease": lease})
}

#[test]
fn e_cc_11_a_waiter_has_the_lock_when_the_lease_before_it_ends() {
    let mut bench = Bench::new("");
    bench.grant(7, 5);
    bench.grant(8, 60);
    let first = bench.send("a", "/v3/lock/lock", lock(7));
    assert_eq!(bench.answer(first).value()["key"], bytes("lead/7"));
    let second = bench.send("b", "/v3/lock/lock", lock(8));
    assert!(bench.outcome(second).is_none(), "it waits");
    bench.pass(50);
    assert_eq!(bench.answer(second).value()["key"], bytes("lead/8"));
}

#[test]
fn e_cc_31_the_key_of_a_caller_that_goes_away_is_removed() {
    let mut bench = Bench::new("");
    [7, 8, 9].into_iter().for_each(|id| bench.grant(id, 60));
    let tickets = [7, 8, 9].map(|id| bench.send("a", "/v3/lock/lock", lock(id)));
    bench.stand_in.forget(tickets[1]);
    assert!(!bench.has("lead/8"));
    assert_eq!(bench.ask("/v3/lock/unlock", json!({"key": bytes("lead/7")})).0, 200);
    assert_eq!(bench.answer(tickets[2]).value()["key"], bytes("lead/9"));
}

#[test]
fn e_cc_30_a_lock_without_a_lease_has_one_of_a_minute() {
    let mut bench = Bench::new("");
    let (status, locked) = bench.ask("/v3/lock/lock", lock(0));
    assert_eq!(status, 200);
    bench.pass(599);
    assert_eq!(bench.ask("/v3/kv/range", json!({"key": locked["key"]})).1["count"], "1");
    bench.pass(1);
    assert!(bench.ask("/v3/kv/range", json!({"key": locked["key"]})).1.get("count").is_none());
}

#[test]
fn e_cc_20_an_election_is_won_proclaimed_and_resigned() {
    let mut bench = Bench::new("");
    bench.grant(7, 60);
    let campaign = json!({"name": bytes("lead"), "lease": 7, "value": bytes("a")});
    let (_, won) = bench.ask("/v3/election/campaign", campaign);
    assert_eq!(won["leader"]["key"], bytes("lead/7"));
    let proclaim = json!({"leader": won["leader"], "value": bytes("b")});
    assert_eq!(bench.ask("/v3/election/proclaim", proclaim).0, 200);
    let (_, leads) = bench.ask("/v3/election/leader", json!({"name": bytes("lead")}));
    assert_eq!(leads["kv"]["value"], bytes("b"));
    assert_eq!(bench.ask("/v3/election/resign", json!({"leader": won["leader"]})).0, 200);
    let (status, none) = bench.ask("/v3/election/leader", json!({"name": bytes("lead")}));
    assert_eq!((status, &none["error"]), (500, &json!("election: no leader")));
}

/// Two clients that report where they are, and of which the first one does not look at its lease.
#[test]
fn a_holder_that_ignores_its_lease_is_found_out() {
    let mut bench = Bench::new("");
    bench.grant(7, 5);
    bench.grant(8, 60);
    let report = |bench: &mut Bench, client: &str| {
        let ticket = bench.send_as(client, "PUT", &format!("/fencepost/inside?key=lead&client={client}"), Vec::new());
        assert_eq!(bench.answer(ticket).status, 200);
    };
    let first = bench.send("a", "/v3/lock/lock", lock(7));
    bench.answer(first);
    report(&mut bench, "a");
    let second = bench.send("b", "/v3/lock/lock", lock(8));
    bench.pass(50);
    bench.answer(second);
    assert_eq!(bench.stand_in.verdict().name(), "no-violation");
    report(&mut bench, "b");
    let verdict = bench.stand_in.verdict();
    assert_eq!(verdict.name(), "violated");
    let story = verdict.to_string();
    assert!(story.contains("mutual-exclusion") && story.contains("record: b"), "{story}");
}

#[test]
fn what_is_left_out_is_said() {
    let mut bench = Bench::new("");
    for path in ["/v3/maintenance/status", "/v3/cluster/member/list", "/v3/auth/enable"] {
        let (status, body) = bench.ask(path, json!({}));
        assert_eq!((status, body["code"].as_i64()), (501, Some(12)), "{path}");
    }
    assert_eq!(bench.ask("/v3/kv/nothing", json!({})).0, 404);
    assert_eq!(bench.ask("/version", Value::Null).1["etcdserver"], "3.4.23");
    let ticket = bench.send_as("a", "PUT", "/v3/kv/range", b"{}".to_vec());
    assert_eq!(
        bench.outcome(ticket).map(|outcome| matches!(outcome, RequestOutcome::Answer(answer) if answer.status == 405)),
        Some(true)
    );
}

#[test]
fn a_lock_of_one_transaction_is_held_by_the_client_that_put_its_key() {
    let mut bench = Bench::new("");
    bench.grant(7, 5);
    let compare = json!([{"key": bytes("lead"), "target": "CREATE"}]);
    let put = json!([{"request_put": {"key": bytes("lead"), "lease": 7}}]);
    let taken = bench.ask("/v3/kv/txn", json!({"compare": compare, "success": put})).1;
    assert_eq!(taken["succeeded"], true);
    bench.pass(50);
    for client in ["b", "c"] {
        let path = format!("/fencepost/inside?key=lead&client={client}");
        let ticket = bench.send_as(client, "PUT", &path, Vec::new());
        bench.answer(ticket);
    }
    let story = bench.stand_in.verdict().to_string();
    let line = story.lines().find(|line| line.contains("/v3/kv/txn")).expect("a line");
    assert!(line.contains("record: a") && line.ends_with("inside: -"), "{story}");
}

#[test]
fn e_cc_12_since_3_5_a_lock_that_has_waited_fails_if_its_key_is_gone() {
    for (version, status) in [("3.4.23", 200), ("3.5.16", 500)] {
        let etcd = version.parse().expect("a version");
        let mut bench = Bench::with(fencepost_serve::Settings { etcd, ..fencepost_serve::Settings::default() });
        for id in ["7", "8"] {
            bench.ask("/v3/lease/grant", json!({ "TTL": "600", "ID": id }));
        }
        let lock = |lease: &str| json!({ "name": bytes("n"), "lease": lease });
        assert_eq!(bench.ask("/v3/lock/lock", lock("7")).0, 200);
        let second = bench.send("b", "/v3/lock/lock", lock("8"));
        assert!(bench.outcome(second).is_none(), "it waits");
        bench.ask("/v3/lock/unlock", json!({ "key": bytes("n/8") }));
        assert!(bench.outcome(second).is_none(), "the first one holds the lock");
        bench.ask("/v3/lock/unlock", json!({ "key": bytes("n/7") }));
        let answer = bench.answer(second);
        assert_eq!(answer.status, status, "{version}");
        assert_eq!(answer.value()["message"] == "mutex: session is expired", status == 500);
        let again = bench.ask("/v3/lease/grant", json!({ "TTL": "600", "ID": "7" })).0;
        assert_eq!(again, if version == "3.4.23" { 412 } else { 400 }, "E-GEN-7");
    }
}
