//! What happens among the servers, and what they remember.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_default;
use fencepost_model::time::Ticks;

/// What happens among the servers.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Servers {
    /// Whether an acquire is decided and applied at once.
    pub log: Log,
    /// Whether a session ends in the step in which its timer fires.
    pub expiry: Expiry,
    /// How long the servers are without a leader at least.
    pub election: Ticks,
    /// And at most; none: for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage_max: Option<Ticks>,
    /// What becomes of a leader that the others no longer follow.
    pub old_leader: OldLeader,
    /// How long it takes itself for the leader at most (C-CON-2: the leader lease); none: for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lingers_max: Option<Ticks>,
    /// How a renewal is acknowledged.
    pub renewals: Renewals,
    /// What becomes of the end of a session that a former leader wants.
    pub revocations: Revocations,
    /// From what servers start anew.
    pub restarts: Restarts,
    /// What a new leader makes of the time that sessions have left.
    #[serde(skip_serializing_if = "is_default")]
    pub timers: Timers,
    /// What becomes of a request while there is no leader.
    #[serde(skip_serializing_if = "is_default")]
    pub requests: Requests,
    /// What is remembered of the deletion of a whole tree.
    #[serde(skip_serializing_if = "is_default")]
    pub tree_deletions: TreeDeletions,
}

/// What becomes of a leader that the others no longer follow.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OldLeader {
    /// It is gone at once.
    #[default]
    Dies,
    /// It goes on for a while, with whoever can reach nobody else (C-CON-2).
    Lingers,
}

/// How a renewal is acknowledged.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Renewals {
    /// From the leader's memory, as Consul does (C-SES-18).
    #[default]
    FromMemory,
    /// After the leader has made sure that it leads.
    WithQuorum,
}

/// What becomes of the end of a session that a former leader wants.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Revocations {
    /// It fails, as in Consul (C-TTL-4).
    #[default]
    Refused,
    /// It is carried out, whoever wanted it.
    Forwarded,
}

/// From what servers start anew.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Restarts {
    /// From their log: lock-delays begin again (C-LD-12).
    #[default]
    FromLog,
    /// From a snapshot: lock-delays are gone (C-LD-13).
    FromSnapshot,
}

/// What a new leader makes of the time that sessions have left.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Timers {
    /// Every TTL starts anew, as in Consul (C-TTL-6).
    #[default]
    StartAnew,
    /// It knows how much was left, as etcd does with checkpoints.
    GoOn,
}

/// What becomes of a request while there is no leader (C-CON-6).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Requests {
    /// It is answered with an error: the outage is longer than requests are held.
    #[default]
    Refused,
    /// It is held until there is a leader: the outage is shorter than that.
    Held,
}

/// What is remembered of the deletion of a whole tree, and so who hears of it.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TreeDeletions {
    /// One position, for the prefix that was deleted: who watches a longer one may miss it (C-KV-24, C-BLK-7).
    #[default]
    ForThePrefix,
    /// A position for each key.
    ForEachKey,
}

/// Whether an acquire is decided and applied at once.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Log {
    /// In one step.
    #[default]
    Instant,
    /// The leader looks at the lock-delay, and the log applies the acquire later (C-LD-9).
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
