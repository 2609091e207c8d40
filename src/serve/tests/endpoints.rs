//! What clients ask of an agent besides keys and sessions.

use serde_json::json;

use crate::bench::Bench;

#[test]
fn a_client_finds_a_leader_a_node_and_an_agent() {
    let mut bench = Bench::new();
    assert_eq!(bench.get("/v1/status/leader"), "127.0.0.1:8300");
    assert_eq!(bench.get("/v1/status/peers"), json!(["127.0.0.1:8300"]));
    assert_eq!(bench.get("/v1/catalog/datacenters"), json!(["dc1"]));
    let about = bench.get("/v1/agent/self");
    assert_eq!((&about["Config"]["NodeName"], &about["Config"]["Version"]), (&json!("fencepost"), &json!("1.8.7")));
    let answer = bench.ask("a", "GET", "/v1/catalog/nodes", "");
    assert_eq!(answer.value()[0]["Node"], "fencepost");
    for (header, value) in [("X-Consul-KnownLeader", "true"), ("X-Consul-LastContact", "0")] {
        assert_eq!(answer.header(header), Some(value));
    }
    assert!(answer.index() > Some(0));
    assert_eq!(bench.get("/v1/health/node/fencepost")[0]["Status"], "passing");
    assert_eq!(bench.get("/v1/agent/members")[0]["Status"], 1);
}

#[test]
fn a_missing_endpoint_is_refused_by_its_name() {
    let mut bench = Bench::new();
    for (method, url, status) in [
        ("GET", "/v1/coordinate/nodes", 501),
        ("PUT", "/v1/acl/bootstrap", 501),
        ("PUT", "/v1/event/fire/x", 501),
        ("GET", "/v1/nothing", 404),
        ("GET", "/ui/", 404),
    ] {
        let answer = bench.ask("a", method, url, "");
        assert_eq!(answer.status, status, "{url}");
        let named = String::from_utf8_lossy(&answer.body).contains(&format!("{method} {url}"));
        assert_eq!(named, status == 501, "{url}: {answer:?}");
    }
}

#[test]
fn a_filter_expression_is_refused_and_not_ignored() {
    let mut bench = Bench::new();
    assert_eq!(bench.ask("a", "GET", "/v1/catalog/nodes?filter=", "").status, 200);
    for url in ["/v1/catalog/nodes?filter=Node==x", "/v1/health/state/any?filter=x", "/v1/agent/services?filter=x"] {
        assert_eq!(bench.ask("a", "GET", url, "").status, 501, "{url}");
    }
}

#[test]
fn c_gen_12_lists_of_another_datacenter_are_out_of_reach() {
    let mut bench = Bench::new();
    for url in ["/v1/catalog/nodes", "/v1/catalog/service/db", "/v1/health/state/any", "/v1/health/checks/db"] {
        assert_eq!(bench.ask("a", "GET", &format!("{url}?dc=dc1"), "").status, 200, "{url}");
        let answer = bench.ask("a", "GET", &format!("{url}?dc=dc2"), "");
        assert_eq!((answer.status, &answer.body[..]), (500, &b"No path to datacenter"[..]), "{url}");
    }
    assert_eq!(bench.ask("a", "GET", "/v1/catalog/datacenters?dc=dc2", "").status, 200);
}

