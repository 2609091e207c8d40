//! What the server does with the requests of the Go client, of `consul lock` and of the guide.

use super::*;

#[test]
fn c_lck_1_a_session_with_a_name_and_a_ttl_has_the_defaults_besides() {
    let shown = Talk::new().shown(&json!({"Name": "Consul API Lock", "TTL": "15s"}));
    assert_eq!((&shown["Behavior"], &shown["LockDelay"]), (&json!("release"), &json!(15 * SECOND)));
    assert_eq!(shown["NodeChecks"], json!(["serfHealth"]));
}

#[test]
fn c_sem_1_a_contender_s_session_deletes_and_has_the_default_lock_delay() {
    let requested = json!({"Name": "Consul API Semaphore", "TTL": "15s", "Behavior": "delete"});
    let shown = Talk::new().shown(&requested);
    assert_eq!((&shown["Behavior"], &shown["LockDelay"]), (&json!("delete"), &json!(15 * SECOND)));
}

#[test]
fn c_sem_5_a_key_of_another_semaphore_is_below_the_prefix_as_a_string() {
    let mut talk = Talk::new();
    let mine = talk.session(&json!({}));
    talk.acquire("s2/contender", &mine);
    assert_eq!(plain(&talk.get("/v1/kv/s?recurse").body)[0]["Session"], json!(mine));
    assert_eq!(talk.get("/v1/kv/s/?recurse").status, 404);
}

#[test]
fn c_sem_9_with_an_external_session_the_contender_key_stays() {
    for (behavior, stays) in [("delete", false), ("release", true)] {
        let mut talk = Talk::new();
        let mine = talk.session(&json!({"Behavior": behavior}));
        talk.acquire("s/contender", &mine);
        talk.destroy(&mine);
        assert_eq!(talk.get("/v1/kv/s/contender").status == 200, stays, "{behavior}");
    }
}

#[test]
fn c_sem_10_the_coordination_entry_still_names_a_holder_that_is_dead() {
    let mut talk = Talk::new();
    let mine = talk.session(&json!({"Behavior": "delete"}));
    talk.acquire("s/contender", &mine);
    talk.put("/v1/kv/s/.lock?cas=0", "holders");
    let before = talk.entry("s/.lock");
    talk.destroy(&mine);
    assert_eq!(talk.entry("s/.lock"), before);
    assert_eq!(plain(&talk.get("/v1/kv/s/?keys").body), json!(["s/.lock"]), "only who lists the prefix can tell");
}

#[test]
fn c_cli_3_a_session_left_by_an_exited_process_stays_for_twice_its_ttl() {
    let mut talk = Talk::new();
    let mine = talk.session(&json!({"Behavior": "delete", "TTL": "15s"}));
    talk.acquire("s/contender", &mine);
    talk.pass(29);
    assert_eq!(talk.agent.expirable(Instant::at(talk.now)), []);
    assert_eq!(talk.get("/v1/kv/s/contender").class, Class::FoundHeld);
    talk.pass(1);
    assert_eq!(talk.agent.expirable(Instant::at(talk.now)).len(), 1);
}

#[test]
fn c_cli_4_cleaning_up_does_not_end_the_lock_delay() {
    let mut talk = Talk::new();
    let (mine, other) = (talk.session(&json!({"LockDelay": "15s"})), talk.session(&json!({})));
    talk.acquire("s/.lock", &mine);
    talk.destroy(&mine);
    talk.ask("DELETE", "/v1/kv/s/.lock", "");
    assert_eq!(talk.acquire("s/.lock", &other).class, Class::AcquireDelayed);
}

#[test]
fn c_gde_1_with_the_guide_s_session_dead_contender_keys_pile_up_without_a_session() {
    let mut talk = Talk::new();
    for round in 0..3 {
        let mine = talk.session(&json!({}));
        talk.acquire(&format!("s/{round}"), &mine);
        talk.destroy(&mine);
    }
    let keys = plain(&talk.get("/v1/kv/s/?recurse").body);
    assert!(keys.as_array().unwrap().iter().all(|entry| entry.get("Session").is_none()));
    assert_eq!(keys.as_array().unwrap().len(), 3);
}
