//! Faults and events of etcd.

use fencepost_serve::{Fault, FaultPlan, RequestOutcome};
use serde_json::json;

use super::bench::{Bench, bytes};

#[test]
fn e_ld_1_a_promotion_gives_every_lease_its_ttl_and_the_election_timeout() {
    let mut bench = Bench::new("on POST /v3/kv/range #1: promotion");
    bench.grant(7, 5);
    bench.pass(40);
    assert!(!bench.has("k"));
    bench.pass(59);
    assert_eq!(bench.ask("/v3/lease/timetolive", json!({"ID": 7})).1["grantedTTL"], "5");
    bench.pass(1);
    assert_eq!(bench.renewed(7), 0);
}

#[test]
fn e_ld_2_a_restart_closes_what_waits_and_the_key_stays() {
    let mut bench = Bench::new("on POST /v3/lease/leases #1: server-restart");
    bench.grant(7, 60);
    bench.grant(8, 60);
    let tickets = [7, 8].map(|id| bench.send("a", "/v3/lock/lock", json!({"name": bytes("lead"), "lease": id})));
    bench.answer(tickets[0]);
    bench.ask("/v3/lease/leases", json!({}));
    assert_eq!(bench.outcome(tickets[1]), Some(RequestOutcome::Close));
    assert!(bench.has("lead/8"));
}

#[test]
fn an_operator_revokes_a_lease_deletes_a_key_or_compacts() {
    let mut bench = Bench::new(
        "on POST /v3/lease/keepalive #2: lease-revoked\non POST /v3/kv/range #2: key-deleted\non POST /v3/kv/put #2: compaction",
    );
    bench.grant(7, 60);
    assert_eq!((bench.renewed(7), bench.renewed(7)), (60, 0));
    let put = json!({"key": bytes("k")});
    assert_eq!(bench.ask("/v3/kv/put", put.clone()).0, 200);
    assert!(bench.has("k"));
    assert!(!bench.has("k"));
    assert_eq!(bench.ask("/v3/kv/put", put).0, 200);
    let (status, body) = bench.ask("/v3/kv/range", json!({"key": bytes("k"), "revision": 2}));
    assert_eq!((status, body["code"].as_i64()), (400, Some(11)), "{body}");
}

#[test]
fn e_gen_8_an_error_says_nothing_about_the_outcome() {
    let plan = "on POST /v3/kv/put #1: status 503 \"etcdserver: request timed out\" after\non POST /v3/kv/put #2: status 503 \"etcdserver: no leader\"";
    let mut bench = Bench::new(plan);
    for (key, is_there) in [("k", true), ("l", false)] {
        let (status, body) = bench.ask("/v3/kv/put", json!({"key": bytes(key)}));
        assert_eq!((status, body["code"].as_i64()), (503, Some(14)));
        assert_eq!(bench.has(key), is_there);
    }
}

#[test]
fn a_plan_is_for_one_server() {
    for (line, server, other) in [
        ("on POST /v3/kv/put: promotion", "etcd", "consul"),
        ("on POST /v3/kv/put: restart", "consul", "etcd"),
        ("on POST /v3/kv/put: status 503 \"etcdserver: leader changed\"", "etcd", "leases"),
    ] {
        let plan: FaultPlan = line.parse().expect("a plan");
        assert!(plan.suits(server).is_ok(), "{line}");
        assert!(plan.suits(other).expect_err(line).contains("has no such fault"));
    }
    assert!("status 503 \"etcdserver: no leader\" after".parse::<Fault>().expect_err("never").contains("E-LD-6"));
}
