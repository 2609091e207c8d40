//! State that only readers of the HTTP API see: the indexes of tables, prepared queries, services. A search has no such
//! readers; its server keeps no id table, so that the table adds no states.

use serde::{Deserialize, Serialize};

use super::Server;
use super::items::Items;
use crate::Consul;
use crate::ConsulMutation;
use crate::messages::{Item, Key, Spelling};
use crate::settings::CheckKind;
use fencepost_model::ids::{ClientId, Index, RawId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::Context;

/// C-GEN-1: the indexes of tables that no client recipe reads, and the table `index`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub(crate) struct IdTable {
    /// The last position at which an entry changed or was removed.
    pub(super) entries: Index,
    /// The position of the last change of sessions.
    pub(super) sessions: Index,
    /// The position of the last change of prepared queries.
    pub(super) queries: Index,
    /// The position of the last registration or removal of a check.
    checks: Index,
    /// Prepared queries, by id.
    pub(super) prepared: Vec<Query>,
    /// How nodes, services and checks were written.
    pub(super) items: Items,
    /// Checks that belong to a service of their node.
    attached: Vec<(ClientId, CheckNumber, u16)>,
}

/// A check as a number, for serialisation.
type CheckNumber = u8;

/// A prepared query.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Query {
    /// Its id.
    pub id: u16,
    /// Its name, if it has one.
    pub name: Option<u16>,
    /// The session whose end removes it.
    pub session: Option<(SessionId, Spelling)>,
    /// The log position of its creation.
    pub create: Index,
    /// The log position of its last change.
    pub modify: Index,
}

/// The reason why a prepared query is refused.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum QueryRefusal {
    /// Its session does not exist. C-PQ-2.
    NoSession,
    /// Another query has that name. C-PQ-3.
    NameTaken,
}

impl Server {
    /// A server with an id table.
    pub fn with_id_table() -> Server {
        Server { index: Index::numbered(1), id_table: Some(Box::default()), ..Server::default() }
    }

    pub(super) fn note_entries(&mut self) {
        let index = self.index;
        self.id_table.iter_mut().for_each(|id_table| id_table.entries = index);
    }

    pub(super) fn note_sessions(&mut self) {
        let index = self.index;
        self.id_table.iter_mut().for_each(|id_table| id_table.sessions = index);
    }

    pub(super) fn note_checks(&mut self) {
        let index = self.index;
        self.id_table.iter_mut().for_each(|id_table| id_table.checks = index);
    }

    /// Every key is deleted: only the index of the store shows it. Without an id table, if a client may ask for it, a
    /// tombstone of the empty prefix stands for it.
    pub(super) fn note_emptied(&mut self, context: &Context<'_, Consul>) {
        if self.id_table.is_none() && context.scenario.service.semaphore.is_some() {
            self.tombstones.retain(|(name, _)| *name != Key::Other);
            self.tombstones.insert_sorted((Key::Other, self.index));
        }
    }

    /// C-KV-20: the index of a key that is absent, and of a prefix that nothing is known of; at least 1, where an id table is
    /// kept.
    pub fn store_index(&self) -> Index {
        let entries = self.id_table.as_ref().map_or(Index::NONE, |id_table| id_table.entries.max(Index::numbered(1)));
        self.tombstones.iter().map(|(_, index)| *index).max().unwrap_or_default().max(entries)
    }

    /// C-SES-17: the index of every read of sessions.
    pub fn sessions_index(&self) -> Index {
        self.id_table.as_ref().map_or(Index::NONE, |id_table| id_table.sessions)
    }

    /// C-PQ-5: the index of every read of prepared queries.
    pub fn queries_index(&self) -> Index {
        self.id_table.as_ref().map_or(Index::NONE, |id_table| id_table.queries)
    }

    /// C-INV-13: the index of every read of checks.
    pub fn checks_index(&self) -> Index {
        self.id_table.as_ref().map_or(Index::NONE, |id_table| id_table.checks)
    }

    /// Prepared queries, by id.
    pub fn prepared(&self) -> &[Query] {
        self.id_table.as_ref().map_or(&[], |id_table| &id_table.prepared)
    }

