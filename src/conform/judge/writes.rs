//! The writes of a log, by what they would leave behind if they succeeded; and what may take a lock away.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::consul::nanoseconds;
use super::super::log::LogRecord;
use super::{is_success, takes_locks};

/// A request that may write a value to a key.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) place: usize,
    pub(super) value: Vec<u8>,
    /// Whether it changes nothing but this key, and nothing else of it than it says.
    pub(super) is_certain: bool,
    leaves: Leaves,
}

/// Who holds the key after a write.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Leaves {
    /// Any request.
    AsItWas,
    /// A session.
    Held(String),
    /// Nobody.
    Free,
}

impl Write {
    /// Whether it may leave the key to this session.
    pub(super) fn may_make(&self, session: Option<&str>) -> bool {
        match &self.leaves {
            Leaves::AsItWas => true,
            Leaves::Held(id) => session == Some(id),
            Leaves::Free => session.is_none(),
        }
    }
}

/// The writes that succeeded, or may have, by key.
pub(super) fn writes(lines: &[LogRecord]) -> BTreeMap<String, Vec<Write>> {
    let mut by_key: BTreeMap<String, Vec<Write>> = BTreeMap::new();
    for (place, line) in lines.iter().enumerate() {
        if line.question.method != "PUT" || line.reply.as_ref().is_some_and(|reply| !is_success(reply)) {
            continue;
        }
        let (path, query) = line.question.url.split_once('?').unwrap_or((&line.question.url, ""));
        if let Some(key) = path.strip_prefix("/v1/kv/") {
            let key = percent_encoding::percent_decode_str(key).decode_utf8_lossy().into_owned();
            let leaves = parameter(query, "acquire").map(Leaves::Held);
            let leaves = leaves.or(parameter(query, "release").map(|_| Leaves::Free)).unwrap_or(Leaves::AsItWas);
            let value = line.question.body.clone();
            by_key.entry(key).or_default().push(Write { place, value, leaves, is_certain: true });
        } else if path == "/v1/txn" {
            for (key, value, leaves) in operations(&line.question.body) {
                by_key.entry(key).or_default().push(Write { place, value, leaves, is_certain: false });
            }
        }
    }
    by_key
}

fn operations(body: &[u8]) -> Vec<(String, Vec<u8>, Leaves)> {
    let Ok(Value::Array(items)) = serde_json::from_slice(body) else { return Vec::new() };
    let write = |item: &Value| {
        let kv = super::super::consul::part(item, "KV")?;
        let text = |name: &str| super::super::consul::part(kv, name).and_then(Value::as_str).unwrap_or_default();
        let leaves = match text("Verb") {
            "set" | "cas" => Leaves::AsItWas,
            "lock" => Leaves::Held(text("Session").to_owned()),
            "unlock" => Leaves::Free,
            _ => return None,
        };
        Some((text("Key").to_owned(), STANDARD.decode(text("Value")).unwrap_or_default(), leaves))
    };
    items.iter().filter_map(write).collect()
}

fn parameter(query: &str, name: &str) -> Option<String> {
    form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// The id of the session that a request has created.
pub(super) fn created(line: &LogRecord) -> Option<String> {
    let reply = line.reply.as_ref().filter(|reply| reply.status == 200)?;
    let is_create = line.question.method == "PUT" && line.question.url.starts_with("/v1/session/create");
    let answer: Value = serde_json::from_slice(is_create.then_some(&reply.body)?).ok()?;
    answer["ID"].as_str().map(str::to_owned)
}

/// The TTL of a session that a request creates, in nanoseconds, if it has one.
pub(super) fn ttl(line: &LogRecord) -> Option<i64> {
    let body: Value = serde_json::from_slice(&line.question.body).unwrap_or_default();
    let ttl = super::super::consul::part(&body, "TTL").and_then(Value::as_str)?;
    nanoseconds(ttl).ok().filter(|ttl| *ttl > 0)
}

/// When sessions may end at the earliest, and which keys they may hold.
pub(super) struct Endings {
    /// By key: when a session that may hold it may end.
    keys: BTreeMap<String, i64>,
    /// When something happens that may end any.
    any: i64,
}

impl Endings {
    pub(super) fn of(lines: &[LogRecord]) -> Endings {
        let mut ends: BTreeMap<String, i64> = BTreeMap::new();
        let mut any = i64::MAX;
        for line in lines {
            let url = &line.question.url;
            if let Some(id) = created(line) {
                ends.extend(ttl(line).map(|ttl| (id, line.sent.saturating_add(ttl.saturating_mul(2)))));
            } else if let Some(id) = url.strip_prefix("/v1/session/destroy/") {
                let known = ends.entry(id.to_ascii_lowercase()).or_insert(line.sent);
                *known = line.sent.min(*known);
            } else if url.starts_with("/v1/catalog/") || url.starts_with("/v1/txn") && !is_about_keys(line) {
                any = any.min(line.sent);
            }
        }
        let mut keys: BTreeMap<String, i64> = BTreeMap::new();
        for line in lines.iter().filter(|line| takes_locks(&line.question)) {
            let held: Vec<(String, String)> = match line.question.url.split_once('?') {
                Some((path, query)) if path.starts_with("/v1/kv/") => {
                    let key = percent_encoding::percent_decode_str(&path[7..]).decode_utf8_lossy().into_owned();
                    parameter(query, "acquire").map(|id| (key, id)).into_iter().collect()
                }
                _ => {
                    let locks = operations(&line.question.body).into_iter();
                    let lock = |(key, _, leaves)| if let Leaves::Held(id) = leaves { Some((key, id)) } else { None };
                    locks.filter_map(lock).collect()
                }
            };
            for (key, id) in held {
                if let Some(at) = ends.get(&id.to_ascii_lowercase()) {
                    let known = keys.entry(key).or_insert(*at);
                    *known = (*at).min(*known);
                }
            }
        }
        Endings { keys, any }
    }

    /// Whether the end of a session may have freed a key before an instant.
    pub(super) fn may_free(&self, key: &str, before: i64) -> bool {
        self.any <= before || self.keys.get(key).is_some_and(|at| *at <= before)
    }
}

fn is_about_keys(line: &LogRecord) -> bool {
    let Ok(Value::Array(items)) = serde_json::from_slice(&line.question.body) else { return true };
    items.iter().all(|item| super::super::consul::part(item, "KV").is_some())
}
