//! Reads of several things at once: sessions, keys, entries, nodes and checks. Where an answer has no room for all, it says how many are
//! left out.

use super::Server;
use super::sessions::Row as Session;
use crate::Consul;
use crate::clients::with_nodes;
use crate::messages::{Answer, KeyList, NodeHealth, NodeList, Prefix, Row, SessionInfo, SessionList, Tree};
use crate::server::Node;
use crate::settings::CheckKind;
use fencepost_model::ids::{ClientId, SessionId};
use fencepost_model::inline_array::InlineArray;
use fencepost_model::process::Context;

impl Server {
    /// C-KV-21: the names of all keys below a prefix, by name (C-GEN-8).
    pub(super) fn key_list(&self, prefix: Prefix) -> Answer {
        let (keys, more) = gathered(self.below(prefix).map(|(key, _)| key));
        Answer::Keys(KeyList { index: self.prefix_index(prefix), keys, more })
    }

    /// C-KV-21: all entries below a prefix.
    pub(super) fn tree(&self, prefix: Prefix) -> Answer {
        let row = |(key, entry): (_, crate::Entry)| Row {
            key,
            session: entry.session,
            create: entry.create,
            modify: entry.modify,
        };
        let (rows, more) = gathered(self.below(prefix).map(row));
        Answer::Tree(Tree { index: self.prefix_index(prefix), rows, more })
    }

    /// C-SES-16: one session.
    pub(super) fn session_info(&self, session: SessionId) -> Answer {
        info(&self.sessions, session)
    }

    /// C-SES-16: all sessions, or those of a node.
    pub(super) fn session_list(&self, node: Option<ClientId>) -> Answer {
        list(&self.sessions, node)
    }

    /// The nodes of the catalogue. In a scenario that does not use it, every client has its node, until a request changes it.
    pub(super) fn node_list(&self, context: &Context<'_, Consul>) -> Answer {
        let (nodes, more) = if self.nodes.is_empty() {
            gathered(with_nodes(context.scenario))
        } else {
            gathered(self.nodes().map(|node| node.id))
        };
        Answer::Nodes(NodeList { nodes, more })
    }

    /// The checks of a node.
    pub(super) fn node_health(&self, id: ClientId, context: &Context<'_, Consul>) -> Answer {
        let unchanged = Node::of(id);
        let node = match self.node(id) {
            None if self.nodes.is_empty() && with_nodes(context.scenario).any(|node| node == id) => Some(&unchanged),
            node => node,
        };
        let Some(node) = node else { return Answer::Health(NodeHealth::default()) };
        let checks = CheckKind::ALL.into_iter().filter_map(|kind| Some((kind, node.status(kind)?))).collect();
        Answer::Health(NodeHealth { checks })
    }

    /// A request changes the catalogue: from now on the scenario uses it.
    pub(super) fn use_catalog(&mut self, context: &Context<'_, Consul>) {
        if self.nodes.is_empty() {
            self.nodes = with_nodes(context.scenario).map(Node::of).collect();
        }
    }
}

/// C-SES-16: one session of several, as any leader's memory has them.
pub(super) fn info(sessions: &[Session], session: SessionId) -> Answer {
    let row = sessions.iter().find(|row| row.id == session);
    Answer::Session(row.map(|row| SessionInfo { id: row.id, terms: row.terms }))
}

/// C-SES-16: all of them, or those of a node.
pub(super) fn list(sessions: &[Session], node: Option<ClientId>) -> Answer {
    let wanted = sessions.iter().map(|row| row.id).filter(|id| node.is_none_or(|node| id.creator == node));
    let (ids, more) = gathered(wanted);
    Answer::Sessions(SessionList { ids, more })
}

/// As many as there is room for, and how many more there are.
fn gathered<T: Copy + Default, const N: usize>(all: impl Iterator<Item = T>) -> (InlineArray<T, N>, u16) {
    let (mut first, mut more) = (InlineArray::default(), 0_u16);
    for one in all {
        if first.len() < N {
            first.push(one);
        } else {
            more = more.saturating_add(1);
        }
    }
    (first, more)
}
