//! A stand-in for leases whose clock is the test's, and requests over sockets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use fencepost_serve::{Clock, Server, Settings, Verdict};
use serde_json::{Value, json};

/// Where the leases of the tests are.
pub const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
pub const LEAD: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases/lead";

pub struct Leases(Server);

/// An answer that is still awaited.
pub struct Sent(TcpStream);

/// A status, and a body that is JSON or null.
pub type Told = (u16, Value);

impl Leases {
    pub fn new() -> Self {
        let settings = Settings { clock: Clock::Manual, is_recorded: true, ..Settings::default() };
        Leases(Server::start_leases(settings, "127.0.0.1:0").expect("a free port"))
    }

    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Sends a request, and does not wait. `what` is the method and, behind a space, the type of the body.
    pub fn send(&self, client: &str, what: &str, url: &str, body: &str) -> Sent {
        let (method, kind) = what.split_once(' ').unwrap_or((what, "application/json"));
        let mut stream = TcpStream::connect(self.address()).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
        write!(
            stream,
            "{method} {url} HTTP/1.1\r\nHost: x\r\nX-Fencepost-Client: {client}\r\nContent-Type: {kind}\r\n\
Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("it reads");
        Sent(stream)
    }

    #[track_caller]
    pub fn ask(&self, client: &str, what: &str, url: &str, body: &Value) -> Told {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(client, what, url, &body).answer().expect("an answer")
    }

    #[track_caller]
    pub fn get(&self, url: &str) -> Told {
        self.ask("test", "GET", url, &Value::Null)
    }

    /// Asks the control, which has to agree.
    #[track_caller]
    pub fn control(&self, method: &str, url: &str, body: &str) -> Value {
        let (status, told) = self.send("test", method, &format!("/fencepost/{url}"), body).answer().expect("an answer");
        assert_eq!(status, 200, "{url}: {told}");
        told
    }

    #[track_caller]
    pub fn advance(&self, by: &str) {
        self.control("PUT", &format!("clock/advance?by={by}"), "");
    }

    #[track_caller]
    pub fn plan(&self, text: &str) {
        self.control("PUT", "faults", text);
    }

    /// Waits until a request has arrived that no answer comes for yet: the plan counts it.
    pub fn wait_for(&self, requests: u64) {
        for _ in 0..2_000 {
            let rules = self.control("GET", "faults", "");
            if rules.as_array().into_iter().flatten().any(|rule| rule["requests"].as_u64() >= Some(requests)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the request has not arrived");
    }

    /// Creates the lease `lead` for a holder.
    #[track_caller]
    pub fn acquired(&self, client: &str, seconds: i64) -> Value {
        let (status, lease) = self.ask(client, "POST", LEASES, &lease(client, seconds, 0));
        assert_eq!(status, 201, "{lease}");
        lease
    }

    pub fn verdict(self) -> Verdict {
        self.0.stop().verdict
    }

    pub fn record(self) -> Vec<Value> {
        let record = self.0.stop().record;
        record.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

impl Sent {
    /// The answer; none: the connection was closed without one.
    pub fn answer(mut self) -> Option<Told> {
        let mut bytes = Vec::new();
        self.0.read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, serde_json::from_str(body).unwrap_or_default()))
    }
}

/// The lease `lead` as a client creates it; the second of its times tells writes apart.
pub fn lease(holder: &str, seconds: i64, second: u8) -> Value {
    let time = format!("2026-11-28T04:00:{second:02}.000000Z");
    json!({
        "kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "lead"},
        "spec": {
            "holderIdentity": holder, "leaseDurationSeconds": seconds, "leaseTransitions": 0, "acquireTime": time, "renewTime": time,
        },
    })
}

/// What was read, with another holder and another time.
pub fn rewritten(read: &Value, holder: &str, second: u8) -> Value {
    let mut lease = read.clone();
    lease["spec"]["holderIdentity"] = json!(holder);
    lease["spec"]["renewTime"] = json!(format!("2026-11-28T04:00:{second:02}.000000Z"));
    lease
}

/// The version of what was read.
pub fn version(lease: &Value) -> u64 {
    lease["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).expect("a version")
}
