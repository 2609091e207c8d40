//! Streams over sockets: chunks as they come, clients that go away, and clocks.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use fencepost_serve::{Clock, Server, Settings};
use serde_json::{Value, json};

use super::bench::bytes;

fn send(address: SocketAddr, method: &str, path: &str, body: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .expect("it reads");
    BufReader::new(stream)
}

fn ask(address: SocketAddr, method: &str, path: &str, body: &str) -> String {
    let mut text = String::new();
    send(address, method, path, body).read_to_string(&mut text).expect("an answer");
    text
}

fn put(address: SocketAddr, key: &str, lease: i64) {
    let put = json!({"key": bytes(key), "lease": lease}).to_string();
    assert!(ask(address, "POST", "/v3/kv/put", &put).starts_with("HTTP/1.1 200"));
}

fn watch(address: SocketAddr, key: &str) -> BufReader<TcpStream> {
    send(address, "POST", "/v3/watch", &json!({"create_request": {"key": bytes(key)}}).to_string())
}

/// The next message of a stream, and what stands before it.
fn next(stream: &mut BufReader<TcpStream>) -> (String, Value) {
    let mut before = String::new();
    loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).expect("it goes on") > 0, "it ends: {before}");
        if let Ok(message @ Value::Object(_)) = serde_json::from_str(&line) {
            return (before, message);
        }
        before += &line;
    }
}

fn start(clock: Clock, plan: &str) -> Server {
    let plan = plan.parse().expect("a plan");
    Server::start_etcd(Settings { clock, plan, ..Settings::default() }, "127.0.0.1:0").expect("a free port")
}

#[test]
fn e_gen_6_each_message_is_a_chunk_that_comes_at_once() {
    let server = start(Clock::Manual, "");
    let mut stream = watch(server.address(), "a");
    let (head, created) = next(&mut stream);
    assert!(head.starts_with("HTTP/1.1 200") && head.to_lowercase().contains("transfer-encoding: chunked"), "{head}");
    assert_eq!(created["result"]["created"], true);
    for revision in ["2", "3"] {
        put(server.address(), "a", 0);
        assert_eq!(next(&mut stream).1["result"]["events"][0]["kv"]["mod_revision"], revision);
    }
}

#[test]
fn the_end_of_a_lease_is_told_when_the_clock_gets_there_by_itself_or_not() {
    for clock in [Clock::Scaled(20), Clock::Auto] {
        let server = start(clock, "");
        ask(server.address(), "POST", "/v3/lease/grant", r#"{"ID": 7, "TTL": 5}"#);
        put(server.address(), "a", 7);
        let mut stream = watch(server.address(), "a");
        next(&mut stream);
        assert_eq!(next(&mut stream).1["result"]["events"][0]["type"], "DELETE", "{clock}");
    }
}

#[test]
fn a_restart_breaks_a_stream_off_without_its_last_chunk() {
    let server = start(Clock::Manual, "on POST /v3/lease/leases: server-restart");
    let mut stream = watch(server.address(), "a");
    next(&mut stream);
    ask(server.address(), "POST", "/v3/lease/leases", "");
    let mut rest = Vec::new();
    let end = stream.read_to_end(&mut rest).map_err(|error| error.kind());
    assert!(matches!(end, Ok(_) | Err(ErrorKind::ConnectionReset)), "{end:?}");
    assert!(!rest.ends_with(b"0\r\n\r\n"), "{rest:?}");
}

/// E-CC-23. The body is complete, as that of a real server.
#[test]
fn the_end_of_an_observer_is_the_last_chunk_of_its_answer() {
    for (key, messages) in [("n/a", 1), ("other", 0)] {
        let server = start(Clock::Manual, "on POST /v3/election/observe: delay-answer 2s");
        put(server.address(), key, 0);
        let mut observer =
            send(server.address(), "POST", "/v3/election/observe", &json!({"name": bytes("n")}).to_string());
        // It has to have arrived before the others.
        std::thread::sleep(Duration::from_millis(100));
        put(server.address(), key, 0);
        put(server.address(), key, 0);
        ask(server.address(), "POST", "/v3/kv/compaction", r#"{"revision": 4}"#);
        ask(server.address(), "PUT", "/fencepost/clock/advance?by=4s", "");
        let mut text = String::new();
        observer.read_to_string(&mut text).expect("it ends in order");
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        assert_eq!(text.matches("\"result\"").count(), messages, "{text}");
        assert_eq!(text.ends_with("\r\n0\r\n\r\n"), messages > 0, "{text}");
    }
}

/// With a clock that jumps, what no client reads would be waited for.
#[test]
fn a_client_that_goes_away_closes_its_stream() {
    let server = start(Clock::Auto, "");
    ask(server.address(), "PUT", "/fencepost/client?client=client&tasks=2", "");
    let (mut kept, gone) = (watch(server.address(), "a"), watch(server.address(), "a"));
    next(&mut kept);
    drop(gone);
    // Two streams of one client would be two tasks that wait, and the clock would jump.
    std::thread::sleep(Duration::from_millis(100));
    ask(server.address(), "POST", "/v3/lease/grant", r#"{"ID": 7, "TTL": 5}"#);
    std::thread::sleep(Duration::from_millis(100));
    let left = ask(server.address(), "POST", "/v3/lease/timetolive", r#"{"ID": 7}"#);
    assert!(left.contains("\"grantedTTL\":\"5\""), "{left}");
}
