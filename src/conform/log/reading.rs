//! Reading logs: heads, requests, events, reports.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::consul::{Options, nanoseconds};
use super::super::error::LogError;
use super::super::side_by_side::side_by_side;
use super::fields::{Fields, Object, of_seconds};
use super::record::{Customs, answers_by_size, line, misspelt, renamed};
use super::{Episode, Event, EventKind, Gaps, RefusedRequest, Report};

/// The first line of an episode.
#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) consul: String,
    #[serde(default = "some_node")]
    pub(super) node: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) nodes: Vec<String>,
    #[serde(default = "ten_seconds")]
    pub(super) session_ttl_min: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lateness: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) begins: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) others: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unknown: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stamps: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) longest: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) acl: bool,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) fields: Map<String, Value>,
}

fn some_node() -> String {
    "agent".to_owned()
}

fn ten_seconds() -> String {
    "10s".to_owned()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Said {
    pub(super) report: String,
    pub(super) client: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
    pub(super) sent: f64,
}

/// What is read so far, with what the last head says of its lines.
#[derive(Default)]
struct Reading {
    episodes: Vec<Episode>,
    customs: Customs,
    names: Map<String, Value>,
    sizes: Vec<Option<u64>>,
}

/// How many lines are in memory as JSON at once.
const AT_ONCE: usize = 1 << 15;

fn object(text: &str) -> Result<Object<'_>, String> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| error.to_string());
    }
    // What is no JSON at all is said to be that.
    let other = serde_json::from_str::<IgnoredAny>(text);
    Err(other.map_or_else(|error| error.to_string(), |_| "a line is a JSON object".to_owned()))
}

/// Reads a log.
///
/// # Errors
/// A line is not JSON, lacks a field, or has an unknown field.
pub fn read(text: &str) -> Result<Vec<Episode>, LogError> {
    let mut reading = Reading::default();
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(place, line)| (place + 1, line))
        .collect();
    for lines in lines.chunks(AT_ONCE) {
        let chunks: Vec<&[(usize, &str)]> = lines.chunks(AT_ONCE / 64).collect();
        let parsed = side_by_side(&chunks, |chunk| {
            Ok::<_, LogError>(chunk.iter().map(|(number, line)| (*number, object(line))).collect::<Vec<_>>())
        })?;
        for (line, object) in parsed.into_iter().flatten() {
            object.and_then(|object| reading.line(line, object)).map_err(|why| LogError { line, why })?;
        }
    }
    reading.end_episode();
    for episode in &mut reading.episodes {
        episode.lines.sort_by_key(|line| line.sent);
    }
    Ok(reading.episodes)
}

impl Reading {
    fn line(&mut self, number: usize, object: Object<'_>) -> Result<(), String> {
        if object.has("consul") {
            self.end_episode();
            let head: Head =
                serde_json::from_value(Value::Object(object.into_map())).map_err(|error| error.to_string())?;
            return self.begin(head);
        }
        let Some(episode) = self.episodes.last_mut() else { return Err(NO_HEAD.to_owned()) };
        if object.has("report") {
            let said: Said =
                serde_json::from_value(Value::Object(object.into_map())).map_err(|error| error.to_string())?;
            episode.reports.push(said.into_report(number)?);
            return Ok(());
        }
        let mut fields = Fields::new(object, &self.names);
        if let Some(kind) = fields.take("event") {
            let kind = event(&kind, &mut fields)?;
            let sent = fields
                .instant("sent")?
                .ok_or("an event has an instant, or two that it lies between: `sent`, `received`")?;
            let received = fields.instant("received")?.unwrap_or(sent);
            let slack = self.customs.stamps;
            let (sent, received) = (sent.saturating_sub(slack).max(0), received.saturating_add(slack));
            episode.events.push(Event { number, kind, sent, received });
            return if sent <= received { Ok(()) } else { Err("`sent` comes before `received`".to_owned()) };
        }
        let before = episode.lines.last().map_or(0, |line| line.received);
        let (line, size) = line(fields, &self.customs, number, before)?;
        if let Some((field, meant)) = line.details.extra.keys().find_map(|name| Some((name, misspelt(name)?))) {
            return Err(format!("unknown field `{field}`: is `{meant}` meant?"));
        }
        let agent = line.details.agent.as_ref();
        if let Some(agent) = agent.filter(|agent| **agent != episode.node && !episode.nodes.contains(agent)) {
            return Err(format!("there is no agent `{agent}`: the head has `node`, and `nodes` for further agents"));
        }
        self.sizes.push(size);
        episode.lines.push(line);
        Ok(())
    }

