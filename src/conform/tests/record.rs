//! The recording proxy, in front of a server that answers as an agent does. Its log is judged.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use fencepost_conform::{ConformError, EventKind, Recorder, RefusedRequest, judge, read, uncertainties, write};

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

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no thread panics").clone()).expect("text")
    }
}

/// A proxy in front of the agent.
struct Proxy {
    client: TcpStream,
    log: Log,
    is_over: Arc<AtomicBool>,
    running: thread::JoinHandle<Result<(), ConformError>>,
}

impl Proxy {
    fn start(upstream: &str) -> Self {
        let recorder = Recorder::bind("127.0.0.1:0", upstream).expect("a free port");
        let client = TcpStream::connect(recorder.address().expect("bound")).expect("a proxy");
        let (log, is_over) = (Log::default(), Arc::new(AtomicBool::new(false)));
        let (copy, over) = (log.clone(), Arc::clone(&is_over));
        let running = thread::spawn(move || recorder.run(Box::new(copy), &|| over.load(Ordering::Relaxed)));
        Proxy { client, log, is_over, running }
    }

    /// Stops it; what it has written, and its client.
    fn stop(self) -> (String, TcpStream) {
        self.is_over.store(true, Ordering::Relaxed);
        self.running.join().expect("it does not panic").expect("it could be written");
        (self.log.text(), self.client)
    }
}

/// Answers by path, one connection after another; listings come in chunks. It may have access control.
fn agent(has_acls: bool) -> String {
    agent_that_tells(has_acls, &channel().0)
}

/// The same; it tells of requests that it never answers.
fn agent_that_tells(has_acls: bool, unanswered: &Sender<()>) -> String {
    let unanswered = unanswered.clone();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("http://{}", listener.local_addr().expect("bound"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let unanswered = unanswered.clone();
            thread::spawn(move || answer(stream, has_acls, &unanswered));
        }
    });
    address
}

