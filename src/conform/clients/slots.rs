//! The slots of semaphores. C-SEM-3: one entry names the limit and the sessions that hold a slot; clients change it by compare-and-set, and no
//! session acquires it. A session acquires a key of its own beside it, which shows that it lives (C-SEM-2, C-SEM-4).

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::consul::part;
use super::super::log::LogRecord;
use super::asks::{Ask, asks, is_done};
use super::tenures::{Ending, Tenure, are_distinct, creates};

/// The content of a coordination entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Coordination {
    pub limit: usize,
    pub holders: BTreeSet<String>,
}

impl Coordination {
    /// C-GDE-1: holders are an object's names, or a list.
    fn read(bytes: &[u8]) -> Option<Self> {
        let content: Value = serde_json::from_slice(bytes).ok()?;
        let limit = usize::try_from(part(&content, "Limit")?.as_u64()?).ok()?;
        let holders = match part(&content, "Holders")? {
            Value::Object(holders) => holders.keys().cloned().collect(),
            Value::Array(holders) => holders.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Value::Null => BTreeSet::new(),
            _ => return None,
        };
        Some(Coordination { limit, holders })
    }
}

/// A request that writes a coordination entry, or shows it, with its key.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct EntryWrite<'a> {
    pub line: &'a LogRecord,
    pub key: String,
    pub content: Coordination,
}

/// What requests write into coordination entries, in their order.
pub(super) fn entry_writes<'a>(lines: &[&'a LogRecord]) -> Vec<EntryWrite<'a>> {
    let of = |line: &'a LogRecord| {
        let contents = contents(line).into_iter();
        contents.map(move |(key, content)| EntryWrite { line, key, content })
    };
    lines.iter().copied().flat_map(of).collect()
}

fn contents(line: &LogRecord) -> Vec<(String, Coordination)> {
    let body = &line.question.body;
    if line.question.url.split('?').next() != Some("/v1/txn") {
        let written = asks(line).into_iter().filter(|asked| asked.ask == Ask::Write);
        return written.filter_map(|asked| Some((asked.key, Coordination::read(body)?))).collect();
    }
    let operations: Vec<Value> = serde_json::from_slice(body).unwrap_or_default();
    let written = |operation: &Value| {
        let kv = part(operation, "KV").filter(|kv| {
            let verb = part(kv, "Verb").and_then(Value::as_str);
            matches!(verb, Some("set" | "cas"))
        })?;
        let key = part(kv, "Key")?.as_str()?.to_owned();
        let value = STANDARD.decode(part(kv, "Value")?.as_str()?).ok()?;
        Some((key, Coordination::read(&value)?))
    };
    operations.iter().filter_map(written).collect()
}

