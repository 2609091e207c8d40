//! What the servers know about nodes and checks.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fencepost_model::normal::Normal;
use fencepost_model::time::Ticks;

/// A check of a node. Each node has one of each kind.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// What gossip thinks of the node.
    SerfHealth,
    /// A check that belongs to the node.
    NodeCheck,
    /// A check that belongs to the service on it, which is the client's process.
    ServiceCheck,
    /// Any other, by a number below [`CheckKind::ROOM`] - 3: the HTTP edge has names for them.
    #[serde(skip)]
    Other(u8),
}

impl CheckKind {
    /// Those that a client's node has.
    pub const ALL: [CheckKind; 3] = [CheckKind::SerfHealth, CheckKind::NodeCheck, CheckKind::ServiceCheck];

    /// How many checks a node may have.
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

    /// Every check that there may be.
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

/// Nodes and checks. Each client runs on a node of its own.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Health {
    /// What sessions are bound to (C-SES-10).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckKind>,
    /// How long a node must be silent, crashed or cut off, until gossip may give it up; none: gossip notices nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detection: Option<Ticks>,
    /// How long a node must be silent until the servers may forget it; none: they never do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reap_after: Option<Ticks>,
    /// How long a process must be gone until the check of its service may fail; none: that does not look at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_interval: Option<Ticks>,
    /// What a crash takes along.
    pub crash: Takes,
}

/// What a crash takes along.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Takes {
    /// The process only; its node lives.
    #[default]
    Process,
    /// The node.
    Node,
}