#[test]
fn nodes_services_and_checks_are_shown_as_they_were_registered() {
    let mut bench = Bench::new();
    let service = json!({"ID": "db-1", "Service": "db", "Tags": ["main"], "Port": 5432, "Meta": {"a": "b"}});
    let check = json!({"CheckID": "alive", "Name": "is it up", "Status": "passing", "ServiceID": "db-1", "Notes": "!"});
    let node =
        json!({"Node": "N1", "Address": "10.0.0.1", "NodeMeta": {"zone": "z"}, "Service": service, "Check": check});
    bench.put("a", "/v1/catalog/register", &node.to_string());
    assert_eq!(bench.get("/v1/catalog/services")["db"], json!(["main"]));
    let instance = &bench.get("/v1/catalog/service/db?tag=main")[0];
    assert_eq!((&instance["Node"], &instance["ServicePort"]), (&json!("N1"), &json!(5432)));
    assert_eq!(bench.get("/v1/catalog/service/db?tag=other"), json!([]));
    assert_eq!(bench.get("/v1/catalog/node/n1")["Services"]["db-1"]["Meta"], json!({"a": "b"}));
    let healthy = &bench.get("/v1/health/service/db?passing")[0];
    assert_eq!((&healthy["Node"]["Meta"]["zone"], &healthy["Checks"][0]["Notes"]), (&json!("z"), &json!("!")));
    assert_eq!(bench.get("/v1/health/node/n1")[0]["ServiceName"], "db");
    assert_eq!(bench.get("/v1/health/checks/db")[0]["Name"], "is it up");
    bench.put("a", "/v1/catalog/deregister", &json!({"Node": "N1", "ServiceID": "db-1"}).to_string());
    assert_eq!(bench.get("/v1/health/service/db"), json!([]));
    assert_eq!(bench.get("/v1/health/state/any").as_array().map(Vec::len), Some(1), "its check went with it");
}

#[test]
fn a_service_of_a_node_that_is_there_needs_no_address() {
    let mut bench = Bench::new();
    let body = |node: &str| json!({"Node": node, "SkipNodeUpdate": true, "Service": {"Service": "db"}}).to_string();
    bench.put("a", "/v1/catalog/register", &body("fencepost"));
    assert_eq!(bench.get("/v1/catalog/service/db")[0]["Address"], "127.0.0.1");
    let refused = bench.ask("a", "PUT", "/v1/catalog/register", &json!({"Node": "fencepost"}).to_string());
    assert_eq!(refused.status, 500);
}

#[test]
fn c_inv_10_a_ttl_check_of_the_agent_ends_a_session_without_a_report() {
    let mut bench = Bench::new();
    let service = json!({"Name": "worker", "Check": {"TTL": "5s"}});
    assert_eq!(bench.ask("a", "PUT", "/v1/agent/service/register", &service.to_string()).status, 200);
    let terms = json!({"NodeChecks": ["service:worker"]}).to_string();
    let refused = bench.ask("a", "PUT", "/v1/session/create", &terms);
    assert!(
        String::from_utf8_lossy(&refused.body).contains("Check 'service:worker' is in critical state"),
        "{refused:?}"
    );
    assert_eq!(bench.ask("a", "PUT", "/v1/agent/check/pass/service:worker?note=well", "").status, 200);
    let session = bench.put("a", "/v1/session/create", &terms)["ID"].as_str().expect("an id").to_owned();
    assert_eq!(bench.get("/v1/agent/checks")["service:worker"]["Output"], "well");
    assert_eq!(bench.get("/v1/agent/services")["worker"]["Service"], "worker");
    bench.advance("4s");
    assert_eq!(bench.ask("a", "PUT", "/v1/agent/check/pass/service:worker", "").status, 200);
    bench.advance("4.9s");
    assert!(bench.lives(&session));
    bench.advance("0.1s");
    assert!(!bench.lives(&session));
    assert_eq!(bench.ask("a", "PUT", "/v1/agent/service/deregister/worker", "").status, 200);
    assert_eq!(bench.get("/v1/agent/services"), json!({}));
    let odd = json!({"Name": "odd", "Check": {"TTL": "5s", "Status": "fluffy"}}).to_string();
    assert_eq!(bench.ask("a", "PUT", "/v1/agent/service/register", &odd).status, 400);
    let probe = json!({"Name": "web", "Check": {"HTTP": "http://127.0.0.1/", "Interval": "1s"}}).to_string();
    assert_eq!(bench.ask("a", "PUT", "/v1/agent/service/register", &probe).status, 501);
}