    fn begin(&mut self, head: Head) -> Result<(), String> {
        let duration = |text: &Option<String>| text.as_deref().map(nanoseconds).transpose();
        let options = Options { session_ttl_min: nanoseconds(&head.session_ttl_min)?, ..Options::default() };
        if !head.consul.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(format!("`consul` is the version of the servers, as 1.8.7, and not `{}`", head.consul));
        }
        let begins_later = match head.begins.as_deref() {
            None | Some("empty") => false,
            Some("later") => true,
            Some(other) => return Err(format!("a log begins `empty` or `later`, not `{other}`")),
        };
        let others_write = match head.others.as_deref() {
            None | Some("read") => false,
            Some("write") => true,
            Some(other) => return Err(format!("others `read` or `write`, not `{other}`")),
        };
        if let Some(other) = head.unknown.iter().find(|what| !["bodies", "answers"].contains(&what.as_str())) {
            return Err(format!("`bodies` and `answers` may be unknown, not `{other}`"));
        }
        renamed(&head.fields)?;
        let lacks = |what: &str| head.unknown.iter().any(|other| other == what);
        let stamps = duration(&head.stamps)?.unwrap_or(0);
        let longest = duration(&head.longest)?;
        if stamps < 0 || longest.is_some_and(|longest| longest < 0) {
            return Err("`stamps` and `longest` are no less than 0".to_owned());
        }
        self.customs = Customs { lacks_bodies: lacks("bodies"), lacks_answers: lacks("answers"), longest, stamps };
        self.names = head.fields;
        self.episodes.push(Episode {
            version: head.consul,
            node: head.node,
            nodes: head.nodes,
            options,
            lateness: duration(&head.lateness)?,
            begins_later,
            gaps: Gaps { others_write, stamps, has_acl: head.acl },
            ..Episode::default()
        });
        Ok(())
    }

    fn end_episode(&mut self) {
        let sizes = std::mem::take(&mut self.sizes);
        if let Some(episode) = self.episodes.last_mut() {
            answers_by_size(&mut episode.lines, &sizes);
        }
    }
}

const NO_HEAD: &str = "before the first request comes a line with \"consul\"";

fn event(kind: &Value, fields: &mut Fields<'_>) -> Result<EventKind, String> {
    match kind.as_str().unwrap_or_default() {
        "restart" => Ok(EventKind::Restart),
        "failover" => Ok(EventKind::Failover),
        "restore" => Ok(EventKind::Restore),
        "node-failed" => {
            let node = fields.text("node")?.ok_or("which `node` failed?")?;
            Ok(EventKind::NodeFailed(node))
        }
        "not-passed-on" => {
            let [method, url] = ["method", "url"].map(|name| fields.text(name));
            let status = fields.whole("status")?.and_then(|status| u16::try_from(status).ok());
            let (Some(method), Some(url), Some(status)) = (method?, url?, status) else {
                return Err("which `method` and `url` were not passed on, and with which `status`?".to_owned());
            };
            Ok(EventKind::NotPassedOn(RefusedRequest { client: fields.text("client")?, method, url, status }))
        }
        other => Err(format!(
            "an event is `restart`, `failover`, `restore`, `node-failed` or `not-passed-on`, not `{other}`"
        )),
    }
}

impl Said {
    fn into_report(self, number: usize) -> Result<Report, String> {
        let is_inside = match self.report.as_str() {
            "inside" => true,
            "outside" => false,
            other => return Err(format!("a report is `inside` or `outside`, not `{other}`")),
        };
        let at = of_seconds(self.sent).ok_or("`sent` is no instant in seconds")?;
        Ok(Report { number, client: self.client, key: self.key, is_inside, at })
    }
}

#[cfg(test)]
mod tests {
    use super::super::EventKind;
    use super::read;

