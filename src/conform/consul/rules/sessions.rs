//! Sessions: how they are asked for, and what is shown of them.

use super::*;

#[test]
fn c_ses_3_letter_case_unknown_fields_and_trailing_garbage_do_not_matter_and_types_do() {
    let mut talk = Talk::new();
    for body in ["", "{}", "null", r#"{"UNKNOWN": 1}"#, "{} and more", r#"{"nAmE": "x"}"#] {
        assert_eq!(talk.put("/v1/session/create", body).class, Class::SessionCreated, "{body}");
    }
    for body in [r#"{"TTL": 15}"#, r#"{"Name": 5}"#, "[]", "{"] {
        let expected = talk.put("/v1/session/create", body);
        assert_eq!((expected.status, expected.class), (400, Class::SessionBody), "{body}");
    }
}

#[test]
fn c_ses_6_behavior_is_release_delete_or_nothing_and_case_matters() {
    let mut talk = Talk::new();
    for (behavior, shown) in [("release", "release"), ("delete", "delete"), ("", "release")] {
        assert_eq!(talk.shown(&json!({"Behavior": behavior}))["Behavior"], shown);
    }
    assert_eq!(talk.put("/v1/session/create", json!({"Behavior": "Delete"})).class, Class::SessionBehavior);
}

#[test]
fn c_ses_7_a_ttl_is_a_duration_between_the_minimum_and_a_day_and_zero_is_none() {
    let mut talk = Talk::new();
    for ttl in ["", "0", "0s", "10s", "24h", "1h30m"] {
        assert_eq!(talk.shown(&json!({"TTL": ttl}))["TTL"], ttl, "as it was given");
    }
    for (ttl, class) in [
        ("9999ms", Class::SessionTtlRange),
        ("24h1ns", Class::SessionTtlRange),
        ("-20s", Class::SessionTtlRange),
        ("10", Class::SessionTtl),
        ("x", Class::SessionTtl),
    ] {
        let expected = talk.put("/v1/session/create", json!({"TTL": ttl}));
        assert_eq!((expected.status, expected.class), (500, class), "{ttl}");
    }
    let short = Options { session_ttl_min: SECOND, ..Options::default() };
    let mut talk = Talk { agent: Agent::new("here", short), now: 0, sessions: 0 };
    assert_eq!(talk.shown(&json!({"TTL": "1500ms"}))["TTL"], "1500ms");
    assert_eq!(talk.put("/v1/session/create", json!({"TTL": "999ms"})).class, Class::SessionTtlRange);
}

#[test]
fn c_ses_8_lock_delays_below_1000_nanoseconds_are_taken_for_seconds() {
    let mut talk = Talk::new();
    for (given, stored) in [
        (json!(0), 0_i64),
        (json!(15), 15_000_000_000),
        (json!(999), 999_000_000_000),
        (json!(1000), 1_000),
        (json!(0.5), 0),
        (json!(1.5), 1_000_000_000),
        (json!(15_000_000_000_i64), 15_000_000_000),
        (json!("999ns"), 999_000_000_000),
        (json!("1us"), 1_000),
        (json!("1ms"), 1_000_000),
        (json!(-1), -1_000_000_000),
        (json!("-1s"), -1_000_000_000_000_000_000),
        (json!("-10s"), 8_446_744_073_709_551_616),
        (json!(true), 0),
        (json!({}), 0),
        (json!([]), 0),
        (json!(null), 15_000_000_000),
    ] {
        assert_eq!(talk.shown(&json!({"LockDelay": given}))["LockDelay"], json!(stored), "{given}");
    }
    for given in ["", "15"] {
        assert_eq!(talk.put("/v1/session/create", json!({"LockDelay": given})).class, Class::SessionDelay, "{given}");
    }
}

#[test]
fn c_ses_12_nodes_and_checks_in_any_letter_case_and_shown_as_given() {
    let mut talk = Talk::new();
    talk.node("ext", &["c1"]);
    let shown = talk.shown(&json!({"Node": "EXT", "NodeChecks": ["C1"]}));
    assert_eq!((&shown["Node"], &shown["NodeChecks"]), (&json!("EXT"), &json!(["C1"])));
    assert_eq!(plain(&talk.get("/v1/session/node/ext").body)[0]["Node"], "EXT");
    talk.check("ext", "c1", "critical");
    assert_eq!(plain(&talk.get("/v1/session/node/ext").body), json!([]));
}

