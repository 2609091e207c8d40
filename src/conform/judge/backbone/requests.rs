//! What requests ask for and what their answers show, with keys, sessions and values as numbers.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::super::consul::{Reply, part};
use super::super::super::log::LogRecord;
use super::super::writes::{created, ttl};
use super::super::{is_idle, is_success};

/// What an operation does with a key.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Verb {
    Put,
    Cas(u64),
    Acquire(usize),
    Release(usize),
    Delete,
    DeleteCas(u64),
    Get,
}

/// An operation with a key.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Operation {
    pub(super) key: usize,
    pub(super) verb: Verb,
    pub(super) value: usize,
    pub(super) flags: u64,
    /// Whether an answer shows the log position that it names.
    pub(super) is_shown: bool,
}

/// What a request is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// Operations in one log entry, or one that was refused.
    Operations(Vec<Operation>),
    /// A listing of what begins with this.
    List(String),
    /// A session is created; whether its end deletes its keys.
    Create(usize),
    Destroy(usize),
    /// A read about sessions.
    Sessions,
}

/// An entry as an answer shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    pub(super) key: usize,
    pub(super) modify: u64,
    pub(super) create: u64,
    pub(super) lock_index: u64,
    pub(super) flags: u64,
    pub(super) session: Option<usize>,
    /// None where the answer does not show it.
    pub(super) value: Option<usize>,
}

/// A request with its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Request {
    pub(super) what: What,
    pub(super) sent: i64,
    pub(super) received: i64,
    /// Whether it was not refused.
    pub(super) is_done: bool,
    pub(super) is_found: bool,
    pub(super) index: Option<u64>,
    pub(super) shown: Vec<Seen>,
    /// A session that had ended, by the answer.
    pub(super) ended: Option<usize>,
    /// Sessions that the answer shows.
    pub(super) shown_sessions: Vec<usize>,
}

impl Request {
    /// What it does with keys.
    pub(super) fn operations(&self) -> &[Operation] {
        if let What::Operations(operations) = &self.what { operations } else { &[] }
    }

    /// The key for which it was refused, if that can be just one.
    pub(super) fn refuser(&self) -> Option<usize> {
        let may_fail = |verb: Verb| !matches!(verb, Verb::Put | Verb::Delete);
        let mut keys = self.operations().iter().filter(|one| may_fail(one.verb)).map(|one| one.key);
        let key = keys.next().filter(|_| !self.is_done)?;
        keys.all(|other| other == key).then_some(key)
    }
}

impl Verb {
    /// Whether it takes an entry away.
    pub(super) fn deletes(self) -> bool {
        matches!(self, Verb::Delete | Verb::DeleteCas(_))
    }
}

/// The requests of a log, and what their numbers stand for.
#[derive(Default)]
pub(super) struct Requests {
    /// By line; none: it is not known that it was carried out.
    pub(super) all: Vec<Option<Request>>,
    pub(super) keys: Vec<String>,
    /// By session: whether its end deletes its keys.
    pub(super) deletes: Vec<bool>,
    /// By session: the log position of its creation, if an answer shows it.
    pub(super) created: BTreeMap<usize, u64>,
    sessions: BTreeMap<String, usize>,
    key_numbers: BTreeMap<String, usize>,
    values: BTreeMap<Vec<u8>, usize>,
}

impl Requests {
    /// None: the log has a request that is none of these.
    pub(super) fn of(lines: &[LogRecord]) -> Option<Requests> {
        let mut requests = Requests::default();
        let end = lines.iter().map(|line| line.received).filter(|at| *at < i64::MAX).max()?;
        for line in lines {
            let request = if line.reply.is_some() { Some(requests.read(line, end)?) } else { None };
            requests.all.push(request);
        }
        requests.bound_lifetimes();
        requests.look_up_positions();
        Some(requests)
    }

    /// Notes which of the log positions that operations name are shown by an answer.
    fn look_up_positions(&mut self) {
        let shown = self.all.iter().flatten().flat_map(|request| &request.shown);
        let positions: BTreeSet<u64> = shown.flat_map(|seen| [seen.create, seen.modify]).collect();
        for request in self.all.iter_mut().flatten() {
            let What::Operations(operations) = &mut request.what else { continue };
            for operation in operations {
                let (Verb::Cas(index) | Verb::DeleteCas(index)) = operation.verb else { continue };
                operation.is_shown = positions.contains(&index);
            }
        }
    }

    fn key(&mut self, name: &str) -> usize {
        if let Some(number) = self.key_numbers.get(name) {
            return *number;
        }
        self.keys.push(name.to_owned());
        self.key_numbers.insert(name.to_owned(), self.keys.len() - 1);
        self.keys.len() - 1
    }

    fn session(&mut self, id: &str) -> usize {
        let next = self.sessions.len();
        let number = *self.sessions.entry(id.to_ascii_lowercase()).or_insert(next);
        if number == next {
            self.deletes.push(false);
        }
        number
    }

    fn value(&mut self, bytes: Vec<u8>) -> usize {
        let next = self.values.len();
        *self.values.entry(bytes).or_insert(next)
    }

