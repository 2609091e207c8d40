//! What a request is about: requests that are about different things do not change each other's answers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::consul::{HttpRequest, Reply};
use super::super::log::LogRecord;

/// What a request is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Subject {
    /// Some keys.
    Keys(Vec<String>),
    /// What begins with this.
    Prefix(String),
    /// The index of the whole store.
    Store,
    /// One session.
    Session(String),
    /// All sessions.
    Sessions,
    /// More than that.
    Much,
}

/// What a step has changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Changes {
    /// The keys whose entries are others.
    pub(super) keys: Vec<String>,
    /// Whether a session came or went.
    pub(super) sessions: bool,
    /// Whether it may have changed something else.
    pub(super) others: bool,
}

impl Subject {
    /// The index of a key that is absent is that of the whole store. C-KV-20.
    pub(super) fn of_line(line: &LogRecord) -> Subject {
        let has_index = |reply: &&Reply| reply.status == 404 && reply.index.is_some();
        let is_absent = line.question.method == "GET" && line.reply.as_ref().filter(has_index).is_some();
        if is_absent && line.question.url.starts_with("/v1/kv/") { Subject::Store } else { Subject::of(&line.question) }
    }

    pub(super) fn of(question: &HttpRequest) -> Subject {
        let (path, query) = question.url.split_once('?').unwrap_or((&question.url, ""));
        let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
        let is_wide = query.split('&').any(|part| part.starts_with("recurse") || part.starts_with("keys"));
        if let Some(key) = path.strip_prefix("/v1/kv/") {
            return match (is_wide, key) {
                (true, "") => Subject::Store,
                (true, key) => Subject::Prefix(key.to_owned()),
                (false, key) => Subject::Keys(vec![key.to_owned()]),
            };
        }
        if path == "/v1/txn" {
            return operations(&question.body).map_or(Subject::Much, Subject::Keys);
        }
        if let Some(id) = path.strip_prefix("/v1/session/renew/") {
            return Subject::Session(id.to_ascii_lowercase());
        }
        let is_about_sessions = ["/v1/session/create", "/v1/session/info/", "/v1/session/list", "/v1/session/node/"];
        if is_about_sessions.iter().any(|start| path.starts_with(start)) { Subject::Sessions } else { Subject::Much }
    }

    /// Whether the one may make a difference to the other.
    pub(super) fn touches(&self, other: &Subject) -> bool {
        match (self, other) {
            (Subject::Keys(mine), Subject::Keys(others)) => mine.iter().any(|key| others.contains(key)),
            (Subject::Keys(keys), Subject::Prefix(start)) | (Subject::Prefix(start), Subject::Keys(keys)) => {
                keys.iter().any(|key| key.starts_with(start.as_str()))
            }
            (Subject::Prefix(one), Subject::Prefix(other)) => one.starts_with(other.as_str()) || other.starts_with(one),
            (Subject::Session(one), Subject::Session(other)) => one == other,
            (Subject::Keys(_) | Subject::Prefix(_) | Subject::Store, Subject::Session(_) | Subject::Sessions)
            | (Subject::Session(_) | Subject::Sessions, Subject::Keys(_) | Subject::Prefix(_) | Subject::Store) => {
                false
            }
            _ => true,
        }
    }

    /// Whether what has been changed may make a difference to it.
    pub(super) fn is_changed(&self, changes: &Changes) -> bool {
        if changes.others {
            return true;
        }
        match self {
            Subject::Keys(keys) => keys.iter().any(|key| changes.keys.contains(key)),
            Subject::Prefix(start) => changes.keys.iter().any(|key| key.starts_with(start.as_str())),
            Subject::Store => !changes.keys.is_empty(),
            Subject::Session(_) | Subject::Sessions => changes.sessions,
            Subject::Much => !changes.keys.is_empty() || changes.sessions,
        }
    }
}

/// The keys of a transaction about keys only, none of them a prefix.
fn operations(body: &[u8]) -> Option<Vec<String>> {
    let Ok(Value::Array(items)) = serde_json::from_slice(body) else { return None };
    let key = |item: &Value| {
        let kv = item.as_object().filter(|parts| parts.len() == 1)?.get("KV")?;
        let is_wide = kv["Verb"].as_str().is_none_or(|verb| verb.ends_with("-tree"));
        kv["Key"].as_str().filter(|key| !is_wide && !key.is_empty()).map(str::to_owned)
    };
    let keys: BTreeSet<String> = items.iter().map(key).collect::<Option<_>>()?;
    (!keys.is_empty()).then(|| keys.into_iter().collect())
}