#[test]
fn c_ses_13_an_external_node_has_no_serf_health() {
    let mut talk = Talk::new();
    talk.node("ext", &[]);
    let expected = talk.put("/v1/session/create", json!({"Node": "ext"}));
    assert_eq!(expected.body, BodyShape::Text("Missing check 'serfHealth' registration".to_owned()));
}

#[test]
fn c_ses_10_which_lists_of_checks_count_shown_row_by_row() {
    let serf = json!(["serfHealth"]);
    for (requested, node_checks, checks) in [
        (json!({}), serf.clone(), json!(null)),
        (json!({"Checks": []}), json!([]), json!(null)),
        (json!({"NodeChecks": []}), json!([]), json!(null)),
        (json!({"NodeChecks": null}), json!(null), json!(null)),
        (json!({"NodeChecks": ["c1"]}), json!(["c1"]), json!(null)),
        (json!({"Checks": ["c1"]}), serf, json!(["c1"])),
        (json!({"Checks": ["c1"], "NodeChecks": []}), json!([]), json!(null)),
        (json!({"Checks": ["c1"], "NodeChecks": ["c2"]}), json!(["c2"]), json!(["c1"])),
        (json!({"Checks": [], "NodeChecks": ["c1"]}), json!([]), json!(null)),
    ] {
        let mut talk = Talk::new();
        talk.check("here", "c1", "passing");
        talk.check("here", "c2", "passing");
        let shown = talk.shown(&requested);
        assert_eq!((&shown["NodeChecks"], &shown["Checks"]), (&node_checks, &checks), "{requested}");
    }
}

#[test]
fn c_ses_15_unknown_malformed_and_missing_ids() {
    let mut talk = Talk::new();
    assert_eq!(plain(&talk.get(&format!("/v1/session/info/{NOBODY}")).body), json!([]));
    let malformed = talk.get("/v1/session/info/zzz");
    assert_eq!((malformed.status, malformed.class), (500, Class::SessionMalformed));
    for (url, text) in [("/v1/session/info/", "Missing session"), ("/v1/session/node/", "Missing node name")] {
        let expected = talk.get(url);
        assert_eq!((expected.status, expected.body), (400, BodyShape::Text(text.to_owned())));
    }
    assert_eq!(plain(&talk.get("/v1/session/node/nobody").body), json!([]));
    assert_eq!(talk.put("/v1/session/renew/zzz", "").status, 500);
    assert_eq!(talk.put(&format!("/v1/session/renew/{NOBODY}"), "").status, 404);
}

#[test]
fn c_ses_16_fields_of_a_session() {
    let mut talk = Talk::new();
    let shown = talk.shown(&json!({"Name": "n", "TTL": "20s", "LockDelay": "120s", "NodeChecks": []}));
    let create = shown["CreateIndex"].clone();
    assert_eq!(
        shown,
        json!({
            "ID": "bbbbbbbb-0000-0000-0000-000000000001", "Name": "n", "Node": "here", "LockDelay": 120_000_000_000_u64,
            "Behavior": "release", "TTL": "20s", "NodeChecks": [], "ServiceChecks": null,
            "CreateIndex": create, "ModifyIndex": create
        })
    );
}

#[test]
fn c_ses_17_reads_of_sessions_are_at_the_index_of_their_table() {
    let mut talk = Talk::new();
    let first = talk.session(&json!({}));
    let before = talk.get(&format!("/v1/session/info/{first}")).index;
    talk.session(&json!({}));
    let after = talk.get(&format!("/v1/session/info/{first}")).index;
    assert!(after > before, "another session's creation counts");
    talk.put("/v1/kv/k", "x");
    assert_eq!(talk.get("/v1/session/list").index, after, "a key's does not");
}

