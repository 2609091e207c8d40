//! What a state of the agent tells without being asked: what has changed between two of them, and whether an answer can be
//! its answer at all, before it is worked out in full.

use std::collections::BTreeMap;

use fencepost_consul::{Entry, Key, Prefix};
use fencepost_model::ids::{Index, SessionId};

use super::exchange::{HttpRequest, Reply};
use super::{Agent, Parts};

/// What has been told of log positions: theirs, by ours.
#[derive(Clone, PartialEq, Debug)]
pub struct Told(pub(super) BTreeMap<Index, u64>);

impl Told {
    /// The highest.
    pub fn last(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(_, theirs)| *theirs)
    }
}

/// An entry of the store, as a read shows it: log positions only as far as they have been told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// Its ModifyIndex.
    pub modify: Option<u64>,
    /// Its CreateIndex.
    pub create: Option<u64>,
    /// Its LockIndex.
    pub lock_index: u32,
    /// The id of the session that holds it.
    pub session: Option<String>,
}

impl Agent {
    /// The keys whose entry is another one than in a former state, by name.
    pub fn changed_keys(&self, before: &Agent) -> Vec<String> {
        let mut old = before.server.below(Prefix::All).peekable();
        let mut changed: Vec<Key> = Vec::new();
        for (key, entry) in self.server.below(Prefix::All) {
            while let Some((gone, _)) = old.next_if(|(other, _)| *other < key) {
                changed.push(gone);
            }
            match old.next_if(|(other, _)| *other == key) {
                Some((_, other)) if other == entry => {}
                _ => changed.push(key),
            }
        }
        changed.extend(old.map(|(gone, _)| gone));
        changed.into_iter().map(|key| self.key_name(key).to_owned()).collect()
    }

    /// Whether other sessions live than in a former state.
    pub fn has_other_sessions(&self, before: &Agent) -> bool {
        self.server.sessions_index() != before.server.sessions_index()
    }

    /// Whether indexes or lock-delays are others than in a former state.
    pub fn has_other_traces(&self, before: &Agent) -> bool {
        let traces = |agent: &Agent| (agent.server.store_index(), agent.server.sessions_index(), agent.delay_count());
        traces(self) != traces(before)
    }

    /// The entry of a key.
    pub fn shown(&self, key: &str) -> Option<Shown> {
        let Entry { lock_index, session, spelling, create, modify, .. } = self.present(key)?;
        let text = |session: SessionId| self.names.session_text(session, spelling).to_owned();
        let (modify, create) = (self.names.theirs(modify), self.names.theirs(create));
        Some(Shown { modify, create, lock_index, session: session.map(text) })
    }

    /// The id of a session, as the response to its creation has it.
    pub fn session_name(&self, session: SessionId) -> &str {
        self.names.session_text(session, Default::default())
    }

    /// The keys that a session holds, by name.
    pub fn keys_of(&self, session: SessionId) -> Vec<String> {
        let entries = self.server.below(Prefix::All);
        let held = entries.filter(|(_, entry)| entry.session == Some(session));
        held.map(|(key, _)| self.key_name(key).to_owned()).collect()
    }

    /// Whether the model has the endpoint that a request is for.
    pub fn knows(question: &HttpRequest) -> bool {
        let path = question.url.split('?').next().unwrap_or_default();
        let is_for = |start: &str| path.strip_prefix(start).is_some_and(|rest| start.ends_with('/') || rest.is_empty());
        path.contains("//") || super::ENDPOINTS.iter().any(|(start, ..)| is_for(start))
    }

    /// The highest log position that has been told.
    pub fn last_told(&self) -> u64 {
        self.names.last_told()
    }

    /// What has been told of log positions.
    pub fn told(&self) -> Told {
        Told(self.names.indexes().clone())
    }

    /// Log positions that have been told since.
    pub fn told_since(&self, before: &Told) -> Vec<u64> {
        let known: Vec<u64> = before.0.values().copied().collect();
        self.names.indexes().values().copied().filter(|theirs| known.binary_search(theirs).is_err()).collect()
    }

    /// Takes back what has been told since.
    pub fn untell(&mut self, told: Told) {
        self.names.set_indexes(told.0);
    }

    /// Whether an answer may be the one of this state, as far as a glance tells. False is certain.
    pub fn may_answer(&self, question: &HttpRequest, reply: &Reply) -> bool {
        let (path, query) = question.url.split_once('?').unwrap_or((&question.url, ""));
        let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
        let is_seen = |ours: Index| match (self.names.theirs(ours), reply.index) {
            (Some(theirs), Some(index)) => theirs == index,
            _ => true,
        };
        let parts = || Parts {
            method: &question.method,
            path: String::new(),
            query: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            body: &[],
            is_about_keys: true,
            is_about_catalog: false,
        };
        if let Some(name) = path.strip_prefix("/v1/kv/").filter(|name| !name.is_empty()) {
            let parts = parts();
            let entry = self.present(name);
            return match question.method.as_str() {
                "GET" if parts.has("keys") || parts.has("recurse") => {
                    self.known_prefix(name).is_none_or(|prefix| is_seen(self.server.prefix_index(prefix)))
                }
                "GET" => match entry {
                    Some(entry) => reply.status != 404 && is_seen(entry.modify),
                    None => reply.status != 200 && is_seen(self.server.store_index()),
                },
                "PUT" if parts.has("acquire") && reply.status == 200 => {
                    entry.is_some_and(|entry| entry.session.is_some()) || self.server.delay_count() > 0
                }
                _ => true,
            };
        }
        let is_read = question.method == "GET" && path.starts_with("/v1/session/");
        !is_read || reply.status != 200 || is_seen(self.server.sessions_index())
    }

    fn present(&self, name: &str) -> Option<Entry> {
        self.server.entry(Key::Named(self.names.known_place(name)?))
    }

    fn known_prefix(&self, name: &str) -> Option<Prefix> {
        self.names.known_place(name).map(|place| self.names.range(place))
    }
}

/// A part of a JSON object, whatever the letter case of its name. C-SES-3, C-TXN-1.
pub fn part<'a>(object: &'a serde_json::Value, name: &str) -> Option<&'a serde_json::Value> {
    super::field(object.as_object()?, name)
}
