//! The servers' knowledge about nodes and checks.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fencepost_model::normal::Normal;
use fencepost_model::time::Ticks;

/// A check of a node. Each node has one of each kind.
#[derive(
    Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// Gossip's opinion of the node (serf-health).
    #[default]
    SerfHealth,
    /// A check that belongs to the node.
    NodeCheck,
    /// A check of the service on the node, which is the client's process.
    ServiceCheck,
    /// Any other check, by a number below [`CheckKind::ROOM`] - 3: the HTTP adapter has names for them.
    #[serde(skip)]
    Other(u8),
}

impl CheckKind {
    /// The checks of a client's node.
    pub const ALL: [CheckKind; 3] = [CheckKind::SerfHealth, CheckKind::NodeCheck, CheckKind::ServiceCheck];

    /// The maximum number of checks of a node.
    pub const ROOM: usize = 32;

    /// The check with this number.
    pub fn of(number: usize) -> CheckKind {
        match CheckKind::ALL.get(number) {
            Some(kind) => *kind,
            None => CheckKind::Other(u8::try_from(number - CheckKind::ALL.len()).expect("below ROOM")),
        }
    }

    /// Its number, below [`CheckKind::ROOM`].
    pub fn number(self) -> usize {
        match self {
            CheckKind::SerfHealth => 0,
            CheckKind::NodeCheck => 1,
            CheckKind::ServiceCheck => 2,
            CheckKind::Other(number) => CheckKind::ALL.len() + usize::from(number),
        }
    }

    /// Every possible check.
    pub fn all() -> impl Iterator<Item = CheckKind> {
        (0..CheckKind::ROOM).map(CheckKind::of)
    }
}

impl fmt::Display for CheckKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckKind::SerfHealth => f.write_str("serfHealth"),
            CheckKind::NodeCheck => f.write_str("the node check"),
            CheckKind::ServiceCheck => f.write_str("the service check"),
            CheckKind::Other(number) => write!(f, "check {number}"),
        }
    }
}

/// Nodes and checks. Each client runs on its own node.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Health {
    /// What sessions are bound to (C-SES-10).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckKind>,
    /// How long a node must be silent, crashed or cut off, before gossip may declare it failed, in ticks; none: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detection: Option<Ticks>,
    /// How long a node must be silent before the servers may remove it, in ticks; none: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reap_after: Option<Ticks>,
    /// How long a process must be down before the check of its service may fail, in ticks; none: the check does not
    /// notice it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_interval: Option<Ticks>,
    /// The extent of a crash.
    pub crash: Takes,
}

/// The extent of a crash.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Takes {
    /// The process only; its node stays up.
    #[default]
    Process,
    /// The node.
    Node,
}
