//! What the model and the judge had wrong once, each by name at a live agent: what it answers is possible, and what was taken for possible, or
//! for the answer, is not.

use std::sync::PoisonError;
use std::thread;
use std::time::{Duration, Instant};

use fencepost_conform::{Consul, HttpRequest, Objection, judge};
use serde_json::{Value, json};

use super::{AGENT, agent, read_log};

const NODE: &str = "fencepost-once";
const KEY: &str = "/v1/kv/fencepost-once/k";

/// A request, and what its answer contains.
type ScriptLine = (&'static str, String, String, u16, &'static str);

fn step(method: &'static str, url: &str, body: &Value, status: u16, says: &'static str) -> ScriptLine {
    let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
    (method, url.to_owned(), if body == "null" { String::new() } else { body }, status, says)
}

fn get(url: &str, status: u16, says: &'static str) -> ScriptLine {
    step("GET", url, &Value::Null, status, says)
}

fn put(url: &str, body: &Value, status: u16, says: &'static str) -> ScriptLine {
    step("PUT", url, body, status, says)
}

/// A node of its own, with these checks.
fn register(checks: &Value) -> ScriptLine {
    put("/v1/catalog/register", &json!({"Node": NODE, "Address": "127.0.0.1", "Checks": checks}), 200, "true")
}

fn check(id: &str, status: &str) -> Value {
    json!({"Node": NODE, "CheckID": id, "Name": id, "Status": status})
}

/// A conversation with the agent, as a log.
struct Told<'a> {
    consul: &'a Consul,
    began: Instant,
    lines: Vec<Value>,
    session: String,
    query: String,
}

impl Told<'_> {
    fn ask(&mut self, (method, url, body, status, says): &ScriptLine) {
        let fill = |text: &str| text.replace("{S}", &self.session).replace("{Q}", &self.query);
        let (url, body) = (fill(url), fill(body));
        let line = ask(self.consul, self.began, method, &url, &body);
        let answer = line["answer"].as_str().unwrap_or_default();
        assert!(line["status"] == *status && answer.contains(&fill(says)), "{method} {url} {body}: {line}");
        let id = serde_json::from_str::<Value>(answer).ok().and_then(|made| made["ID"].as_str().map(str::to_owned));
        match url.as_str() {
            "/v1/session/create" => self.session = id.unwrap_or_default(),
            "/v1/query" => self.query = id.unwrap_or_default(),
            _ => {}
        }
        self.lines.push(line);
    }
}

fn ask(consul: &Consul, began: Instant, method: &str, url: &str, body: &str) -> Value {
    let question = HttpRequest { method: method.to_owned(), url: url.to_owned(), body: body.as_bytes().to_vec() };
    let sent = began.elapsed().as_secs_f64();
    let reply = consul.ask(&question).expect("an answer");
    let received = began.elapsed().as_secs_f64();
    json!({
        "method": method, "url": url, "body": body, "sent": sent, "received": received, "status": reply.status,
        "answer": String::from_utf8_lossy(&reply.body), "index": reply.index,
    })
}

/// Asks a live agent, if there is one, judges what it said, and what it had said if it were as was believed once.
fn live(steps: &[ScriptLine], alter: impl Fn(&mut Value)) {
    let _alone = AGENT.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(consul) = agent() else { return };
    let mut told = Told {
        consul: &consul,
        began: Instant::now(),
        lines: Vec::new(),
        session: String::new(),
        query: String::new(),
    };
    steps.iter().for_each(|step| told.ask(step));
    let lines = told.lines.clone();
    told.lines.clear();
    leave(&mut told);
    assert!(verdict(&consul, &lines, None).is_ok(), "{:?}", verdict(&consul, &lines, None));
    let mut altered = lines;
    altered.iter_mut().for_each(alter);
    let judged = verdict(&consul, &altered, None);
    assert!(matches!(judged, Err(Objection::Impossible(_))), "{judged:?}");
}

/// Nothing is left behind.
fn leave(told: &mut Told<'_>) {
    for (method, url, body) in [
        ("PUT", "/v1/session/destroy/{S}", String::new()),
        ("DELETE", "/v1/query/{Q}", String::new()),
        ("DELETE", "/v1/kv/fencepost-once/?recurse", String::new()),
        ("PUT", "/v1/catalog/deregister", json!({"Node": NODE}).to_string()),
    ] {
        let url = url.replace("{S}", &told.session).replace("{Q}", &told.query);
        ask(told.consul, told.began, method, &url, &body);
    }
}

fn verdict(consul: &Consul, lines: &[Value], lateness: Option<&str>) -> Result<(), Objection> {
    let mut head = json!({"consul": "1.8.7", "node": consul.node});
    lateness.into_iter().for_each(|lateness| head["lateness"] = lateness.into());
    let text: Vec<String> = [&head].into_iter().chain(lines).map(Value::to_string).collect();
    judge(&read_log(&text.join("\n")), None).map(|_| ())
}

