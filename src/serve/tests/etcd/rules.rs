//! Rules of the API that no recipe needs, and the searched model leaves out: the store that `fencepost conform --etcd` holds against a real server answers
//! here, behind its gateway.

use serde_json::{Value, json};

use super::bench::{Bench, bytes};

/// The revision of a header.
fn at(body: &Value) -> i64 {
    body["header"]["revision"].as_str().and_then(|revision| revision.parse().ok()).expect("a header")
}

fn put(bench: &mut Bench, key: &str) -> i64 {
    at(&bench.ask("/v3/kv/put", json!({"key": bytes(key)})).1)
}

/// The keys of a range, with what else is asked of it; and its body.
fn range(bench: &mut Bench, mut asked: Value) -> (Vec<String>, Value) {
    asked["key"] = asked.get("key").cloned().unwrap_or_else(|| json!(bytes("a")));
    let (status, body) = bench.ask("/v3/kv/range", asked);
    assert_eq!(status, 200, "{body}");
    let names = ["a", "b", "c", "d"].map(|name| (bytes(name), name.to_owned()));
    let keys = body["kvs"].as_array().into_iter().flatten().map(|entry| {
        let found = names.iter().find(|(key, _)| entry["key"] == *key);
        found.expect("a known key").1.clone()
    });
    (keys.collect(), body)
}

#[test]
fn e_gen_3_every_answer_has_a_header_and_a_fresh_store_has_revision_1() {
    let mut bench = Bench::new("");
    for (path, body) in [("/v3/kv/range", json!({"key": bytes("a")})), ("/v3/lease/leases", json!({}))] {
        let header = bench.ask(path, body).1["header"].clone();
        assert_eq!((&header["revision"], &header["raft_term"]), (&json!("1"), &json!("2")));
        assert!(header["cluster_id"].is_string() && header["member_id"].is_string());
    }
}

#[test]
fn e_gen_7_an_error_is_said_twice_with_its_code() {
    let mut bench = Bench::new("");
    for (path, body, status, code, message) in [
        ("/v3/kv/put", json!({}), 400, 3, "etcdserver: key is not provided"),
        ("/v3/lease/revoke", json!({"ID": 7}), 404, 5, "etcdserver: requested lease not found"),
        ("/v3/lease/grant", json!({"ID": 8, "TTL": 9_000_000_001_i64}), 400, 11, "etcdserver: too large lease TTL"),
        ("/v3/election/leader", json!({"name": bytes("n")}), 500, 2, "election: no leader"),
    ] {
        let expected = json!({"error": message, "message": message, "code": code});
        assert_eq!(bench.ask(path, body), (status, expected));
    }
    bench.grant(8, 60);
    let (status, twice) = bench.ask("/v3/lease/grant", json!({"ID": 8, "TTL": 60}));
    assert_eq!((status, &twice["code"]), (412, &json!(9)));
}

#[test]
fn e_kv_2_a_delete_of_many_keys_has_one_revision_and_one_of_nothing_has_none() {
    let mut bench = Bench::new("");
    for key in ["a", "b", "c"] {
        put(&mut bench, key);
    }
    let all = json!({"key": bytes("a"), "range_end": bytes("d")});
    let (_, deleted) = bench.ask("/v3/kv/deleterange", all.clone());
    assert_eq!((at(&deleted), &deleted["deleted"]), (5, &json!("3")));
    let (status, nothing) = bench.ask("/v3/kv/deleterange", all);
    assert_eq!((status, at(&nothing), nothing.get("deleted")), (200, 5, None));
}

#[test]
fn e_kv_3_what_writes_nothing_raises_no_revision() {
    let mut bench = Bench::new("");
    put(&mut bench, "a");
    bench.grant(7, 60);
    let failed = json!({"compare": [{"key": bytes("a"), "target": "CREATE"}], "success": [{"request_put": {"key": bytes("b")}}]});
    for (path, body) in [
        ("/v3/kv/txn", failed),
        ("/v3/kv/deleterange", json!({"key": bytes("z")})),
        ("/v3/lease/keepalive", json!({"ID": 7})),
        ("/v3/lease/revoke", json!({"ID": 7})),
        ("/v3/kv/put", json!({"key": bytes("a"), "lease": 9})),
        ("/v3/kv/compaction", json!({"revision": 2})),
    ] {
        bench.ask(path, body);
        assert_eq!(at(&range(&mut bench, json!({})).1), 2, "{path}");
    }
}

