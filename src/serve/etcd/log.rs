//! A run as JSON lines: each request with its answer, and when both were sent and received, in seconds since the start.

use fencepost_conform::HttpRequest;
use serde_json::{Value, json};

use crate::clock::seconds;
use crate::settings::Settings;
use crate::stand_in::{Answer, Journey, RunRecord};

/// What clients have asked, and what they were answered.
#[derive(Clone, Debug)]
pub struct EtcdRunLog {
    lines: Vec<Value>,
    is_kept: bool,
}

impl EtcdRunLog {
    fn add(&mut self, journey: &Journey, answer: Option<(&Answer, i64)>) {
        let HttpRequest { url, body, .. } = &journey.question;
        self.push(json!({
            "client": journey.client, "url": url, "body": read(body), "sent": seconds(journey.sent),
            "received": answer.map(|(_, at)| seconds(at)), "status": answer.map(|(answer, _)| answer.status),
            "answer": answer.map(|(answer, _)| read(&answer.body)),
        }));
    }

    fn push(&mut self, line: Value) {
        if self.is_kept {
            self.lines.push(line);
        }
    }
}

/// JSON as it is, and anything else as text.
fn read(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|_| json!(String::from_utf8_lossy(body)))
}

impl RunRecord for EtcdRunLog {
    fn new(settings: &Settings) -> Self {
        EtcdRunLog { lines: Vec::new(), is_kept: settings.is_recorded }
    }

    fn begin(&mut self, _: &Settings) {
        self.push(json!({"reset": true}));
    }

    fn answered(&mut self, journey: &Journey, answer: &Answer, now: i64) {
        self.add(journey, Some((answer, now)));
    }

    fn lost(&mut self, journey: &Journey) {
        self.add(journey, None);
    }

    fn reported(&mut self, client: &str, key: &str, is_inside: bool, now: i64) {
        self.push(json!({"client": client, "key": key, "inside": is_inside, "at": seconds(now)}));
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}