/// The answer to the request with this URL is another one.
fn answered(url: &str, status: u16, answer: &str) -> impl Fn(&mut Value) {
    let (url, answer) = (url.to_owned(), answer.to_owned());
    move |line: &mut Value| {
        if line["url"] == url {
            (line["status"], line["answer"]) = (status.into(), answer.clone().into());
        }
    }
}

#[test]
fn c_txn_5_a_transaction_names_a_key_that_was_not_read_before() {
    let operations = json!([
        {"KV": {"Verb": "get", "Key": "fencepost-once/b"}},
        {"KV": {"Verb": "set", "Key": "fencepost-once/a", "Value": "eA=="}},
    ]);
    let absent = json!({"Results": null, "Errors": [{"OpIndex": 0, "What": "key \"fencepost-once/b\" doesn't exist"}]});
    live(
        &[put("/v1/kv/fencepost-once/b", &json!("x"), 200, "true"), put("/v1/txn", &operations, 200, "Results")],
        answered("/v1/txn", 409, &absent.to_string()),
    );
}

#[test]
fn c_inv_14_a_check_in_maintenance_ends_no_session() {
    let created = json!({"Node": NODE, "NodeChecks": ["c1"]});
    live(
        &[
            register(&json!([check("c1", "passing")])),
            put("/v1/session/create", &created, 200, "ID"),
            register(&json!([check("c1", "maintenance")])),
            get("/v1/session/info/{S}", 200, "{S}"),
            get(&format!("/v1/health/node/{NODE}"), 200, "maintenance"),
            register(&json!([check("c1", "critical")])),
            get("/v1/session/info/{S}?stale", 200, "[]"),
        ],
        |line| {
            let is_info =
                line["url"].as_str().is_some_and(|url| url.starts_with("/v1/session/info/") && !url.contains('?'));
            if is_info {
                line["answer"] = "[]".into();
            }
        },
    );
}

#[test]
fn c_kv_26_flags_with_a_plus_are_no_number() {
    let url = format!("{KEY}?flags=%2B1");
    live(&[put(&url, &json!("x"), 500, "")], answered(&url, 200, "true"));
}

#[test]
fn c_gen_11_a_namespace_is_refused() {
    let url = format!("{KEY}?ns=x");
    live(&[put(&url, &json!("x"), 400, "Invalid query parameter")], answered(&url, 200, "true"));
}

#[test]
fn c_gen_12_another_datacenter_has_no_path() {
    let url = format!("{KEY}?dc=nowhere");
    live(&[put(&url, &json!("x"), 500, "No path to datacenter")], answered(&url, 200, "true"));
}

#[test]
fn c_inv_15_a_check_of_another_node_is_refused() {
    let of_another = json!({"Node": "fencepost-other", "CheckID": "c1", "Status": "passing"});
    let body = json!({"Node": NODE, "Address": "127.0.0.1", "Check": of_another});
    let url = "/v1/catalog/register";
    live(&[put(url, &body, 500, "does not match node")], answered(url, 200, "true"));
}

#[test]
fn c_ses_21_a_service_check_without_an_id_is_not_registered() {
    let created = json!({"NodeChecks": [], "ServiceChecks": [{"ID": ""}]});
    let url = "/v1/session/create";
    let made = json!({"ID": "aaaaaaaa-0000-0000-0000-000000000001"}).to_string();
    live(&[put(url, &created, 500, "Missing check '' registration")], answered(url, 200, &made));
}

#[test]
fn c_ses_8_a_bad_lock_delay_is_refused_with_its_error() {
    let url = "/v1/session/create";
    let refused = put(url, &json!({"LockDelay": "x"}), 400, "Request decode failed: time: invalid duration");
    live(&[refused], answered(url, 400, "Request decode failed: no duration"));
}

#[test]
fn c_pq_7_a_query_id_that_is_no_uuid_is_an_error() {
    let url = "/v1/query/zzz";
    live(&[get(url, 500, "UUID must be 36 characters")], answered(url, 404, "Query not found"));
}

#[test]
fn c_pq_8_and_c_inv_16_names_of_queries_and_check_ids_are_alike_whatever_their_letter_case() {
    let query = |name: &str| json!({"Name": name, "Service": {"Service": "svc"}});
    let taken = "aliases an existing query name";
    let health = format!("/v1/health/node/{NODE}");
    live(
        &[
            step("POST", "/v1/query", &query("fencepost-Once"), 200, "ID"),
            step("POST", "/v1/query?", &query("FENCEPOST-oNCE"), 500, taken),
            register(&json!([check("c1", "passing")])),
            register(&json!([check("C1", "warning")])),
            get(&health, 200, "\"C1\""),
        ],
        |line| {
            if line["url"] == health {
                line["answer"] = line["answer"].as_str().unwrap_or_default().replace("C1", "c1").into();
            }
        },
    );
}

