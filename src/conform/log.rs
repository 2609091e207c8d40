//! Logs of requests and answers: JSON lines that any script can write.
//!
//! A line with `consul` begins an empty store: `{"consul": "1.8.7", "node": "here", "session_ttl_min": "10s"}`. Every other
//! line is a request with its answer:
//!
//! ```json
//! {"method": "PUT", "url": "/v1/kv/lead?acquire=…", "body": "me", "sent": 1.250, "received": 1.252, "status": 200, "answer": "true"}
//! ```
//!
//! `sent` and `received` are seconds on one clock; without them each request follows the one before at once. `index` is
//! `X-Consul-Index`, null if the answer had none; left out, it is not known. Without `status` no answer is known. Bytes that are no text go into `body64` and `answer64`.

use super::consul::{Options, Question, Reply, nanoseconds};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize};

use super::error::LogError;

/// A store that was empty at first, and what was asked of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Episode {
    /// The name of the agent's node.
    pub node: String,
    /// What the agent was configured with.
    pub options: Options,
    /// How late a timer may be, in nanoseconds; none: for ever (C-TTL-4, C-TTL-6).
    pub lateness: Option<i64>,
    /// Requests with their answers, by when they were sent.
    pub lines: Vec<Line>,
}

/// A request with its answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// Its number in the file, from 1.
    pub number: usize,
    /// What was asked.
    pub question: Question,
    /// What was answered, if that is known.
    pub reply: Option<Reply>,
    /// When it was sent, in nanoseconds.
    pub sent: i64,
    /// When the answer arrived.
    pub received: i64,
    /// Whether the log says so itself; else times only tell the order.
    pub is_timed: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    consul: String,
    #[serde(default = "some_node")]
    node: String,
    #[serde(default = "ten_seconds")]
    session_ttl_min: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lateness: Option<String>,
}

fn some_node() -> String {
    "agent".to_owned()
}

fn ten_seconds() -> String {
    "10s".to_owned()
}

#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Record {
    method: String,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// Null: it was not there. Left out: that is not known.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    index: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer64: Option<String>,
}

fn said<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// How long a request takes whose times are not known.
const AT_ONCE: i64 = 1_000_000;

/// Reads a log.
///
/// # Errors
/// A line is not JSON, lacks a field, or has an unknown field.
pub fn read(text: &str) -> Result<Vec<Episode>, LogError> {
    let mut episodes: Vec<Episode> = Vec::new();
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = place + 1;
        let wrong = |why: String| LogError { line: number, why };
        let value: serde_json::Value = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        if value.get("consul").is_some() {
            let head: Head = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
            let session_ttl_min = nanoseconds(&head.session_ttl_min).map_err(wrong)?;
            let options = Options { session_ttl_min, ..Options::default() };
            let lateness = head.lateness.as_deref().map(nanoseconds).transpose().map_err(wrong)?;
            episodes.push(Episode { node: head.node, options, lateness, lines: Vec::new() });
            continue;
        }
        let record: Record = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
        let Some(episode) = episodes.last_mut() else {
            return Err(wrong("before the first request comes a line with \"consul\"".to_owned()));
        };
        let before = episode.lines.last().map_or(0, |line: &Line| line.received);
        let line = record.into_line(number, before).map_err(wrong)?;
        episode.lines.push(line);
    }
    for episode in &mut episodes {
        episode.lines.sort_by_key(|line| line.sent);
    }
    Ok(episodes)
}

impl Record {
    fn into_line(self, number: usize, before: i64) -> Result<Line, String> {
        if self.method.is_empty() || !self.url.starts_with('/') {
            return Err("a request needs a method, and an url that begins with /".to_owned());
        }
        let (sent, received) = match (self.sent, self.received) {
            (Some(sent), Some(received)) if sent <= received => (instant(sent)?, instant(received)?),
            (Some(sent), None) if self.status.is_none() => (instant(sent)?, i64::MAX),
            (None, None) if before > i64::MAX - 2 * AT_ONCE => {
                return Err("the request before has no answer: say `sent` and `received`".to_owned());
            }
            (None, None) => (before + AT_ONCE, before + 2 * AT_ONCE),
            _ => return Err("sent and received go together, in this order".to_owned()),
        };
        let body = bytes(self.body, self.body64)?;
        let answer = bytes(self.answer, self.answer64)?;
        let reply = self.status.map(|status| Reply {
            status,
            index: self.index.flatten(),
            has_headers: self.index.is_some(),
            body: answer,
        });
        let question = Question { method: self.method, url: self.url, body };
        Ok(Line { number, question, reply, sent, received, is_timed: self.sent.is_some() })
    }
}

