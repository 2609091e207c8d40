//! Indexes of nodes, services and checks, and transactions that compare them.

use super::*;

const ID: &str = "11111111-1111-1111-1111-111111111111";

fn node_of(talk: &mut Talk, name: &str) -> Value {
    plain(&talk.get(&format!("/v1/catalog/node/{name}")).body)
}

fn check_of(talk: &mut Talk, name: &str) -> Value {
    plain(&talk.get(&format!("/v1/health/node/{name}")).body)[0].clone()
}

/// A transaction with one operation: its result, or why it failed.
fn once(talk: &mut Talk, operation: &Value) -> Value {
    let answer = talk.txn(&json!([operation]));
    let body = plain(&answer.body);
    let results = body["Results"].as_array().and_then(|results| results.first()).cloned();
    match body["Errors"][0]["What"].as_str() {
        Some(what) => json!(what),
        None => results.unwrap_or(json!("done")),
    }
}

fn node(verb: &str, name: &str, address: &str, at: Value) -> Value {
    json!({"Node": {"Verb": verb, "Node": {"Node": name, "Address": address, "ModifyIndex": at}}})
}

fn service(verb: &str, on: &str, fields: &Value) -> Value {
    let mut item = json!({"Service": "svc"});
    item.as_object_mut().expect("an object").extend(fields.as_object().cloned().unwrap_or_default());
    json!({"Service": {"Verb": verb, "Node": on, "Service": item}})
}

fn check(verb: &str, on: &str, fields: &Value) -> Value {
    let mut item = json!({"Node": on, "CheckID": "c1", "Name": "c1", "Status": "passing"});
    item.as_object_mut().expect("an object").extend(fields.as_object().cloned().unwrap_or_default());
    json!({"Check": {"Verb": verb, "Check": item}})
}

#[test]
fn c_inv_17_a_registration_that_changes_nothing_keeps_both_indexes() {
    let mut talk = Talk::new();
    let register = |talk: &mut Talk, part: &Value| {
        let mut body = json!({"Node": "ext", "Address": "127.0.0.1"});
        body.as_object_mut().expect("an object").extend(part.as_object().cloned().unwrap_or_default());
        talk.put("/v1/catalog/register", body);
    };
    let one = |fields: Value| json!({"CheckID": "c1", "Name": "c1", "Status": "passing", "More": fields});
    register(&mut talk, &json!({"Service": {"Service": "svc"}, "Check": one(json!(1))}));
    let indexes = |talk: &mut Talk| {
        let (node, check) = (node_of(talk, "ext"), check_of(talk, "ext"));
        [&node["Node"], &node["Services"]["svc"], &check].map(|item| item["ModifyIndex"].as_u64().expect("an index"))
    };
    let first = indexes(&mut talk);
    // An unknown field makes no difference, nor does the kind of request.
    register(&mut talk, &json!({"Service": {"Service": "svc"}, "Check": one(json!(2))}));
    for operation in [
        node("set", "ext", "127.0.0.1", json!(null)),
        service("set", "ext", &json!({})),
        check("set", "ext", &json!({"Type": "ttl", "Definition": {}})),
    ] {
        talk.txn(&json!([operation]));
    }
    register(&mut talk, &json!({"Address": "127.0.0.2", "SkipNodeUpdate": true}));
    assert_eq!(indexes(&mut talk), first);
    let created = node_of(&mut talk, "ext")["Node"]["CreateIndex"].clone();
    // Each of these changes one of the three, by the letter case, too.
    for (part, place) in [
        (json!({"Address": "127.0.0.2"}), 0),
        (json!({"NodeMeta": {}}), 0),
        (json!({"Node": "EXT"}), 0),
        (json!({"SkipNodeUpdate": true, "Service": {"Service": "svc", "Tags": []}}), 1),
        (json!({"SkipNodeUpdate": true, "Service": {"Service": "svc", "Port": 80}}), 1),
        (json!({"SkipNodeUpdate": true, "Check": {"CheckID": "C1", "Name": "c1", "Status": "passing"}}), 2),
        (json!({"SkipNodeUpdate": true, "Check": {"CheckID": "C1", "Status": "passing"}}), 2),
        (json!({"SkipNodeUpdate": true, "Check": {"CheckID": "C1", "Status": "warning"}}), 2),
        (json!({"SkipNodeUpdate": true, "Check": {"CheckID": "C1", "Status": "warning", "ServiceID": "svc"}}), 2),
    ] {
        let before = indexes(&mut talk);
        register(&mut talk, &part);
        let after = indexes(&mut talk);
        let changed: Vec<usize> = (0..3).filter(|place| after[*place] > before[*place]).collect();
        assert_eq!(changed, [place], "{part}");
    }
    // A check takes the tags of its service over when it is registered again.
    let same = json!({"SkipNodeUpdate": true, "Check": {"CheckID": "C1", "Status": "warning", "ServiceID": "svc"}});
    let before = indexes(&mut talk);
    register(&mut talk, &json!({"SkipNodeUpdate": true, "Service": {"Service": "svc", "Tags": ["t"]}}));
    assert_eq!(indexes(&mut talk)[2], before[2]);
    register(&mut talk, &same);
    assert!(indexes(&mut talk)[2] > before[2]);
    assert_eq!(check_of(&mut talk, "ext")["ServiceTags"], json!(["t"]));
    assert_eq!(node_of(&mut talk, "ext")["Node"]["CreateIndex"], created);
    // It counts how the node of a service is written.
    let before = indexes(&mut talk);
    talk.txn(&json!([service("set", "Ext", &json!({"Tags": ["t"]}))]));
    assert!(indexes(&mut talk)[1] > before[1]);
}

