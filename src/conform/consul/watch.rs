//! Blocking queries at the edge: what a read with an index waits for. Where Consul's answer depends on the shape of a tree in
//! its memory (C-BLK-6), both are right.

use fencepost_consul::{CheckKind, Item, Prefix, Query, Status};
use fencepost_model::ids::{ClientId, Index, RawId, SessionId};

use super::duration::nanoseconds;
use super::exchange::unsigned;
use super::{Agent, HttpRequest, Parts, SECOND};

/// A read that waits, with what it has seen.
#[derive(Clone, PartialEq, Debug)]
pub struct Watch {
    target: Target,
    index: Index,
}

/// What a request says about waiting: it is a read with an index. C-BLK-1, C-BLK-2.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Sleep {
    /// The index that is to be passed.
    pub index: u64,
    /// How long it waits for that at least, in nanoseconds; up to a sixteenth is added.
    pub at_least: i64,
}

impl Sleep {
    /// None for a request that does not wait.
    pub fn of(question: &HttpRequest) -> Option<Sleep> {
        let (_, query) = question.url.split_once('?').filter(|_| question.method == "GET")?;
        let value = |name: &str| form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name);
        let index = unsigned(&value("index")?.1).filter(|index| *index > 0)?;
        let asked = value("wait").and_then(|(_, wait)| nanoseconds(&wait).ok()).filter(|wait| *wait > 0);
        Some(Sleep { index, at_least: asked.unwrap_or(300 * SECOND).min(600 * SECOND) })
    }
}

/// Whether a read that waits has been answered by now.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Waking {
    /// It has.
    Wakes,
    /// The query still waits.
    Sleeps,
    /// It may have: something else that changed may stand next to it in the tree.
    Either,
}