fn instant(seconds: f64) -> Result<i64, String> {
    let nanoseconds = (seconds * 1e9).round();
    if !(0.0..4e18).contains(&nanoseconds) {
        return Err(format!("{seconds} seconds"));
    }
    #[allow(clippy::cast_possible_truncation, reason = "in range, as checked above")]
    Ok(nanoseconds as i64)
}

fn bytes(text: Option<String>, coded: Option<String>) -> Result<Vec<u8>, String> {
    match (text, coded) {
        (Some(_), Some(_)) => Err("a body is text or base64, not both".to_owned()),
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(coded)) => STANDARD.decode(coded).map_err(|error| error.to_string()),
        (None, None) => Ok(Vec::new()),
    }
}

/// Numbers the lines of episodes as they stand in the text that [`write`] makes of them: a number names its episode.
pub fn number(episodes: &mut [Episode]) {
    let mut last = 0;
    for episode in episodes {
        // Its head.
        last += 1;
        for line in &mut episode.lines {
            last += 1;
            line.number = last;
        }
    }
}

/// Writes episodes, as [`read`] reads them.
pub fn write(version: &str, episodes: &[Episode]) -> String {
    let mut text = String::new();
    for episode in episodes {
        let head = Head {
            consul: version.to_owned(),
            node: episode.node.clone(),
            session_ttl_min: format!("{}ns", episode.options.session_ttl_min),
            lateness: episode.lateness.map(|lateness| format!("{lateness}ns")),
        };
        text += &serde_json::to_string(&head).expect("plain text");
        text.push('\n');
        for line in &episode.lines {
            text += &serde_json::to_string(&Record::of(line)).expect("plain text");
            text.push('\n');
        }
    }
    text
}

impl Record {
    fn of(line: &Line) -> Self {
        let (body, body64) = text_of(&line.question.body);
        let (answer, answer64) = line.reply.as_ref().map_or((None, None), |reply| text_of(&compact(&reply.body)));
        Record {
            method: line.question.method.clone(),
            url: line.question.url.clone(),
            body,
            body64,
            sent: Some(seconds(line.sent)),
            received: line.reply.as_ref().map(|_| seconds(line.received)),
            status: line.reply.as_ref().map(|reply| reply.status),
            index: line
                .reply
                .as_ref()
                .and_then(|reply| if reply.has_headers { Some(reply.index) } else { reply.index.map(Some) }),
            answer,
            answer64,
        }
    }
}

/// To the microsecond.
fn seconds(nanoseconds: i64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a microsecond of a century is representable")]
    let microseconds = (nanoseconds / 1000) as f64;
    microseconds / 1e6
}

/// JSON without the blanks that Consul puts into it.
fn compact(body: &[u8]) -> Vec<u8> {
    match serde_json::from_slice::<serde_json::Value>(body) {
        Ok(value) if value.is_array() || value.is_object() => value.to_string().into_bytes(),
        _ => body.to_owned(),
    }
}

fn text_of(bytes: &[u8]) -> (Option<String>, Option<String>) {
    match String::from_utf8(bytes.to_owned()) {
        Ok(text) => (Some(text).filter(|text| !text.is_empty()), None),
        Err(_) => (None, Some(STANDARD.encode(bytes))),
    }
}
#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn what_cannot_be_read_is_said_with_its_line() {
        let head = r#"{"consul": "1.8.7"}"#;
        for (line, part) in [
            ("{", "EOF"),
            (r#"{"method": "PUT"}"#, "begins with /"),
            (r#"{"method": "PUT", "url": "/x", "colour": 1}"#, "unknown field `colour`"),
            (r#"{"method": "PUT", "url": "/x", "sent": 2, "received": 1, "status": 200}"#, "in this order"),
            (r#"{"method": "PUT", "url": "/x", "body": "a", "body64": "YQ=="}"#, "not both"),
            (r#"{"method": "PUT", "url": "/x", "body64": "?"}"#, "Invalid"),
        ] {
            let error = read(&format!("{head}\n{line}\n")).unwrap_err();
            assert_eq!(error.line, 2, "{line}");
            assert!(error.why.contains(part), "{line}: {error}");
        }
        assert!(read(r#"{"method": "PUT", "url": "/x"}"#).unwrap_err().why.contains("a line with \"consul\""));
    }
}
