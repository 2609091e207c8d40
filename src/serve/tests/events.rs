//! Events of servers, nodes and sessions, each by the rule that allows it.

use fencepost_conform::{judge, read};
use fencepost_serve::{Answer, RequestOutcome};
use serde_json::json;

use crate::bench::Bench;

/// The event happens at the next request for the key `trigger`, which it does not touch.
#[track_caller]
fn happens(bench: &mut Bench, client: &str, event: &str) -> Answer {
    bench.put("test", "/fencepost/faults", &format!("on GET /v1/kv/trigger #1: {event}"));
    bench.ask(client, "GET", "/v1/kv/trigger", "")
}

/// A blocking query for a key, and how it has ended.
fn watch(bench: &mut Bench, key: &str) -> fencepost_serve::Ticket {
    let index = bench.ask("w", "GET", &format!("/v1/kv/{key}"), "").index().expect("an index");
    bench.send("w", "GET", &format!("/v1/kv/{key}?index={index}&wait=60s"), "")
}

#[track_caller]
fn is_possible(bench: &Bench) {
    let text = bench.stand_in.recorded();
    judge(&read(&text).expect("a log"), None).unwrap_or_else(|objection| panic!("{objection}\n{text}"));
}

#[test]
fn c_ttl_6_another_leader_starts_every_timer_anew_and_c_ld_11_keeps_lock_delays() {
    let mut bench = Bench::new();
    let (first, other) = (bench.session("a", "10s", "15s"), bench.session("b", "10s", "15s"));
    assert!(bench.acquire("a", "lead", &first));
    bench.put("a", &format!("/v1/session/destroy/{first}"), "");
    bench.advance("14s");
    happens(&mut bench, "a", "leader-change");
    bench.advance("0.9s");
    assert!(!bench.acquire("b", "lead", &other), "the lock-delay is the old one");
    bench.advance("0.2s");
    assert!(bench.acquire("b", "lead", &other));
    bench.advance("18.8s");
    assert!(bench.lives(&other), "20 s after the election, not after the creation");
    bench.advance("0.2s");
    assert!(!bench.lives(&other));
    is_possible(&bench);
}

#[test]
fn c_ld_12_a_restart_starts_lock_delays_anew_and_closes_connections() {
    let mut bench = Bench::new();
    let (first, other) = (bench.session("a", "", "15s"), bench.session("b", "", "15s"));
    assert!(bench.acquire("a", "lead", &first));
    bench.put("a", &format!("/v1/session/destroy/{first}"), "");
    let parked = watch(&mut bench, "lead");
    bench.advance("14s");
    assert_eq!(bench.outcome(parked), None);
    happens(&mut bench, "a", "restart");
    assert_eq!(bench.outcome(parked), Some(RequestOutcome::Close));
    bench.advance("14.9s");
    assert!(!bench.acquire("b", "lead", &other));
    bench.advance("0.2s");
    assert!(bench.acquire("b", "lead", &other));
    is_possible(&bench);
}

#[test]
fn c_ld_13_a_restored_snapshot_has_no_lock_delays_and_answers_blocking_queries() {
    let mut bench = Bench::new();
    let (first, other) = (bench.session("a", "", "15s"), bench.session("b", "", "15s"));
    assert!(bench.acquire("a", "lead", &first));
    bench.put("a", &format!("/v1/session/destroy/{first}"), "");
    let parked = watch(&mut bench, "lead");
    assert!(!bench.acquire("b", "lead", &other));
    happens(&mut bench, "a", "snapshot-restore");
    assert!(bench.acquire("b", "lead", &other));
    assert!(matches!(bench.outcome(parked), Some(RequestOutcome::Answer(_))));
    is_possible(&bench);
}

