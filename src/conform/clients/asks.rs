//! What a request asks of keys: one thing, or several in a transaction.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::super::consul::part;
use super::super::log::LogRecord;

/// What is asked of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ask {
    Acquire(String),
    Release(String),
    Delete,
    Read,
    Write,
}

/// What is asked of one key, or of all that begin with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Asked {
    pub key: String,
    pub is_prefix: bool,
    pub ask: Ask,
}

impl Asked {
    /// Whether it is about that key.
    pub fn is_about(&self, key: &str) -> bool {
        if self.is_prefix { key.starts_with(&self.key) } else { key == self.key }
    }
}

/// What a request asks of keys.
pub(super) fn asks(line: &LogRecord) -> Vec<Asked> {
    let (path, query) = line.question.url.split_once('?').unwrap_or((&line.question.url, ""));
    if path == "/v1/txn" {
        let operations: Vec<Value> = serde_json::from_slice(&line.question.body).unwrap_or_default();
        return operations.iter().filter_map(operation).collect();
    }
    let Some(key) = path.strip_prefix("/v1/kv/") else { return Vec::new() };
    let parameter = |name: &str| query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
    let ask = match line.question.method.as_str() {
        "GET" => Ask::Read,
        "DELETE" => Ask::Delete,
        _ => match (parameter("acquire"), parameter("release")) {
            (Some(session), _) => Ask::Acquire(session.to_owned()),
            (_, Some(session)) => Ask::Release(session.to_owned()),
            _ => Ask::Write,
        },
    };
    let is_prefix = query.split('&').any(|part| part == "recurse" || part.starts_with("recurse="));
    vec![Asked { key: percent_decode_str(key).decode_utf8_lossy().into_owned(), is_prefix, ask }]
}

/// An operation of a transaction on keys (C-TXN-1).
fn operation(operation: &Value) -> Option<Asked> {
    let kv = part(operation, "KV")?;
    let text = |name: &str| part(kv, name).and_then(Value::as_str).map(str::to_owned);
    let (verb, session) = (text("Verb")?, text("Session").unwrap_or_default());
    let ask = match verb.as_str() {
        "lock" => Ask::Acquire(session),
        "unlock" => Ask::Release(session),
        "set" | "cas" => Ask::Write,
        "delete" | "delete-cas" | "delete-tree" => Ask::Delete,
        "get" | "get-tree" => Ask::Read,
        _ => return None,
    };
    Some(Asked { key: text("Key")?, is_prefix: verb.ends_with("-tree"), ask })
}

/// Whether the answer says that the request was carried out; for one without an answer it is not known.
pub(super) fn is_done(line: &LogRecord) -> bool {
    let Some(reply) = line.reply.as_ref().filter(|reply| reply.status == 200) else { return false };
    line.question.url.split('?').next() == Some("/v1/txn") || reply.body.trim_ascii() == b"true"
}

/// The LockIndex of a key in an answer that shows that this session holds it.
pub(super) fn lock_index(line: &LogRecord, key: &str, session: &str) -> Option<u64> {
    let body: Value = serde_json::from_slice(&line.reply.as_ref()?.body).ok()?;
    let results = part(&body, "Results").and_then(Value::as_array);
    let entries = body.as_array().into_iter().flatten();
    let shown = entries.chain(results.into_iter().flatten().filter_map(|result| part(result, "KV")));
    let mut mine = shown.filter(|entry| entry["Key"] == key && entry["Session"] == session);
    mine.find_map(|entry| entry["LockIndex"].as_u64())
}

/// Who holds a key by an answer that shows entries: none, if the key is not among them or is free; no answer: it shows no entries.
pub(super) fn holder(line: &LogRecord, key: &str) -> Option<Option<String>> {
    let reply = line.reply.as_ref()?;
    if reply.status == 404 {
        return Some(None);
    }
    let body: Value = serde_json::from_slice(&reply.body).ok().filter(|_| reply.status == 200)?;
    let results = part(&body, "Results").and_then(Value::as_array);
    let entries: Vec<&Value> = match (&body, results) {
        (Value::Array(entries), _) => entries.iter().collect(),
        (_, Some(results)) => results.iter().filter_map(|result| part(result, "KV")).collect(),
        _ => return None,
    };
    let is_entry = |entry: &&&Value| entry["LockIndex"].is_number();
    if !entries.is_empty() && !entries.iter().any(|entry| is_entry(&entry)) {
        return None;
    }
    let entry = entries.into_iter().find(|entry| entry["Key"] == key);
    Some(entry.and_then(|entry| entry["Session"].as_str()).map(str::to_owned))
}