#[test]
fn c_inv_18_a_node_with_its_services_is_at_the_later_index_of_two_tables() {
    let mut talk = Talk::new();
    let nothing = talk.get("/v1/catalog/node/ext");
    assert_eq!((nothing.class, plain(&nothing.body)), (Class::NodeUnknown, json!(null)));
    assert_eq!(talk.get("/v1/catalog/node/").status, 400);
    talk.node("ext", &["c1"]);
    talk.put(
        "/v1/catalog/register",
        json!({"Node": "ext", "Address": "127.0.0.1", "Service": {"ID": "s1", "Service": "svc"}}),
    );
    let index = |talk: &mut Talk| talk.get("/v1/catalog/node/ext").index.expect("it is known");
    let shown = node_of(&mut talk, "ext");
    assert_eq!((&shown["Node"]["Address"], &shown["Services"]["s1"]["Service"]), (&json!("127.0.0.1"), &json!("svc")));
    let first = index(&mut talk);
    for same in ["passing", "warning"] {
        talk.check("ext", "c1", same);
    }
    talk.put("/v1/kv/k", "x");
    assert_eq!(index(&mut talk), first, "checks do not count, nor does what changes nothing");
    talk.node("other", &[]);
    let second = index(&mut talk);
    assert!(second > first, "another node does");
    talk.put("/v1/catalog/deregister", json!({"Node": "ext", "CheckID": "c1"}));
    let third = index(&mut talk);
    assert!(third > second, "and the end of a check without a service");
    let of_service = json!({"CheckID": "c2", "Status": "passing", "ServiceID": "s1"});
    talk.put("/v1/catalog/register", json!({"Node": "ext", "Address": "127.0.0.1", "Check": of_service}));
    talk.put("/v1/catalog/deregister", json!({"Node": "ext", "CheckID": "c2"}));
    assert_eq!(index(&mut talk), third, "but not of one with a service");
    let id = json!({"Node": "by-id", "Address": "127.0.0.1", "ID": ID});
    talk.put("/v1/catalog/register", id);
    let by_id = HttpRequest { method: "GET".to_owned(), url: "/v1/catalog/node/1111".to_owned(), body: Vec::new() };
    assert!(
        talk.agent.ask(&by_id, Instant::at(0), Hint::default()).is_err(),
        "what it is the beginning of is left open"
    );
}

#[test]
fn c_inv_19_a_renamed_node_is_as_old_as_before_and_other_letters_are_another_name() {
    let mut talk = Talk::new();
    let register = |talk: &mut Talk, name: &str, id: &str| {
        talk.put("/v1/catalog/register", json!({"Node": name, "Address": "127.0.0.1", "ID": id}))
    };
    assert_eq!(register(&mut talk, "old", "zzz").status, 500);
    register(&mut talk, "old", ID);
    let created = node_of(&mut talk, "old")["Node"]["CreateIndex"].clone();
    register(&mut talk, "new", "");
    assert_eq!(register(&mut talk, "new", ID).class, Class::NodeRenamed);
    let renamed = node_of(&mut talk, "new")["Node"].clone();
    assert_eq!(renamed["CreateIndex"], created);
    assert!(renamed["ModifyIndex"].as_u64() > created.as_u64());
    assert_eq!(node_of(&mut talk, "old"), json!(null));
    // Without the id it keeps what it has, and with it in other letters nothing.
    talk.check("new", "c1", "passing");
    let mine = talk.session(&json!({"Node": "new", "NodeChecks": ["c1"]}));
    register(&mut talk, "New", "");
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionFound);
    register(&mut talk, "New", ID);
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionFound, "a new id");
    assert_eq!(register(&mut talk, "nEW", &ID.to_uppercase()).class, Class::NodeRenamed);
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionUnknown);
    assert_eq!(check_of(&mut talk, "new"), json!(null));
}

