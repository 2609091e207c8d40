//! Writing logs, as they are read.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value};

use super::reading::{Head, Said};
use super::{Episode, Event, EventKind, LogRecord, Report};

/// Numbers the lines of episodes as they stand in the text that [`write()`] makes of them: a number names its episode.
pub fn number(episodes: &mut [Episode]) {
    let mut last = 0;
    for episode in episodes {
        // Its head.
        last += 1;
        for line in &mut episode.lines {
            last += 1;
            line.number = last;
        }
        last += episode.events.len() + episode.reports.len();
    }
}

/// Writes episodes, as [`super::read`] reads them. The instants of coarse stamps are written as the intervals that they are.
pub fn write(version: &str, episodes: &[Episode]) -> String {
    let mut text = String::new();
    let mut add = |line: String| {
        text += &line;
        text.push('\n');
    };
    for episode in episodes {
        let head = Head {
            consul: version.to_owned(),
            node: episode.node.clone(),
            nodes: episode.nodes.clone(),
            session_ttl_min: format!("{}ns", episode.options.session_ttl_min),
            lateness: episode.lateness.map(|lateness| format!("{lateness}ns")),
            begins: episode.begins_later.then(|| "later".to_owned()),
            others: episode.gaps.others_write.then(|| "write".to_owned()),
            acl: episode.gaps.has_acl,
            ..Head::default()
        };
        add(serde_json::to_string(&head).expect("plain text"));
        episode.lines.iter().for_each(|line| add(record(line)));
        episode.events.iter().for_each(|event| add(happened(event)));
        for Report { client, key, is_inside, at, .. } in &episode.reports {
            let report = if *is_inside { "inside" } else { "outside" }.to_owned();
            let said = Said { report, client: client.clone(), key: key.clone(), sent: seconds(*at) };
            add(serde_json::to_string(&said).expect("plain text"));
        }
    }
    text
}

/// The first line of a log that begins now.
pub fn head(version: &str, node: &str, session_ttl_min: &str, is_empty: bool, acl: bool) -> String {
    let head = Head {
        consul: version.to_owned(),
        node: node.to_owned(),
        session_ttl_min: session_ttl_min.to_owned(),
        begins: (!is_empty).then(|| "later".to_owned()),
        acl,
        ..Head::default()
    };
    serde_json::to_string(&head).expect("plain text")
}

/// A request with its answer, as a line.
pub fn record(line: &LogRecord) -> String {
    serde_json::to_string(&Record::of(line)).expect("plain text")
}

/// What happened to servers, nodes or a request that the recorder refused, as a line.
pub fn happened(event: &Event) -> String {
    let mut object = Map::new();
    let mut add = |name: &str, value: &str| drop(object.insert(name.to_owned(), value.into()));
    match &event.kind {
        EventKind::Restart => add("event", "restart"),
        EventKind::Failover => add("event", "failover"),
        EventKind::Restore => add("event", "restore"),
        EventKind::NodeFailed(node) => {
            add("event", "node-failed");
            add("node", node);
        }
        EventKind::NotPassedOn(request) => {
            add("event", "not-passed-on");
            request.client.iter().for_each(|client| add("client", client));
            add("method", &request.method);
            add("url", &request.url);
            object.insert("status".to_owned(), request.status.into());
        }
    }
    object.insert("sent".to_owned(), seconds(event.sent).into());
    object.insert("received".to_owned(), seconds(event.received).into());
    Value::Object(object).to_string()
}

#[derive(Serialize)]
struct Record<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    method: &'a str,
    url: &'a str,
    /// Null: it is not known. Left out: it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body64: Option<String>,
    sent: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// Null: it was not there. Left out: that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer64: Option<String>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

impl<'a> Record<'a> {
    fn of(line: &'a LogRecord) -> Self {
        let (body, body64) = text_of(&line.question.body, line.details.lacks_body);
        let reply = line.reply.as_ref();
        let lacks_answer = line.details.lacks_answer;
        let (answer, answer64) = reply.map_or((None, None), |reply| text_of(&compact(line, &reply.body), lacks_answer));
        Record {
            client: line.client.as_deref(),
            agent: line.details.agent.as_deref(),
            method: &line.question.method,
            url: &line.question.url,
            body,
            body64,
            sent: seconds(line.sent),
            received: reply.map(|_| seconds(line.received)),
            status: reply.map(|reply| reply.status),
            index: reply.and_then(|reply| if reply.has_headers { Some(reply.index) } else { reply.index.map(Some) }),
            answer,
            answer64,
            extra: &line.details.extra,
        }
    }
}

/// To the microsecond.
fn seconds(nanoseconds: i64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a microsecond of a century is representable")]
    let microseconds = (nanoseconds / 1000) as f64;
    microseconds / 1e6
}

/// JSON without the blanks that Consul puts into it; a value that is read as it is stays so.
fn compact(line: &LogRecord, body: &[u8]) -> Vec<u8> {
    let query = line.question.url.split_once('?').map_or("", |(_, query)| query);
    let is_raw = query.split('&').any(|part| part == "raw" || part.starts_with("raw="));
    match serde_json::from_slice::<Value>(body) {
        Ok(value) if !is_raw && (value.is_array() || value.is_object()) => value.to_string().into_bytes(),
        _ => body.to_owned(),
    }
}

/// As text, or coded; the inner none: it is not known.
fn text_of(bytes: &[u8], is_unknown: bool) -> (Option<Option<String>>, Option<String>) {
    if is_unknown {
        return (Some(None), None);
    }
    match String::from_utf8(bytes.to_owned()) {
        Ok(text) => (Some(text).filter(|text| !text.is_empty()).map(Some), None),
        Err(_) => (None, Some(STANDARD.encode(bytes))),
    }
}
