//! Leases on the stand-in's clock.

use fencepost_serve::{Settings, Timers};
use serde_json::json;

use super::bench::{Bench, bytes};

fn put(bench: &mut Bench, key: &str, lease: i64) -> u16 {
    bench.ask("/v3/kv/put", json!({"key": bytes(key), "lease": lease})).0
}

#[test]
fn e_ls_5_a_lease_ends_t_after_its_last_renewal_and_its_keys_with_it() {
    let mut bench = Bench::new("");
    bench.grant(7, 5);
    assert_eq!(put(&mut bench, "k", 7), 200);
    bench.pass(40);
    assert_eq!(bench.renewed(7), 5);
    bench.pass(49);
    assert!(bench.has("k"));
    bench.pass(1);
    assert!(!bench.has("k"));
    assert_eq!(bench.renewed(7), 0);
    assert_eq!(put(&mut bench, "k", 7), 404);
}

#[test]
fn e_gen_6_several_renewals_in_one_body_are_refused_and_none_is_carried_out() {
    let mut bench = Bench::new("");
    bench.grant(7, 5);
    bench.pass(25);
    let several = bench.send_as("a", "POST", "/v3/lease/keepalive", br#"{"ID": 7}{"ID": 7}"#.to_vec());
    assert_eq!(bench.answer(several).status, 501);
    let (_, left) = bench.ask("/v3/lease/timetolive", json!({"ID": 7}));
    assert_eq!(left["TTL"], "2");
    // E-GEN-4: what follows an object and is none is ignored.
    let one = bench.send_as("a", "POST", "/v3/lease/keepalive", br#"{"ID": 7} and more"#.to_vec());
    assert_eq!(bench.answer(one).status, 200);
}

#[test]
fn e_ls_6_an_overdue_lease_takes_keys_and_its_renewal_waits_for_the_revoke() {
    let mut bench = Bench::with(Settings { timers: Timers::Late(500_000_000), ..Settings::default() });
    bench.grant(7, 5);
    bench.pass(52);
    assert_eq!(put(&mut bench, "k", 7), 200);
    let (_, left) = bench.ask("/v3/lease/timetolive", json!({"ID": 7}));
    assert_eq!((&left["TTL"], &left["grantedTTL"]), (&json!("-1"), &json!("5")));
    let renewal = bench.send("a", "/v3/lease/keepalive", json!({"ID": 7}));
    assert!(bench.outcome(renewal).is_none(), "it waits");
    bench.pass(3);
    let body = bench.answer(renewal).value();
    assert_eq!((&body["result"]["ID"], body["result"].get("TTL")), (&json!("7"), None));
    assert!(!bench.has("k"));
    assert_eq!(bench.ask("/v3/lease/timetolive", json!({"ID": 7})).1["TTL"], "-1");
}

#[test]
fn e_ls_1_a_ttl_is_raised_and_the_server_chooses_an_id() {
    let mut bench = Bench::new("");
    let (_, granted) = bench.ask("/v3/lease/grant", json!({"TTL": 1}));
    assert_eq!(granted["TTL"], "2");
    let id: i64 = granted["ID"].as_str().and_then(|id| id.parse().ok()).expect("a number");
    assert!(id > 0);
    bench.pass(9);
    assert_eq!(bench.ask("/v3/lease/timetolive", json!({"ID": id})).1["TTL"], "1");
    bench.pass(6);
    assert!(bench.ask("/v3/lease/timetolive", json!({"ID": id})).1.get("TTL").is_none(), "less than a second");
    assert_eq!(bench.ask("/v3/lease/leases", json!({})).1["leases"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_next_end_of_a_lease_is_an_instant_that_a_test_may_name() {
    let mut bench = Bench::new("");
    bench.grant(7, 5);
    bench.grant(8, 9);
    let advance = |bench: &mut Bench| {
        let ticket = bench.send_as("a", "PUT", "/fencepost/clock/advance?until=lease-expired", Vec::new());
        bench.answer(ticket).status
    };
    assert_eq!(advance(&mut bench), 200);
    assert_eq!((bench.renewed(7), bench.renewed(8)), (0, 9));
    assert_eq!(advance(&mut bench), 200);
    assert_eq!(advance(&mut bench), 409, "there is no lease");
}