    fn read(&mut self, line: &LogRecord, end: i64) -> Option<Request> {
        let reply = line.reply.as_ref()?;
        let (path, query) = line.question.url.split_once('?').unwrap_or((&line.question.url, ""));
        let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned();
        let query: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let what = self.what(line, &path, &query, end)?;
        let mut request = Request {
            what,
            sent: line.sent,
            received: line.received,
            is_done: !is_idle(line),
            is_found: reply.status == 200,
            index: reply.index,
            shown: Vec::new(),
            ended: None,
            shown_sessions: Vec::new(),
        };
        request.ended = self.ended(line, reply, request.is_done);
        if line.question.method == "GET" {
            request.is_done = true;
        }
        if path.starts_with("/v1/kv/") && line.question.method == "GET" && reply.status == 200
            || path == "/v1/txn" && is_success(reply)
        {
            let body: Value = serde_json::from_slice(&reply.body).ok()?;
            let is_transaction = path == "/v1/txn";
            let items = if is_transaction { body["Results"].as_array() } else { body.as_array() };
            for item in items.into_iter().flatten() {
                let item = if is_transaction { &item["KV"] } else { item };
                let seen = self.seen(item, is_transaction)?;
                request.shown.push(seen);
            }
        }
        if path.starts_with("/v1/session/") && line.question.method == "GET" && reply.status == 200 {
            let body: Value = serde_json::from_slice(&reply.body).ok()?;
            for item in body.as_array().into_iter().flatten() {
                if let (Some(id), Some(create)) = (item["ID"].as_str(), item["CreateIndex"].as_u64()) {
                    let session = self.session(id);
                    self.created.insert(session, create);
                    request.shown_sessions.push(session);
                }
            }
        }
        Some(request)
    }

    /// The session that had ended, if an answer says so.
    fn ended(&mut self, line: &LogRecord, reply: &Reply, is_done: bool) -> Option<usize> {
        if let Some(id) = line.question.url.strip_prefix("/v1/session/info/") {
            return (reply.body.trim_ascii() == b"[]").then(|| self.session(id));
        }
        let text = String::from_utf8_lossy(&reply.body);
        let (_, rest) = text.split_once("invalid session ").filter(|_| !is_done)?;
        let id = rest.trim_start_matches(['\\', '"']).split(['\\', '"']).next()?;
        Some(self.session(id))
    }

    fn seen(&mut self, item: &Value, is_transaction: bool) -> Option<Seen> {
        let number = |name: &str| item[name].as_u64();
        let (modify, create) = (number("ModifyIndex")?, number("CreateIndex")?);
        let (lock_index, flags) = (number("LockIndex")?, number("Flags")?);
        let session = item["Session"].as_str().filter(|id| !id.is_empty()).map(|id| self.session(id));
        let value = match &item["Value"] {
            Value::String(text) => Some(self.value(STANDARD.decode(text).ok()?)),
            _ if is_transaction => None,
            _ => Some(self.value(Vec::new())),
        };
        Some(Seen { key: self.key(item["Key"].as_str()?), modify, create, lock_index, flags, session, value })
    }

    fn what(&mut self, line: &LogRecord, path: &str, query: &[(String, String)], end: i64) -> Option<What> {
        let parameter = |name: &str| query.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str());
        let method = line.question.method.as_str();
        if let Some(key) = path.strip_prefix("/v1/kv/") {
            if parameter("keys").is_some() || parameter("raw").is_some() || parameter("index").is_some() {
                return None;
            }
            if parameter("recurse").is_some() {
                return (method == "GET").then(|| What::List(key.to_owned()));
            }
            let number = |text: &str| text.parse::<u64>().ok();
            let verb = match method {
                "GET" => Verb::Get,
                "DELETE" => match parameter("cas") {
                    Some(index) => Verb::DeleteCas(number(index)?),
                    None => Verb::Delete,
                },
                "PUT" => match (parameter("cas"), parameter("acquire"), parameter("release")) {
                    (None, None, None) => Verb::Put,
                    (Some(index), None, None) => Verb::Cas(number(index)?),
                    (None, Some(id), None) => Verb::Acquire(self.session(id)),
                    (None, None, Some(id)) => Verb::Release(self.session(id)),
                    _ => return None,
                },
                _ => return None,
            };
            let flags = parameter("flags").map_or(Some(0), number)?;
            let (key, value) = (self.key(key), self.value(line.question.body.clone()));
            return Some(What::Operations(vec![Operation { key, verb, value, flags, is_shown: false }]));
        }
        if path == "/v1/txn" {
            let items: Value = serde_json::from_slice(&line.question.body).ok()?;
            let operations = items.as_array()?.iter().map(|item| self.operation(item)).collect::<Option<_>>()?;
            return Some(operations).filter(|operations: &Vec<Operation>| !operations.is_empty()).map(What::Operations);
        }
        if let Some(id) = created(line) {
            let body: Value = serde_json::from_slice(&line.question.body).unwrap_or_default();
            let text = |name: &str| part(&body, name).and_then(Value::as_str);
            // It may end by itself.
            if ttl(line).is_some_and(|ttl| line.sent.saturating_add(ttl) <= end) {
                return None;
            }
            let session = self.session(&id);
            self.deletes[session] = text("Behavior") == Some("delete");
            return Some(What::Create(session));
        }
        if let Some(id) = path.strip_prefix("/v1/session/destroy/") {
            return Some(What::Destroy(self.session(id)));
        }
        path.starts_with("/v1/session/").then_some(What::Sessions)
    }

    fn operation(&mut self, item: &Value) -> Option<Operation> {
        let item = part(item, "KV")?;
        let text = |name: &str| part(item, name).and_then(Value::as_str).unwrap_or_default();
        let index = part(item, "Index").and_then(Value::as_u64).unwrap_or(0);
        let verb = match text("Verb") {
            "set" => Verb::Put,
            "cas" => Verb::Cas(index),
            "lock" => Verb::Acquire(self.session(text("Session"))),
            "unlock" => Verb::Release(self.session(text("Session"))),
            "get" => Verb::Get,
            _ => return None,
        };
        let flags = part(item, "Flags").and_then(Value::as_u64).unwrap_or(0);
        let value = STANDARD.decode(text("Value")).ok()?;
        Some(Operation { key: self.key(text("Key")), verb, value: self.value(value), flags, is_shown: false })
    }
}
