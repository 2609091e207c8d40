//! One watch: of a key, until it is deleted, or of keys, until the next event. A stream of lines. E-GEN-6, E-W-1.

use std::io::{BufRead, BufReader};
use std::thread;
use std::time::Duration;

use fencepost_etcd::{EventCursor, Response};
use fencepost_model::ids::RawId;
use serde_json::Value;

use crate::consul::http::HttpRequest;

/// How long a stream may take. A client resumes a watch that breaks, and so it does then. E-W-7.
const STREAM_MAX: Duration = Duration::from_secs(600);

/// How long the Go client waits before it connects again.
const RETRY: Duration = Duration::from_millis(500);

/// An event as the stream has it, with its place among those of its revision, from 1; or what ends the watch.
pub(super) type NextEvent = Result<(Value, u8), Response>;

/// Watches until the key is deleted, and says what ends the watch.
pub(super) fn watch(base: &str, question: &HttpRequest) -> Response {
    follow(base, question, deletion).unwrap_or_else(broken)
}

/// Watches until the next event from there on.
pub(super) fn next_event(base: &str, question: &HttpRequest, cursor: EventCursor) -> NextEvent {
    let mut last = (0, 0);
    follow(base, question, |result| next(result, cursor, &mut last)).unwrap_or_else(|| Err(broken()))
}

fn broken() -> Response {
    thread::sleep(RETRY);
    Response::Disconnected
}

/// What the first message says of which something is said. None: the stream has ended or broken, or there was none.
fn follow<T>(base: &str, question: &HttpRequest, mut said: impl FnMut(&Value) -> Option<T>) -> Option<T> {
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
fn deletion(result: &Value) -> Option<Response> {
    let events = result["events"].as_array().into_iter().flatten();
    if events.into_iter().any(|event| event["type"] == "DELETE") {
        return Some(Response::Deleted);
    }
    compaction(result)
}

/// The next event that a message shows. `last` is the revision of the event before it, and its place.
fn next(result: &Value, cursor: EventCursor, last: &mut (u32, u8)) -> Option<NextEvent> {
    for event in result["events"].as_array().into_iter().flatten() {
        let revision = event["kv"]["mod_revision"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
        let place = if revision == last.0 { last.1 + 1 } else { 1 };
        *last = (revision, place);
        let (from, past) = cursor.shown();
        if (from.raw(), past) < *last {
            return Some(Ok((event.clone(), place)));
        }
    }
    compaction(result).map(Err)
}

fn compaction(result: &Value) -> Option<Response> {
    let is_compacted = result["canceled"] == true && !result["compact_revision"].is_null();
    is_compacted.then_some(Response::Compacted)
}

#[cfg(test)]
mod tests {
    use fencepost_model::ids::Index;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_watch_ends_with_the_deletion_of_its_key_or_with_the_compaction() {
        assert_eq!(deletion(&json!({"header": {}, "created": true})), None);
        assert_eq!(deletion(&json!({"events": [{"kv": {"key": "YQ=="}}]})), None, "a put has no type");
        let both = json!({"events": [{"kv": {"key": "YQ=="}}, {"type": "DELETE", "kv": {"key": "YQ=="}}]});
        assert_eq!(deletion(&both), Some(Response::Deleted));
        let compacted = json!({"canceled": true, "compact_revision": "7"});
        assert_eq!(deletion(&compacted), Some(Response::Compacted));
    }

    #[test]
    fn a_watch_of_events_goes_on_behind_those_that_were_shown() {
        let event = |key: &str, at: &str| json!({"kv": {"key": key, "mod_revision": at}});
        let shown = json!({"events": [event("YQ==", "7"), event("Yg==", "7"), event("YQ==", "8")]});
        let found = |cursor| next(&shown, cursor, &mut (0, 0)).map(|shown| shown.expect("an event").1);
        let at = |revision| EventCursor::at(Index::numbered(revision));
        assert_eq!((found(at(7)), found(at(8)), found(at(9))), (Some(1), Some(1), None));
        let compacted = json!({"canceled": true, "compact_revision": "7"});
        assert_eq!(next(&compacted, at(3), &mut (0, 0)), Some(Err(Response::Compacted)));
    }
}
