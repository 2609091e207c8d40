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
//!
//! `client` names who asked. Fields of other names are passed over, but for those that are nearly one of these. A client may
//! also say when it takes itself for the holder of a lock, and when no longer:
//!
//! ```json
//! {"report": "inside", "client": "a", "sent": 1.3}
//! {"report": "outside", "client": "a", "sent": 9.0}
//! ```
//!
//! A head with `"begins": "later"` says that the store was not empty: such a log tells of its clients only.

mod written;

use super::consul::{Options, Question, Reply, nanoseconds};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize};

use super::error::LogError;

pub(super) use self::written::{head, record};
pub use self::written::{number, write};

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
    /// What clients said of themselves, in the order of the file.
    pub reports: Vec<Report>,
    /// Whether the store was not empty at the beginning: its content is unknown.
    pub begins_later: bool,
}

/// A client says whether it takes itself for the holder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Who says it.
    pub client: String,
    /// Whether it is inside.
    pub is_inside: bool,
    /// When, in nanoseconds.
    pub at: i64,
}

/// A request with its answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Who asked, if that is known.
    pub client: Option<String>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    begins: Option<String>,
}

fn some_node() -> String {
    "agent".to_owned()
}

fn ten_seconds() -> String {
    "10s".to_owned()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    report: String,
    client: String,
    sent: f64,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct Record {
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
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
            let begins_later = match head.begins.as_deref() {
                None | Some("empty") => false,
                Some("later") => true,
                Some(other) => return Err(wrong(format!("a log begins `empty` or `later`, not `{other}`"))),
            };
            let (lines, reports) = (Vec::new(), Vec::new());
            episodes.push(Episode { node: head.node, options, lateness, lines, reports, begins_later });
            continue;
        }
        if value.get("report").is_some() {
            let said: Said = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
            let Some(episode) = episodes.last_mut() else { return Err(wrong(NO_HEAD.to_owned())) };
            episode.reports.push(said.into_report(number).map_err(wrong)?);
            continue;
        }
        if let Some((field, meant)) = value.as_object().and_then(|object| object.keys().find_map(|name| misspelt(name)))
        {
            return Err(wrong(format!("unknown field `{field}`: is `{meant}` meant?")));
        }
        let record: Record = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
        let Some(episode) = episodes.last_mut() else {
            return Err(wrong(NO_HEAD.to_owned()));
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

const NO_HEAD: &str = "before the first request comes a line with \"consul\"";

/// The fields of a request.
const FIELDS: [&str; 11] =
    ["client", "method", "url", "body", "body64", "sent", "received", "status", "index", "answer", "answer64"];

/// An unknown field that is nearly one of those that are known: one letter more, less or other, or two in the
/// other order.
fn misspelt(name: &str) -> Option<(String, &'static str)> {
    let is_near = |known: &&str| {
        let (one, other) = (name.as_bytes(), known.as_bytes());
        let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
        let (one, other) = (&one[same..], &other[same..]);
        let rest = |from: usize, of: usize| one.get(from..) == other.get(of..);
        let is_swapped = one.len() > 1 && other.len() > 1 && one[0] == other[1] && one[1] == other[0] && rest(2, 2);
        rest(1, 1) || rest(1, 0) || rest(0, 1) || is_swapped
    };
    if FIELDS.contains(&name) {
        return None;
    }
    FIELDS.iter().copied().filter(|known| known.len() > 3).find(is_near).map(|known| (name.to_owned(), known))
}

impl Said {
    fn into_report(self, number: usize) -> Result<Report, String> {
        let is_inside = match self.report.as_str() {
            "inside" => true,
            "outside" => false,
            other => return Err(format!("a report is `inside` or `outside`, not `{other}`")),
        };
        Ok(Report { number, client: self.client, is_inside, at: instant(self.sent)? })
    }
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
        Ok(Line { number, client: self.client, question, reply, sent, received, is_timed: self.sent.is_some() })
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

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn what_cannot_be_read_is_said_with_its_line() {
        let head = r#"{"consul": "1.8.7"}"#;
        for (line, part) in [
            ("{", "EOF"),
            (r#"{"method": "PUT"}"#, "begins with /"),
            (r#"{"method": "PUT", "url": "/x", "recieved": 1}"#, "is `received` meant?"),
            (r#"{"report": "maybe", "client": "a", "sent": 1}"#, "`inside` or `outside`"),
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
