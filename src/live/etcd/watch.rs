//! One watch of a key, until it is deleted: a stream of lines. E-GEN-6, E-W-1.

use std::io::{BufRead, BufReader};
use std::thread;
use std::time::Duration;

use fencepost_etcd::Response;
use serde_json::Value;

use crate::consul::http::HttpRequest;

/// How long a stream may take. A client resumes a watch that breaks, and so it does then. E-W-7.
const STREAM_MAX: Duration = Duration::from_secs(600);

/// How long the Go client waits before it connects again.
const RETRY: Duration = Duration::from_millis(500);

/// Watches, and says what ends the watch.
pub(super) fn watch(base: &str, question: &HttpRequest) -> Response {
    follow(base, question).unwrap_or_else(|| {
        thread::sleep(RETRY);
        Response::Disconnected
    })
}

/// None: the stream has ended or broken, or there was none.
fn follow(base: &str, question: &HttpRequest) -> Option<Response> {
    let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0);
    let http = config.timeout_global(Some(STREAM_MAX)).build().new_agent();
    let request = ureq::http::Request::builder().method(question.method).uri(format!("{base}{}", question.path));
    let response = http.run(request.body(question.body.clone()).ok()?).ok()?;
    for line in BufReader::new(response.into_body().into_reader()).lines() {
        let line: Value = serde_json::from_str(&line.ok()?).ok()?;
        if let Some(end) = said(&line["result"]) {
            return Some(end);
        }
        if !line["error"].is_null() {
            return None;
        }
    }
    None
}

/// What a message of the stream says of the key. E-W-4, E-W-5.
fn said(result: &Value) -> Option<Response> {
    let events = result["events"].as_array().into_iter().flatten();
    if events.into_iter().any(|event| event["type"] == "DELETE") {
        return Some(Response::Deleted);
    }
    let is_compacted = result["canceled"] == true && !result["compact_revision"].is_null();
    is_compacted.then_some(Response::Compacted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_watch_ends_with_the_deletion_of_its_key_or_with_the_compaction() {
        assert_eq!(said(&json!({"header": {}, "created": true})), None);
        assert_eq!(said(&json!({"events": [{"kv": {"key": "YQ=="}}]})), None, "a put has no type");
        let both = json!({"events": [{"kv": {"key": "YQ=="}}, {"type": "DELETE", "kv": {"key": "YQ=="}}]});
        assert_eq!(said(&both), Some(Response::Deleted));
        let compacted = json!({"canceled": true, "compact_revision": "7"});
        assert_eq!(said(&compacted), Some(Response::Compacted));
    }
}
