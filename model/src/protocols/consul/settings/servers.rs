//! What the servers do with sessions, what they know about nodes and checks, and what happens among them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::Ticks;

/// What the end of a session does to its keys (C-INV-1).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Behavior {
    /// They are free again.
    #[default]
    Release,
    /// They are gone.
    Delete,
}

/// A check of a node. Each node has one of each kind.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
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
    pub const ROOM: usize = 8;

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
            CheckKind::NodeCheck => f.write_str("of the node"),
            CheckKind::ServiceCheck => f.write_str("of the service"),
            CheckKind::Other(number) => write!(f, "number {number}"),
        }
    }
}

/// Nodes and checks. Each client runs on a node of its own.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
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
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Takes {
    /// The process only; its node lives.
    #[default]
    Process,
    /// The node.
    Node,
}

impl Health {
    pub(super) fn scaled(&self, factor: i64) -> Self {
        let scale = |ticks: Option<Ticks>| ticks.map(|ticks| ticks.times(factor));
        Health {
            checks: self.checks.clone(),
            detection: scale(self.detection),
            reap_after: scale(self.reap_after),
            check_interval: scale(self.check_interval),
            crash: self.crash,
        }
    }

    pub(super) fn longest(&self) -> Option<Ticks> {
        [self.detection, self.reap_after, self.check_interval].into_iter().flatten().max()
    }

    pub(super) fn assumptions(&self, list: &mut Vec<String>) {
        if !self.checks.is_empty() {
            let names: Vec<String> = self.checks.iter().map(ToString::to_string).collect();
            list.push(format!("sessions are bound to the check {}", names.join(" and the check ")));
        }
        if let Some(detection) = self.detection {
            list.push(format!("gossip gives up a node that was silent for at least {detection}"));
        }
        if let Some(after) = self.reap_after {
            list.push(format!("the servers forget a node that was silent for at least {after}"));
        }
    }
}

/// What happens among the servers.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
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
}

macro_rules! choices {
    ($($(#[doc = $doc:literal])* $name:ident { $(#[doc = $first_doc:literal])* $first:ident, $(#[doc = $second_doc:literal])* $second:ident })*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
            #[serde(rename_all = "kebab-case")]
            pub enum $name {
                #[default]
                $(#[doc = $first_doc])*
                $first,
                $(#[doc = $second_doc])*
                $second,
            }
        )*
    };
}

choices! {
    /// What becomes of a leader that the others no longer follow.
    OldLeader {
        /// It is gone at once.
        Dies,
        /// It goes on for a while, with whoever can reach nobody else (C-CON-2).
        Lingers
    }
    /// How a renewal is acknowledged.
    Renewals {
        /// From the leader's memory, as Consul does (C-SES-18).
        FromMemory,
        /// After the leader has made sure that it leads.
        WithQuorum
    }
    /// What becomes of the end of a session that a former leader wants.
    Revocations {
        /// It fails, as in Consul (C-TTL-4).
        Refused,
        /// It is carried out, whoever wanted it.
        Forwarded
    }
    /// From what servers start anew.
    Restarts {
        /// From their log: lock-delays begin again (C-LD-12).
        FromLog,
        /// From a snapshot: lock-delays are gone (C-LD-13).
        FromSnapshot
    }
}

/// Whether an acquire is decided and applied at once.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Log {
    /// In one step.
    #[default]
    Instant,
    /// The leader looks at the lock-delay, and the log applies the acquire later (C-LD-9).
    Delayed,
}

/// Whether a session ends in the step in which its timer fires.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expiry {
    /// It does.
    #[default]
    OneStep,
    /// The timer fires, and the log applies the destroy entry later (C-TTL-5).
    TwoSteps,
}

impl Servers {
    pub(super) fn scaled(&self, factor: i64) -> Self {
        let outage_max = self.outage_max.map(|ticks| ticks.times(factor));
        let lingers_max = self.lingers_max.map(|ticks| ticks.times(factor));
        Servers { election: self.election.times(factor), outage_max, lingers_max, ..self.clone() }
    }

    pub(super) fn longest(&self) -> Option<Ticks> {
        Some(self.outage_max.unwrap_or_default().max(self.election).max(self.lingers_max.unwrap_or_default()))
    }

    pub(super) fn assumptions(&self, list: &mut Vec<String>) {
        if self.log == Log::Delayed {
            list.push("an acquire is applied some time after the leader looked at the lock-delay".to_owned());
        }
        if self.expiry == Expiry::TwoSteps {
            list.push("a session ends some time after its timer has fired".to_owned());
        }
        if let Some(outage_max) = self.outage_max {
            list.push(format!("the servers are without a leader for at most {outage_max}"));
        }
        if self.renewals == Renewals::WithQuorum {
            list.push("a leader acknowledges a renewal only after it has made sure that it leads".to_owned());
        }
        if self.revocations == Revocations::Forwarded {
            list.push("the end of a session is carried out even if a former leader wants it".to_owned());
        }
        if self.restarts == Restarts::FromSnapshot {
            list.push("servers start anew from a snapshot, without lock-delays".to_owned());
        }
        if let Some(lingers_max) = self.lingers_max {
            list.push(format!("a deposed leader takes itself for the leader for at most {lingers_max}"));
        }
    }
}
