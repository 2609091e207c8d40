//! What a log shows, line by line: entries at log positions, keys that are not there, writes, and signs of life of sessions.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::super::consul::{Reply, part, unsigned};
use super::super::judge::{is_in_doubt, is_success};
use super::super::log::{Episode, EventKind, LogRecord};
use super::super::uncertain::may_end_sessions;
use super::span_of;
use super::spans::Span;

/// An entry, as an answer shows it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) at: usize,
    pub(super) span: Span,
    pub(super) modify: u64,
    pub(super) create: Option<u64>,
    /// LockIndex, flags, session and value; none: the answer does not show them, or they may have been changed at the same position.
    pub(super) content: Option<Content>,
    /// What `X-Consul-Index` says of it, and whether of a list.
    pub(super) index: Option<(u64, bool)>,
    /// Whether no later state can have been answered by something older: a read of the leader.
    pub(super) is_fresh: bool,
}

/// What an entry contains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Content {
    pub(super) lock_index: u64,
    pub(super) flags: u64,
    pub(super) session: Option<String>,
    /// None: not shown.
    pub(super) value: Option<Vec<u8>>,
}

/// A key was not there, at some instant.
#[derive(Copy, Clone, Debug)]
pub(super) struct Gone {
    pub(super) at: usize,
    pub(super) span: Span,
}

/// A request that writes to a key.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) at: usize,
    pub(super) span: Span,
    pub(super) kind: Kind,
    /// None: not known.
    pub(super) value: Option<Vec<u8>>,
    pub(super) flags: u64,
    /// Whether it was done; none: that is not known.
    pub(super) is_done: Option<bool>,
}

/// How a request writes to a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Put,
    Cas(u64),
    Acquire(String),
    Release(String),
    Delete,
    DeleteCas,
    /// An operation of a transaction.
    Part,
}

/// Something that an answer shows of a session.
#[derive(Copy, Clone, Debug)]
pub(super) struct Sign {
    pub(super) at: usize,
    pub(super) span: Span,
}

/// What there is of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Life {
    /// Its creation, with what was asked for.
    pub(super) created: Vec<(Sign, Option<Value>)>,
    pub(super) alive: Vec<Sign>,
    pub(super) dead: Vec<Sign>,
    /// Renewals, answered well or in doubt.
    pub(super) renewed: Vec<Sign>,
    pub(super) destroyed: Vec<Span>,
    /// As it was shown, without blanks.
    pub(super) shown: Vec<(Sign, Value)>,
}

/// What a log shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    pub(super) seen: BTreeMap<String, Vec<Seen>>,
    pub(super) gone: BTreeMap<String, Vec<Gone>>,
    pub(super) writes: BTreeMap<String, Vec<Write>>,
    /// The index of the store, by reads of keys that are not there. C-KV-20.
    pub(super) store: Vec<(Gone, u64)>,
    pub(super) lives: BTreeMap<String, Life>,
    /// What may delete keys below a prefix, or write to keys that are not known.
    pub(super) trees: Vec<(String, Span)>,
    /// What may end any session.
    pub(super) ends_any: Vec<Span>,
}

/// The parts of a request's address.
struct Address {
    path: String,
    query: Vec<(String, String)>,
}

