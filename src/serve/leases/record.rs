//! A run of leases as JSON lines.

use fencepost_conform::HttpRequest;
use serde_json::{Value, json};

use crate::clock::seconds;
use crate::stand_in::{Answer, Journey, LogLine, body_of};

/// A line of the log of leases.
#[derive(Clone, Debug)]
pub struct LeaseLine;

impl LogLine for LeaseLine {
    const KEY: &'static str = "lease";

    fn line(journey: &Journey, answer: Option<(&Answer, i64)>) -> Value {
        let HttpRequest { method, url, body } = &journey.question;
        json!({
            "client": journey.client, "method": method, "url": url, "content_type": journey.content_type,
            "body": body_of(body), "sent": seconds(journey.sent), "received": answer.map(|(_, at)| seconds(at)),
            "status": answer.map(|(answer, _)| answer.status), "answer": answer.map(|(answer, _)| body_of(&answer.body)),
        })
    }
}
