//! Logs of clients of Consul, made request by request.

use fencepost_conform::{Clients, clients, read};
use serde_json::{Value, json};

pub const A: &str = "aaaaaaaa-0000-0000-0000-000000000001";
pub const B: &str = "bbbbbbbb-0000-0000-0000-000000000002";

/// A request of a client at a second, answered a tenth of it later.
pub fn by(client: &str, at: f64, method: &str, url: &str, body: &str, answer: &str) -> Value {
    let status = if answer.starts_with("Session id") { 404 } else { 200 };
    json!({
        "client": client, "method": method, "url": url, "body": body, "sent": at, "received": at + 0.1, "status": status,
        "answer": answer
    })
}

pub fn create(client: &str, at: f64, session: &str) -> Value {
    let requested = r#"{"TTL": "10s", "LockDelay": "0s", "NodeChecks": []}"#;
    by(client, at, "PUT", "/v1/session/create", requested, &format!("{{\"ID\": \"{session}\"}}"))
}

pub fn acquire(client: &str, at: f64, session: &str) -> Value {
    by(client, at, "PUT", &format!("/v1/kv/lead?acquire={session}"), client, "true")
}

pub fn write(client: &str, at: f64) -> Value {
    by(client, at, "PUT", "/v1/kv/data", client, "true")
}

pub fn judged(lines: &[Value]) -> Clients {
    let head = json!({"consul": "1.8.7", "node": "here", "session_ttl_min": "10s"});
    let text: Vec<String> = [&head].into_iter().chain(lines).map(Value::to_string).collect();
    clients(&read(&text.join("\n")).expect("a log")[0], &[])
}
