//! Statuses and texts of what goes wrong.

use super::*;

#[test]
fn c_gen_5_statuses() {
    let mut talk = Talk::new();
    for (method, url, status) in [
        ("POST", "/v1/kv/k", 405),
        ("POST", "/v1/session/create", 405),
        ("GET", "/v1/kv/none", 404),
        ("PUT", "/v1/kv/k?cas=1&acquire=x", 400),
        ("PUT", "/v1/kv/k?cas=", 500),
        ("PUT", "/v1/kv/k?flags=x", 500),
        ("GET", "/v1/kv/", 400),
    ] {
        assert_eq!(talk.ask(method, url, "").status, status, "{method} {url}");
    }
}

#[test]
fn c_gen_6_texts_are_compared_by_what_they_contain() {
    let mut talk = Talk::new();
    let expected = talk.acquire("k", NOBODY);
    let text = format!("rpc error making call: rpc error making call: invalid session {NOBODY:?}");
    let reply = |body: &str| Reply { status: 500, index: None, body: body.as_bytes().to_vec() };
    assert_eq!(talk.agent.accept(&expected, &reply(&text)), Ok(()));
    assert!(talk.agent.accept(&expected, &reply("something else")).is_err());
}

#[test]
fn c_gen_9_a_double_slash_sends_the_client_elsewhere_and_nothing_is_written() {
    let mut talk = Talk::new();
    assert_eq!(talk.put("/v1/kv//lead", "x").status, 301);
    assert_eq!(talk.get("/v1/kv/lead").status, 404);
}

#[test]
fn c_con_1_stale_and_consistent_exclude_each_other() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/k", "x");
    assert_eq!(talk.get("/v1/kv/k?stale&consistent").status, 400);
    for mode in ["", "?stale", "?consistent"] {
        assert_eq!(talk.get(&format!("/v1/kv/k{mode}")).status, 200);
    }
}
