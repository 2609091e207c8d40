//! The messages between clients and nodes.

use std::fmt;

use serde::{Deserialize, Serialize};

use fencepost_model::ids::{RawId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::program::Alarm;
use fencepost_model::service_fault::{FaultKind, Nature, ServiceFault};

/// The value that a client writes into a key. No two attempts of any clients use the same value.
pub type LockValue = SessionId;

/// A request or a response. Nodes count from 1; node 0 stands for the current leader.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RedlockMessage {
    /// Write the value, if the key has none.
    Lock(u8, LockValue),
    /// Delete the value, if the key still has it.
    Unlock(u8, LockValue),
    /// The value was written.
    Locked(u8, LockValue),
    /// The key has another value.
    Held(u8, LockValue),
}

/// Deadlines.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// A client's lease is over by its own clock.
    Lapse,
    /// A client has waited for responses for the length of a lease, and gives up.
    GiveUp,
    /// The node replicates its key to the nodes that it can reach.
    Copy(u8),
    /// A deadline of a client's program.
    Program(Alarm),
}

/// The commands of a user.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Take the lock.
    Acquire,
    /// Release the lock.
    Release,
}

/// A fault of the nodes, or its end.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RedlockFault {
    /// The clock of a node jumps ahead: its key with a lease expires.
    Jump(u8),
    /// A node restarts.
    Restart(u8),
    /// The leader fails permanently; another node becomes leader.
    Fail(u8),
    /// A node cannot reach the other nodes, and some clients cannot reach those.
    Split(u8),
    /// The partition heals.
    Heal,
}

/// The indices of the kinds of fault.
impl RedlockFault {
    pub(super) const RESTART: usize = 0;
    pub(super) const JUMP: usize = 1;
    pub(super) const CRASH: usize = 2;
    pub(super) const SPLIT: usize = 3;
}

impl ServiceFault for RedlockFault {
    const KINDS: &'static [FaultKind] = &[
        FaultKind::new("node_restarts", "restart of a node", Some("server_restarts")),
        FaultKind::new("clock_jumps", "jump of a node's clock", Some("outages")).with(Nature::Clock),
        FaultKind::new("node_crashes", "crash of the leader", Some("outages")),
        FaultKind::new("splits", "partition of the nodes", Some("outages")),
    ];

    fn kind(self) -> Option<usize> {
        match self {
            RedlockFault::Restart(_) => Some(RedlockFault::RESTART),
            RedlockFault::Jump(_) => Some(RedlockFault::JUMP),
            RedlockFault::Fail(_) => Some(RedlockFault::CRASH),
            RedlockFault::Split(_) => Some(RedlockFault::SPLIT),
            RedlockFault::Heal => None,
        }
    }
}

impl RedlockMessage {
    /// The name of the node that receives or sends it.
    pub(super) fn node(&self) -> String {
        match *self {
            RedlockMessage::Lock(at, _)
            | RedlockMessage::Unlock(at, _)
            | RedlockMessage::Locked(at, _)
            | RedlockMessage::Held(at, _) => node(at),
        }
    }
}

/// The value in sentences.
pub(super) fn shown(value: LockValue) -> String {
    format!("value {}.{}", value.raw().creator.0, value.raw().number)
}

/// The name of a node in sentences.
fn node(number: u8) -> String {
    if number == 0 { "the leader".to_owned() } else { format!("node {number}") }
}

impl fmt::Display for RedlockMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.node();
        match *self {
            RedlockMessage::Lock(_, value) => write!(f, "lock {at} with {}", shown(value)),
            RedlockMessage::Unlock(_, value) => write!(f, "unlock {at}, if its value is {}", shown(value)),
            RedlockMessage::Locked(_, value) => write!(f, "{at} is locked with {}", shown(value)),
            RedlockMessage::Held(_, value) => write!(f, "{at} is locked with another value than {}", shown(value)),
        }
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Lapse => f.write_str("its lease is over"),
            Timer::GiveUp => f.write_str("not enough responses came in time"),
            Timer::Program(alarm) => alarm.fmt(f),
            Timer::Copy(number) => write!(f, "{} replicates its key", node(*number)),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Acquire => "take the lock",
            Command::Release => "release the lock",
        })
    }
}

impl fmt::Display for RedlockFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedlockFault::Jump(number) => write!(f, "the clock of {} jumps ahead", node(*number)),
            RedlockFault::Restart(number) => write!(f, "{} restarts", node(*number)),
            RedlockFault::Fail(number) => write!(f, "{} crashes, and another node becomes leader", node(*number)),
            RedlockFault::Split(number) => write!(f, "{} is cut off from the others", node(*number)),
            RedlockFault::Heal => f.write_str("the partition heals"),
        }
    }
}
