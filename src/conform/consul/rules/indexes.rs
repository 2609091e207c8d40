//! What index a read is at, and what deletions leave behind.

use super::*;

#[test]
fn c_kv_20_an_absent_key_is_at_the_index_of_the_store() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/k", "x");
    let before = talk.get("/v1/kv/absent").index;
    assert_eq!(before, talk.get("/v1/kv/k").index);
    talk.put("/v1/kv/other", "x");
    assert!(talk.get("/v1/kv/absent").index > before, "every write counts");
    assert_eq!(talk.get("/v1/kv/k").index, before, "for a key that is there its own do");
}

#[test]
fn c_kv_22_after_a_deletion_a_list_is_at_the_deletion() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/a/1", "x");
    talk.put("/v1/kv/a/2", "x");
    let before = talk.get("/v1/kv/a/?recurse").index;
    talk.ask("DELETE", "/v1/kv/a/2", "");
    assert!(talk.get("/v1/kv/a/?recurse").index > before);
}

#[test]
fn c_kv_23_the_deletion_of_a_parent_is_not_seen_by_a_list_below_it() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/a/sub/1", "x");
    talk.put("/v1/kv/a/sub/2", "x");
    talk.ask("DELETE", "/v1/kv/a/sub/1", "");
    let before = talk.get("/v1/kv/a/sub/?recurse").index;
    talk.ask("DELETE", "/v1/kv/a/?recurse", "");
    let after = talk.get("/v1/kv/a/sub/?recurse");
    assert_eq!((after.status, after.class, after.index), (404, Class::ListedOldGrave, before));
    assert!(talk.get("/v1/kv/a/?recurse").index > before, "a list of the parent sees it");
}

#[test]
fn c_kv_24_the_deletion_of_everything_leaves_no_tombstone() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/a/1", "x");
    talk.ask("DELETE", "/v1/kv/a/1", "");
    talk.put("/v1/kv/a/2", "x");
    talk.put("/v1/kv/b", "x");
    talk.ask("DELETE", "/v1/kv/a/2", "");
    let old = talk.get("/v1/kv/a/?recurse").index;
    talk.put("/v1/kv/a/3", "x");
    talk.ask("DELETE", "/v1/kv/?recurse", "");
    assert_eq!(talk.get("/v1/kv/a/?recurse").index, old, "an old tombstone shows the old index");
    assert!(talk.get("/v1/kv/b").index > old);
}

#[test]
fn c_kv_25_when_tombstones_are_forgotten_an_index_goes_backwards() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/a/1", "x");
    talk.put("/v1/kv/a/2", "x");
    talk.ask("DELETE", "/v1/kv/a/2", "");
    let before = talk.get("/v1/kv/a/?recurse").index.unwrap();
    talk.agent.reap_tombstones(before);
    let after = talk.get("/v1/kv/a/?recurse").index.unwrap();
    assert!(after < before, "{after} {before}");
}

#[test]
fn c_gen_1_replicated_state_is_a_function_of_the_log() {
    let play = |pause: i64| {
        let mut talk = Talk::new();
        let mine = talk.session(&json!({"LockDelay": "15s"}));
        let steps = [("PUT", format!("/v1/kv/k?acquire={mine}")), ("PUT", format!("/v1/session/destroy/{mine}"))];
        for (method, url) in steps {
            talk.ask(method, &url, "x");
            talk.pass(pause);
        }
        (talk.get("/v1/kv/k"), talk.get("/v1/session/list"), talk.session(&json!({})))
    };
    assert_eq!(play(0), play(100));
}

#[test]
fn c_gen_7_only_reads_have_an_index() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/k", "x");
    let session = talk.session(&json!({}));
    assert_eq!(talk.put("/v1/kv/k", "y").index, None);
    assert_eq!(talk.acquire("k", &session).index, None);
    assert_eq!(talk.txn(&json!([])).index, None);
    assert_eq!(talk.destroy(&session).index, None);
    assert!(talk.get("/v1/kv/k").index.is_some());
    assert!(talk.get("/v1/session/list").index.is_some());
}
