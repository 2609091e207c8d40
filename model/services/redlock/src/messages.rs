//! What clients and nodes say to each other.

use std::fmt;

use serde::{Deserialize, Serialize};

use fencepost_model::ids::SessionId;
use fencepost_model::normal::Normal;
use fencepost_model::service_fault::{FaultKind, Nature, ServiceFault};

/// What a client writes into a key: unlike everything that it, or anybody else, has ever written.
pub type Value = SessionId;

/// A request or an answer. Nodes count from 1; node 0 is whichever leads.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RedlockMessage {
    /// Write the value, if there is none.
    Lock(u8, Value),
    /// Delete the value, if it is still that one.
    Unlock(u8, Value),
    /// It was written.
    Locked(u8, Value),
    /// There was another one.
    Held(u8, Value),
}

/// Deadlines.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// A client's lease is over by its own account.
    Lapse,
    /// A client has waited for answers as long as the lease would have lasted.
    GiveUp,
    /// What the node has written reaches those that it can reach.
    Copy(u8),
}

/// What a user may ask.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Get the lock.
    Acquire,
    /// Give it back.
    Release,
}

/// What can go wrong among the nodes.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RedlockFault {
    /// The clock of a node jumps ahead: what it has written with a lease is over.
    Jump(u8),
    /// A node starts anew.
    Restart(u8),
    /// The leading node is gone for good; another one leads.
    Fail(u8),
    /// A node cannot reach the others any more, and some clients cannot reach those.
    Split(u8),
    /// It is no longer so.
    Heal,
}

/// The places of the kinds of fault.
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
        FaultKind::new("node_crashes", "crash of the leading node", Some("outages")),
        FaultKind::new("splits", "split of the nodes", Some("outages")),
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

/// A node for people.
fn node(number: u8) -> String {
    if number == 0 { "the leading node".to_owned() } else { format!("node {number}") }
}

impl fmt::Display for RedlockMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, value) = match self {
            RedlockMessage::Lock(at, value)
            | RedlockMessage::Unlock(at, value)
            | RedlockMessage::Locked(at, value)
            | RedlockMessage::Held(at, value) => (node(*at), format!("value {}.{}", value.creator.0, value.number)),
        };
        match self {
            RedlockMessage::Lock(..) => write!(f, "lock with {value} at {at}"),
            RedlockMessage::Unlock(..) => write!(f, "unlock, if it is {value}, at {at}"),
            RedlockMessage::Locked(..) => write!(f, "{at} is locked with {value}"),
            RedlockMessage::Held(..) => write!(f, "{at} is locked already, not with {value}"),
        }
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Lapse => f.write_str("its lease is over"),
            Timer::GiveUp => f.write_str("not enough answers have come"),
            Timer::Copy(number) => write!(f, "what {} has is copied to the others", node(*number)),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Acquire => "take the lock",
            Command::Release => "give the lock back",
        })
    }
}

impl fmt::Display for RedlockFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedlockFault::Jump(number) => write!(f, "the clock of {} jumps ahead", node(*number)),
            RedlockFault::Restart(number) => write!(f, "{} restarts", node(*number)),
            RedlockFault::Fail(number) => write!(f, "{} crashes, and another one leads", node(*number)),
            RedlockFault::Split(number) => write!(f, "{} is cut off from the others", node(*number)),
            RedlockFault::Heal => f.write_str("all nodes reach each other again"),
        }
    }
}