#[test]
fn e_kv_4_what_is_ignored_is_kept_and_must_be_there_and_not_be_given() {
    let mut bench = Bench::new("");
    bench.grant(7, 60);
    let first = json!({"key": bytes("a"), "value": bytes("x"), "lease": 7});
    assert_eq!(bench.ask("/v3/kv/put", first).0, 200);
    let (_, kept) = bench
        .ask("/v3/kv/put", json!({"key": bytes("a"), "ignore_value": true, "ignore_lease": true, "prev_kv": true}));
    assert_eq!((&kept["prev_kv"]["value"], &kept["prev_kv"]["version"]), (&json!(bytes("x")), &json!("1")));
    let entry = range(&mut bench, json!({})).1["kvs"][0].clone();
    assert_eq!((&entry["value"], &entry["lease"], &entry["version"]), (&json!(bytes("x")), &json!("7"), &json!("2")));
    for (body, message) in [
        (json!({"key": bytes("b"), "ignore_value": true}), "etcdserver: key not found"),
        (json!({"key": bytes("a"), "value": bytes("x"), "ignore_value": true}), "etcdserver: value is provided"),
        (json!({"key": bytes("a"), "lease": 7, "ignore_lease": true}), "etcdserver: lease is provided"),
    ] {
        let (status, refused) = bench.ask("/v3/kv/put", body);
        assert_eq!((status, &refused["error"]), (400, &json!(message)));
    }
}

#[test]
fn e_kv_5_the_end_of_a_range_is_none_all_or_another_key() {
    let mut bench = Bench::new("");
    for key in ["a", "b", "c"] {
        put(&mut bench, key);
    }
    let mut keys = |end: Value| range(&mut bench, json!({"range_end": end})).0.concat();
    assert_eq!(keys(json!("")), "a");
    assert_eq!(keys(json!("AA==")), "abc");
    assert_eq!(keys(json!(bytes("c"))), "ab");
    assert_eq!(keys(json!(bytes("a"))), "");
}

#[test]
fn e_kv_6_a_limit_cuts_what_is_sorted_and_filtered_and_the_count_is_of_all() {
    let mut bench = Bench::new("");
    for key in ["c", "a", "b", "d"] {
        put(&mut bench, key);
    }
    let asked = |more: Value| {
        let mut asked = json!({"range_end": "AA=="});
        more.as_object().expect("fields").iter().for_each(|(name, value)| asked[name] = value.clone());
        asked
    };
    assert_eq!(range(&mut bench, asked(json!({}))).0.concat(), "abcd");
    let (keys, cut) = range(&mut bench, asked(json!({"sort_target": "CREATE", "limit": 2, "min_create_revision": 3})));
    assert_eq!((&*keys.concat(), &cut["more"], &cut["count"]), ("ab", &json!(true), &json!("4")));
    let (_, counted) = range(&mut bench, asked(json!({"count_only": true})));
    assert_eq!((counted.get("kvs"), &counted["count"]), (None, &json!("4")));
    let (_, bare) = range(&mut bench, asked(json!({"keys_only": true, "limit": -1})));
    assert!(bare.get("more").is_none() && bare["kvs"][0].get("value").is_none());
}

#[test]
fn e_kv_8_the_past_is_read_down_to_the_compact_revision() {
    let mut bench = Bench::new("");
    for key in ["a", "b", "a"] {
        put(&mut bench, key);
    }
    assert_eq!(bench.ask("/v3/kv/compaction", json!({"revision": 3})).0, 200);
    let (_, past) = range(&mut bench, json!({"revision": 3}));
    assert_eq!((&past["kvs"][0]["version"], at(&past)), (&json!("1"), 4));
    for (revision, message) in [(2, "has been compacted"), (5, "is a future revision")] {
        let (status, refused) = bench.ask("/v3/kv/range", json!({"key": bytes("a"), "revision": revision}));
        assert!(status == 400 && refused["error"].to_string().contains(message), "{refused}");
    }
    assert_eq!(range(&mut bench, json!({"revision": -1})).1["kvs"][0]["version"], "2");
}

