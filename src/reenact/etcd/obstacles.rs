//! What cannot be caused from outside.

use fencepost_etcd::{Etcd, EtcdFault};
use fencepost_model::ids::ProcessId;
use fencepost_model::scenario::Scenario;
use fencepost_model::world::{Action, Fault};

use crate::driven::Means;
use crate::outcome::Obstacle;

/// What in the scenario describes another server than etcd 3.4.23 with its default settings. E-LS-13: checkpoints are an option of it.
pub(super) fn of_scenario(scenario: &Scenario<Etcd>) -> Option<Obstacle> {
    scenario.service.checkpoint.map(|_| Obstacle::OtherServer)
}

/// What in the action cannot be caused at a single server.
pub(super) fn of_action(action: &Action<Etcd>, means: Means) -> Option<Obstacle> {
    match action {
        Action::Slip { process: ProcessId::Server, .. } => Some(Obstacle::ServerClock),
        Action::Fault(Fault::Pause(ProcessId::Server)) => Some(Obstacle::ServerPause),
        Action::Fault(Fault::Service(fault)) => match fault {
            EtcdFault::Disconnect(_) => None,
            EtcdFault::LoseLeader => Some(Obstacle::LeaderChange),
            EtcdFault::Stall(_) | EtcdFault::EndStall => Some(Obstacle::StalledLeader),
            EtcdFault::Jump => Some(Obstacle::ServerClock),
            EtcdFault::LagBehind | EtcdFault::CatchUp => Some(Obstacle::Cluster),
            EtcdFault::ApplySlowly | EtcdFault::ApplyAgain => Some(Obstacle::InsideServer),
            EtcdFault::Freeze => (!means.pause).then_some(Obstacle::Pause),
            // It is down as long as the model says: its process is stopped before it is restarted.
            EtcdFault::Restart if !means.restart => Some(Obstacle::Restart),
            EtcdFault::Restart => (!means.pause).then_some(Obstacle::Pause),
        },
        _ => None,
    }
}