    #[test]
    fn an_unreadable_record_is_reported_with_its_line() {
        let head = r#"{"consul": "1.8.7"}"#;
        for (line, part) in [
            ("{", "EOF"),
            ("[]", "a JSON object"),
            (r#"{"method": "PUT"}"#, "begins with /"),
            (r#"{"method": "PUT", "url": "/x", "recieved": 1}"#, "is `received` meant?"),
            (r#"{"method": "PUT", "url": "/x", "status": "abc"}"#, "`status` is a number"),
            (r#"{"method": "PUT", "url": "/x", "status": 200, "sent": "yesterday", "took": 1}"#, "no instant"),
            (r#"{"method": "PUT", "url": "/x", "status": 200, "sent": 1, "took": "long"}"#, "no duration"),
            (r#"{"method": "PUT", "url": "/x", "agent": "b"}"#, "no agent `b`"),
            (r#"{"report": "maybe", "client": "a", "sent": 1}"#, "`inside` or `outside`"),
            (r#"{"event": "storm", "sent": 1}"#, "not `storm`"),
            (r#"{"event": "node-failed", "sent": 1}"#, "which `node`"),
            (r#"{"event": "restart"}"#, "an instant"),
            (r#"{"method": "PUT", "url": "/x", "sent": 2, "received": 1, "status": 200}"#, "in this order"),
            (r#"{"method": "PUT", "url": "/x", "body": "a", "body64": "YQ=="}"#, "not both"),
            (r#"{"method": "PUT", "url": "/x", "body64": "?"}"#, "Invalid"),
            (r#"{"consul": "latest"}"#, "as 1.8.7"),
            (r#"{"consul": "1.8.7", "others": "lie"}"#, "not `lie`"),
            (r#"{"consul": "1.8.7", "unknown": ["times"]}"#, "not `times`"),
            (r#"{"consul": "1.8.7", "fields": {"path": "uri"}}"#, "`path` is none of"),
        ] {
            let error = read(&format!("{head}\n{line}\n")).unwrap_err();
            assert_eq!(error.line, 2, "{line}");
            assert!(error.why.contains(part), "{line}: {error}");
        }
        assert!(read(r#"{"method": "PUT", "url": "/x"}"#).unwrap_err().why.contains("a line with \"consul\""));
    }

    #[test]
    fn one_instant_and_a_duration_stand_for_two_and_coarse_stamps_are_an_interval() {
        let head = r#"{"consul": "1.8.7", "stamps": "1s", "unknown": ["bodies", "answers"], "fields": {"took_ns": "Duration"}}"#;
        let lines = [
            r#"{"method": "PUT", "url": "/v1/kv/k", "received": "1700000000.5", "took": 0.25, "status": "200", "size": 5}"#,
            r#"{"method": "PUT", "url": "/v1/kv/k", "sent": "2023-11-14T22:13:20Z", "Duration": 7000000, "status": 200, "size": 6, "extra": 1}"#,
            r#"{"method": "GET", "url": "/v1/kv/k", "sent": 1700000001, "took": "2ms", "status": 404, "size": 0, "index": "-"}"#,
            r#"{"event": "node-failed", "node": "b", "sent": 1700000002, "received": 1700000003}"#,
        ];
        let episode = &read(&format!("{head}\n{}\n", lines.join("\n"))).expect("a log")[0];
        let spans: Vec<(i64, i64)> =
            episode.lines.iter().map(|line| (line.sent / 1_000_000, line.received / 1_000_000)).collect();
        let second = 1_000;
        let at = 1_700_000_000 * second;
        assert_eq!(spans, [(at - 1000, at + 1007), (at - 750, at + 1500), (at, at + 2002)]);
        let [one, two, three] = &episode.lines[..] else { panic!("three") };
        let answer = |line: &super::super::LogRecord| line.reply.as_ref().map(|reply| reply.body.clone());
        assert_eq!(answer(two).as_deref(), Some(&b"true"[..]), "5 bytes, for there is an answer of 6");
        assert_eq!((answer(one).as_deref(), one.details.extra["extra"].as_u64()), (Some(&b"false"[..]), Some(1)));
        assert!(one.details.lacks_body && !one.details.lacks_answer && !three.details.lacks_answer);
        assert_eq!(three.reply.as_ref().map(|reply| (reply.has_headers, reply.index)), Some((true, None)));
        assert_eq!(episode.events[0].kind, EventKind::NodeFailed("b".to_owned()));
    }
}