#[test]
fn e_txn_5_a_key_is_written_once_in_a_branch() {
    let mut bench = Bench::new("");
    let of = |name: &str, body: Value| json!({ (name): body });
    let (put, delete) =
        (of("request_put", json!({"key": bytes("a")})), of("request_delete_range", json!({"key": bytes("a")})));
    let duplicate = json!("etcdserver: duplicate key given in txn request");
    for operations in [json!([put, put]), json!([put, delete]), json!([delete, put])] {
        for branch in ["success", "failure"] {
            let (status, refused) = bench.ask("/v3/kv/txn", json!({ (branch): operations }));
            assert_eq!((status, &refused["error"]), (400, &duplicate), "{operations}");
        }
    }
    assert_eq!(bench.ask("/v3/kv/txn", json!({"success": [delete, delete]})).0, 200);
    let many: Vec<Value> =
        (0..129).map(|number| of("request_range", json!({"key": bytes(&format!("k{number}"))}))).collect();
    assert_eq!(bench.ask("/v3/kv/txn", json!({"success": many[1..]})).0, 200);
    let (status, refused) = bench.ask("/v3/kv/txn", json!({"success": many}));
    assert_eq!((status, &refused["error"]), (400, &json!("etcdserver: too many operations in txn request")));
}

#[test]
fn e_txn_7_an_inner_transaction_is_decided_before_something_is_written() {
    let mut bench = Bench::new("");
    let inner = json!({"compare": [{"key": bytes("a"), "target": "CREATE"}], "success": [{"request_put": {"key": bytes("b")}}]});
    let outer = json!({"success": [{"request_put": {"key": bytes("a")}}, {"request_txn": inner}]});
    let (_, done) = bench.ask("/v3/kv/txn", outer);
    let within = &done["responses"][1]["response_txn"];
    assert_eq!((&within["succeeded"], within["header"].get("revision")), (&json!(true), None));
    assert!(bench.has("b"));
}

#[test]
fn e_w_4_a_deletion_has_key_and_revision_and_a_put_no_type() {
    let mut bench = Bench::new("");
    put(&mut bench, "a");
    bench.ask("/v3/kv/deleterange", json!({"key": bytes("a")}));
    let create = json!({"create_request": {"key": bytes("a"), "start_revision": 2, "prev_kv": true}});
    let stream = bench.send("a", "/v3/watch", create);
    let said: Vec<Value> = std::iter::from_fn(|| match bench.outcome(stream)? {
        fencepost_serve::RequestOutcome::Message(answer) => Some(answer.value()["result"]["events"].clone()),
        other => panic!("{other:?}"),
    })
    .collect();
    let events = said[1].as_array().expect("events");
    assert_eq!((events[0].get("type"), events[0].get("prev_kv")), (None, None));
    assert_eq!(events[1]["kv"], json!({"key": bytes("a"), "mod_revision": "3"}));
    assert_eq!((&events[1]["type"], &events[1]["prev_kv"]["mod_revision"]), (&json!("DELETE"), &json!("2")));
}

#[test]
fn e_cc_16_the_header_of_a_lock_that_waited_has_the_revision_of_its_turn() {
    let mut bench = Bench::new("");
    [7, 8].into_iter().for_each(|id| bench.grant(id, 60));
    let [first, second] = [7, 8].map(|id| bench.send("a", "/v3/lock/lock", json!({"name": bytes("n"), "lease": id})));
    assert_eq!(at(&bench.answer(first).value()), 2);
    put(&mut bench, "a");
    assert_eq!(bench.ask("/v3/lock/unlock", json!({"key": bytes("n/7")})).0, 200);
    let locked = bench.answer(second).value();
    let (_, own) = range(&mut bench, json!({"key": locked["key"], "count_only": true}));
    assert_eq!((at(&locked), at(&own)), (5, 5));
    assert_eq!(bench.ask("/v3/kv/range", json!({"key": locked["key"]})).1["kvs"][0]["create_revision"], "3");
}

#[test]
fn e_cc_23_the_leader_is_the_oldest_key() {
    let mut bench = Bench::new("");
    [7, 8].into_iter().for_each(|id| bench.grant(id, 60));
    let campaign = |id: i64| json!({"name": bytes("n"), "lease": id, "value": bytes("v")});
    bench.ask("/v3/election/campaign", campaign(8));
    bench.send("a", "/v3/election/campaign", campaign(7));
    let mut leader = || bench.ask("/v3/election/leader", json!({"name": bytes("n")})).1["kv"]["key"].clone();
    assert_eq!(leader(), bytes("n/8"));
}

#[test]
fn e_gen_5_an_unknown_number_of_a_sort_target_is_refused_where_a_real_server_dies() {
    let mut bench = Bench::new("");
    let (status, refused) =
        bench.ask("/v3/kv/range", json!({"key": bytes("a"), "range_end": "AA==", "sort_target": 9}));
    assert_eq!((status, &refused["code"]), (501, &json!(12)));
}
