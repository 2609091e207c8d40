//! The recording proxy, in front of a server that answers as an agent does. Its log is judged.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use fencepost_conform::{Recorder, judge, read};

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no thread panics").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Answers by path, one connection after another; listings come in chunks. It may have access control.
fn agent(has_acls: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("http://{}", listener.local_addr().expect("bound"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream, has_acls));
        }
    });
    address
}

fn answer(mut stream: TcpStream, has_acls: bool) {
    let mut text = String::new();
    let mut byte = [0];
    while stream.read_exact(&mut byte).is_ok() {
        text.push(char::from(byte[0]));
        if !text.ends_with("\r\n\r\n") {
            continue;
        }
        let length = text
            .to_lowercase()
            .split("content-length: ")
            .nth(1)
            .map_or(0, |rest| rest.lines().next().and_then(|number| number.trim().parse().ok()).unwrap_or(0));
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("a body");
        let plain =
            |status: &str, body: &str| format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        assert!(!text.to_lowercase().contains("accept-encoding"), "a compressed answer could not be judged: {text}");
        let answer = match text.split(' ').nth(1).expect("a path") {
            "/v1/agent/self" => plain(
                "200 OK",
                &format!(
                    r#"{{"Config": {{"NodeName": "here", "Version": "1.8.7"}}, "DebugConfig": {{"SessionTTLMin": "0s", "ACLsEnabled": {has_acls}}}}}"#
                ),
            ),
            "/v1/session/list" => plain("200 OK", "[]"),
            "/v1/kv/k" if text.starts_with("PUT") => plain("200 OK", "true"),
            "/v1/kv/k?raw" => {
                "HTTP/1.1 200 OK\r\nX-Consul-Index: 12\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n2\r\n }\r\n0\r\n\r\n".to_owned()
            }
            _ => plain("404 Not Found", ""),
        };
        stream.write_all(answer.as_bytes()).expect("a client");
        text.clear();
    }
}

fn ask(stream: &mut TcpStream, request: &str, until: &str) -> String {
    stream.write_all(request.as_bytes()).expect("a proxy");
    let (mut text, mut byte) = (String::new(), [0]);
    while !text.ends_with(until) && stream.read_exact(&mut byte).is_ok() {
        text.push(char::from(byte[0]));
    }
    text
}

#[test]
fn traffic_through_the_proxy_is_logged_and_can_be_judged() {
    let recorder = Recorder::bind("127.0.0.1:0", &agent(false)).expect("a free port");
    let (address, log, is_over) =
        (recorder.address().expect("bound"), Log::default(), Arc::new(AtomicBool::new(false)));
    let (copy, over) = (log.clone(), Arc::clone(&is_over));
    let running = thread::spawn(move || recorder.run(Box::new(copy), &|| over.load(Ordering::Relaxed)));
    let mut client = TcpStream::connect(address).expect("a proxy");
    let put = "PUT /v1/kv/k HTTP/1.1\r\nHost: x\r\nX-Fencepost-Client: me\r\nAccept-Encoding: gzip\r\nContent-Length: 3\r\n\r\n{ }";
    assert!(ask(&mut client, put, "true").starts_with("HTTP/1.1 200 OK"));
    let got = ask(&mut client, "GET /v1/kv/k?raw HTTP/1.1\r\nHost: x\r\n\r\n", "{ }");
    assert!(got.contains("content-length: 3") && got.contains("x-consul-index: 12"), "{got}");
    is_over.store(true, Ordering::Relaxed);
    running.join().expect("it does not panic").expect("it could be written");
    let text = String::from_utf8(log.0.lock().expect("no thread panics").clone()).expect("text");
    let episodes = read(&text).expect("a log");
    let lines = &episodes[0].lines;
    assert_eq!((episodes[0].node.as_str(), lines.len(), lines[0].client.as_deref()), ("here", 2, Some("me")), "{text}");
    assert!(lines[1].client.as_ref().is_some_and(|client| client.starts_with("127.0.0.1:")), "its address: {text}");
    assert_eq!(judge(&episodes, None).expect("possible").lines, 2);
}

/// What may not be read is missing in a list: an empty list says nothing.
#[test]
fn the_log_of_an_agent_with_access_control_begins_with_a_store_that_is_not_known() {
    let begins = |has_acls: bool| {
        let recorder = Recorder::bind("127.0.0.1:0", &agent(has_acls)).expect("a free port");
        let log = Log::default();
        recorder.run(Box::new(log.clone()), &|| true).expect("it could be written");
        let text = String::from_utf8(log.0.lock().expect("no thread panics").clone()).expect("text");
        // A log without a request is none.
        let request = r#"{"method": "GET", "url": "/v1/status/leader", "status": 200}"#;
        let episode = read(&format!("{text}{request}")).expect("a log").remove(0);
        (episode.begins_later, episode.gaps.has_acl)
    };
    assert_eq!((begins(false), begins(true)), ((false, false), (true, true)));
}

#[test]
fn an_upstream_that_is_no_address_and_a_port_that_is_taken_are_said() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound").to_string();
    let why = |listen: &str, upstream: &str| Recorder::bind(listen, upstream).err().expect("refused").to_string();
    assert!(why("127.0.0.1:0", "localhost:8500").contains("begins with http://"));
    assert!(why(&address, "http://127.0.0.1:8500").contains(&address));
}
