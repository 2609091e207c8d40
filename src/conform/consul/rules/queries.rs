//! Prepared queries and the sessions that they end with.

use super::*;

fn query(talk: &mut Talk, name: &str, session: &str) -> Expected {
    talk.ask("POST", "/v1/query", json!({"Name": name, "Session": session, "Service": {"Service": "s"}}))
}

/// Creates a query, and gives it an id.
fn created(talk: &mut Talk, name: &str, session: &str, id: u8) -> String {
    let id = format!("cccccccc-0000-0000-0000-0000000000{id:02}");
    let expected = query(talk, name, session);
    assert_eq!(expected.class, Class::QueryCreated);
    talk.told(&expected, &json!({"ID": id}));
    id
}

#[test]
fn c_pq_1_a_query_needs_a_name_or_a_session() {
    let mut talk = Talk::new();
    assert_eq!(query(&mut talk, "", "").class, Class::QueryUnbound);
    assert_eq!(query(&mut talk, "named", "").class, Class::QueryCreated);
}

#[test]
fn c_pq_2_its_session_must_exist() {
    let mut talk = Talk::new();
    assert_eq!(query(&mut talk, "", NOBODY).class, Class::QueryNoSession);
    assert_eq!(query(&mut talk, "", "zzz").class, Class::QueryMalformed);
}

#[test]
fn c_pq_3_names_are_unique_and_looked_at_before_the_session() {
    let mut talk = Talk::new();
    created(&mut talk, "one", "", 1);
    assert_eq!(query(&mut talk, "one", "").class, Class::QueryNameTaken);
    assert_eq!(query(&mut talk, "one", NOBODY).class, Class::QueryNameTaken);
}

#[test]
fn c_pq_4_the_session_that_counts_is_that_at_the_end() {
    let mut talk = Talk::new();
    let mine = talk.session(&json!({}));
    let (bound, unbound) = (created(&mut talk, "one", "", 1), created(&mut talk, "two", &mine, 2));
    talk.put(&format!("/v1/query/{bound}"), json!({"Name": "one", "Session": mine.to_uppercase()}));
    talk.put(&format!("/v1/query/{unbound}"), json!({"Name": "two"}));
    talk.destroy(&mine);
    assert_eq!(talk.get(&format!("/v1/query/{bound}")).class, Class::QueryUnknown);
    assert_eq!(talk.get(&format!("/v1/query/{unbound}")).class, Class::QueryFound);
    let again = talk.put(&format!("/v1/query/{unbound}"), json!({"Name": "two", "Session": mine}));
    assert_eq!(again.class, Class::QueryNoSession, "a session is looked at each time");
}

#[test]
fn c_pq_5_reads_are_at_the_index_of_the_queries() {
    let mut talk = Talk::new();
    let mine = talk.session(&json!({}));
    let id = created(&mut talk, "one", &mine, 1);
    let before = talk.get("/v1/query").index;
    talk.put("/v1/kv/k", "x");
    assert_eq!(talk.get(&format!("/v1/query/{id}")).index, before);
    assert_eq!(talk.ask("DELETE", &format!("/v1/query/{id}"), "").status, 200);
    assert_eq!(plain(&talk.get("/v1/query").body), json!([]));
    assert_eq!(talk.get(&format!("/v1/query/{id}")).status, 404);
    assert_eq!(talk.get(&format!("/v1/session/info/{mine}")).class, Class::SessionFound);
}

#[test]
fn c_pq_6_lock_delay_and_behavior_do_not_matter_to_queries() {
    for behavior in ["release", "delete"] {
        let mut talk = Talk::new();
        let mine = talk.session(&json!({"Behavior": behavior, "LockDelay": "15s"}));
        created(&mut talk, "", &mine, 1);
        talk.destroy(&mine);
        assert_eq!(plain(&talk.get("/v1/query").body), json!([]));
    }
}

#[test]
fn c_pq_7_an_id_that_is_no_uuid_is_an_error_and_letter_case_does_not_count() {
    let mut talk = Talk::new();
    let id = created(&mut talk, "one", "", 1);
    for method in ["GET", "PUT", "DELETE"] {
        for url in ["/v1/query/zzz", "/v1/query/one", "/v1/query/"] {
            assert_eq!(talk.ask(method, url, "{}").class, Class::QueryNoId, "{method} {url}");
        }
    }
    assert_eq!(talk.ask("PUT", "/v1/query/zzz", "{").class, Class::QueryBody);
    assert_eq!(talk.get(&format!("/v1/query/{}", id.to_uppercase())).class, Class::QueryFound);
}

#[test]
fn c_pq_8_names_are_alike_whatever_their_letter_case() {
    let mut talk = Talk::new();
    let id = created(&mut talk, "One", "", 1);
    assert_eq!(query(&mut talk, "oNE", "").class, Class::QueryNameTaken);
    assert_eq!(plain(&talk.get(&format!("/v1/query/{id}")).body)[0]["Name"], json!("One"));
}

#[test]
fn c_pq_9_a_query_is_executed_by_its_id_or_its_name() {
    let mut talk = Talk::new();
    let id = created(&mut talk, "One", "", 1);
    for (method, name, status) in [
        ("GET", "one", 200),
        ("GET", "ONE", 200),
        ("GET", &*id.to_uppercase(), 200),
        ("GET", "two", 404),
        ("GET", NOBODY, 404),
        ("PUT", "one", 405),
    ] {
        for what in ["execute", "explain"] {
            assert_eq!(talk.ask(method, &format!("/v1/query/{name}/{what}"), "").status, status, "{method} {name}");
        }
    }
}
