//! A run of etcd as JSON lines.

use fencepost_conform::HttpRequest;
use serde_json::{Value, json};

use crate::clock::seconds;
use crate::stand_in::{Answer, Journey, LogLine, body_of};

/// A line of the log of etcd. Each request is a POST.
#[derive(Clone, Debug)]
pub struct EtcdLine;

impl LogLine for EtcdLine {
    const KEY: &'static str = "key";

    fn line(journey: &Journey, answer: Option<(&Answer, i64)>) -> Value {
        let HttpRequest { url, body, .. } = &journey.question;
        json!({
            "client": journey.client, "url": url, "body": body_of(body), "sent": seconds(journey.sent),
            "received": answer.map(|(_, at)| seconds(at)), "status": answer.map(|(answer, _)| answer.status),
            "answer": answer.map(|(answer, _)| body_of(&answer.body)),
        })
    }
}