#[test]
fn c_ses_20_the_same_session_in_other_letters_is_found_and_is_another_holder() {
    let mut talk = Talk::new();
    let id = talk.session(&json!({}));
    let capitals = id.to_uppercase();
    assert_eq!(talk.acquire("k", &capitals).class, Class::Acquired);
    assert_eq!(talk.entry("k")["Session"], json!(capitals));
    assert_eq!(talk.acquire("k", &id).class, Class::AcquireSpelling);
    assert_eq!(talk.put(&format!("/v1/kv/k?release={id}"), "").class, Class::ReleaseOther);
    talk.destroy(&id);
    assert_eq!(talk.entry("k")["Session"], json!(null), "its end frees both");
    assert_eq!(talk.get(&format!("/v1/session/info/{}", id.replace('-', ""))).class, Class::SessionMalformed);
    // The dashes may be anywhere, and more digits are the id of no session.
    let other = talk.session(&json!({}));
    let moved = format!("----{}", other.replace('-', ""));
    assert_eq!(talk.get(&format!("/v1/session/info/{moved}")).class, Class::SessionFound);
    assert_eq!(talk.get(&format!("/v1/session/info/{}", "1".repeat(36))).class, Class::SessionUnknown);
    let odd = format!("{}-{}", "1".repeat(16), "1".repeat(19));
    assert_eq!(talk.get(&format!("/v1/session/info/{odd}")).class, Class::SessionMalformed);
}

#[test]
fn c_inv_12_no_session_is_stored_without_a_behavior() {
    let mut talk = Talk::new();
    talk.node("ext", &[]);
    let id = talk.session(&json!({"Node": "ext", "Behavior": ""}));
    talk.acquire("k", &id);
    assert_eq!(talk.put("/v1/catalog/deregister", json!({"Node": "ext"})).class, Class::NodeRemoved);
    assert_eq!(talk.entry("k")["Session"], json!(null));
}

#[test]
fn c_ttl_10_an_explicit_destroy_stops_the_timer_in_any_letter_case() {
    let mut talk = Talk::new();
    let id = talk.session(&json!({"TTL": "10s"}));
    talk.destroy(&id.to_uppercase());
    talk.pass(100);
    assert_eq!(talk.agent.expirable(Instant::at(talk.now)), []);
}

#[test]
fn c_api_1_a_lock_delay_of_zero_that_is_not_sent_is_15_seconds() {
    let mut talk = Talk::new();
    assert_eq!(talk.shown(&json!({"Name": "Consul API Lock", "TTL": "15000ms"}))["LockDelay"], 15 * SECOND);
    assert_eq!(talk.shown(&json!({"NodeChecks": []}))["NodeChecks"], json!([]));
}

#[test]
fn c_ses_8_a_bad_lock_delay_is_refused_with_its_error() {
    let mut talk = Talk::new();
    for (delay, why) in [("x", "invalid duration"), ("15", "missing unit"), ("1x", "unknown unit")] {
        let refused = talk.put("/v1/session/create", json!({"LockDelay": delay}));
        assert_eq!(refused.class, Class::SessionDelay);
        assert!(plain(&refused.body).as_str().unwrap().contains(&format!("time: {why}")), "{delay}");
    }
}

#[test]
fn c_ses_21_a_service_check_without_an_id_is_registered_nowhere() {
    let mut talk = Talk::new();
    talk.node("ext", &["c1"]);
    let mut with = |checks: Value| {
        talk.put("/v1/session/create", json!({"Node": "ext", "NodeChecks": [], "ServiceChecks": checks}))
    };
    for checks in [json!([{"ID": ""}]), json!([{}]), json!([null]), json!([{"ID": "c1"}, {}])] {
        let refused = with(checks.clone());
        assert_eq!(plain(&refused.body), json!("Missing check '' registration"), "{checks}");
    }
    for checks in [json!(["c1"]), json!([{"ID": 5}]), json!({}), json!("c1")] {
        assert_eq!(with(checks.clone()).class, Class::SessionBody, "{checks}");
    }
    assert_eq!(with(json!([{"id": "C1"}])).class, Class::SessionCreated);
}

#[test]
fn c_ses_22_null_in_a_list_leaves_the_default_in_its_place() {
    let mut talk = Talk::new();
    talk.node("ext", &["c1"]);
    assert_eq!(talk.shown(&json!({"NodeChecks": [null]}))["NodeChecks"], json!(["serfHealth"]));
    let shown = talk.shown(&json!({"Node": "ext", "NodeChecks": ["c1"], "Checks": [null]}));
    assert_eq!(
        (&shown["NodeChecks"], &shown["Checks"]),
        (&json!(["c1"]), &json!(null)),
        "it is the default, and dropped"
    );
    let refused = talk.put("/v1/session/create", json!({"Node": "ext", "NodeChecks": ["c1", null]}));
    assert_eq!(plain(&refused.body), json!("Missing check '' registration"));
}
