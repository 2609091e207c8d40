//! Where the agent is, under which key the lock stands, and how long a tick is.

use std::collections::BTreeMap;
use std::time::Duration;

use fencepost_consul::CheckKind;
use fencepost_model::ids::ClientId;
use fencepost_model::time::Ticks;

use crate::LiveError;

/// A Consul agent, and a lock there.
#[derive(Clone, Debug)]
pub struct Agent {
    pub(crate) base: String,
    pub(crate) key: String,
    pub(crate) tick: Duration,
    pub(crate) client: ClientId,
    pub(crate) session_name: String,
    pub(crate) node: Option<String>,
    pub(crate) prefix: String,
    pub(crate) evidence: Evidence,
    /// The names of nodes, by the client that runs on each.
    pub(crate) nodes: BTreeMap<ClientId, String>,
}

/// What a contender for a semaphore takes for a live holder, of all that it reads below the prefix. C-SEM-4.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// A key that a session holds.
    Held,
    /// A key that is named after a session, held or not.
    Named,
}

impl Agent {
    /// The agent at an address like `http://127.0.0.1:8500`, and the key of the lock, or the prefix of the semaphore.
    pub fn new(address: &str, key: &str) -> Self {
        let base = address.trim_end_matches('/');
        let base = if base.contains("://") { base.to_owned() } else { format!("http://{base}") };
        let tick = Duration::from_millis(10);
        let session_name = "fencepost".to_owned();
        let (key, prefix) = (key.to_owned(), format!("{key}/"));
        Agent {
            base,
            key,
            tick,
            client: ClientId(1),
            session_name,
            node: None,
            prefix,
            evidence: Evidence::Held,
            nodes: BTreeMap::new(),
        }
    }

    /// Sets the length of a tick; otherwise it is 10 ms.
    ///
    /// # Panics
    /// It is zero.
    #[must_use]
    pub fn tick(self, tick: Duration) -> Self {
        assert!(!tick.is_zero(), "a tick must last");
        Agent { tick, ..self }
    }

    /// Sets which client this is, as [`Handle::me`](fencepost_model::program::Handle::me) tells it; otherwise it is client 1.
    #[must_use]
    pub fn client(self, client: u16) -> Self {
        Agent { client: ClientId(client), ..self }
    }

    /// Sets the name of its sessions, by which a recipe may look for them; otherwise it is `fencepost`.
    #[must_use]
    pub fn session_name(self, name: &str) -> Self {
        Agent { session_name: name.to_owned(), ..self }
    }

    /// Sets the node of its sessions, and with it their checks: those of the catalogue that [`Agent::check`] names; otherwise it is the
    /// agent's own node.
    #[must_use]
    pub fn node(self, node: &str) -> Self {
        Agent { node: Some(node.to_owned()), ..self }
    }

    /// Names the node on which a client runs, for a program that reads or changes the checks of others.
    #[must_use]
    pub fn node_of(mut self, client: u16, node: &str) -> Self {
        self.nodes.insert(ClientId(client), node.to_owned());
        self
    }

    /// The name of the node on which a client runs.
    pub(crate) fn node_name(&self, client: ClientId) -> Result<&str, LiveError> {
        let own = self.node.as_deref().filter(|_| client == self.client);
        let named = own.or_else(|| self.nodes.get(&client).map(String::as_str));
        named.ok_or_else(|| {
            LiveError::Unsupported(format!("the node of {client}, which `Agent::node_of` does not name"))
        })
    }

    /// The client that runs on a node.
    pub(crate) fn client_on(&self, node: &str) -> Option<ClientId> {
        let named = self.nodes.iter().find(|(_, name)| *name == node).map(|(client, _)| *client);
        named.or_else(|| (self.node.as_deref() == Some(node)).then_some(self.client))
    }

    /// Lists every key that begins with the semaphore's prefix; otherwise those below it. C-SEM-5.
    #[must_use]
    pub fn bare_prefix(self) -> Self {
        Agent { prefix: self.key.clone(), ..self }
    }

    /// Sets what it takes for a live holder of a semaphore; otherwise it is a key that is held.
    #[must_use]
    pub fn evidence(self, evidence: Evidence) -> Self {
        Agent { evidence, ..self }
    }

    /// The id of a check of its sessions. Only gossip sets the check of the agent's own node; a node that is merely registered has
    /// checks with ids of ours, for the servers remove a stranger with the id of gossip's.
    pub fn check(&self, kind: CheckKind) -> Option<&'static str> {
        match kind {
            CheckKind::SerfHealth if self.node.is_none() => Some("serfHealth"),
            _ if self.node.is_none() => None,
            kind => registered_check(kind),
        }
    }

    /// The check that a text names.
    pub(crate) fn check_in(&self, text: &str) -> Option<CheckKind> {
        CheckKind::ALL.into_iter().find(|kind| self.check(*kind).is_some_and(|id| text.contains(&format!("'{id}'"))))
    }

    /// A number of ticks as Go writes a duration.
    pub(crate) fn duration(&self, ticks: Ticks) -> String {
        let nanoseconds = self.tick.as_nanos() * u128::try_from(ticks.count()).unwrap_or(0);
        match nanoseconds % 1_000_000 {
            0 => format!("{}ms", nanoseconds / 1_000_000),
            _ => format!("{nanoseconds}ns"),
        }
    }
}

/// The id of a check of a node that is merely registered.
pub(crate) fn registered_check(kind: CheckKind) -> Option<&'static str> {
    match kind {
        CheckKind::SerfHealth => Some("gossip"),
        CheckKind::NodeCheck => Some("node"),
        CheckKind::ServiceCheck => Some("service"),
        CheckKind::Other(_) => None,
    }
}

/// The check of a node with this id.
pub(crate) fn check_with_id(id: &str) -> Option<CheckKind> {
    let is_gossip = (id == "serfHealth").then_some(CheckKind::SerfHealth);
    is_gossip.or_else(|| CheckKind::ALL.into_iter().find(|kind| registered_check(*kind) == Some(id)))
}
