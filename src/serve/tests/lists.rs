//! Lists of nodes, services and checks, and what narrows them: as the tests of Consul's Go client ask for them.

use serde_json::{Value, json};

use crate::bench::Bench;

/// A node with an instance of a service and a check of that.
fn register(bench: &mut Bench, node: &str, tags: &[&str], status: &str) {
    let service = json!({"ID": format!("db-{node}"), "Service": "db", "Tags": tags});
    let check = json!({"CheckID": format!("alive-{node}"), "Status": status, "ServiceID": format!("db-{node}")});
    let body =
        json!({"Node": node, "Address": "10.0.0.1", "NodeMeta": {"zone": node}, "Service": service, "Check": check});
    bench.put("a", "/v1/catalog/register", &body.to_string());
}

/// The nodes in a list of instances, or of nodes and checks.
#[track_caller]
fn nodes(bench: &mut Bench, url: &str) -> Vec<String> {
    let found = bench.get(url);
    let list = if found.is_object() { &found["Nodes"] } else { &found };
    let node = |one: &Value| one["Node"]["Node"].as_str().or(one["Node"].as_str()).expect("a node").to_owned();
    list.as_array().expect("a list").iter().map(node).collect()
}

#[test]
fn every_tag_and_all_metadata_of_the_node_must_fit() {
    let mut bench = Bench::new();
    register(&mut bench, "n1", &["main", "v2"], "passing");
    register(&mut bench, "n2", &["main"], "passing");
    for (url, expected) in [
        ("/v1/catalog/service/db?tag=main", &["n1", "n2"][..]),
        ("/v1/catalog/service/db?tag=main&tag=v2", &["n1"]),
        ("/v1/health/service/db?tag=v2&tag=main", &["n1"]),
        ("/v1/health/service/db?tag=v2&tag=v3", &[]),
        ("/v1/catalog/service/db?node-meta=zone:n2", &["n2"]),
        ("/v1/health/service/db?node-meta=zone:n2&node-meta=zone:n1", &[]),
        ("/v1/catalog/nodes?node-meta=zone:n1", &["n1"]),
        ("/v1/health/checks/db?node-meta=zone:n2", &["n2"]),
        ("/v1/health/state/any?node-meta=zone:n2", &["n2"]),
    ] {
        assert_eq!(nodes(&mut bench, url), expected, "{url}");
    }
    assert_eq!(bench.get("/v1/catalog/services?node-meta=zone:n2"), json!({"db": ["main"]}));
}

#[test]
fn a_prepared_query_finds_instances_by_their_checks_and_tags() {
    let mut bench = Bench::new();
    for (node, tags, status) in
        [("n1", &["main"][..], "passing"), ("n2", &["main", "old"], "warning"), ("n3", &[], "critical")]
    {
        register(&mut bench, node, tags, status);
    }
    for (terms, expected) in [
        (json!({}), &["n1", "n2"][..]),
        (json!({"OnlyPassing": true}), &["n1"]),
        (json!({"IgnoreCheckIDs": ["alive-n3"]}), &["n1", "n2", "n3"]),
        (json!({"OnlyPassing": true, "IgnoreCheckIDs": ["alive-n2"]}), &["n1", "n2"]),
        (json!({"Tags": ["main", "!old"]}), &["n1"]),
    ] {
        let mut service = terms.clone();
        service["Service"] = json!("db");
        let body = json!({"Name": terms.to_string(), "Service": service}).to_string();
        let query = bench.ask("a", "POST", "/v1/query", &body).value()["ID"].as_str().expect("an id").to_owned();
        assert_eq!(nodes(&mut bench, &format!("/v1/query/{query}/execute")), expected, "{terms}");
    }
}

#[test]
fn what_a_registration_says_besides_is_shown_as_consul_shows_it() {
    let mut bench = Bench::new();
    let addresses = json!({"lan": {"Address": "10.0.0.2", "Port": 80}});
    let body = json!({
        "Node": "n1", "Address": "10.0.0.1", "Service": {"Service": "db", "TaggedAddresses": addresses},
        "Checks": [{"CheckID": "probed", "Definition": {"TCP": "10.0.0.1:80", "Interval": "5s"}}, {"CheckID": "plain"}],
    });
    bench.put("a", "/v1/catalog/register", &body.to_string());
    let instance = &bench.get("/v1/catalog/service/db")[0];
    assert_eq!(instance["ServiceTaggedAddresses"], addresses);
    assert_eq!(instance["ServiceProxy"], json!({"MeshGateway": {}, "Expose": {}}));
    let of = |value: &Value, id: &str, field: &str| {
        let check = value.as_array().expect("a list").iter().find(|check| check["CheckID"] == id);
        check.expect("it is there")[field].clone()
    };
    let checks = bench.get("/v1/health/node/n1");
    assert_eq!((of(&checks, "probed", "Type"), of(&checks, "plain", "Type")), (json!("tcp"), json!("")));
    assert_eq!(of(&checks, "plain", "ServiceTags"), json!([]));
    let get = json!([{"Check": {"Verb": "get", "Check": {"Node": "n1", "CheckID": "plain"}}}]).to_string();
    assert_eq!(bench.put("a", "/v1/txn", &get)["Results"][0]["Check"]["ServiceTags"], json!(null));
}

#[test]
fn a_service_of_the_agent_can_replace_its_checks() {
    let mut bench = Bench::new();
    let mut register = |url: &str, body: Value| {
        assert_eq!(bench.ask("a", "PUT", url, &body.to_string()).status, 200);
        let checks = bench.get("/v1/agent/checks");
        checks.as_object().expect("by id").keys().cloned().collect::<Vec<_>>()
    };
    let url = "/v1/agent/service/register";
    assert_eq!(register(url, json!({"Name": "w", "Check": {"TTL": "5s"}})), ["service:w"]);
    assert_eq!(register(url, json!({"Name": "w"})), ["service:w"], "the checks stay");
    let replaces = format!("{url}?replace-existing-checks=true");
    assert_eq!(register(&replaces, json!({"Name": "w", "Check": {"CheckID": "new", "TTL": "5s"}})), ["new"]);
    assert_eq!(register(&replaces, json!({"Name": "w"})), [""; 0]);
}