#[test]
fn c_txn_10_what_is_set_or_deleted_at_an_index_has_to_be_at_it() {
    let mut talk = Talk::new();
    let stale = |verb: &str, what: &str| json!(format!("failed to {verb} {what}, index is stale"));
    let (a_node, a_service, a_check) = ("node \"t\"", "service \"svc\" on node \"t\"", "check \"c1\" on node \"t\"");
    // Until it is there, only 0 fits, and nothing is deleted.
    assert_eq!(once(&mut talk, &node("cas", "t", "1", json!(9))), stale("set", a_node));
    assert_eq!(once(&mut talk, &node("delete-cas", "t", "1", json!(0))), stale("delete", a_node));
    assert_eq!(once(&mut talk, &service("cas", "t", &json!({"ModifyIndex": 9}))), stale("set", a_service));
    assert_eq!(once(&mut talk, &service("cas", "t", &json!({}))), json!("Missing node registration"));
    let made = once(&mut talk, &node("cas", "t", "1", json!(null)));
    let first = made["Node"]["ModifyIndex"].clone();
    assert_eq!(made["Node"]["CreateIndex"], first);
    assert!(once(&mut talk, &service("cas", "t", &json!({})))["Service"]["ModifyIndex"].as_u64() > first.as_u64());
    assert!(once(&mut talk, &check("cas", "t", &json!({"ModifyIndex": 0})))["Check"]["ModifyIndex"].is_u64());
    for (operation, what) in [
        (node("cas", "t", "1", json!(0)), a_node),
        (service("cas", "t", &json!({"ModifyIndex": 0})), a_service),
        (check("cas", "t", &json!({})), a_check),
    ] {
        assert_eq!(once(&mut talk, &operation), stale("set", what), "it is there");
    }
    // An index that has been told fits as long as nothing changes. Here the model's own positions are told.
    let whole = talk.get("/v1/catalog/node/t");
    talk.told(&whole, &plain(&whole.body));
    let checks = talk.get("/v1/health/node/t");
    talk.told(&checks, &plain(&checks.body));
    assert_eq!(once(&mut talk, &node("cas", "t", "1", first.clone()))["Node"]["ModifyIndex"], first, "the same");
    let second = once(&mut talk, &node("cas", "t", "2", first.clone()))["Node"]["ModifyIndex"].clone();
    assert!(second.as_u64() > first.as_u64());
    assert_eq!(once(&mut talk, &node("cas", "t", "3", first.clone())), stale("set", a_node));
    assert_eq!(once(&mut talk, &node("delete-cas", "t", "", first)), stale("delete", a_node));
    let of_service = plain(&whole.body)["Services"]["svc"]["ModifyIndex"].clone();
    assert_eq!(once(&mut talk, &service("delete-cas", "t", &json!({"ModifyIndex": of_service}))), json!("done"));
    assert_eq!(
        once(&mut talk, &service("delete-cas", "t", &json!({"ModifyIndex": of_service}))),
        stale("delete", a_service)
    );
    // What ends sessions does so here, and only if the index fits.
    let mine = talk.session(&json!({"Node": "t", "NodeChecks": ["c1"]}));
    let at = plain(&checks.body)[0]["ModifyIndex"].clone();
    let critical = |at: Value| check("cas", "t", &json!({"Status": "critical", "ModifyIndex": at}));
    assert_eq!(once(&mut talk, &critical(json!(1))), stale("set", a_check));
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionFound);
    assert_eq!(once(&mut talk, &critical(at))["Check"]["Status"], json!("critical"));
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionUnknown);
}

#[test]
fn c_txn_10_the_index_of_what_an_agent_keeps_up_to_date_is_left_open() {
    let mut talk = Talk::new();
    let body = json!([node("cas", "here", "1", json!(7))]).to_string().into_bytes();
    let question = HttpRequest { method: "PUT".to_owned(), url: "/v1/txn".to_owned(), body };
    assert!(talk.agent.ask(&question, Instant::at(0), Hint::default()).is_err());
    assert_eq!(
        once(&mut talk, &node("cas", "here", "1", json!(0))),
        json!("failed to set node \"here\", index is stale")
    );
}

#[test]
fn c_txn_11_a_check_that_cannot_be_registered_at_its_index_is_passed_over() {
    let mut talk = Talk::new();
    let silent = |talk: &mut Talk, operation: &Value| {
        let answer = talk.txn(&json!([operation]));
        assert_eq!((answer.status, answer.class), (200, Class::TxnCheckUntold), "{operation}");
        plain(&answer.body)["Results"].clone()
    };
    silent(&mut talk, &check("cas", "t", &json!({})));
    assert_eq!(once(&mut talk, &check("set", "t", &json!({}))), json!("Missing node registration"));
    talk.node("t", &["c1"]);
    silent(&mut talk, &check("cas", "t", &json!({"CheckID": "c2", "ServiceID": "none"})));
    silent(&mut talk, &check("cas", "t", &json!({"CheckID": "", "Name": ""})));
    let nameless = "failed inserting check: object missing primary index";
    assert_eq!(once(&mut talk, &check("set", "t", &json!({"CheckID": "", "Name": ""}))), json!(nameless));
    assert_eq!(plain(&talk.get("/v1/health/node/t").body).as_array().map(Vec::len), Some(1));
    // What is there is shown as it is, and ends no session.
    let mine = talk.session(&json!({"Node": "t", "NodeChecks": ["c1"]}));
    let checks = talk.get("/v1/health/node/t");
    talk.told(&checks, &plain(&checks.body));
    let at = plain(&checks.body)[0]["ModifyIndex"].clone();
    let critical = check("cas", "t", &json!({"Status": "critical", "ServiceID": "none", "ModifyIndex": at}));
    let shown = silent(&mut talk, &critical);
    assert_eq!(shown[0]["Check"]["Status"], json!("passing"));
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionFound);
}
