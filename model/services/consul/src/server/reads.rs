//! Reads of several things at once: sessions, keys, entries, nodes and checks. Where an answer has no room for all, it says how many are
//! left out.

use super::Server;
use crate::Consul;
use crate::clients::with_nodes;
use crate::messages::{Answer, KeyList, NodeHealth, NodeList, Prefix, Request, Row, SessionInfo, SessionList, Tree};
use crate::server::Node;
use crate::settings::CheckKind;
use fencepost_model::ids::{ClientId, RawId, SessionId};
use fencepost_model::inline_array::InlineArray;
use fencepost_model::process::Context;

impl Server {
    /// The response to a default read that does not wait, from this memory alone (C-CON-2); none to any other request.
    pub(super) fn read(&self, request: Request, context: &Context<'_, Consul>) -> Option<Answer> {
        Some(match request {
            Request::Get(key) => self.get(key),
            Request::FindSession => Answer::Named(self.sessions().next()),
            Request::List => Answer::Listed(self.list(context)),
            Request::Before(index) => Answer::Before(self.before(index, context)),
            Request::SessionInfo(session) => self.session_info(session),
            Request::Sessions(node) => self.session_list(node),
            Request::Keys(prefix) => self.key_list(prefix),
            Request::Tree(prefix) => self.tree(prefix),
            Request::Nodes => self.node_list(context),
            Request::NodeHealth(node) => self.node_health(node, context),
            _ => return None,
        })
    }

    /// C-KV-21: the names of all keys below a prefix, by name (C-GEN-8).
    pub(super) fn key_list(&self, prefix: Prefix) -> Answer {
        let (keys, more) = gathered(self.below(prefix).map(|(key, _)| key));
        Answer::Keys(KeyList { index: self.prefix_index(prefix), keys, more })
    }

    /// C-KV-21: all entries below a prefix.
    fn tree(&self, prefix: Prefix) -> Answer {
        let (rows, more) = gathered(self.below(prefix).map(|(key, entry)| Row::new(key, &entry)));
        Answer::Tree(Tree { index: self.prefix_index(prefix), rows, more })
    }

    /// C-SES-16: one session.
    fn session_info(&self, session: SessionId) -> Answer {
        Answer::Session(self.row(session).map(|row| SessionInfo { id: row.id, terms: row.terms }))
    }

    /// C-SES-16: all sessions, or those of a node.
    fn session_list(&self, node: Option<ClientId>) -> Answer {
        let wanted = self.sessions().filter(|id| node.is_none_or(|node| id.raw().creator == node));
        let (ids, more) = gathered(wanted);
        Answer::Sessions(SessionList { ids, more })
    }

    /// The nodes of the catalogue. In a scenario that does not use it, every client has its node, until a request changes it.
    fn node_list(&self, context: &Context<'_, Consul>) -> Answer {
        let (nodes, more) = if self.nodes.is_empty() {
            gathered(with_nodes(context.scenario))
        } else {
            gathered(self.nodes().map(|node| node.id))
        };
        Answer::Nodes(NodeList { nodes, more })
    }

    /// The checks of a node.
    fn node_health(&self, id: ClientId, context: &Context<'_, Consul>) -> Answer {
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
