//! Nodes, services and checks, and what becomes of sessions.

use super::*;

#[test]
fn c_inv_4_a_node_that_gets_another_name_takes_its_sessions_along() {
    let mut talk = Talk::new();
    let id = "11111111-1111-1111-1111-111111111111";
    talk.put("/v1/catalog/register", json!({"Node": "old", "Address": "127.0.0.1", "ID": id}));
    let mine = talk.session(&json!({"Node": "old"}));
    let renamed = talk.put("/v1/catalog/register", json!({"Node": "new", "Address": "127.0.0.1", "ID": id}));
    assert_eq!(renamed.class, Class::NodeRenamed);
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionUnknown);
    // A transaction that registers it without an id takes the id away.
    let mine = talk.session(&json!({"Node": "new"}));
    talk.txn(&json!([{"Node": {"Verb": "set", "Node": {"Node": "new", "Address": "127.0.0.1"}}}]));
    talk.put("/v1/catalog/register", json!({"Node": "third", "Address": "127.0.0.1", "ID": id}));
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionFound);
}

#[test]
fn c_inv_8_a_service_goes_with_its_checks_and_their_sessions() {
    let mut talk = Talk::new();
    let check = json!({"CheckID": "c3", "Name": "c3", "Status": "passing", "ServiceID": "svc"});
    let early = json!({"Node": "ext", "Address": "127.0.0.1", "Check": check});
    assert_eq!(talk.put("/v1/catalog/register", &early).class, Class::CheckOfNoService);
    let whole = json!({"Node": "ext", "Address": "127.0.0.1", "Service": {"Service": "svc"}, "Check": check});
    talk.put("/v1/catalog/register", whole);
    let mine = talk.session(&json!({"Node": "ext", "NodeChecks": ["c3"]}));
    let other = talk.session(&json!({"Node": "ext"}));
    let removed = talk.put("/v1/catalog/deregister", json!({"Node": "ext", "ServiceID": "svc", "CheckID": "ignored"}));
    assert_eq!(removed.class, Class::ServiceRemoved);
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionUnknown);
    assert_eq!(talk.get(&format!("/v1/session/info/{other}")).class, Class::SessionFound);
}

#[test]
fn c_inv_9_a_check_without_a_status_is_critical() {
    let mut talk = Talk::new();
    talk.node("ext", &["c1"]);
    let mine = talk.session(&json!({"Node": "ext", "NodeChecks": ["c1"]}));
    let check = json!({"CheckID": "c1", "Name": "c1"});
    talk.put("/v1/catalog/register", json!({"Node": "ext", "Address": "127.0.0.1", "Check": check}));
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionUnknown);
}

#[test]
fn c_inv_13_reads_of_checks_are_at_the_index_of_their_table() {
    let mut talk = Talk::new();
    let index = |talk: &mut Talk| talk.get("/v1/health/node/ext").index;
    talk.node("ext", &["c1"]);
    let first = index(&mut talk);
    talk.put("/v1/kv/k", "x");
    talk.session(&json!({"Node": "ext"}));
    talk.node("other", &[]);
    assert_eq!(index(&mut talk), first);
    talk.check("ext", "c1", "passing");
    let second = index(&mut talk);
    assert!(second > first, "although nothing has changed");
    talk.put("/v1/catalog/deregister", json!({"Node": "ext", "CheckID": "none"}));
    talk.put("/v1/catalog/deregister", json!({"Node": "other"}));
    assert_eq!(index(&mut talk), second);
    talk.put("/v1/catalog/deregister", json!({"Node": "ext"}));
    let third = index(&mut talk);
    assert!(third > second, "its check went with the node");
    let with = json!({"Node": "other", "Address": "127.0.0.1", "Service": {"Service": "svc"}});
    talk.put("/v1/catalog/register", &with);
    assert_eq!(index(&mut talk), third);
    talk.put("/v1/catalog/deregister", json!({"Node": "other", "ServiceID": "svc"}));
    assert!(index(&mut talk) > third, "a service without a check went");
}

#[test]
fn c_inv_14_any_other_status_than_critical_ends_no_session() {
    let mut talk = Talk::new();
    talk.node("ext", &["c1"]);
    let mine = talk.session(&json!({"Node": "ext", "NodeChecks": ["c1"]}));
    for status in ["maintenance", "Critical", "Passing", " critical"] {
        talk.check("ext", "c1", status);
        assert_eq!(plain(&talk.get("/v1/health/node/ext").body)[0]["Status"], json!(status));
        assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionFound, "{status}");
        talk.session(&json!({"Node": "ext", "NodeChecks": ["c1"]}));
        talk.txn(&json!([{"Check": {"Verb": "set", "Check": {"Node": "ext", "CheckID": "c1", "Status": status}}}]));
        assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionFound, "{status}");
    }
    talk.check("ext", "c1", "");
    assert_eq!(plain(&talk.get("/v1/health/node/ext").body)[0]["Status"], json!("critical"));
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionUnknown);
}

#[test]
fn c_inv_15_a_check_of_another_node_is_refused_with_all_that_came_with_it() {
    let mut talk = Talk::new();
    for node in ["n2", "N1"] {
        let check = json!({"Node": node, "CheckID": "c1", "Status": "passing"});
        let refused = talk.put("/v1/catalog/register", json!({"Node": "n1", "Address": "127.0.0.1", "Check": check}));
        assert_eq!(plain(&refused.body), json!(format!("check node {node:?} does not match node \"n1\"")));
    }
    let refused = talk.put("/v1/session/create", json!({"Node": "n1", "NodeChecks": []}));
    assert_eq!(refused.class, Class::SessionNode, "the node was not registered either");
}

#[test]
fn c_inv_16_a_check_has_an_id_or_a_name_and_a_node_has_as_many_as_it_likes() {
    let mut talk = Talk::new();
    let register = |check: Value| json!({"Node": "ext", "Address": "127.0.0.1", "Check": check});
    assert_eq!(talk.put("/v1/catalog/register", register(json!({"Status": "passing"}))).class, Class::CheckNoId);
    talk.put("/v1/catalog/register", register(json!({"Name": "By-Name", "Status": "passing"})));
    assert_eq!(plain(&talk.get("/v1/health/node/ext").body)[0]["CheckID"], json!("By-Name"));
    talk.put("/v1/catalog/register", register(json!({"CheckID": "by-NAME", "Status": "passing"})));
    assert_eq!(plain(&talk.get("/v1/health/node/ext").body)[0]["CheckID"], json!("by-NAME"));
    let names: Vec<String> = (0..20).map(|number| format!("check-{number}")).collect();
    names.iter().for_each(|name| talk.check("ext", name, "passing"));
    let mine = talk.session(&json!({"Node": "ext", "NodeChecks": names}));
    talk.check("ext", "check-19", "critical");
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionUnknown);
    // On another node the same names are other checks.
    talk.node("next", &["check-19"]);
    talk.session(&json!({"Node": "next", "NodeChecks": ["check-19"]}));
}
