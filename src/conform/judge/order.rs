//! What is tried first: it decides how soon an order is found that explains a log, and never which logs are possible.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::consul::Question;
use super::super::log::Line;

/// What a request is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Subject {
    /// One key, as it is written in the path.
    Key(String),
    /// One session.
    Session(String),
    /// More than that.
    Much,
}

impl Subject {
    /// The index of a key that is absent is that of the whole store. C-KV-20.
    pub(super) fn of_line(line: &Line) -> Subject {
        let is_absent = line.question.method == "GET" && line.reply.as_ref().is_some_and(|reply| reply.status == 404);
        if is_absent { Subject::Much } else { Subject::of(&line.question) }
    }

    pub(super) fn of(question: &Question) -> Subject {
        let (path, query) = question.url.split_once('?').unwrap_or((&question.url, ""));
        let is_wide = query.split('&').any(|part| part.starts_with("recurse") || part.starts_with("keys"));
        if let Some(key) = path.strip_prefix("/v1/kv/").filter(|_| !is_wide) {
            return Subject::Key(key.to_owned());
        }
        let session =
            ["/v1/session/info/", "/v1/session/renew/"].into_iter().find_map(|start| path.strip_prefix(start));
        session.map_or(Subject::Much, |id| Subject::Session(id.to_ascii_lowercase()))
    }

    /// Whether the one may make a difference to the other.
    pub(super) fn touches(&self, other: &Subject) -> bool {
        match (self, other) {
            (Subject::Much, _) | (_, Subject::Much) => true,
            (one, other) => one == other,
        }
    }
}

/// Twice the log positions of writes, as far as other answers tell them: of the creation of a session by its id, of a put by
/// its key and its value. And one more than twice those that reads of keys have seen. Values that were written twice say nothing. It may be
/// wrong about a value that was first read after the end of its session.
pub(super) fn ranks(lines: &[Line]) -> Vec<Option<u64>> {
    let mut sessions: BTreeMap<String, u64> = BTreeMap::new();
    let mut entries: BTreeMap<(String, String), u64> = BTreeMap::new();
    let answers = lines.iter().filter(|line| line.question.method == "GET" && line.question.url.starts_with("/v1/"));
    for reply in answers.filter_map(|line| line.reply.as_ref()).filter(|reply| reply.body.starts_with(b"[")) {
        let Ok(Value::Array(items)) = serde_json::from_slice(&reply.body) else { continue };
        for item in items {
            let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
            if let (Some(create), true) = (item["CreateIndex"].as_u64(), item["LockDelay"].is_number()) {
                sessions.insert(text("ID"), create);
            }
            if let (Some(modify), true) = (item["ModifyIndex"].as_u64(), item["LockIndex"].is_number()) {
                let known = entries.entry((text("Key"), text("Value"))).or_insert(modify);
                *known = modify.min(*known);
            }
        }
    }
    let mut writes: BTreeMap<(&str, &[u8]), usize> = BTreeMap::new();
    let puts = lines.iter().map(|line| &line.question).filter(|question| question.method == "PUT");
    for question in puts.filter(|question| question.url.starts_with("/v1/kv/")) {
        *writes.entry((path(question), question.body.as_slice())).or_default() += 1;
    }
    let rank = |line: &Line| {
        let Question { method, url, body } = &line.question;
        let reply = line.reply.as_ref()?;
        if method == "GET" && url.starts_with("/v1/kv/") {
            return reply.index.map(|seen| 2 * seen + 1);
        }
        if reply.status != 200 || method != "PUT" {
            return None;
        }
        if url.starts_with("/v1/session/create") {
            let answer: Value = serde_json::from_slice(&reply.body).ok()?;
            return sessions.get(answer["ID"].as_str()?).map(|index| 2 * index);
        }
        if writes.get(&(path(&line.question), body.as_slice())) != Some(&1) {
            return None;
        }
        let key = path(&line.question).strip_prefix("/v1/kv/")?;
        let key = percent_encoding::percent_decode_str(key).decode_utf8_lossy().into_owned();
        entries.get(&(key, STANDARD.encode(body))).map(|index| 2 * index)
    };
    lines.iter().map(rank).collect()
}

fn path(question: &Question) -> &str {
    question.url.split('?').next().unwrap_or_default()
}

/// By key: the log positions that writes gave it, or passed before they were read, with when they were answered. Values that were written twice say
/// nothing.
pub(super) fn changes(lines: &[Line], ranks: &[Option<u64>]) -> BTreeMap<String, Vec<(u64, i64)>> {
    let mut written: BTreeMap<(String, &[u8]), Vec<usize>> = BTreeMap::new();
    for (place, line) in lines.iter().enumerate().filter(|(_, line)| line.question.method == "PUT") {
        if let Subject::Key(key) = Subject::of(&line.question) {
            written.entry((key, line.question.body.as_slice())).or_default().push(place);
        }
    }
    let mut changes: BTreeMap<String, Vec<(u64, i64)>> = BTreeMap::new();
    for ((key, _), places) in written {
        if let ([place], Some(Some(rank))) = (&places[..], places.first().map(|place| ranks[*place])) {
            changes.entry(key).or_default().push((rank / 2, lines[*place].received));
        }
    }
    changes.values_mut().for_each(|known| known.sort_unstable());
    changes
}