impl Address {
    fn of(url: &str) -> Address {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let path = percent_decode_str(path).decode_utf8_lossy().into_owned();
        Address { path, query: form_urlencoded::parse(query.as_bytes()).into_owned().collect() }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

impl Evidence {
    pub(super) fn of(lines: &[&LogRecord], episode: &Episode) -> Evidence {
        let mut evidence = Evidence::default();
        for (at, line) in lines.iter().enumerate() {
            evidence.look_at(at, line, episode);
        }
        for event in &episode.events {
            if let EventKind::NodeFailed(_) = event.kind {
                evidence.ends_any.push(Span { sent: event.sent, received: i64::MAX });
            }
        }
        evidence
    }

    fn look_at(&mut self, at: usize, line: &LogRecord, episode: &Episode) {
        let address = Address::of(&line.question.url);
        let span = span_of(line);
        let sign = Sign { at, span };
        let reply = line.reply.as_ref().filter(|reply| !is_in_doubt(reply));
        // C-CON-2: while another server comes to lead, the old one may answer. C-CON-3: one that restarts may answer before it has applied
        // its log.
        let in_change = episode.events.iter().any(|event| {
            matches!(event.kind, EventKind::Failover | EventKind::Restart)
                && event.sent <= line.received
                && line.sent <= event.received
        });
        let is_fresh = !(address.has("stale") || address.has("cached") || in_change && !address.has("consistent"));
        let path = address.path.as_str();
        if line.question.method == "GET" {
            let Some(reply) = reply else { return };
            if let Some(key) = path.strip_prefix("/v1/kv/") {
                self.read(line, key, &address, reply, Seen { is_fresh, ..Seen::at(sign) });
            } else if path.starts_with("/v1/session/") && is_fresh && !line.details.lacks_answer {
                self.read_sessions(path, reply, sign);
            }
            return;
        }
        if let Some(key) = path.strip_prefix("/v1/kv/") {
            self.write(line, key, &address, reply, sign);
        } else if path == "/v1/txn" {
            self.transaction(line, reply, sign);
        } else if path.starts_with("/v1/session/renew/") && in_change {
            // C-CON-5: a leader renews from its memory, which says nothing about that of a new one, or about what it has not applied.
        } else if path.starts_with("/v1/session/") {
            self.change_session(line, path, reply, sign);
        } else if path.starts_with("/v1/catalog/") || may_end_sessions(&line.question) {
            self.ends_any.push(span);
        }
    }

    fn read(&mut self, line: &LogRecord, key: &str, address: &Address, reply: &Reply, seen: Seen) {
        let gone = Gone { at: seen.at, span: seen.span };
        if address.has("keys") || reply.status != 200 && reply.status != 404 {
            return;
        }
        let is_list = address.has("recurse");
        if reply.status == 404 {
            if !is_list && seen.is_fresh {
                self.gone.entry(key.to_owned()).or_default().push(gone);
                self.store.extend(reply.index.map(|index| (gone, index)));
            }
            return;
        }
        if is_list || !(address.has("raw") || line.details.lacks_answer) {
            let Ok(Value::Array(items)) = serde_json::from_slice(&reply.body) else { return };
            for item in &items {
                let (Some(key), Some(modify)) = (item["Key"].as_str(), item["ModifyIndex"].as_u64()) else { continue };
                let content = Content::of(item);
                if let (true, Some(Content { session: Some(session), .. })) = (seen.is_fresh, &content) {
                    self.life(session).alive.push(Sign { at: seen.at, span: seen.span });
                }
                let index = reply.index.map(|index| (index, is_list));
                let seen = Seen { modify, create: item["CreateIndex"].as_u64(), content, index, ..seen.clone() };
                self.seen.entry(key.to_owned()).or_default().push(seen);
            }
            return;
        }
        // C-KV-20: the index is that of the entry.
        if let Some(modify) = reply.index {
            self.seen.entry(key.to_owned()).or_default().push(Seen { modify, ..seen });
        }
    }

    fn write(&mut self, line: &LogRecord, key: &str, address: &Address, reply: Option<&Reply>, sign: Sign) {
        let is_refused = reply.is_some_and(|reply| reply.status != 200);
        let says_invalid = reply.is_some_and(|reply| String::from_utf8_lossy(&reply.body).contains("invalid session"));
        let acquires = address.get("acquire");
        if let (true, Some(session)) = (says_invalid, acquires) {
            self.life(session).dead.push(sign);
        }
        if is_refused {
            return;
        }
        let is_delete = line.question.method == "DELETE";
        if is_delete && address.has("recurse") {
            self.trees.push((key.to_owned(), sign.span));
            return;
        }
        let kind = match (address.get("cas").map(unsigned), acquires, address.get("release")) {
            (Some(_), ..) if is_delete => Kind::DeleteCas,
            _ if is_delete => Kind::Delete,
            (Some(Some(index)), ..) => Kind::Cas(index),
            (_, Some(session), _) => Kind::Acquire(session.to_owned()),
            (_, _, Some(session)) => Kind::Release(session.to_owned()),
            _ => Kind::Put,
        };
        let always = matches!(kind, Kind::Put | Kind::Delete);
        let told = reply.filter(|_| !line.details.lacks_answer).map(is_success);
        let is_done = told.or(reply.filter(|_| always).map(|_| true));
        if let (Some(true), Kind::Acquire(session)) = (is_done, &kind) {
            self.life(session).alive.push(sign);
        }
        if let (Some(true), Kind::Delete) = (is_done, &kind) {
            self.gone.entry(key.to_owned()).or_default().push(Gone { at: sign.at, span: sign.span });
        }
        let flags = address.get("flags").and_then(unsigned).unwrap_or(0);
        let value = (!line.details.lacks_body).then(|| line.question.body.clone());
        let write = Write { at: sign.at, span: sign.span, kind, value, flags, is_done };
        self.writes.entry(key.to_owned()).or_default().push(write);
    }

    fn transaction(&mut self, line: &LogRecord, reply: Option<&Reply>, sign: Sign) {
        if reply.is_some_and(|reply| reply.status != 200) {
            return;
        }
        let body: Result<Value, _> = serde_json::from_slice(&line.question.body);
        let Some(items) = body.ok().filter(|_| !line.details.lacks_body).and_then(|body| body.as_array().cloned())
        else {
            // It may write anything.
            self.trees.push((String::new(), sign.span));
            self.ends_any.push(sign.span);
            return;
        };
        for item in &items {
            let Some(kv) = part(item, "KV") else {
                self.ends_any.push(sign.span);
                continue;
            };
            let text = |name: &str| part(kv, name).and_then(Value::as_str).unwrap_or_default();
            let (verb, key) = (text("Verb"), text("Key").to_owned());
            if verb.starts_with("get") || verb.starts_with("check-") {
                continue;
            }
            if verb == "delete-tree" {
                self.trees.push((key, sign.span));
                continue;
            }
            let value = STANDARD.decode(text("Value")).ok();
            let write = Write { at: sign.at, span: sign.span, kind: Kind::Part, value, flags: 0, is_done: None };
            self.writes.entry(key).or_default().push(write);
        }
        let answer: Value = reply
            .filter(|_| !line.details.lacks_answer)
            .and_then(|reply| serde_json::from_slice(&reply.body).ok())
            .unwrap_or_default();
        for item in answer["Results"].as_array().into_iter().flatten().map(|result| &result["KV"]) {
            let (Some(key), Some(modify)) = (item["Key"].as_str(), item["ModifyIndex"].as_u64()) else { continue };
            // Later operations may have changed it at the same position.
            let seen = Seen { modify, create: item["CreateIndex"].as_u64(), ..Seen::at(sign) };
            self.seen.entry(key.to_owned()).or_default().push(seen);
        }
    }

    fn read_sessions(&mut self, path: &str, reply: &Reply, sign: Sign) {
        let Ok(Value::Array(items)) = serde_json::from_slice(&reply.body) else { return };
        if let (Some(id), true, 200) = (path.strip_prefix("/v1/session/info/"), items.is_empty(), reply.status) {
            self.life(id).dead.push(sign);
        }
        for item in items {
            if let Some(id) = item["ID"].as_str() {
                let life = self.life(id);
                life.alive.push(sign);
                life.shown.push((sign, item.clone()));
            }
        }
    }

    fn change_session(&mut self, line: &LogRecord, path: &str, reply: Option<&Reply>, sign: Sign) {
        let is_ok = reply.is_some_and(|reply| reply.status == 200);
        if path == "/v1/session/create" {
            let known = reply.filter(|_| is_ok && !line.details.lacks_answer);
            let answer: Value = known.and_then(|reply| serde_json::from_slice(&reply.body).ok()).unwrap_or_default();
            if let Some(id) = answer["ID"].as_str() {
                let body = if line.question.body.is_empty() { "{}".as_bytes() } else { &line.question.body };
                let asked = serde_json::from_slice(body).ok().filter(|_| !line.details.lacks_body);
                let life = self.life(id);
                life.created.push((sign, asked));
                life.alive.push(sign);
            }
        } else if let Some(id) = path.strip_prefix("/v1/session/renew/") {
            let life = self.life(id);
            match reply.map(|reply| reply.status) {
                Some(200) => life.alive.push(sign),
                Some(404) => return life.dead.push(sign),
                Some(_) => return,
                None => {}
            }
            life.renewed.push(sign);
        } else if let Some(id) = path.strip_prefix("/v1/session/destroy/").filter(|_| is_ok || reply.is_none()) {
            let life = self.life(id);
            life.destroyed.push(sign.span);
            if is_ok {
                life.dead.push(sign);
            }
        }
    }

    /// C-SES-20: ids are one whatever their letter case.
    fn life(&mut self, id: &str) -> &mut Life {
        self.lives.entry(id.to_ascii_lowercase()).or_default()
    }
}

impl Seen {
    fn at(sign: Sign) -> Seen {
        Seen { at: sign.at, span: sign.span, modify: 0, create: None, content: None, index: None, is_fresh: true }
    }
}

impl Content {
    fn of(item: &Value) -> Option<Content> {
        let value = match &item["Value"] {
            Value::String(text) => STANDARD.decode(text).ok(),
            _ => Some(Vec::new()),
        };
        Some(Content {
            lock_index: item["LockIndex"].as_u64()?,
            flags: item["Flags"].as_u64()?,
            session: item["Session"].as_str().map(str::to_owned),
            value,
        })
    }
}