#[test]
fn c_pq_9_a_query_is_executed_by_a_name_in_any_letter_case() {
    let query = json!({"Name": "fencepost-once", "Service": {"Service": "svc"}});
    let missing = "/v1/query/zzz/execute";
    live(
        &[
            step("POST", "/v1/query", &query, 200, "ID"),
            get("/v1/query/FENCEPOST-once/execute", 200, ""),
            get(missing, 404, "Query not found"),
        ],
        answered(missing, 500, "UUID must be 36 characters"),
    );
}

#[test]
fn c_txn_9_transactions_have_verbs_for_nodes_services_checks_and_none_for_sessions() {
    let node = json!({"Node": NODE, "Address": "127.0.0.1"});
    let service = json!({"ID": "web", "Service": "web"});
    let wanted = json!([
        {"Node": {"Verb": "set", "Node": node}},
        {"Service": {"Verb": "set", "Node": NODE, "Service": service}},
        {"Check": {"Verb": "set", "Check": check("c1", "passing")}},
    ]);
    let of_sessions = json!([{"Session": {"Verb": "delete", "Session": {"ID": "x"}}}]);
    let read = json!([{"Check": {"Verb": "get", "Check": {"Node": NODE, "CheckID": "C1"}}}]);
    live(
        &[
            put("/v1/txn", &wanted, 200, "\"Errors\":null"),
            put("/v1/txn?", &of_sessions, 400, "unknown field"),
            put("/v1/txn?stale", &read, 200, "c1"),
        ],
        answered("/v1/txn?", 409, "{\"Results\":null,\"Errors\":[{\"OpIndex\":0,\"What\":\"unknown\"}]}"),
    );
}

#[test]
fn c_gen_10_options_ask_for_the_methods_of_an_endpoint() {
    live(&[step("OPTIONS", KEY, &Value::Null, 200, "")], answered(KEY, 405, "method OPTIONS not allowed"));
}

#[test]
fn c_inv_16_a_node_has_more_than_eight_checks() {
    let names: Vec<String> = (0..12).map(|number| format!("c{number}")).collect();
    let checks: Vec<Value> = names.iter().map(|name| check(name, "passing")).collect();
    let critical = json!([check("c11", "critical")]);
    live(
        &[
            register(&json!(checks)),
            put("/v1/session/create", &json!({"Node": NODE, "NodeChecks": names}), 200, "ID"),
            get("/v1/session/info/{S}", 200, "c11"),
            register(&critical),
            get("/v1/session/info/{S}?stale", 200, "[]"),
        ],
        |line| {
            if line["url"].as_str().is_some_and(|url| url.ends_with("?stale")) {
                line["index"] = Value::Null;
            }
        },
    );
}

#[test]
fn c_gen_7_no_write_has_an_index_and_every_read_has_one() {
    let health = format!("/v1/health/node/{NODE}");
    let steps =
        [register(&json!([check("c1", "passing")])), put(KEY, &json!("x"), 200, "true"), get(&health, 200, "c1")];
    for url in [KEY, &health] {
        live(&steps, |line| {
            if line["url"] == url {
                line["index"] = if line["method"] == "PUT" { 7.into() } else { Value::Null };
            }
        });
    }
}

#[test]
fn c_blk_2_and_c_blk_5_a_read_that_waits_is_answered_in_time() {
    let _alone = AGENT.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(consul) = agent() else { return };
    let began = Instant::now();
    let put = |value: &str| ask(&consul, began, "PUT", KEY, value);
    let (first, read) = (put("x"), ask(&consul, began, "GET", KEY, ""));
    let waits = format!("{KEY}?index={}&wait=2s", read["index"]);
    let waited = ask(&consul, began, "GET", &waits, "");
    assert_eq!(waited["index"], read["index"], "its time was up");
    let (woken, second) = thread::scope(|scope| {
        let woken = scope.spawn(|| ask(&consul, began, "GET", &waits.replace("2s", "60s"), ""));
        thread::sleep(Duration::from_millis(300));
        let second = put("y");
        (woken.join().expect("an answer"), second)
    });
    assert_ne!(woken["index"], read["index"], "the key has changed");
    ask(&consul, began, "DELETE", "/v1/kv/fencepost-once/?recurse", "");
    let late = |line: &Value| {
        let mut late = line.clone();
        late["received"] = json!(line["received"].as_f64().unwrap_or_default() + 9.0);
        late
    };
    let judged = |waited: Value, woken: Value| {
        let lines = [first.clone(), read.clone(), waited, woken, second.clone()];
        verdict(&consul, &lines, Some("900ms")).err().map(|why| why.to_string())
    };
    assert_eq!(judged(waited.clone(), woken.clone()), None);
    let says = |why: Option<String>, rule: &str| why.is_some_and(|why| why.contains(rule));
    assert!(says(judged(late(&waited), woken.clone()), "C-BLK-2"), "{:?}", judged(late(&waited), woken.clone()));
    assert!(says(judged(waited.clone(), late(&woken)), "C-BLK-5"), "{:?}", judged(waited, late(&woken)));
}
