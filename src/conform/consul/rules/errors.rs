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
fn c_gen_6_error_texts_are_compared_by_a_part() {
    let mut talk = Talk::new();
    let expected = talk.acquire("k", NOBODY);
    let text = format!("rpc error making call: rpc error making call: invalid session {NOBODY:?}");
    let reply = |body: &str| Reply {
        status: 500,
        index: None,
        has_headers: false,
        contact: None,
        body: body.as_bytes().to_vec(),
    };
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
fn c_con_1_consistent_excludes_stale_and_cached() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/k", "x");
    assert_eq!(talk.get("/v1/kv/k?stale&consistent").class, Class::ModesConflict);
    assert_eq!(talk.get("/v1/kv/k?cached&consistent").class, Class::CacheConflict);
    for mode in ["", "?stale", "?consistent", "?cached", "?cached&stale"] {
        assert_eq!(talk.get(&format!("/v1/kv/k{mode}")).status, 200);
    }
}

#[test]
fn c_gen_10_options_ask_for_the_methods_of_an_endpoint() {
    let mut talk = Talk::new();
    for (method, url, status) in [
        ("OPTIONS", "/v1/kv/k", 200),
        ("OPTIONS", "/v1/txn", 200),
        ("OPTIONS", "/v1/query/x", 200),
        ("OPTIONS", "/v1/nothing", 404),
        ("HEAD", "/v1/kv/k", 405),
    ] {
        assert_eq!(talk.ask(method, url, "").status, status, "{method} {url}");
    }
}

#[test]
fn c_gen_11_a_namespace_is_refused_where_it_is_looked_at() {
    let mut talk = Talk::new();
    for (method, url, class) in [
        ("GET", "/v1/kv/k?ns=x", Class::Namespace),
        ("PUT", "/v1/kv/k?ns=x&flags=x", Class::Namespace),
        ("PUT", "/v1/session/create?ns=x", Class::Namespace),
        ("GET", "/v1/session/info/?ns=x", Class::Namespace),
        ("PUT", "/v1/catalog/register?ns=x", Class::Namespace),
        ("GET", "/v1/health/node/?ns=x", Class::Namespace),
        ("GET", "/v1/kv/?ns=x", Class::KeyMissing),
        ("GET", "/v1/kv/k?ns=x&index=x", Class::BadIndex),
        ("GET", "/v1/kv/k?ns=", Class::Absent),
        ("GET", "/v1/query?ns=x", Class::QueryList),
        ("PUT", "/v1/txn?ns=x", Class::TxnRead),
    ] {
        let body = if url.starts_with("/v1/txn") { "[]" } else { "{" };
        assert_eq!(talk.ask(method, url, body).class, class, "{method} {url}");
    }
    assert_eq!(talk.get("/v1/kv/k").status, 404);
}

#[test]
fn c_gen_12_there_is_no_path_to_another_datacenter() {
    let mut talk = Talk::new();
    for (method, url, body, class) in [
        ("GET", "/v1/kv/k?dc=nowhere", "", Class::NoDatacenter),
        ("GET", "/v1/kv/k?dc=DC1", "", Class::NoDatacenter),
        ("GET", "/v1/kv/k?dc=dc1", "", Class::Absent),
        ("GET", "/v1/kv/k?dc=", "", Class::Absent),
        ("PUT", "/v1/kv/k?dc=nowhere", "x", Class::NoDatacenter),
        ("PUT", "/v1/kv/k?dc=nowhere&acquire=zz", "x", Class::NoDatacenter),
        ("PUT", "/v1/kv/k?dc=nowhere&flags=x", "x", Class::BadNumber),
        ("PUT", "/v1/session/create?dc=nowhere", r#"{"TTL": "x"}"#, Class::NoDatacenter),
        ("PUT", "/v1/session/create?dc=nowhere", "[", Class::SessionBody),
        ("PUT", "/v1/session/destroy/?dc=nowhere", "", Class::SessionMissing),
        ("PUT", "/v1/txn?dc=nowhere", "[]", Class::NoDatacenter),
        ("PUT", "/v1/catalog/deregister?dc=nowhere", r#"{"Node": "n"}"#, Class::NothingRemoved),
        ("PUT", "/v1/catalog/deregister", r#"{"Node": "n", "Datacenter": "nowhere"}"#, Class::NoDatacenter),
        ("PUT", "/v1/catalog/register", r#"{"Node": "", "Datacenter": "nowhere"}"#, Class::NoDatacenter),
    ] {
        assert_eq!(talk.ask(method, url, body).class, class, "{method} {url}");
    }
    assert_eq!(talk.get("/v1/kv/k").status, 404, "nothing was written");
}

#[test]
fn c_gen_7_no_write_has_an_index_and_every_read_has_one() {
    let mut talk = Talk::new();
    let reply = |status, index, body: &str| Reply {
        status,
        index,
        has_headers: true,
        contact: None,
        body: body.as_bytes().to_vec(),
    };
    let put = talk.put("/v1/kv/k", "x");
    assert_eq!(talk.agent.accept(&put, &reply(200, None, "true")), Ok(()));
    assert!(talk.agent.accept(&put, &reply(200, Some(7), "true")).unwrap_err().contains("no write has"));
    let absent = talk.get("/v1/kv/none");
    assert_eq!(talk.agent.accept(&absent, &reply(404, Some(7), "")), Ok(()));
    assert!(talk.agent.accept(&absent, &reply(404, None, "")).unwrap_err().contains("missing"));
    let unknown = Reply { has_headers: false, ..reply(404, None, "") };
    assert_eq!(talk.agent.accept(&absent, &unknown), Ok(()), "a log without headers says nothing");
}

#[test]
fn c_gen_7_the_headers_about_the_leader_come_with_reads_only() {
    let mut talk = Talk::new();
    let nothing = Contact::default();
    let leads = Contact { known_leader: Some("true".to_owned()), last_contact: Some("0".to_owned()) };
    let read = json!([{"KV": {"Verb": "get-tree", "Key": "k"}}]);
    let mut fits = |method: &str, url: &str, body: &str, contact: &Contact| {
        let mut expected = talk.ask(method, url, body);
        expected.body = BodyShape::Any;
        let index = expected.has_index.is_some_and(|is_read| is_read).then_some(1);
        let body = Vec::new();
        let reply = Reply { status: expected.status, index, has_headers: true, contact: Some(contact.clone()), body };
        talk.agent.accept(&expected, &reply).is_ok()
    };
    for (method, url, body, is_read) in [
        ("GET", "/v1/kv/k", "", true),
        ("GET", "/v1/session/list", "", true),
        ("PUT", "/v1/txn", &read.to_string(), true),
        ("PUT", "/v1/kv/k", "x", false),
        ("PUT", "/v1/txn", r#"[{"KV": {"Verb": "set", "Key": "k"}}]"#, false),
    ] {
        assert_eq!(fits(method, url, body, &leads), is_read, "{method} {url}");
        assert_eq!(fits(method, url, body, &nothing), !is_read, "{method} {url}");
    }
}