impl Watch {
    /// The same read, sent with another index than the present one. C-BLK-3: that may be one that is far ahead.
    pub fn at(mut self, index: u64) -> Self {
        self.index = Index::numbered(u32::try_from(index).unwrap_or(u32::MAX));
        self
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Target {
    /// A key, with the index of its entry.
    Key(String, Option<Index>),
    /// What is below a prefix, with the indexes of the entries.
    Prefix(String, Vec<(String, Index)>),
    /// One session, and whether it was there.
    Session(SessionId, bool),
    /// The sessions of a node, or all.
    Sessions(Option<ClientId>, Vec<SessionId>),
    /// The checks of a node, with their statuses.
    Checks(ClientId, Vec<(CheckKind, Status)>),
    /// A node with its services, with their indexes.
    Node(ClientId, Vec<(Item, Index)>),
    /// Prepared queries: all, or the one of this id.
    Queries(Option<u16>, Vec<Query>),
}

impl Agent {
    /// What a read would wait for, if it were sent with the index that it has now; none for a read without a wait.
    pub fn park(&mut self, url: &str) -> Option<Watch> {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned();
        let parts = |path: &str| Parts {
            method: "GET",
            path: path.to_owned(),
            query: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            body: &[],
            is_about_keys: true,
            is_about_catalog: false,
        };
        if let Some(name) = path.strip_prefix("/v1/kv/") {
            let parts = parts(name);
            if parts.has("recurse") || parts.has("keys") {
                let prefix = self.prefix(name).ok()?;
                let target = Target::Prefix(name.to_owned(), self.indexes_below(prefix));
                return Some(Watch { target, index: self.server.prefix_index(prefix) });
            }
            let key = self.key(name).ok()?;
            let modify = self.server.entry(key).map(|entry| entry.modify);
            let index = modify.unwrap_or_else(|| self.server.store_index());
            return Some(Watch { target: Target::Key(name.to_owned(), modify), index });
        }
        if let Some(name) = path.strip_prefix("/v1/health/node/") {
            let node = self.names.node(name).ok()?;
            let target = Target::Checks(node, self.checks_of(node));
            return Some(Watch { target, index: self.server.checks_index() });
        }
        if let Some(name) = path.strip_prefix("/v1/catalog/node/") {
            let node = self.names.node(name).ok()?;
            let index = self.server.catalog_index();
            let is_known = index != Index::NONE && self.server.is_listed(node) && !self.agents.contains(&node);
            return is_known.then(|| Watch { target: Target::Node(node, self.items_of(node)), index });
        }
        if let Some(text) = path.strip_prefix("/v1/query") {
            let id = match text.strip_prefix('/') {
                Some(text) => Some(self.names.query(text).filter(|id| !self.queries_of(Some(*id)).is_empty())?),
                None => None,
            };
            return Some(Watch {
                target: Target::Queries(id, self.queries_of(id)),
                index: self.server.queries_index(),
            });
        }
        let index = self.server.sessions_index();
        if let Some(text) = path.strip_prefix("/v1/session/info/") {
            let super::names::Named::Id(session, _) = self.names.session(text).ok()? else { return None };
            let is_there = self.server.sessions().any(|id| id == session);
            return Some(Watch { target: Target::Session(session, is_there), index });
        }
        let node = match path.strip_prefix("/v1/session/node/") {
            Some(name) => Some(self.names.node(name).ok()?),
            None if path == "/v1/session/list" => None,
            None => return None,
        };
        let target = Target::Sessions(node, self.sessions_of(node));
        Some(Watch { target, index })
    }

    /// C-BLK-1, C-BLK-5 to C-BLK-7: whether it has been answered since: its watch has fired, and the index is higher.
    pub fn waking(&mut self, watch: &Watch) -> Waking {
        let (fires, index) = match &watch.target {
            Target::Key(name, before) => {
                let Ok(key) = self.key(name) else { return Waking::Either };
                let now = self.server.entry(key).map(|entry| entry.modify);
                let index = now.unwrap_or_else(|| self.server.store_index());
                let fires = if now != *before {
                    Waking::Wakes
                } else if now.is_none() {
                    Waking::Either
                } else {
                    Waking::Sleeps
                };
                (fires, index)
            }
            Target::Prefix(name, before) => {
                let Ok(prefix) = self.prefix(name) else { return Waking::Either };
                let fires = if self.indexes_below(prefix) != *before {
                    Waking::Wakes
                } else if before.is_empty() {
                    Waking::Either
                } else {
                    Waking::Sleeps
                };
                (fires, self.server.prefix_index(prefix))
            }
            Target::Session(session, before) => {
                let is_there = self.server.sessions().any(|id| id == *session);
                let fires = if is_there == *before { Waking::Sleeps } else { Waking::Wakes };
                (if *before { fires } else { Waking::Either }, self.server.sessions_index())
            }
            Target::Sessions(node, before) => {
                let is_same = self.sessions_of(*node) == *before;
                let fires = match (is_same, node) {
                    (false, _) => Waking::Wakes,
                    (true, None) => Waking::Sleeps,
                    (true, Some(_)) => Waking::Either,
                };
                (fires, self.server.sessions_index())
            }
            Target::Checks(node, before) => {
                let fires = if self.checks_of(*node) == *before { Waking::Either } else { Waking::Wakes };
                (fires, self.server.checks_index())
            }
            Target::Node(node, before) => {
                let fires = if self.items_of(*node) == *before { Waking::Either } else { Waking::Wakes };
                // C-INV-18: a read of what is gone is at index 1.
                (fires, if self.server.is_listed(*node) { self.server.catalog_index() } else { Index::numbered(1) })
            }
            Target::Queries(id, before) => {
                let fires = match (self.queries_of(*id) == *before, id) {
                    (false, _) => Waking::Wakes,
                    (true, None) => Waking::Sleeps,
                    (true, Some(_)) => Waking::Either,
                };
                (fires, self.server.queries_index())
            }
        };
        if index > watch.index { fires } else { Waking::Sleeps }
    }

    fn indexes_below(&self, prefix: Prefix) -> Vec<(String, Index)> {
        self.server.below(prefix).map(|(key, entry)| (self.key_name(key).to_owned(), entry.modify)).collect()
    }

    fn checks_of(&self, node: ClientId) -> Vec<(CheckKind, Status)> {
        CheckKind::all().filter_map(|kind| Some((kind, self.server.check(node, kind)?))).collect()
    }

    fn items_of(&self, node: ClientId) -> Vec<(Item, Index)> {
        let services = self.server.services_of(node).map(|service| Item::Service(node, service));
        let items = services.chain([Item::Node(node)]);
        items.filter_map(|item| Some((item, self.server.record(item)?.modify))).collect()
    }

    fn queries_of(&self, id: Option<u16>) -> Vec<Query> {
        self.server.prepared().iter().filter(|query| id.is_none_or(|id| query.id == id)).copied().collect()
    }

    fn sessions_of(&self, node: Option<ClientId>) -> Vec<SessionId> {
        self.server.sessions().filter(|id| node.is_none_or(|node| id.raw().creator == node)).collect()
    }
}
