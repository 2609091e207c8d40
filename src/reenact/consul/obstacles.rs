//! What cannot be caused from outside.

use fencepost_consul::{Consul, ConsulFault, Restarts, TreeDeletions};
use fencepost_model::ids::ProcessId;
use fencepost_model::scenario::Scenario;
use fencepost_model::world::{Action, Fault};

use crate::driven::Means;
use crate::outcome::Obstacle;

/// What in the scenario describes another server than Consul 1.8.7.
pub(super) fn of_scenario(scenario: &Scenario<Consul>) -> Option<Obstacle> {
    let settings = &scenario.service;
    // C-TTL-2, C-KV-24.
    let has_other_timer = settings.ttl.is_some() && settings.ttl_multiplier != 2;
    let is_other = has_other_timer || settings.servers.tree_deletions == TreeDeletions::ForEachKey;
    is_other.then_some(Obstacle::OtherServer)
}

/// What in the action cannot be caused.
pub(super) fn of_action(scenario: &Scenario<Consul>, action: &Action<Consul>, means: Means) -> Option<Obstacle> {
    match action {
        Action::Slip { process: ProcessId::Server, .. } => Some(Obstacle::ServerClock),
        Action::Fault(Fault::Pause(ProcessId::Server)) => Some(Obstacle::ServerPause),
        Action::Fault(Fault::Service(ConsulFault::LoseLeader | ConsulFault::Depose(_))) => Some(Obstacle::LeaderChange),
        Action::Fault(Fault::Service(ConsulFault::Restart)) => match scenario.service.servers.restarts {
            Restarts::FromSnapshot => Some(Obstacle::Snapshot),
            Restarts::FromLog if !means.restart => Some(Obstacle::Restart),
            Restarts::FromLog => None,
        },
        _ => None,
    }
}
