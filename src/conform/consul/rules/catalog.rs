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
