//! What goes back over the wire.

use fencepost_conform::{Expected, Reply};
use serde_json::Value;

/// How a request ends for its client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RequestOutcome {
    /// With an answer.
    Answer(Answer),
    /// It does not yet: a message of an answer that goes on. The first one has the status and the headers of all.
    Message(Answer),
    /// An answer that went on is complete: its last message was the last one, or there was none.
    End,
    /// The connection is closed.
    Close,
    /// The connection is reset.
    Reset,
}

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Headers, by name.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    pub(crate) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let headers = if body.is_empty() { Vec::new() } else { vec![("Content-Type", content_type.to_owned())] };
        Answer { status, headers, body }
    }

    pub(crate) fn text(status: u16, text: impl Into<String>) -> Self {
        Answer::new(status, "text/plain; charset=utf-8", text.into())
    }

    pub(crate) fn json(value: &Value) -> Self {
        Answer::new(200, "application/json", value.to_string())
    }

    /// The end of an answer that went on: nothing follows.
    pub(crate) fn complete() -> Self {
        Answer::new(200, "application/json", "")
    }

    /// What the model answers. C-GEN-7: reads name a leader and an index.
    pub(crate) fn of(expected: &Expected, reply: Reply) -> Self {
        let kind = match expected.body.is_json() {
            true => "application/json",
            false if expected.status == 200 => "application/octet-stream",
            false => "text/plain; charset=utf-8",
        };
        let answer = Answer::new(reply.status, kind, reply.body);
        match reply.index {
            Some(index) => answer.at(index),
            None => answer,
        }
    }

    /// A read, at an index.
    pub(crate) fn at(mut self, index: u64) -> Self {
        self.headers.push(("X-Consul-Index", index.max(1).to_string()));
        self.of_leader()
    }

    /// From a server that leads.
    pub(crate) fn of_leader(mut self) -> Self {
        self.headers.push(("X-Consul-KnownLeader", "true".to_owned()));
        self.headers.push(("X-Consul-LastContact", "0".to_owned()));
        self
    }

    /// What a header says.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// `X-Consul-Index`.
    pub fn index(&self) -> Option<u64> {
        self.header("X-Consul-Index")?.parse().ok()
    }

    /// The body as JSON; null if it is none.
    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// With `?pretty` Consul writes JSON for people.
    pub(crate) fn pretty(mut self) -> Self {
        if self.header("Content-Type") == Some("application/json") {
            let mut text = Vec::new();
            let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
            let mut writer = serde_json::Serializer::with_formatter(&mut text, formatter);
            if serde::Serialize::serialize(&self.value(), &mut writer).is_ok() {
                text.push(b'\n');
                self.body = text;
            }
        }
        self
    }
}
