//! A request with its answer, as a line has it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::consul::{HttpRequest, Reply};
use super::fields::{Fields, whole};
use super::{Details, LogRecord};

/// How long a request takes whose times are not known.
const AT_ONCE: i64 = 1_000_000;

/// What a head says of the lines behind it.
#[derive(Clone, Debug, Default)]
pub(super) struct Customs {
    /// Whether a body that a line does not have is unknown, and not empty.
    pub(super) lacks_bodies: bool,
    /// The same for answers.
    pub(super) lacks_answers: bool,
    /// How long a request takes at most of which only one instant is known.
    pub(super) longest: Option<i64>,
    /// How far stamps may be off.
    pub(super) stamps: i64,
}

/// A line, with the size of the answer where that is all that is known of it.
pub(super) fn line(
    mut fields: Fields<'_>,
    customs: &Customs,
    number: usize,
    before: i64,
) -> Result<(LogRecord, Option<u64>), String> {
    let client = fields.text("client")?;
    let method = fields.text("method")?.unwrap_or_default();
    let url = fields.text("url")?.unwrap_or_default();
    if method.is_empty() || !url.starts_with('/') {
        return Err("a request needs a method, and an url that begins with /".to_owned());
    }
    // 0 and nothing: the proxy has sent no answer.
    let status = fields.whole("status")?.filter(|status| *status != 0);
    let status = status.map(|status| u16::try_from(status).map_err(|_| format!("there is no status {status}")));
    let status = status.transpose()?;
    let (sent, received, is_timed) = times(&mut fields, customs, status.is_some(), before)?;
    let index = fields.take("index").map(|value| whole("index", &value)).transpose()?;
    let has_body = matches!(method.as_str(), "PUT" | "POST");
    let (body, lacks_body) = fields.body("body", customs.lacks_bodies && has_body)?;
    let (body, lacks_body) = bytes(body, fields.text("body64")?, lacks_body)?;
    let (answer, lacks_answer) = fields.body("answer", customs.lacks_answers)?;
    let (answer, lacks_answer) = bytes(answer, fields.text("answer64")?, lacks_answer)?;
    let size = fields.whole("size")?;
    let lacks_answer = lacks_answer && size != Some(0);
    let agent = fields.text("agent")?;
    let reply = status.map(|status| Reply {
        status,
        index: index.flatten(),
        has_headers: index.is_some(),
        contact: None,
        body: answer,
    });
    let details = Details { lacks_body, lacks_answer, agent, extra: fields.into_rest() };
    let question = HttpRequest { method, url, body };
    Ok((LogRecord { number, client, question, reply, sent, received, is_timed, details }, size))
}

/// When a request was sent, when it was answered, and whether the log says so itself.
fn times(
    fields: &mut Fields<'_>,
    customs: &Customs,
    is_answered: bool,
    before: i64,
) -> Result<(i64, i64, bool), String> {
    let (sent, received, took) = (fields.instant("sent")?, fields.instant("received")?, fields.duration()?);
    let took = took.or(customs.longest.filter(|_| is_answered));
    let (sent, received) = match (sent, received, took) {
        (Some(sent), Some(received), _) if sent <= received => (sent, received),
        (Some(sent), None, Some(took)) => (sent, sent.saturating_add(took)),
        (None, Some(received), Some(took)) => (received.saturating_sub(took).max(0), received),
        (Some(sent), None, None) if !is_answered => (sent, i64::MAX),
        (None, None, _) if before > i64::MAX - 2 * AT_ONCE => {
            return Err("the request before has no answer: say `sent` and `received`".to_owned());
        }
        (None, None, _) => return Ok((before + AT_ONCE, before + 2 * AT_ONCE, false)),
        _ => {
            let why = "sent and received go together, in this order; `took` stands for one of them";
            return Err(why.to_owned());
        }
    };
    let received = if is_answered { received.saturating_add(customs.stamps) } else { i64::MAX };
    Ok((sent.saturating_sub(customs.stamps).max(0), received, true))
}

fn bytes(text: Option<String>, coded: Option<String>, is_unknown: bool) -> Result<(Vec<u8>, bool), String> {
    match (text, coded) {
        (Some(_), Some(_)) => Err("a body is text or base64, not both".to_owned()),
        (Some(text), None) => Ok((text.into_bytes(), false)),
        (None, Some(coded)) => STANDARD.decode(coded).map(|bytes| (bytes, false)).map_err(|error| error.to_string()),
        (None, None) => Ok((Vec::new(), is_unknown)),
    }
}

/// The names of the fields of a line that has nearly one of them: one letter more, less or other, or two in the other order.
pub(super) fn misspelt(name: &str) -> Option<&'static str> {
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
    let is_plain = |known: &&str| known.len() > 3 && !["size", "took"].contains(known);
    FIELDS.iter().copied().filter(is_plain).find(is_near)
}

/// The fields of a request.
pub(super) const FIELDS: [&str; 16] = [
    "client", "method", "url", "body", "body64", "sent", "received", "took", "took_ms", "took_ns", "status", "index",
    "answer", "answer64", "size", "agent",
];

/// The sizes of `true` and `false` tell which it was; an agent in development mode ends them with a line feed, so that a size of 5
/// is either, until another answer tells.
pub(super) fn answers_by_size(lines: &mut [LogRecord], sizes: &[Option<u64>]) {
    let says_so = |line: &LogRecord| {
        let url = &line.question.url;
        let is_change = matches!(line.question.method.as_str(), "PUT" | "DELETE");
        let is_known = url.starts_with("/v1/kv/") || url.starts_with("/v1/session/destroy/");
        line.details.lacks_answer
            && is_change
            && is_known
            && line.reply.as_ref().is_some_and(|reply| reply.status == 200)
    };
    let sized: Vec<(usize, u64)> = lines
        .iter()
        .zip(sizes)
        .enumerate()
        .filter_map(|(at, (line, size))| Some((at, (*size).filter(|_| says_so(line))?)))
        .collect();
    let has = |wanted: u64| sized.iter().any(|(_, size)| *size == wanted);
    let (is_plain, has_feed) = (has(4), has(6));
    for (at, size) in sized {
        let answer = match size {
            4 => "true",
            6 => "false",
            5 if is_plain && !has_feed => "false",
            5 if has_feed && !is_plain => "true",
            _ => continue,
        };
        if let Some(reply) = &mut lines[at].reply {
            (reply.body, lines[at].details.lacks_answer) = (answer.as_bytes().to_owned(), false);
        }
    }
}

/// What a head calls fields by other names.
pub(super) fn renamed(fields: &serde_json::Map<String, Value>) -> Result<(), String> {
    for (ours, theirs) in fields {
        if !FIELDS.contains(&ours.as_str()) {
            return Err(format!("`fields` gives our names for theirs, and `{ours}` is none of {}", FIELDS.join(", ")));
        }
        if !theirs.is_string() {
            return Err(format!("`fields` gives names, and {theirs} is none"));
        }
    }
    Ok(())
}
