//! A server behind its gateway (E-GEN-4), and its answers without what is fresh in each.

use std::io;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fencepost_etcd::mvcc::{EtcdCall, EtcdVersion};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ureq::http::Request;

use super::bodies::{body, path};
use super::streams::{self, WatchStream};
use crate::error::ConformError;

/// How long a caller waits that is going to leave a queue (E-CC-31).
pub(super) const PATIENCE: Duration = Duration::from_millis(300);

/// What remains of a lease at a leader that is not promoted yet, in seconds (E-LD-3).
const WITHOUT_END: i64 = 9_223_372_036;

/// A running etcd server.
#[derive(Clone, Debug)]
pub struct EtcdServer {
    base: String,
    http: ureq::Agent,
    hasty: ureq::Agent,
    /// Its version.
    pub version: EtcdVersion,
    /// Whether it is one of several.
    pub(super) is_member: bool,
}

/// An answer of the gateway.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EtcdReply {
    /// The HTTP status; 0: there was no answer, for the caller waited and went away.
    pub status: u16,
    /// The body.
    pub body: Value,
}

impl EtcdReply {
    /// No answer.
    pub(super) fn none() -> Self {
        EtcdReply { status: 0, body: Value::Null }
    }

    /// The revision in its header.
    pub(super) fn revision(&self) -> Option<i64> {
        self.body["header"]["revision"].as_str()?.parse().ok()
    }

    pub(super) fn drop_header(&mut self) {
        if let Value::Object(body) = &mut self.body {
            body.remove("header");
        }
    }

    /// The time that remains of a lease which is there, in whole seconds; none before its leader is promoted, which knows of no end (E-LD-3).
    pub(super) fn seconds_left(&self) -> Option<i64> {
        self.body.get("grantedTTL")?;
        let rest = self.body.get("TTL").and_then(Value::as_str).unwrap_or("0");
        rest.parse().ok().filter(|rest| *rest != WITHOUT_END)
    }

    /// The message of a refusal is left out where it stands a second time.
    pub(super) fn drop_repeated_message(&mut self) {
        if let Value::Object(body) = &mut self.body
            && body.contains_key("code")
        {
            body.remove("error");
        }
    }

    /// The time that remains of a lease which is there is left out if it is below 0.
    pub(super) fn drop_time_overdue(&mut self) {
        let Value::Object(body) = &mut self.body else { return };
        let is_below_zero = body.get("TTL").and_then(Value::as_str).is_some_and(|ttl| ttl.starts_with('-'));
        if is_below_zero && body.contains_key("grantedTTL") {
            body.remove("TTL");
        }
    }

    /// A leader that is not promoted yet says that a lease has all the time there is (E-LD-3).
    pub(super) fn drop_time_without_end(&mut self) {
        if let Value::Object(body) = &mut self.body
            && body.get("TTL").is_some_and(|ttl| *ttl == number(WITHOUT_END))
        {
            body.remove("TTL");
        }
    }

    /// Without what is fresh in each answer: ids of cluster and member, the term, the revision in the header of a renewal, the remaining
    /// time of a lease if it is at most the granted one.
    pub(super) fn comparable(mut self, call: &EtcdCall) -> Self {
        strip(&mut self.body);
        match call {
            EtcdCall::Renew(_) => {
                if let Some(result) = self.body.get_mut("result").and_then(Value::as_object_mut) {
                    result.remove("header");
                }
            }
            EtcdCall::TimeToLive { .. } => {
                let number = |name: &str| self.body.get(name)?.as_str()?.parse::<i64>().ok();
                if let Some(granted) = number("grantedTTL")
                    && (0..=granted).contains(&number("TTL").unwrap_or(0))
                {
                    self.body["TTL"] = json!("some");
                }
                sort(self.body.get_mut("keys"));
            }
            EtcdCall::Leases => sort(self.body.get_mut("leases")),
            EtcdCall::Watch(_) => streams::grouped(&mut self.body),
            _ => {}
        }
        self
    }
}

fn sort(list: Option<&mut Value>) {
    if let Some(Value::Array(items)) = list {
        items.sort_by_key(Value::to_string);
    }
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::Object(header)) = object.get_mut("header") {
                header.retain(|name, _| name == "revision");
                if header.is_empty() {
                    object.remove("header");
                }
            }
            object.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

impl EtcdServer {
    /// Connects to the server at an address like `http://127.0.0.1:2379`.
    ///
    /// # Errors
    /// There is no etcd at the address.
    pub fn connect(address: &str) -> Result<Self, ConformError> {
        let mut server = Self::at(address);
        let about = server.request("GET", "/version", &Value::Null)?;
        let version = about.body["etcdserver"].as_str();
        let version = version.ok_or_else(|| ConformError(format!("{address} answers, but not as etcd does")))?;
        server.version = version.parse().map_err(|why| ConformError(format!("{address}: {why}")))?;
        Ok(server)
    }