#[test]
fn c_con_2_a_deposed_leader_answers_one_client_from_its_memory() {
    let mut bench = Bench::new();
    let (first, other) = (bench.session("a", "10s", "0s"), bench.session("b", "10s", "0s"));
    assert!(bench.acquire("a", "lead", &first));
    happens(&mut bench, "a", "leader-lingers 500ms");
    bench.put("b", &format!("/v1/session/destroy/{first}"), "");
    assert!(bench.acquire("b", "lead", &other));
    let holder = |bench: &mut Bench, client: &str| {
        bench.ask(client, "GET", "/v1/kv/lead", "").value()[0]["Session"].as_str().expect("a session").to_owned()
    };
    assert_eq!((holder(&mut bench, "a"), holder(&mut bench, "b")), (first.clone(), other.clone()));
    // C-CON-5: a renewal is the leader's own affair. C-CON-3, C-CON-6: the others are needed for everything else.
    assert_eq!(bench.ask("a", "PUT", &format!("/v1/session/renew/{first}"), "").status, 200);
    assert_eq!(bench.ask("a", "GET", "/v1/kv/lead?consistent", "").status, 500);
    assert_eq!(bench.ask("a", "PUT", "/v1/kv/other", "x").status, 500);
    bench.advance("0.5s");
    assert_eq!(holder(&mut bench, "a"), other);
    assert_eq!(bench.ask("a", "PUT", &format!("/v1/session/renew/{first}"), "").status, 404);
    is_possible(&bench);
}

#[test]
fn c_inv_3_an_operator_destroys_the_sessions_of_one_client() {
    let mut bench = Bench::new();
    let (first, other) = (bench.session("a", "", "0s"), bench.session("b", "", "0s"));
    assert!(bench.acquire("a", "lead", &first));
    let parked = watch(&mut bench, "lead");
    happens(&mut bench, "a", "session-destroyed");
    assert_eq!((bench.lives(&first), bench.lives(&other)), (false, true));
    assert!(matches!(bench.outcome(parked), Some(RequestOutcome::Answer(_))), "it wakes who waits");
    is_possible(&bench);
}

#[test]
fn c_inv_3_a_deregistered_node_ends_its_sessions_and_comes_back() {
    let mut bench = Bench::new();
    let session = bench.session("a", "", "0s");
    happens(&mut bench, "a", "node-deregistered");
    assert!(!bench.lives(&session), "although it has no checks");
    assert_eq!(bench.get("/v1/catalog/nodes")[0]["Node"], "fencepost");
    bench.session("a", "", "0s");
    is_possible(&bench);
}

#[test]
fn c_inv_10_checks_turn_critical_and_end_the_sessions_that_are_bound_to_them() {
    let mut bench = Bench::new();
    let check = json!({"Name": "alive", "TTL": "60s", "Status": "passing"}).to_string();
    assert_eq!(bench.ask("a", "PUT", "/v1/agent/check/register", &check).status, 200);
    let bound = json!({"NodeChecks": ["alive"]}).to_string();
    let bound = bench.put("a", "/v1/session/create", &bound)["ID"].as_str().expect("an id").to_owned();
    let free = bench.session("a", "", "0s");
    happens(&mut bench, "a", "check-critical");
    assert_eq!((bench.lives(&bound), bench.lives(&free)), (false, true));
    is_possible(&bench);
}

#[test]
fn c_inv_4_gossip_that_takes_a_node_for_failed_ends_its_sessions_with_that_check() {
    let mut bench = Bench::new();
    let bound = bench.put("a", "/v1/session/create", "{}")["ID"].as_str().expect("an id").to_owned();
    let free = bench.session("a", "", "0s");
    happens(&mut bench, "a", "gossip-failure 5s");
    assert_eq!((bench.lives(&bound), bench.lives(&free)), (false, true));
    assert_eq!(bench.ask("a", "PUT", "/v1/session/create", "{}").status, 500, "its check is critical");
    bench.advance("5s");
    assert_eq!(bench.ask("a", "PUT", "/v1/session/create", "{}").status, 200);
    is_possible(&bench);
}