    /// C-PQ-1 to C-PQ-4: creates a prepared query, or changes the one that has this id. Its session is looked at each
    /// time.
    pub fn prepare(
        &mut self,
        id: u16,
        name: Option<u16>,
        session: Option<(SessionId, Spelling)>,
        context: &Context<'_, Consul>,
    ) -> Result<(), QueryRefusal> {
        self.index = self.index.next();
        let index = self.index;
        let is_taken = name.is_some() && self.prepared().iter().any(|query| query.id != id && query.name == name);
        if is_taken && !context.is_mutated(ConsulMutation::QueryNamesCollide) {
            return Err(QueryRefusal::NameTaken);
        }
        if session.is_some_and(|(session, _)| self.row(session).is_none()) {
            return Err(QueryRefusal::NoSession);
        }
        let Some(id_table) = &mut self.id_table else { return Ok(()) };
        let create = id_table.prepared.iter().find(|query| query.id == id).map_or(index, |query| query.create);
        id_table.prepared.retain(|query| query.id != id);
        id_table.prepared.push(Query { id, name, session, create, modify: index });
        id_table.prepared.sort_unstable();
        id_table.queries = index;
        Ok(())
    }

    /// Removes a prepared query; its session stays alive (C-PQ-5).
    pub fn forget_query(&mut self, id: u16) {
        self.index = self.index.next();
        self.drop_queries(|query| query.id == id);
    }

    /// C-INV-1 step 7, C-PQ-4, C-PQ-6: whatever the session's behavior.
    pub(super) fn drop_queries(&mut self, is_dropped: impl Fn(&Query) -> bool) {
        let index = self.index;
        let Some(id_table) = &mut self.id_table else { return };
        let before = id_table.prepared.len();
        id_table.prepared.retain(|query| !is_dropped(query));
        if id_table.prepared.len() < before {
            id_table.queries = index;
        }
    }

    /// A new name takes this rank among all names of keys: names from that rank on move by one.
    pub fn make_room(&mut self, place: u16) {
        let moved = |key: &mut Key| match key {
            Key::Named(other) if *other >= place => *other += 1,
            _ => {}
        };
        self.entries.iter_mut().for_each(|(key, _)| moved(key));
        self.tombstones.iter_mut().for_each(|(key, _)| moved(key));
        self.delays.iter_mut().for_each(|delay| moved(&mut delay.key));
    }

    /// The position of the last log entry.
    pub fn position(&self) -> Index {
        self.index
    }

    /// Whether the node has the service.
    pub fn has_service(&self, node: ClientId, service: u16) -> bool {
        self.record(Item::Service(node, service)).is_some()
    }

    /// The service of its node that a check belongs to.
    pub fn service_of(&self, node: ClientId, kind: CheckKind) -> Option<u16> {
        let number = number(kind);
        let attached = &self.id_table.as_ref()?.attached;
        attached.iter().find(|(other, check, _)| (*other, *check) == (node, number)).map(|(_, _, service)| *service)
    }

    /// Assigns a check to a service of its node.
    pub fn attach(&mut self, node: ClientId, kind: CheckKind, service: Option<u16>) {
        let number = number(kind);
        let Some(id_table) = &mut self.id_table else { return };
        id_table.attached.retain(|(other, check, _)| (*other, *check) != (node, number));
        id_table.attached.extend(service.map(|service| (node, number, service)));
    }

    /// Removes a service. Returns the checks that belonged to it.
    pub(super) fn forget_service(&mut self, node: ClientId, service: u16) -> Vec<CheckKind> {
        let index = self.index;
        let Some(id_table) = &mut self.id_table else { return Vec::new() };
        id_table.items.remove(Item::Service(node, service), index);
        let mine = id_table.attached.iter().filter(|(other, _, of)| (*other, *of) == (node, service));
        mine.map(|(_, check, _)| CheckKind::of(usize::from(*check))).collect()
    }

    /// Removes a check, which belonged to a service or to none.
    pub(super) fn forget_check(&mut self, node: ClientId, kind: CheckKind) {
        let index = self.index;
        let is_of_node = self.service_of(node, kind).is_none();
        self.attach(node, kind, None);
        let Some(id_table) = &mut self.id_table else { return };
        id_table.items.remove(Item::Check(node, kind), index);
        if is_of_node {
            id_table.items.note_services(index);
        }
    }

    /// Removes a node with its services. Returns whether it had any.
    pub(super) fn drop_services(&mut self, node: ClientId) -> bool {
        if self.id_table.is_none() {
            return false;
        }
        let index = self.index;
        let services: Vec<u16> = self.services_of(node).collect();
        let checks: Vec<CheckKind> = CheckKind::all().filter(|kind| self.check(node, *kind).is_some()).collect();
        checks.into_iter().for_each(|kind| self.forget_check(node, kind));
        let Some(id_table) = &mut self.id_table else { return false };
        services.iter().for_each(|service| id_table.items.remove(Item::Service(node, *service), index));
        id_table.items.remove(Item::Node(node), index);
        id_table.attached.retain(|(other, ..)| *other != node);
        !services.is_empty()
    }
}

fn number(kind: CheckKind) -> CheckNumber {
    u8::try_from(kind.number()).expect("below CheckKind::ROOM")
}