/// Every tenure of a slot that the log tells of. `begins_later`: one that an entry shows at first may be older than the log.
pub(super) fn slots(lines: &[&LogRecord], writes: &[EntryWrite<'_>], begins_later: bool) -> Vec<Tenure> {
    let mut slots: Vec<Tenure> = Vec::new();
    for EntryWrite { line, key, content } in sights(lines, writes, begins_later) {
        for session in &content.holders {
            let is_again = |slot: &Tenure| slot.is_again(&key, session, line);
            let is_known = |slot: &Tenure| (&slot.key, &slot.session) == (&key, session);
            let is_read = line.question.method == "GET";
            if slots.iter().any(|slot| is_again(slot) || is_read && is_known(slot)) {
                continue;
            }
            let mut slot = Tenure::begin(lines, line, key.clone(), session.clone());
            slot.limit = Some(content.limit);
            let is_first = begins_later && !slots.iter().any(|slot| slot.key == key && slot.line != line.number);
            if is_read || is_first {
                // Nothing in the log says when it was given.
                slot.began.0 = lines.iter().map(|line| line.sent).min().unwrap_or(line.sent);
            }
            // Another client may have written it back after it had read it.
            let own = owner(lines, &slot);
            slot.client = own.or(slot.client.filter(|_| !is_read && !is_first));
            slot.end(lines);
            slots.push(slot);
        }
    }
    slots
}

/// The contents of coordination entries that writes leave and, if slots may be older than the log, that answers show, in their order.
fn sights<'a>(lines: &[&'a LogRecord], writes: &[EntryWrite<'a>], begins_later: bool) -> Vec<EntryWrite<'a>> {
    let written = writes.iter().filter(|write| is_done(write.line)).cloned();
    let reads = lines.iter().copied().filter(|line| begins_later && line.question.method == "GET");
    let shown = reads.flat_map(|line| {
        let found = entries(line).unwrap_or_default().into_iter().filter_map(|entry| {
            let value = STANDARD.decode(entry["Value"].as_str()?).ok()?;
            Some((entry["Key"].as_str()?.to_owned(), Coordination::read(&value)?))
        });
        found.map(move |(key, content)| EntryWrite { line, key, content }).collect::<Vec<_>>()
    });
    let mut sights: Vec<EntryWrite<'a>> = written.chain(shown).collect();
    sights.sort_by_key(|sight| sight.line.received);
    sights
}

/// The client whose session a slot's is: it acquired the key that shows that it lives, or created the session, or renewed it.
fn owner(lines: &[&LogRecord], slot: &Tenure) -> Option<String> {
    let renew = format!("/v1/session/renew/{}", slot.session);
    let contended = lines.iter().find(|line| is_done(line) && contends(line, slot));
    let created = || lines.iter().find(|line| creates(line, &slot.session));
    let renewed = || lines.iter().find(|line| line.question.url == renew);
    contended.or_else(created).or_else(renewed)?.client.clone()
}

/// Whether a key that a session acquires is the one that shows that it lives, and no lock.
pub(super) fn is_contender(key: &str, session: &str, writes: &[EntryWrite<'_>]) -> bool {
    let Some(beside) = key.strip_suffix(session) else { return false };
    writes.iter().any(|write| parent(&write.key) == beside)
}

fn parent(key: &str) -> &str {
    key.rfind('/').map_or("", |at| &key[..=at])
}

/// Whether a request acquires the key that shows that a slot's session lives.
fn contends(line: &LogRecord, slot: &Tenure) -> bool {
    let acquire = Ask::Acquire(slot.session.clone());
    let mine = contender(slot);
    asks(line).iter().any(|asked| asked.key == mine && asked.ask == acquire)
}

fn contender(slot: &Tenure) -> String {
    format!("{}{}", parent(&slot.key), slot.session)
}

/// Whether a request writes an entry without a slot's session.
pub(super) fn leaves_out(line: &LogRecord, slot: &Tenure) -> bool {
    contents(line).iter().any(|(key, content)| *key == slot.key && !content.holders.contains(&slot.session))
}

/// Whether a request gives a slot back: its client takes the session out of the entry, or deletes the key that shows that it lives (C-SEM-7).
/// Of requests without a client it is not known whose they are: then the client that does take the session out is taken for its own.
pub(super) fn gives_back(line: &LogRecord, slot: &Tenure) -> bool {
    let is_foreign = are_distinct(line.client.as_ref(), slot.client.as_ref());
    let mine = contender(slot);
    let deletes = || asks(line).iter().any(|asked| asked.ask == Ask::Delete && asked.is_about(&mine));
    let is_own = line.client.is_some() && line.client == slot.client;
    !is_foreign && (leaves_out(line, slot) && (is_own || is_done(line)) || deletes())
}

/// How a request ends a slot, if it was carried out.
pub(super) fn ending(line: &LogRecord, slot: &Tenure) -> Option<Ending> {
    if !is_done(line) || line.sent < slot.began.1 {
        return None;
    }
    if leaves_out(line, slot) {
        return gives_back(line, slot).then_some(Ending::Released(line.number));
    }
    let is_deleted = asks(line).iter().any(|asked| asked.ask == Ask::Delete && asked.is_about(&slot.key));
    is_deleted.then_some(Ending::Deleted(line.number))
}

/// Whether an answer shows that a slot's session holds it no longer by the entry: one that shows the entry, or one to a write of it.
pub(super) fn is_over_in(line: &LogRecord, slot: &Tenure) -> bool {
    is_done(line) && leaves_out(line, slot) || is_shown_over(line, slot)
}

/// Whether an answer shows the entry, and the slot's session is not in it.
pub(super) fn is_shown_over(line: &LogRecord, slot: &Tenure) -> bool {
    let lacks = |content: Coordination| !content.holders.contains(&slot.session);
    shown(line, &slot.key).is_some_and(|content| content.is_none_or(lacks))
}

/// The content of a coordination entry in an answer that shows it; the inner none: it was not there.
pub(super) fn shown(line: &LogRecord, key: &str) -> Option<Option<Coordination>> {
    if !asks(line).iter().any(|asked| asked.ask == Ask::Read && asked.is_about(key)) {
        return None;
    }
    let reply = line.reply.as_ref()?;
    if reply.status == 404 {
        return Some(None);
    }
    let entries = entries(line)?;
    let Some(entry) = entries.iter().find(|entry| entry["Key"] == key) else { return Some(None) };
    let value = STANDARD.decode(entry["Value"].as_str()?).ok()?;
    Coordination::read(&value).map(Some)
}

/// Whether an answer shows a key that a slot's session holds: it lives.
pub(super) fn lasts_in(line: &LogRecord, slot: &Tenure) -> bool {
    let holds = |entry: &Value| entry["Session"] == slot.session.as_str();
    entries(line).is_some_and(|entries| entries.iter().any(holds))
}

/// The entries in an answer that shows entries.
fn entries(line: &LogRecord) -> Option<Vec<Value>> {
    let reply = line.reply.as_ref().filter(|reply| reply.status == 200)?;
    let Value::Array(entries) = serde_json::from_slice(&reply.body).ok()? else { return None };
    entries.iter().all(|entry| entry["LockIndex"].is_number()).then_some(entries)
}
