//! The keys, sessions and nodes of one execution. No other execution sees them.

use std::time::Duration;

use fencepost_consul::{CheckKind, Consul, Prunes, SessionUse, Status, with_nodes};
use fencepost_live::{Evidence, SessionIds};
use fencepost_model::ids::{ClientId, SessionId};
use fencepost_model::scenario::Scenario;
use serde_json::{Value, json};

use super::agent::Agent;
use crate::error::ServerError;

/// What an execution has at the agent.
pub(super) struct Stage<'a> {
    pub(super) agent: &'a Agent,
    /// Each client as a client of the agent.
    pub(super) clients: Vec<fencepost_live::Agent>,
    /// What every key begins with.
    root: String,
    /// What every session is called.
    name: String,
    /// The clients with a node of their own.
    nodes: Vec<ClientId>,
    /// The session that exists from the start.
    pub(super) shared: Option<(SessionId, String)>,
}

impl<'a> Stage<'a> {
    /// Prepares the agent.
    pub(super) fn set(agent: &'a Agent, scenario: &Scenario<Consul>, tick: i64) -> Result<Self, ServerError> {
        let name = format!("fencepost-reenact-{}", agent.fresh_name());
        let root = format!("{}/", name.replace("reenact-", "reenact/"));
        let settings = &scenario.service;
        let has_nodes = settings.has_catalog();
        let semaphore = settings.semaphore.as_ref();
        let client = |place: usize| {
            let tick = Duration::from_millis(tick.unsigned_abs());
            let client = fencepost_live::Agent::new(&agent.base, &format!("{root}keys/lock"));
            let client = client.tick(tick).client(ClientId::of(place).0).session_name(&name);
            let client = if has_nodes { client.node(&node(&name, ClientId::of(place))) } else { client };
            match semaphore {
                // C-SEM-5: the Go client lists the bare prefix.
                Some(semaphore) if semaphore.has_neighbour => client.bare_prefix(),
                Some(semaphore) if semaphore.prunes == Prunes::ByName => client.evidence(Evidence::Named),
                _ => client,
            }
        };
        let participants = scenario.start().clients.len();
        let clients = (0..participants).map(client).collect();
        let nodes = if has_nodes { with_nodes(scenario).collect() } else { Vec::new() };
        let mut stage = Stage { agent, clients, root, name, nodes, shared: None };
        for node in stage.nodes.clone() {
            stage.register(node)?;
        }
        // C-BLK-5: a query for a key that is absent waits at what is next to it. These keep the other executions away.
        for edge in ["a", "z"] {
            agent.json("PUT", &format!("/v1/kv/{}{edge}", stage.root), "")?;
        }
        if settings.session == SessionUse::Shared {
            let lock_delay = format!("{}ms", settings.lock_delay.count() * tick);
            let body = json!({"Name": stage.name, "NodeChecks": [], "LockDelay": lock_delay});
            let created = agent.json("PUT", "/v1/session/create", &body.to_string())?;
            let id = created["ID"].as_str().unwrap_or_default().to_owned();
            stage.shared = Some((SessionId::numbered(ClientId(1), 1), id));
        }
        Ok(stage)
    }

    /// The ids of sessions, as far as they are known at the start.
    pub(super) fn sessions(&self) -> SessionIds {
        let mut sessions = SessionIds::new(ClientId(1));
        if let Some((session, text)) = &self.shared {
            sessions.name(text, *session);
        }
        sessions
    }

    /// What every key of the scenario begins with.
    pub(super) fn keys(&self) -> String {
        format!("{}keys/", self.root)
    }

    pub(super) fn client(&self, client: ClientId) -> &fencepost_live::Agent {
        &self.clients[client.place()]
    }

    pub(super) fn node(&self, client: ClientId) -> String {
        node(&self.name, client)
    }

    /// A check of a client's node, as the catalogue has it.
    pub(super) fn check(&self, client: ClientId, kind: CheckKind, status: Status) -> Value {
        let id = self.client(client).check(kind).unwrap_or_default();
        let service = if kind == CheckKind::ServiceCheck { SERVICE } else { "" };
        json!({"Node": self.node(client), "CheckID": id, "Name": id, "ServiceID": service, "Status": status.to_string()})
    }

    /// Registers a client's node with its service, and with every check passing.
    pub(super) fn register(&self, client: ClientId) -> Result<(), ServerError> {
        let checks: Vec<Value> = CheckKind::ALL.map(|kind| self.check(client, kind, Status::Passing)).into();
        let body = json!({
            "Node": self.node(client), "Address": "127.0.0.1", "Service": {"ID": SERVICE, "Service": SERVICE}, "Checks": checks,
        });
        self.agent.json("PUT", "/v1/catalog/register", &body.to_string()).map(drop)
    }

    /// Removes everything.
    pub(super) fn strike(&self) -> Result<(), ServerError> {
        let all = self.agent.json("GET", "/v1/session/list", "")?;
        let ours = all.as_array().into_iter().flatten().filter(|session| session["Name"] == self.name.as_str());
        for id in ours.filter_map(|session| session["ID"].as_str()) {
            self.agent.json("PUT", &format!("/v1/session/destroy/{id}"), "")?;
        }
        for node in &self.nodes {
            self.agent.json("PUT", "/v1/catalog/deregister", &json!({"Node": self.node(*node)}).to_string())?;
        }
        self.agent.json("DELETE", &format!("/v1/kv/{}?recurse", self.root), "").map(drop)
    }
}

/// The service of each node.
pub(super) const SERVICE: &str = "fencepost-reenact";

/// The node of a client.
fn node(name: &str, client: ClientId) -> String {
    format!("{name}-client-{}", client.0)
}