#[test]
fn keys_are_cut_at_a_separator_and_json_is_pretty_where_that_is_wanted() {
    let mut bench = Bench::new();
    for key in ["a/b/c", "a/b/d", "a/e"] {
        bench.put("a", &format!("/v1/kv/{key}"), "x");
    }
    assert_eq!(bench.get("/v1/kv/a/?keys&separator=/"), json!(["a/b/", "a/e"]));
    let plain = bench.ask("a", "GET", "/v1/kv/a/e", "");
    let pretty = bench.ask("a", "GET", "/v1/kv/a/e?pretty", "");
    assert_eq!(plain.value(), pretty.value());
    assert!(pretty.body.starts_with(b"[\n    {\n") && !plain.body.contains(&b'\n'));
    assert_eq!(plain.value()[0]["Value"], "eA==");
}

#[test]
fn c_txn_5_a_transaction_answers_with_results_or_errors() {
    let mut bench = Bench::new();
    let session = bench.session("a", "", "0s");
    let kv = |verb: &str, more: serde_json::Value| {
        let mut kv = json!({"Verb": verb, "Key": "lead"});
        kv.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        json!({"KV": kv})
    };
    let body = json!([kv("lock", json!({"Value": "eA==", "Session": session})), kv("get", json!({}))]);
    let done = bench.put("a", "/v1/txn", &body.to_string());
    assert_eq!((&done["Errors"], &done["Results"][1]["KV"]["Value"]), (&json!(null), &json!("eA==")));
    let node = json!([{"Node": {"Verb": "set", "Node": {"Node": "n7", "Address": "::1"}}}]);
    assert_eq!(bench.put("a", "/v1/txn", &node.to_string())["Results"][0]["Node"]["Address"], "::1");
    let failed = bench.ask("a", "PUT", "/v1/txn", &json!([kv("check-index", json!({"Index": 1}))]).to_string());
    assert_eq!(failed.status, 409);
    let what = failed.value()["Errors"][0]["What"].as_str().expect("a text").to_owned();
    assert!(what.starts_with("failed index check for key \"lead\", current modify index "), "{what}");
    let read = bench.ask("a", "PUT", "/v1/txn", &json!([kv("get", json!({}))]).to_string());
    assert_eq!((&read.value()["KnownLeader"], read.header("X-Consul-KnownLeader")), (&json!(true), Some("true")));
    assert_eq!(read.index(), None);
}

#[test]
fn errors_have_the_words_of_consul() {
    let mut bench = Bench::new();
    for (method, url, body, status, text) in [
        (
            "PUT",
            "/v1/session/create",
            r#"{"TTL": "5s"}"#,
            500,
            "Invalid Session TTL '5000000000', must be between [10s=24h0m0s]",
        ),
        ("PUT", "/v1/kv/lead?acquire=x", "", 500, "failed session lookup: index error: UUID must be 36 characters"),
        ("POST", "/v1/kv/lead", "", 405, "method POST not allowed"),
        ("GET", "/v1/kv/lead?stale&consistent", "", 400, "Cannot specify ?stale with ?consistent"),
    ] {
        let answer = bench.ask("a", method, url, body);
        assert_eq!((answer.status, String::from_utf8_lossy(&answer.body).as_ref()), (status, text), "{method} {url}");
    }
    let moved = bench.ask("a", "PUT", "/v1/kv//lead?flags=1", "x");
    assert_eq!((moved.status, moved.header("Location")), (301, Some("/v1/kv/lead?flags=1")));
    let options = bench.ask("a", "OPTIONS", "/v1/kv/lead", "");
    assert_eq!((options.status, options.header("Allow")), (200, Some("OPTIONS,GET,PUT,DELETE")));
}

#[test]
fn what_is_ignored_of_a_check_is_said_once() {
    let mut bench = Bench::new();
    for name in ["one", "two"] {
        let check = json!({"Name": name, "TTL": "10s", "DeregisterCriticalServiceAfter": "1m"});
        assert_eq!(bench.ask("a", "PUT", "/v1/agent/check/register", &check.to_string()).status, 200);
    }
    let news = bench.stand_in.news();
    assert!(matches!(news[..], [one] if one.starts_with("DeregisterCriticalServiceAfter is ignored")), "{news:?}");
}
