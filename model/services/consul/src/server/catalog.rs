//! The catalogue: nodes, services and checks, and the end of sessions with their node or check (C-INV-3). Each client
//! runs on its own node, which has its name.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Server;
use crate::Consul;
use crate::ConsulMutation;
use crate::messages::{Answer, Checks, Request};
use crate::settings::CheckKind;
use fencepost_model::fact::Fact;
use fencepost_model::ids::{ClientId, RawId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::time::StartTime;

/// The status of a check.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// All is well.
    #[default]
    Passing,
    /// Warning. It ends no session (C-INV-5).
    Warning,
    /// Sessions that are bound to it end.
    Critical,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Passing => "passing",
            Status::Warning => "warning",
            Status::Critical => "critical",
        })
    }
}

/// The status of each check of a node, two bits for each kind; 0: not registered.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
#[serde(transparent)]
struct Statuses(u64);

impl Statuses {
    fn get(self, kind: CheckKind) -> Option<Status> {
        match self.0 >> (2 * kind.number()) & 3 {
            0 => None,
            1 => Some(Status::Passing),
            2 => Some(Status::Warning),
            _ => Some(Status::Critical),
        }
    }

    fn set(&mut self, kind: CheckKind, status: Option<Status>) {
        let bits = match status {
            None => 0,
            Some(Status::Passing) => 1,
            Some(Status::Warning) => 2,
            Some(Status::Critical) => 3,
        };
        let place = 2 * kind.number();
        self.0 = self.0 & !(3 << place) | bits << place;
    }
}

/// A node in the catalogue, with its actual condition.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Node {
    /// The client on the node.
    pub id: ClientId,
    /// Whether it is registered.
    pub is_listed: bool,
    /// Its checks.
    checks: Statuses,
    /// The number of cut links between the node and the servers.
    pub(super) cuts: u8,
    /// The instant since which gossip has received nothing from it.
    pub(super) silent: Option<StartTime>,
    /// The instant since which its process has been down.
    pub(super) gone: Option<StartTime>,
}

impl Node {
    /// The initial node of a client: registered, and healthy.
    pub(super) fn of(id: ClientId) -> Self {
        let mut node = Node::unlisted(id);
        node.is_listed = true;
        node.put_right([Some(Status::Passing); 3]);
        node
    }

    /// A node that is not registered.
    pub(super) fn unlisted(id: ClientId) -> Self {
        Node { id, is_listed: false, checks: Statuses::default(), cuts: 0, silent: None, gone: None }
    }

    pub(super) fn put_right(&mut self, truth: [Option<Status>; 3]) {
        CheckKind::ALL.into_iter().zip(truth).for_each(|(kind, status)| self.checks.set(kind, status));
    }

    /// The status of a check; none: it is not registered.
    pub fn status(&self, kind: CheckKind) -> Option<Status> {
        self.checks.get(kind)
    }
}

impl Server {
    pub(super) fn node(&self, id: ClientId) -> Option<&Node> {
        self.nodes().find(|node| node.id == id)
    }

    /// Whether the node is registered.
    pub fn is_listed(&self, id: ClientId) -> bool {
        self.node(id).is_some()
    }

    /// The status of a check of a node, if it is registered.
    pub fn check(&self, id: ClientId, kind: CheckKind) -> Option<Status> {
        self.node(id)?.status(kind)
    }

    pub(super) fn node_mut(&mut self, id: ClientId) -> Option<&mut Node> {
        self.nodes.iter_mut().find(|node| node.id == id)
    }

    /// C-SES-4, C-SES-11: the node and the checks of a new session must be registered, and no check may be critical.
    pub fn refusal(
        &self,
        node: ClientId,
        checks: impl IntoIterator<Item = CheckKind>,
        context: &Context<'_, Consul>,
    ) -> Option<Answer> {
        if self.nodes.is_empty() && self.id_table.is_none() {
            return None;
        }
        let Some(node) = self.node(node) else { return Some(Answer::Missing(None)) };
        let checks_max = if context.is_mutated(ConsulMutation::OnlyFirstCheckLookedAt) { 1 } else { usize::MAX };
        checks.into_iter().take(checks_max).find_map(|kind| match node.status(kind) {
            None => Some(Answer::Missing(Some(kind))),
            Some(Status::Critical) if !context.is_mutated(ConsulMutation::CriticalCheckAccepted) => {
                Some(Answer::Critical(kind))
            }
            Some(_) => None,
        })
    }

    /// C-INV-9: registers a check with a status. C-INV-5: `critical` ends every session that is bound to it, whatever it
    /// was before; `warning` and `passing` end none and bring none back.
    pub fn set_check(
        &mut self,
        id: ClientId,
        kind: CheckKind,
        status: Status,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        self.index = self.index.next();
        self.apply_check(id, kind, status, context, out);
    }

