//! What the documents that the project started from say, against what Consul does.

use super::*;

#[test]
fn c_seed_1_lock_index_rises_only_when_a_free_key_is_acquired() {
    let mut talk = Talk::new();
    let mine = talk.session(&json!({}));
    talk.acquire("k", &mine);
    talk.acquire("k", &mine);
    assert_eq!(talk.entry("k")["LockIndex"], 1);
    talk.put(&format!("/v1/kv/k?release={mine}"), "");
    talk.acquire("k", &mine);
    assert_eq!(talk.entry("k")["LockIndex"], 2);
}

#[test]
fn c_seed_2_key_lock_index_and_session_come_again() {
    let mut talk = Talk::new();
    let mine = talk.session(&json!({}));
    let mut sequencer = || {
        talk.acquire("k", &mine);
        let entry = talk.entry("k");
        talk.ask("DELETE", "/v1/kv/k", "");
        (entry["LockIndex"].clone(), entry["Session"].clone())
    };
    assert_eq!(sequencer(), sequencer());
}

#[test]
fn c_seed_3_modify_index_is_set_to_the_log_position() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/k", "1");
    let before = talk.entry("k")["ModifyIndex"].as_u64().unwrap();
    talk.ask("DELETE", "/v1/kv/absent", "");
    talk.put("/v1/kv/k", "2");
    assert_eq!(talk.entry("k")["ModifyIndex"], before + 2);
}

#[test]
fn c_seed_4_a_put_is_not_neutral_for_the_lock() {
    let mut talk = Talk::new();
    let mine = talk.session(&json!({}));
    talk.acquire("k", &mine);
    talk.put("/v1/kv/k", "bystander");
    let entry = talk.entry("k");
    assert_eq!((&entry["LockIndex"], &entry["Session"]), (&json!(0), &json!(mine)));
}

#[test]
fn c_seed_5_a_release_with_an_invalid_session_is_false_and_a_release_writes() {
    let mut talk = Talk::new();
    assert_eq!(talk.put("/v1/kv/k?release=zzz", "").class, Class::ReleaseAbsent);
    let mine = talk.session(&json!({}));
    talk.acquire("k", &mine);
    talk.put(&format!("/v1/kv/k?release={mine}&flags=7"), "y");
    let entry = talk.entry("k");
    assert_eq!((&entry["Value"], &entry["Flags"]), (&json!("eQ=="), &json!(7)));
}

#[test]
fn c_seed_6_a_lock_delay_is_not_validated_and_clamped_when_it_is_used() {
    let mut talk = Talk::new();
    let (mine, other) = (talk.session(&json!({"LockDelay": "120s"})), talk.session(&json!({})));
    talk.acquire("k", &mine);
    talk.destroy(&mine);
    talk.pass(59);
    assert_eq!(talk.acquire("k", &other).class, Class::AcquireDelayed);
    talk.pass(1);
    assert_eq!(talk.acquire("k", &other).class, Class::Acquired);
}

#[test]
fn c_seed_7_only_keys_held_at_the_end_are_delayed_and_for_every_client() {
    let mut talk = Talk::new();
    let (mine, other) = (talk.session(&json!({"LockDelay": "15s"})), talk.session(&json!({})));
    talk.acquire("held", &mine);
    talk.acquire("released", &mine);
    talk.put(&format!("/v1/kv/released?release={mine}"), "");
    talk.destroy(&mine);
    assert_eq!(talk.acquire("released", &other).class, Class::Acquired);
    assert_eq!(talk.acquire("held", &other).class, Class::AcquireDelayed);
}

#[test]
fn c_seed_8_a_ttl_lasts_twice_as_long() {
    let mut talk = Talk::new();
    talk.session(&json!({"TTL": "10s"}));
    talk.pass(19);
    assert_eq!(talk.agent.expirable(Instant::at(talk.now)), []);
    talk.pass(1);
    assert_eq!(talk.agent.expirable(Instant::at(talk.now)).len(), 1);
}

#[test]
fn c_seed_9_services_and_new_names_end_sessions_too() {
    let mut talk = Talk::new();
    let check = json!({"CheckID": "c3", "Name": "c3", "Status": "passing", "ServiceID": "svc"});
    let node = json!({"Node": "ext", "Address": "127.0.0.1", "Service": {"Service": "svc"}, "Check": check});
    talk.put("/v1/catalog/register", node);
    let mine = talk.session(&json!({"Node": "ext", "NodeChecks": ["c3"]}));
    talk.put("/v1/catalog/deregister", json!({"Node": "ext", "ServiceID": "svc"}));
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionUnknown);
}

#[test]
fn c_seed_10_a_session_without_checks_ends_with_its_node() {
    let mut talk = Talk::new();
    talk.node("ext", &[]);
    let mine = talk.session(&json!({"Node": "ext"}));
    talk.put("/v1/catalog/deregister", json!({"Node": "ext"}));
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionUnknown);
}

#[test]
fn c_seed_11_with_behavior_delete_the_key_is_gone() {
    let mut talk = Talk::new();
    let mine = talk.session(&json!({"Behavior": "delete"}));
    talk.acquire("k", &mine);
    talk.destroy(&mine);
    assert_eq!(talk.get("/v1/kv/k").class, Class::Absent);
}

#[test]
fn c_seed_13_an_entry_that_one_cas_has_created_has_one_index() {
    let mut talk = Talk::new();
    assert_eq!(talk.put("/v1/kv/s/.lock?cas=0", "{}").class, Class::CasDone);
    let entry = talk.entry("s/.lock");
    assert_eq!(entry["CreateIndex"], entry["ModifyIndex"]);
}

#[test]
fn c_gde_2_a_contender_key_of_a_session_that_is_gone_is_an_error_and_not_false() {
    let mut talk = Talk::new();
    let (gone, mine) = (talk.session(&json!({})), talk.session(&json!({})));
    talk.destroy(&gone);
    assert_eq!(talk.acquire("s/gone", &gone).status, 500);
    talk.acquire("s/taken", &mine);
    let other = talk.session(&json!({}));
    assert_eq!(talk.acquire("s/taken", &other).class, Class::AcquireHeld);
}
