//! The behaviour of the servers, and their memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_default;
use fencepost_model::time::Ticks;

/// The behaviour of the servers.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Servers {
    /// Whether an acquire is applied in the step in which it is accepted.
    pub log: Log,
    /// Whether a session ends in the step in which its timer fires.
    pub expiry: Expiry,
    /// The minimum time without a leader, in ticks.
    pub election: Ticks,
    /// The maximum time without a leader, in ticks; none: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage_max: Option<Ticks>,
    /// The behaviour of a deposed leader.
    pub old_leader: OldLeader,
    /// How long a deposed leader still acts as leader at most, in ticks (C-CON-2: the leader lease); none: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lingers_max: Option<Ticks>,
    /// How a renewal is acknowledged.
    pub renewals: Renewals,
    /// The fate of the end of a session that a former leader proposes.
    pub revocations: Revocations,
    /// The source of state after a restart.
    pub restarts: Restarts,
    /// A new leader's treatment of the remaining time of sessions.
    #[serde(skip_serializing_if = "is_default")]
    pub timers: Timers,
    /// The fate of a request while there is no leader.
    #[serde(skip_serializing_if = "is_default")]
    pub requests: Requests,
    /// The tombstones of the deletion of a whole tree.
    #[serde(skip_serializing_if = "is_default")]
    pub tree_deletions: TreeDeletions,
}

/// The behaviour of a deposed leader.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OldLeader {
    /// It stops at once.
    #[default]
    Dies,
    /// It continues for some time, with clients that can reach no other server (C-CON-2).
    Lingers,
}

/// How a renewal is acknowledged.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Renewals {
    /// From the leader's memory, as Consul does (C-SES-18).
    #[default]
    FromMemory,
    /// After the leader has confirmed its leadership.
    WithQuorum,
}

/// The fate of the end of a session that a former leader proposes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Revocations {
    /// It fails, as in Consul (C-TTL-4).
    #[default]
    Refused,
    /// It is applied, whichever server proposed it.
    Forwarded,
}

/// The source of state after a restart.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Restarts {
    /// The log: lock-delays restart (C-LD-12).
    #[default]
    FromLog,
    /// The snapshot: lock-delays are lost (C-LD-13).
    FromSnapshot,
}

/// A new leader's treatment of the remaining time of sessions.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Timers {
    /// Every TTL restarts, as in Consul (C-TTL-6).
    #[default]
    StartAnew,
    /// The remaining time is known, as in etcd with checkpoints.
    GoOn,
}

/// The fate of a request while there is no leader (C-CON-6).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Requests {
    /// It is answered with an error: the outage is longer than requests are held.
    #[default]
    Refused,
    /// It is held until there is a leader: the outage is shorter than that.
    Held,
}

/// The tombstones of the deletion of a whole tree, which decide which watchers wake.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TreeDeletions {
    /// One tombstone for the deleted prefix: a watcher of a longer prefix may miss it (C-KV-24, C-BLK-7).
    #[default]
    ForThePrefix,
    /// A position for each key.
    ForEachKey,
}

/// Whether an acquire is applied in the step in which it is accepted.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Log {
    /// In one step.
    #[default]
    Instant,
    /// The leader checks the lock-delay, and the log applies the acquire later (C-LD-9).
    Delayed,
}

/// Whether a session ends in the step in which its timer fires.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expiry {
    /// It does.
    #[default]
    OneStep,
    /// The timer fires, and the log applies the destroy entry later (C-TTL-5).
    TwoSteps,
}
