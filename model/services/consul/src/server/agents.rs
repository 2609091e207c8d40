//! Updates of the catalogue by gossip and by the agents on the nodes. The failure detector is abstract: it may declare
//! a node failed at any time after the node has been silent for long enough; and it may be wrong, within a budget
//! (C-INV-4).

use super::Server;
use super::catalog::Status;
use crate::ConsulMutation;
use crate::messages::Timer;
use crate::settings::{CheckKind, Takes};
use crate::{Consul, Settings};
use fencepost_model::ids::{ClientId, ProcessId, RawId};
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, StartTime, Ticks};
use fencepost_model::world::{Fault, Link};

impl Server {
    /// A fault in the servers' environment: its effect on nodes and their processes.
    pub(crate) fn notice(&mut self, fault: Fault<Consul>, context: &Context<'_, Consul>) {
        let now = context.now;
        let health = &context.scenario.service.health;
        let hears_gossip = health.detection.is_some() || health.reap_after.is_some();
        match fault {
            Fault::Crash(client) => {
                let Some(node) = self.node_mut(client) else { return };
                node.gone = (health.check_interval.is_some() || health.crash == Takes::Node).then_some(StartTime(now));
                if health.crash == Takes::Node && hears_gossip {
                    node.silent = node.silent.or(Some(StartTime(now)));
                }
            }
            Fault::Restart(client) => {
                let Some(node) = self.node_mut(client) else { return };
                node.gone = None;
                if node.cuts == 0 {
                    node.silent = None;
                }
            }
            Fault::Cut(link) if hears_gossip => {
                let Some(node) = end_of(link).and_then(|client| self.node_mut(client)) else { return };
                node.cuts += 1;
                node.silent = node.silent.or(Some(StartTime(now)));
            }
            Fault::Heal(link) if hears_gossip => {
                let Some(node) = end_of(link).and_then(|client| self.node_mut(client)) else { return };
                node.cuts -= 1;
                let is_dead = health.crash == Takes::Node && node.gone.is_some();
                if node.cuts == 0 && !is_dead && !context.is_mutated(ConsulMutation::SilenceOutlivesHeal) {
                    node.silent = None;
                }
            }
            _ => {}
        }
    }

    pub(super) fn catalog_wakes(&self, scenario: &Scenario<Consul>, due: &mut dyn FnMut(Timer, Instant)) {
        let health = &scenario.service.health;
        for node in &self.nodes {
            let is_critical = |kind| node.status(kind) == Some(Status::Critical);
            if let (Some(silent), Some(detection)) = (node.silent, health.detection)
                && node.is_listed
                && !is_critical(CheckKind::SerfHealth)
            {
                let is_hasty = scenario.mutation == Some(ConsulMutation::SuspectedAtOnce.into());
                due(Timer::Suspect(node.id), silent + if is_hasty { Ticks::ZERO } else { detection });
            }
            if let (Some(silent), Some(after)) = (node.silent, health.reap_after)
                && node.is_listed
            {
                due(Timer::Reap(node.id), silent + after);
            }
            if let (Some(gone), Some(interval)) = (node.gone, health.check_interval)
                && node.is_listed
                && !is_critical(CheckKind::ServiceCheck)
            {
                due(Timer::CheckFails(node.id), gone + interval);
            }
            if node.silent.is_none() && self.is_out_of_date(node.id, scenario) {
                due(Timer::Sync(node.id), Instant::LONG_AGO);
            }
        }
    }

    /// Gossip declares the node failed: its serf-health check turns critical, and nothing else changes (C-INV-4).
    pub(super) fn suspect(&mut self, node: ClientId, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.set_check(node, CheckKind::SerfHealth, Status::Critical, context, out);
    }

    pub(super) fn check_fails(&mut self, node: ClientId, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.set_check(node, CheckKind::ServiceCheck, Status::Critical, context, out);
    }

    /// Checks that could raise a false alarm: sessions are bound to them, and they are not critical.
    pub(super) fn alarms(&self) -> impl Iterator<Item = (ClientId, CheckKind)> + '_ {
        self.nodes().flat_map(|node| {
            let bound = self.sessions.iter().filter(|row| row.id.raw().creator == node.id);
            let kinds = CheckKind::ALL.into_iter().filter(move |kind| {
                bound.clone().any(|row| row.terms.checks.contains(*kind))
                    && node.status(*kind) != Some(Status::Critical)
            });
            kinds.map(|kind| (node.id, kind))
        })
    }

    /// C-INV-10: a running agent corrects the catalogue entries of its node, sooner or later.
    pub(super) fn sync(&mut self, id: ClientId, context: &Context<'_, Consul>) {
        let truth = CheckKind::ALL.map(|kind| self.truth(id, kind, context.scenario));
        let Some(node) = self.node_mut(id) else { return };
        node.is_listed = true;
        node.put_right(truth);
        self.index = self.index.next();
    }

    fn is_out_of_date(&self, id: ClientId, scenario: &Scenario<Consul>) -> bool {
        let Some(node) = self.node(id) else { return true };
        CheckKind::ALL.into_iter().any(|kind| node.status(kind) != self.truth(id, kind, scenario))
    }

    /// The final status of a check of a node that is not silent.
    fn truth(&self, id: ClientId, kind: CheckKind, scenario: &Scenario<Consul>) -> Option<Status> {
        let node = self.nodes.iter().find(|node| node.id == id)?;
        let looks_at_process = |settings: &Settings| settings.health.check_interval.is_some();
        if kind == CheckKind::ServiceCheck && node.gone.is_some() && looks_at_process(&scenario.service) {
            // The check fails by its own timer; its status stays unchanged until then.
            return node.status(kind).or(Some(Status::Critical));
        }
        Some(Status::Passing)
    }
}

/// The client at one end of a link to the servers.
fn end_of(link: Link) -> Option<ClientId> {
    match (link.from, link.to) {
        (ProcessId::Client(client), ProcessId::Server) | (ProcessId::Server, ProcessId::Client(client)) => Some(client),
        _ => None,
    }
}