fn answer(mut stream: TcpStream, has_acls: bool, unanswered: &Sender<()>) {
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
        assert!(!text.to_lowercase().contains("expect"), "the body is not waited for: {text}");
        let answer = match text.split(' ').nth(1).expect("a path") {
            "/v1/agent/self" => plain(
                "200 OK",
                &format!(
                    r#"{{"Config": {{"NodeName": "here", "Version": "1.8.7"}}, "DebugConfig": {{"SessionTTLMin": "0s", "ACLsEnabled": {has_acls}}}}}"#
                ),
            ),
            "/v1/session/list" => plain("200 OK", "[]"),
            "/v1/kv/k" if text.starts_with("PUT") => {
                format!("HTTP/1.1 103 Early Hints\r\n\r\n{}", plain("200 OK", "true"))
            }
            "/v1/kv/slow" => {
                unanswered.send(()).expect("a test");
                String::new()
            }
            "/v1/kv/huge" => "HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n".to_owned(),
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
    let mut proxy = Proxy::start(&agent(false));
    let put = "PUT /v1/kv/k HTTP/1.1\r\nHost: x\r\nX-Fencepost-Client: me\r\nAccept-Encoding: gzip\r\nContent-Length: 3\r\n\r\n{ }";
    assert!(ask(&mut proxy.client, put, "true").starts_with("HTTP/1.1 200 OK"));
    let got = ask(&mut proxy.client, "GET /v1/kv/k?raw HTTP/1.1\r\nHost: x\r\n\r\n", "{ }");
    assert!(got.contains("content-length: 3") && got.contains("x-consul-index: 12"), "{got}");
    let (text, _) = proxy.stop();
    let episodes = read(&text).expect("a log");
    let lines = &episodes[0].lines;
    assert_eq!((episodes[0].node.as_str(), lines.len(), lines[0].client.as_deref()), ("here", 2, Some("me")), "{text}");
    assert!(lines[1].client.as_ref().is_some_and(|client| client.starts_with("127.0.0.1:")), "its address: {text}");
    assert_eq!(judge(&episodes, None).expect("possible").lines, 2);
}

/// curl asks so for bodies of more than a megabyte, and waits for a second without an answer.
#[test]
fn a_client_that_asks_before_it_sends_the_body_is_told_to_continue() {
    let mut proxy = Proxy::start(&agent(false));
    let head = "PUT /v1/kv/k HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(ask(&mut proxy.client, head, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    assert!(ask(&mut proxy.client, "value", "true").starts_with("HTTP/1.1 200 OK"));
    let (text, _) = proxy.stop();
    let line = &read(&text).expect("a log")[0].lines[0];
    assert_eq!(line.question.body, b"value", "{text}");
    assert_eq!(line.reply.as_ref().map(|reply| reply.status), Some(200), "{text}");
}

/// A body of a byte more than 64 MB is announced, or comes in a piece of that size.
#[test]
fn a_request_that_is_too_large_is_answered_and_the_log_says_so() {
    for framing in
        ["Expect: 100-continue\r\nContent-Length: 67108865\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n4000001\r\n"]
    {
        let mut proxy = Proxy::start(&agent(false));
        let put = "PUT /v1/kv/k HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nv";
        assert!(ask(&mut proxy.client, put, "true").starts_with("HTTP/1.1 200 OK"));
        let large = format!("PUT /v1/kv/large HTTP/1.1\r\nHost: x\r\nX-Fencepost-Client: me\r\n{framing}");
        let answer = ask(&mut proxy.client, &large, "64 MB\n");
        assert!(answer.starts_with("HTTP/1.1 413 Payload Too Large\r\n"), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
        let (text, _client) = proxy.stop();
        let episodes = read(&text).expect("a log");
        let [event] = &episodes[0].events[..] else { panic!("{text}") };
        let (client, method) = (Some("me".to_owned()), "PUT".to_owned());
        let refused = RefusedRequest { client, method, url: "/v1/kv/large".to_owned(), status: 413 };
        assert_eq!(event.kind, EventKind::NotPassedOn(refused), "{text}");
        // The rest of the log is judged as ever, and what was left out is listed.
        let possible = judge(&episodes, None).expect("possible");
        assert_eq!((possible.lines, possible.partial), (1, 0), "{text}");
        let said: Vec<String> = uncertainties(&episodes).iter().map(ToString::to_string).collect();
        assert_eq!(said, ["the recorder refused 1 requests itself: no server has seen them, and they are not judged"]);
        let line = text.lines().find(|line| line.contains("not-passed-on")).expect("a line");
        assert!(write("1.8.7", &episodes).lines().any(|other| other == line), "{line}");
    }
}

#[test]
fn an_answer_that_is_too_large_is_replaced_and_the_log_has_none() {
    let mut proxy = Proxy::start(&agent(false));
    let answer = ask(&mut proxy.client, "GET /v1/kv/huge HTTP/1.1\r\nHost: x\r\n\r\n", "64 MB\n");
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{answer}");
    let (text, _client) = proxy.stop();
    let line = &read(&text).expect("a log")[0].lines[0];
    assert_eq!((line.question.url.as_str(), &line.reply), ("/v1/kv/huge", &None), "{text}");
}

#[test]
fn a_request_that_is_open_when_the_proxy_ends_is_logged_without_an_answer() {
    let (sender, unanswered) = channel();
    let mut proxy = Proxy::start(&agent_that_tells(false, &sender));
    proxy.client.write_all(b"PUT /v1/kv/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nv").expect("a proxy");
    unanswered.recv().expect("the agent has it");
    let (text, _client) = proxy.stop();
    let episodes = read(&text).expect("a log");
    let [line] = &episodes[0].lines[..] else { panic!("{text}") };
    assert_eq!((line.question.url.as_str(), &line.question.body[..], &line.reply), ("/v1/kv/slow", &b"v"[..], &None));
    assert_eq!(line.received, i64::MAX);
}

/// What may not be read is missing in a list: an empty list says nothing.
#[test]
fn the_log_of_an_agent_with_access_control_begins_with_a_store_that_is_not_known() {
    let begins = |has_acls: bool| {
        let recorder = Recorder::bind("127.0.0.1:0", &agent(has_acls)).expect("a free port");
        let log = Log::default();
        recorder.run(Box::new(log.clone()), &|| true).expect("it could be written");
        let text = log.text();
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
