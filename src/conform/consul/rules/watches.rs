//! Blocking queries: what wakes them.

use super::*;

fn waking(talk: &mut Talk, url: &str, act: impl FnOnce(&mut Talk)) -> Waking {
    let watch = talk.agent.park(url).expect("something to wait for");
    act(talk);
    talk.agent.waking(&watch)
}

#[test]
fn c_blk_3_an_index_that_is_ahead_waits_although_something_changes() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/a/1", "x");
    talk.put("/v1/kv/a/2", "x");
    talk.ask("DELETE", "/v1/kv/a/2", "");
    let watch = talk.agent.park("/v1/kv/a/?recurse").unwrap();
    let reaped = talk.get("/v1/kv/a/?recurse").index.unwrap();
    talk.agent.reap_tombstones(reaped);
    assert_eq!(talk.agent.waking(&watch), Waking::Sleeps, "the index of the list has gone backwards");
}

#[test]
fn c_blk_4_the_index_of_one_query_says_nothing_about_another() {
    let mut talk = Talk::new();
    let mine = talk.session(&json!({}));
    talk.put("/v1/kv/k", "x");
    let sessions = talk.get(&format!("/v1/session/info/{mine}")).index;
    assert!(talk.get("/v1/kv/k").index > sessions, "fed into the other, it sleeps through the session's next changes");
}

#[test]
fn c_blk_6_an_absent_key_may_be_woken_by_any_write() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/k", "x");
    assert_eq!(waking(&mut talk, "/v1/kv/absent", |talk| drop(talk.put("/v1/kv/zzz", "x"))), Waking::Either);
    assert_eq!(waking(&mut talk, "/v1/kv/none/?recurse", |talk| drop(talk.put("/v1/kv/yyy", "x"))), Waking::Either);
    assert_eq!(waking(&mut talk, "/v1/kv/absent", |talk| drop(talk.put("/v1/kv/absent", "x"))), Waking::Wakes);
    assert_eq!(waking(&mut talk, "/v1/kv/k", |talk| drop(talk.put("/v1/kv/other", "x"))), Waking::Sleeps);
}

#[test]
fn c_blk_7_a_watcher_sleeps_through_the_deletion_of_a_parent() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/a/sub/1", "x");
    let parent = |talk: &mut Talk| drop(talk.ask("DELETE", "/v1/kv/a/?recurse", ""));
    assert_eq!(waking(&mut talk, "/v1/kv/a/sub/?recurse", parent), Waking::Wakes, "without an old tombstone");
    talk.put("/v1/kv/a/sub/1", "x");
    talk.put("/v1/kv/a/sub/2", "x");
    talk.ask("DELETE", "/v1/kv/a/sub/1", "");
    assert_eq!(waking(&mut talk, "/v1/kv/a/sub/?recurse", parent), Waking::Sleeps, "with one");
    assert_eq!(waking(&mut talk, "/v1/kv/a/sub/?recurse", |talk| drop(talk.put("/v1/kv/a/sub/3", "x"))), Waking::Wakes);
}

#[test]
fn c_blk_5_checks_and_prepared_queries_wake_their_readers() {
    let mut talk = Talk::new();
    let register = |status: &str| {
        json!({"Node": "n1", "Address": "127.0.0.1", "Check": {"CheckID": "c1", "Status": status}}).to_string()
    };
    talk.put("/v1/catalog/register", register("passing"));
    let fails = |talk: &mut Talk| drop(talk.put("/v1/catalog/register", register("critical")));
    assert_eq!(waking(&mut talk, "/v1/health/node/n1", fails), Waking::Wakes);
    assert_eq!(waking(&mut talk, "/v1/health/node/n2", |talk| drop(talk.put("/v1/kv/k", "x"))), Waking::Sleeps);
    let query = json!({"Name": "q", "Service": {"Service": "svc"}}).to_string();
    assert_eq!(waking(&mut talk, "/v1/query", |talk| drop(talk.ask("POST", "/v1/query", &query))), Waking::Wakes);
    assert_eq!(waking(&mut talk, "/v1/query", |talk| drop(talk.put("/v1/kv/k", "y"))), Waking::Sleeps);
}
