//! Logs of servers, judged by the command: the warning about another version.

use std::path::Path;

use crate::program::{fencepost, folder, json, stderr, stdout};

/// A log in a file of a folder.
fn file(folder: &Path, name: &str, log: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, log).expect("a file can be written");
    path.display().to_string()
}

/// Logs of one request: a name, the server, the version of the model, and the text; that of etcd is recorded.
const LOGS: [(&str, &str, &str, &str); 4] = [
    (
        "consul",
        "Consul",
        "1.8.7",
        r#"{"consul": "VERSION"}
{"method": "PUT", "url": "/v1/kv/k", "body": "v", "status": 200, "answer": "true"}"#,
    ),
    (
        "rabbitmq",
        "RabbitMQ",
        "3.10.8",
        r#"{"rabbitmq": "VERSION"}
{"said": {"ask": {"connection": 1, "channel": 1, "close_ok": false, "request": {"look": {"slot": 1}}}}, "answer": {"error": "no-queue"}}"#,
    ),
    (
        "traffic",
        "RabbitMQ",
        "3.10.8",
        r#"{"rabbitmq": "VERSION", "traffic": "full"}
{"at": 100, "connection": 1, "channel": 1, "sent": {"plain": {"look": {"slot": 1}}}}
{"at": 150, "connection": 1, "channel": 1, "answered": {"to": 1, "reply": {"plain": {"error": "no-queue"}}}}"#,
    ),
    ("etcd", "etcd", "3.4.23", ""),
];

/// A log whose head states a version.
fn log_of(name: &str, text: &str, version: &str) -> String {
    let recorded = include_str!("../../conform/recorded/etcd-3.4.23.jsonl");
    let head = recorded.lines().next().expect("a head").replace("3.4.23", version);
    match name {
        "etcd" => format!("{head}\n{}", recorded.lines().nth(1).expect("a call")),
        _ => text.replace("VERSION", version),
    }
}

#[test]
fn a_log_of_another_version_is_judged_with_a_warning() {
    let folder = folder("recorded-logs-of-versions");
    for (name, server, known, text) in LOGS {
        let judged = |version: &str, more: &[&str]| {
            let file = file(&folder, &format!("{name}.jsonl"), &log_of(name, text, version));
            let output = fencepost(&[&["conform", "--recorded", &file][..], more].concat());
            assert_eq!(output.status.code(), Some(0), "{name}: {}{}", stdout(&output), stderr(&output));
            output
        };
        let warning = format!("the log is of {server} 9.1.0, and the model is of {server} {known}: ");
        let told = stdout(&judged("9.1.0", &[]));
        assert!(told.contains("possible") && told.contains(&format!("Warning: {warning}")), "{told}");
        let rows = json(&judged("9.1.0", &["--json"]));
        assert!(
            rows.iter().any(|row| row["warning"].as_str().is_some_and(|said| said.starts_with(&warning))),
            "{rows:?}"
        );
        for same in [known.to_owned(), format!("{known}+build")] {
            let told = stdout(&judged(&same, &[]));
            assert!(!told.contains("Warning"), "{same}: {told}");
        }
    }
}
