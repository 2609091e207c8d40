//! Logs of servers, judged by the command: the warning about another version, and the lateness of timers.

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
        let warning = format!("the log is of {server} 9.1.0, and the model is of {server} {known}");
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

/// R-Q-44: a client is dropped no later than three intervals after its last byte, and as late as timers are. Here it is not dropped in 5.4 s.
#[test]
fn the_lateness_of_a_brokers_timers_is_an_option() {
    let log = r#"{"rabbitmq": "3.10.8", "traffic": "full", "lateness": 900}
{"at": 100, "connection": 1, "channel": 1, "sent": {"plain": {"declare": {"name": {"slot": 1}, "shape": {"exclusive": false, "durable": false, "auto-delete": false, "keeps": "all"}}}}}
{"at": 150, "connection": 1, "channel": 1, "answered": {"to": 1, "reply": {"declared": {"messages": 0, "consumers": 0}}}}
{"at": 200, "connection": 2, "channel": 1, "sent": {"publish": {"name": {"slot": 1}, "body": 1, "mandatory": false}}}
{"at": 290, "connection": 2, "channel": 1, "answered": {"to": 3, "reply": {"plain": "confirmed"}}}
{"at": 300, "connection": 3, "channel": 1, "sent": {"connect": {"heartbeat": 1}}}
{"at": 320, "connection": 3, "channel": 1, "answered": {"to": 5, "reply": "connected"}}
{"at": 330, "connection": 3, "channel": 1, "sent": {"get": {"name": {"slot": 1}, "no_ack": false}}}
{"at": 350, "connection": 3, "channel": 1, "answered": {"to": 7, "reply": {"got": {"tag": 1, "body": 1, "redelivered": false, "messages": 0}}}}
{"at": 5400000, "connection": 1, "channel": 1, "sent": {"get": {"name": {"slot": 1}, "no_ack": false}}}
{"at": 5400100, "connection": 1, "channel": 1, "answered": {"to": 9, "reply": {"plain": "empty"}}}"#;
    let folder = folder("recorded-logs-of-timers");
    let late = file(&folder, "late.jsonl", log);
    let code = |lateness: &[&str]| {
        let output = fencepost(&[&["conform", "--recorded", &late][..], lateness].concat());
        (output.status.code(), stdout(&output) + &stderr(&output))
    };
    assert_eq!(code(&[]).0, Some(1), "{}", code(&[]).1);
    assert_eq!(code(&["--lateness", "899.5ms"]).0, Some(1), "it is rounded up");
    assert_eq!(code(&["--lateness", "3s"]).0, Some(0), "{}", code(&["--lateness", "3s"]).1);
    assert_eq!(code(&["--lateness", "any"]).0, Some(0));
    let early = code(&["--lateness=-1s"]);
    assert!(early.0 == Some(2) && early.1.contains("no timer is early"), "{early:?}");
    let single = file(&folder, "single.jsonl", &log_of("rabbitmq", LOGS[1].3, "3.10.8"));
    let output = fencepost(&["conform", "--recorded", &single, "--lateness", "1s"]);
    assert!(stderr(&output).contains("it has no clock"), "{}", stderr(&output));
    let output = fencepost(&["conform", "--rabbitmq", "amqp://127.0.0.1:1", "--lateness", "1s"]);
    assert!(stderr(&output).contains("without --traffic"), "{}", stderr(&output));
}
