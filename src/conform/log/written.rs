//! Writing logs, as they are read.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Episode, Head, Line, Record, Report, Said};

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

/// Writes episodes, as [`super::read`] reads them.
pub fn write(version: &str, episodes: &[Episode]) -> String {
    let mut text = String::new();
    for episode in episodes {
        let head = Head {
            consul: version.to_owned(),
            node: episode.node.clone(),
            session_ttl_min: format!("{}ns", episode.options.session_ttl_min),
            lateness: episode.lateness.map(|lateness| format!("{lateness}ns")),
            begins: episode.begins_later.then(|| "later".to_owned()),
        };
        text += &serde_json::to_string(&head).expect("plain text");
        text.push('\n');
        for line in &episode.lines {
            text += &record(line);
            text.push('\n');
        }
        for Report { client, is_inside, at, .. } in &episode.reports {
            let report = if *is_inside { "inside" } else { "outside" }.to_owned();
            text += &serde_json::to_string(&Said { report, client: client.clone(), sent: seconds(*at) })
                .expect("plain text");
            text.push('\n');
        }
    }
    text
}

/// The first line of a log that begins now.
pub fn head(version: &str, node: &str, session_ttl_min: &str, is_empty: bool) -> String {
    let begins = (!is_empty).then(|| "later".to_owned());
    let head = Head {
        consul: version.to_owned(),
        node: node.to_owned(),
        session_ttl_min: session_ttl_min.to_owned(),
        lateness: None,
        begins,
    };
    serde_json::to_string(&head).expect("plain text")
}

/// A request with its answer, as a line.
pub fn record(line: &Line) -> String {
    serde_json::to_string(&Record::of(line)).expect("plain text")
}

impl Record {
    fn of(line: &Line) -> Self {
        let (body, body64) = text_of(&line.question.body);
        let (answer, answer64) = line.reply.as_ref().map_or((None, None), |reply| text_of(&compact(line, &reply.body)));
        Record {
            client: line.client.clone(),
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

/// JSON without the blanks that Consul puts into it; a value that is read as it is stays so.
fn compact(line: &Line, body: &[u8]) -> Vec<u8> {
    let query = line.question.url.split_once('?').map_or("", |(_, query)| query);
    let is_raw = query.split('&').any(|part| part == "raw" || part.starts_with("raw="));
    match serde_json::from_slice::<serde_json::Value>(body) {
        Ok(value) if !is_raw && (value.is_array() || value.is_object()) => value.to_string().into_bytes(),
        _ => body.to_owned(),
    }
}

fn text_of(bytes: &[u8]) -> (Option<String>, Option<String>) {
    match String::from_utf8(bytes.to_owned()) {
        Ok(text) => (Some(text).filter(|text| !text.is_empty()), None),
        Err(_) => (None, Some(STANDARD.encode(bytes))),
    }
}
