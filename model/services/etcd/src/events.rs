//! The events, faults and operator actions of this service.

use serde::{Deserialize, Serialize};

use super::messages::Shown;
use super::settings::OperatorKind;
use super::{Cluster, Etcd};
use fencepost_model::goal::Goal;
use fencepost_model::ids::{ClientId, Index, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Event;
use fencepost_model::service_fault::{FaultKind, Nature, ServiceFault};
use fencepost_model::world::World;

/// An event that only this service has.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EtcdEvent {
    /// A new leader is promoted: every lease starts anew (E-LD-1).
    Promoted,
    /// The proposal of a deposed leader to revoke a lease is committed (E-LD-9).
    RevokeForwarded(SessionId),
    /// A stalled leader renews a lease from its own memory (E-LD-8).
    RenewedByStalled(SessionId),
    /// A client reads an earlier holder.
    ReadStale(ClientId),
    /// A read of the holder ends.
    Read {
        /// The client that reads.
        client: ClientId,
        /// The holder that it is told.
        holder: Option<ClientId>,
    },
    /// A client learns that its watch began before the compaction (E-W-5).
    Compacted(ClientId),
    /// A client's session ends by the client's own reckoning, or because it is told so (E-CC-3, E-CC-5).
    SessionEnded(ClientId),
    /// An observer is told who leads (E-CC-23).
    Observed {
        /// The client that observes.
        client: ClientId,
        /// What it is told.
        told: Observation,
    },
    /// The channel of an observer closes (E-CC-23).
    ObserveEnded(ClientId),
}

/// What `Observe` tells: a `GetResponse` with one key (E-CC-23).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Observation {
    /// The leader's key with its value.
    pub shown: Shown,
    /// The revision of the header: that of the put, or of the store when the key was read.
    pub revision: Index,
}

macro_rules! goals {
    ($($name:ident = $text:literal),*) => {
        $(const $name: Goal = Goal::new($text);)*
        /// Every goal of this service.
        pub(super) const GOALS: &[Goal] = &[$($name),*];
    };
}

goals! {
    PROMOTED = "promoted",
    REVOKE_FORWARDED = "revoke-forwarded",
    RENEWED_BY_STALLED = "renewed-by-stalled",
    READ_STALE = "read-stale",
    COMPACTED = "compacted",
    SESSION_ENDED = "session-ended"
}

impl Event for EtcdEvent {
    fn goal(&self) -> Option<Goal> {
        Some(match self {
            EtcdEvent::Promoted => PROMOTED,
            EtcdEvent::RevokeForwarded(_) => REVOKE_FORWARDED,
            EtcdEvent::RenewedByStalled(_) => RENEWED_BY_STALLED,
            EtcdEvent::ReadStale(_) => READ_STALE,
            EtcdEvent::Read { .. } | EtcdEvent::Observed { .. } => Goal::DISCOVERED,
            EtcdEvent::Compacted(_) => COMPACTED,
            EtcdEvent::SessionEnded(_) => SESSION_ENDED,
            EtcdEvent::ObserveEnded(_) => return None,
        })
    }

    fn read_ended(&self) -> Option<(ClientId, Option<ClientId>)> {
        match *self {
            EtcdEvent::Read { client, holder } => Some((client, holder)),
            // The first one ends the read that its user has asked for.
            EtcdEvent::Observed { client, told } => Some((client, told.shown.key.client())),
            _ => None,
        }
    }
}

/// An action of the operator.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OperatorAction(pub OperatorKind);

impl Normal for OperatorAction {
    fn visit(&mut self, _: &mut impl fencepost_model::normal::Visitor) {}
}

/// A fault of the cluster, or its end.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EtcdFault {
    /// The members lose their leader, and elect another one.
    LoseLeader,
    /// All members restart.
    Restart,
    /// The single server pauses.
    Freeze,
    /// The loop of the leader is stuck; a client may be connected to it.
    Stall(Option<ClientId>),
    /// It runs again.
    EndStall,
    /// The connection of a client that watches breaks.
    Disconnect(ClientId),
    /// The wall clock of the leader jumps.
    Jump,
    /// A member lags behind, or a read index is late: reads may show the present holder later.
    LagBehind,
    /// It has caught up.
    CatchUp,
    /// The apply of the leader lags behind.
    ApplySlowly,
    /// It no longer does.
    ApplyAgain,
}

/// The indices of the kinds of fault.
impl EtcdFault {
    pub(super) const LOSS: usize = 0;
    pub(super) const RESTART: usize = 1;
    pub(super) const FREEZE: usize = 2;
    pub(super) const STALL: usize = 3;
    pub(super) const DISCONNECTION: usize = 4;
    pub(super) const CLOCK: usize = 5;
    pub(super) const LAG: usize = 6;
    pub(super) const SLOW_APPLY: usize = 7;
}

impl ServiceFault for EtcdFault {
    const KINDS: &'static [FaultKind] = &[
        FaultKind::new("leader_losses", "loss of the leader", None).with(Nature::Recurrent),
        FaultKind::new("server_restarts", "restart of all members", None),
        FaultKind::new("server_pauses", "pause of the single server", None),
        FaultKind::new("leader_stalls", "stall of the leader, whom the others depose", None),
        FaultKind::new("disconnections", "broken connection of a client that watches", None),
        FaultKind::new("wall_clock_jumps", "jump of the leader's wall clock", None).with(Nature::Clock),
        FaultKind::new("stale_members", "spell in which a member shows an earlier holder", None),
        FaultKind::new("slow_applies", "spell in which the leader's apply lags behind", None),
    ];

    fn kind(self) -> Option<usize> {
        match self {
            EtcdFault::LoseLeader => Some(EtcdFault::LOSS),
            EtcdFault::Restart => Some(EtcdFault::RESTART),
            EtcdFault::Freeze => Some(EtcdFault::FREEZE),
            EtcdFault::Stall(_) => Some(EtcdFault::STALL),
            EtcdFault::Disconnect(_) => Some(EtcdFault::DISCONNECTION),
            EtcdFault::Jump => Some(EtcdFault::CLOCK),
            EtcdFault::LagBehind => Some(EtcdFault::LAG),
            EtcdFault::ApplySlowly => Some(EtcdFault::SLOW_APPLY),
            EtcdFault::EndStall | EtcdFault::CatchUp | EtcdFault::ApplyAgain => None,
        }
    }
}

/// The operator actions that are possible now.
pub(super) fn offer_actions(world: &World<Etcd>, scenario: &Scenario<Etcd>, offer: &mut dyn FnMut(OperatorAction)) {
    let cluster: &Cluster = &world.server.process;
    for kind in scenario.service.operator.iter().filter(|kind| cluster.can_operate(**kind)) {
        offer(OperatorAction(*kind));
    }
}