    /// A server of which nothing is known but its address.
    pub(super) fn at(address: &str) -> Self {
        let agent = |timeout: Duration| {
            let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0);
            config.timeout_global(Some(timeout)).build().new_agent()
        };
        let base = match address.trim_end_matches('/') {
            plain if plain.contains("://") => plain.to_owned(),
            plain => format!("http://{plain}"),
        };
        let (http, hasty) = (agent(Duration::from_secs(60)), agent(PATIENCE));
        EtcdServer { base, http, hasty, version: EtcdVersion::default(), is_member: false }
    }

    /// The same as one of several.
    pub(super) fn into_member(self) -> Self {
        EtcdServer { is_member: true, ..self }
    }

    /// Its address.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Result<EtcdReply, ConformError> {
        Self::send(&self.http, method, &format!("{}{path}", self.base), body)
            .map_err(|error| ConformError(format!("{method} {}{path}: {error}", self.base)))
    }

    fn send(agent: &ureq::Agent, method: &str, url: &str, body: &Value) -> Result<EtcdReply, ureq::Error> {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let mut response = agent.run(Request::builder().method(method).uri(url).body(text)?)?;
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(64 << 20).read_to_string()?;
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(EtcdReply { status, body })
    }

    /// Makes a call, and waits for the answer.
    ///
    /// # Errors
    /// The server cannot be reached, or its answer cannot be read.
    pub fn ask(&self, call: &EtcdCall) -> Result<EtcdReply, ConformError> {
        if let EtcdCall::Watch(watch) = call {
            return WatchStream::open(self, watch)?.read(watch.start != 0);
        }
        self.post(path(call), &body(call))
    }

    /// Makes a call of a member that may be down. None: no process listened, and nothing was sent. An answer of status 0: the connection broke, and nothing
    /// tells whether the call was carried out.
    pub(super) fn ask_if_up(&self, call: &EtcdCall) -> Option<EtcdReply> {
        if matches!(call, EtcdCall::Watch(_)) {
            return Some(self.ask(call).unwrap_or_else(|_| EtcdReply::none()));
        }
        match Self::send(&self.http, "POST", &format!("{}{}", self.base, path(call)), &body(call)) {
            Ok(reply) => Some(reply),
            Err(ureq::Error::Io(error)) if error.kind() == io::ErrorKind::ConnectionRefused => None,
            Err(_) => Some(EtcdReply::none()),
        }
    }

    /// Whether it does not even say how it is within the patience of a caller.
    pub(super) fn is_silent(&self) -> bool {
        let url = format!("{}/v3/maintenance/status", self.base);
        matches!(Self::send(&self.hasty, "POST", &url, &json!({})), Err(ureq::Error::Timeout(_)))
    }

    /// Sends a body, and waits for the answer.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<EtcdReply, ConformError> {
        self.request("POST", path, body)
    }

    /// Makes a call that has to wait, and goes away; an answer that comes nevertheless is returned.
    ///
    /// # Errors
    /// The server cannot be reached, or its answer cannot be read.
    pub fn ask_and_leave(&self, call: &EtcdCall) -> Result<EtcdReply, ConformError> {
        match Self::send(&self.hasty, "POST", &format!("{}{}", self.base, path(call)), &body(call)) {
            Err(ureq::Error::Timeout(_)) => Ok(EtcdReply::none()),
            other => other.map_err(|error| ConformError(format!("{}: {error}", path(call)))),
        }
    }
}

/// Bytes as the gateway writes them.
pub(super) fn bytes(text: &str) -> Value {
    Value::String(STANDARD.encode(text))
}

/// The text that bytes stand for, as far as it is one.
pub(super) fn text(bytes: &str) -> String {
    String::from_utf8_lossy(&STANDARD.decode(bytes).unwrap_or_default()).into_owned()
}

/// A number as the gateway writes it.
pub(super) fn number(number: i64) -> Value {
    Value::String(number.to_string())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn a_call_that_found_no_process_was_not_made_and_of_a_broken_connection_nothing_is_known() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let server = EtcdServer::at(&listener.local_addr().expect("bound").to_string());
        let breaks = thread::spawn(move || drop(listener.accept()));
        assert_eq!(server.ask_if_up(&EtcdCall::Leases), Some(EtcdReply::none()));
        breaks.join().expect("it ends");
        // The listener is gone with its thread.
        assert_eq!(server.ask_if_up(&EtcdCall::Leases), None);
    }

    #[test]
    fn a_process_that_is_stopped_accepts_a_connection_and_is_silent() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let server = EtcdServer::at(&listener.local_addr().expect("bound").to_string());
        assert!(server.is_silent());
        drop(listener);
        assert!(!server.is_silent(), "it is not there");
    }
}