    /// The same at the present log position.
    pub fn apply_check(
        &mut self,
        id: ClientId,
        kind: CheckKind,
        status: Status,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        self.add_node(id);
        if let Some(node) = self.node_mut(id) {
            node.checks.set(kind, Some(status));
        }
        self.note_checks();
        let ends = match status {
            Status::Critical => !context.is_mutated(ConsulMutation::CriticalCheckIgnored),
            Status::Warning => context.is_mutated(ConsulMutation::WarningEndsSessions),
            Status::Passing => false,
        };
        if ends {
            self.end_sessions(id, Some(kind), context, out);
        }
    }

    /// C-INV-7: the deregistration of a check ends the sessions bound to it.
    pub fn deregister_check(
        &mut self,
        id: ClientId,
        kind: CheckKind,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        self.index = self.index.next();
        self.drop_check(id, kind, context, out);
    }

    /// The same at the current log position.
    pub fn drop_check(
        &mut self,
        id: ClientId,
        kind: CheckKind,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        if self.check(id, kind).is_some() {
            self.forget_check(id, kind);
        }
        let Some(node) = self.node_mut(id).filter(|node| node.status(kind).is_some()) else { return };
        node.checks.set(kind, None);
        self.note_checks();
        if !context.is_mutated(ConsulMutation::CheckRemovalSparesSessions) {
            self.end_sessions(id, Some(kind), context, out);
        }
    }

    /// C-INV-3 (d), C-INV-8: the deregistration of a service removes its checks, at one log position.
    pub fn deregister_service(
        &mut self,
        id: ClientId,
        service: u16,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        self.index = self.index.next();
        self.drop_service(id, service, context, out);
    }

    /// The same at the current log position.
    pub(super) fn drop_service(
        &mut self,
        id: ClientId,
        service: u16,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        if self.has_service(id, service) {
            // C-INV-13: also without a check.
            self.note_checks();
        }
        for kind in self.forget_service(id, service) {
            if context.is_mutated(ConsulMutation::ServiceLeavesChecks) {
                continue;
            }
            self.drop_check(id, kind, context, out);
        }
    }

    /// Registers a node, if it is not. C-INV-9.
    pub fn add_node(&mut self, id: ClientId) {
        if !self.nodes.iter().any(|node| node.id == id) {
            self.nodes.insert_sorted(Node::unlisted(id));
        }
        if let Some(node) = self.node_mut(id) {
            node.is_listed = true;
        }
    }

    /// C-INV-6: the deregistration of a node removes its checks and ends all its sessions, including those without a
    /// check.
    pub fn deregister_node(&mut self, id: ClientId, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.index = self.index.next();
        self.drop_node(id, context, out);
    }

    /// The same at the current log position. C-INV-4: a change of the node's name has the same effect.
    pub fn drop_node(&mut self, id: ClientId, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if self.drop_services(id) {
            self.note_checks();
        }
        let Some(node) = self.node_mut(id) else { return };
        node.is_listed = false;
        let had_checks = node.checks != Statuses::default();
        if !context.is_mutated(ConsulMutation::NodeRemovalKeepsChecks) {
            node.checks = Statuses::default();
        }
        if had_checks {
            self.note_checks();
        }
        if context.is_mutated(ConsulMutation::NodeRemovalSparesUnbound) {
            return CheckKind::all().for_each(|kind| self.end_sessions(id, Some(kind), context, out));
        }
        self.end_sessions(id, None, context, out);
    }

    /// C-INV-9: a request that registers or deregisters something.
    pub(super) fn change_catalog(
        &mut self,
        request: Request,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Answer {
        self.use_catalog(context);
        match request {
            Request::SetCheck(node, kind, status) => self.apply_check(node, kind, status, context, out),
            Request::DeregisterCheck(node, kind) => self.drop_check(node, kind, context, out),
            Request::DeregisterNode(node) => self.drop_node(node, context, out),
            _ => {}
        }
        Answer::Done(true)
    }

    /// Ends the sessions of a node that are bound to the check; without a check, every session of the node.
    fn end_sessions(
        &mut self,
        node: ClientId,
        kind: Option<CheckKind>,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        let is_bound = |checks: Checks| kind.is_none_or(|kind| checks.contains(kind));
        let mine = self.sessions.iter().filter(|row| row.id.raw().creator == node && is_bound(row.terms.checks));
        let ending: Vec<SessionId> = mine.map(|row| row.id).collect();
        for session in ending {
            out.record(Fact::Ended { session });
            self.invalidate(session, context, out);
        }
    }
}
