//! Over sockets: clients with addresses of their own, connections that are reset, queries that wait, a clock that jumps.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;

use fencepost_conform::{Consul, HttpRequest, Reply};
use fencepost_serve::{Clock, Server, Settings};

fn ask(consul: &Consul, method: &str, url: &str, body: &str) -> Reply {
    let question = HttpRequest { method: method.to_owned(), url: url.to_owned(), body: body.as_bytes().to_vec() };
    consul.ask(&question).expect("it answers")
}

fn connect(address: SocketAddr) -> Consul {
    Consul::connect(&address.to_string()).expect("it answers")
}

fn id(reply: &Reply) -> String {
    let value: serde_json::Value = serde_json::from_slice(&reply.body).expect("JSON");
    value["ID"].as_str().expect("an id").to_owned()
}

#[test]
fn each_client_has_an_address_of_its_own() {
    let clients = vec!["left".to_owned(), "right".to_owned()];
    let server = Server::start(Settings { clients, clock: Clock::Manual, ..Settings::default() }, "127.0.0.1:0");
    let server = server.expect("free ports");
    let addresses = server.addresses().clone();
    for (_, address) in &addresses.clients {
        ask(&connect(*address), "PUT", "/fencepost/inside?key=lead", "");
    }
    let verdict = server.stop().verdict;
    assert_eq!(verdict.findings[0].sentence, "left and right are both inside");
}

#[test]
fn a_reset_and_a_lost_answer_are_seen_as_such() {
    let server =
        Server::start(Settings { clock: Clock::Manual, ..Settings::default() }, "127.0.0.1:0").expect("a free port");
    let plan = "on GET /v1/kv/reset: reset\non GET /v1/kv/lost: lose-answer\n";
    ask(&connect(server.address()), "PUT", "/fencepost/faults", plan);
    let read = |key: &str| {
        let mut stream = TcpStream::connect(server.address()).expect("it listens");
        write!(stream, "GET /v1/kv/{key} HTTP/1.1\r\nHost: x\r\n\r\n").expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).map(|_| answer).map_err(|error| error.kind())
    };
    assert_eq!(read("reset"), Err(ErrorKind::ConnectionReset));
    assert_eq!(read("lost"), Ok(Vec::new()));
}

#[test]
fn many_queries_wait_and_a_write_wakes_them_all() {
    const WAITING: usize = 150;
    let server =
        Server::start(Settings { clock: Clock::Manual, ..Settings::default() }, "127.0.0.1:0").expect("a free port");
    let address = server.address();
    let consul = connect(address);
    ask(&consul, "PUT", "/v1/kv/lead", "1");
    let index = ask(&consul, "GET", "/v1/kv/lead", "").index.expect("an index");
    let mut waiting: Vec<TcpStream> = (0..WAITING)
        .map(|_| {
            let mut stream = TcpStream::connect(address).expect("it listens");
            write!(stream, "GET /v1/kv/lead?index={index}&wait=60s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                .expect("it reads");
            stream
        })
        .collect();
    // A query that comes after the write is answered at once: either way each gets the new value.
    ask(&consul, "PUT", "/v1/kv/lead", "2");
    for stream in &mut waiting {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\"Value\":\"Mg==\""), "{answer}");
    }
}

#[test]
fn an_automatic_clock_takes_clients_through_a_ttl_without_waiting_for_it() {
    let clients = vec!["holder".to_owned(), "waiter".to_owned()];
    let server = Server::start(Settings { clients, clock: Clock::Auto, ..Settings::default() }, "127.0.0.1:0");
    let server = server.expect("free ports");
    let addresses: Vec<SocketAddr> = server.addresses().clients.iter().map(|(_, address)| *address).collect();
    let terms = r#"{"TTL": "10s", "LockDelay": "15s", "NodeChecks": []}"#;
    let holder = connect(addresses[0]);
    let waiter = connect(addresses[1]);
    let session = id(&ask(&holder, "PUT", "/v1/session/create", terms));
    assert_eq!(ask(&holder, "PUT", &format!("/v1/kv/lead?acquire={session}"), "").body, b"true");
    ask(&holder, "PUT", "/fencepost/inside?key=lead", "");
    thread::scope(|scope| {
        // The holder sleeps for longer than its session lives, and believes that it has the lock.
        scope.spawn(|| ask(&holder, "PUT", "/fencepost/sleep?for=90s", ""));
        let waiting = scope.spawn(|| {
            let session = id(&ask(&waiter, "PUT", "/v1/session/create", &terms.replace("10s", "60s")));
            while ask(&waiter, "PUT", &format!("/v1/kv/lead?acquire={session}"), "").body != b"true" {
                ask(&waiter, "PUT", "/fencepost/sleep?for=1s", "");
            }
            ask(&waiter, "PUT", "/fencepost/inside?key=lead", "");
            ask(&waiter, "DELETE", "/fencepost/client", "");
        });
        waiting.join().expect("it gets the lock");
    });
    let verdict = server.stop().verdict;
    assert_eq!(verdict.findings[0].property, "mutual-exclusion", "{verdict}");
    assert_eq!(verdict.findings[0].at / 1_000_000_000, 35, "twice the TTL, and the lock-delay: {verdict}");
}
