//! Deadlines, users' commands, and facts that only Consul has.

use std::fmt;

use serde::{Deserialize, Serialize};

use fencepost_model::ids::{Call, ClientId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::program::Alarm;

/// Deadlines of server and clients.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// The server's timer of a session. C-TTL-1.
    Expire(SessionId),
    /// The client's next renewal.
    Renew,
    /// The client tries again after a refusal.
    Retry,
    /// The client gives up its request.
    GiveUp,
    /// The client's lease is over by its own clock.
    Lapse,
    /// The client gives up its monitor's query.
    Unwatch,
    /// Its monitor asks again after an error.
    Rewatch,
    /// The job is killed.
    Kill,
    /// The log applies the destroy entry of a session whose timer fired. C-TTL-4.
    Destroy(SessionId),
    /// The log applies an acquire that passed the leader's check of the lock-delay. C-LD-9.
    Apply(ClientId, #[normal(of = 0)] Call),
    /// A blocking query has waited long enough. C-BLK-2.
    Deadline(ClientId, #[normal(of = 0)] Call),
    /// The servers have a leader again.
    Elect,
    /// The same, and its lock-delays start now: it had not applied the log to its end. C-LD-11.
    ElectBehind,
    /// A deposed leader learns that it is no longer leader. C-CON-2.
    StepDown,
    /// A deposed leader ends a session whose TTL ran out by its own clock.
    Revoke(SessionId),
    /// Gossip gives a silent node up. C-INV-4.
    Suspect(ClientId),
    /// The servers remove a node that has been silent for very long. C-INV-4.
    Reap(ClientId),
    /// A check notices that the process on its node has stopped. C-INV-10.
    CheckFails(ClientId),
    /// The agent of a live node corrects the catalogue. C-INV-10.
    Sync(ClientId),
    /// A deadline of a client's program.
    Program(Alarm),
}

/// A user's command to a client.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Get the lock, or a slot.
    Acquire,
    /// Write to the resource.
    Write,
    /// Give the lock up.
    Release,
    /// Find the holder.
    Look,
    /// A job without a client finishes.
    Finish,
    /// A third party that runs a program does its work.
    Work,
}

/// Facts that only Consul has.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConsulEvent {
    /// An observer has read the leader, or that there is none.
    Discovered {
        /// The observer.
        observer: ClientId,
        /// The client that the key names while a session holds it.
        leader: Option<ClientId>,
    },
    /// The servers have no leader any more.
    LeaderLost,
    /// They have one again. C-TTL-6.
    Elected {
        /// Whether it has restarted every TTL.
        restarts_ttls: bool,
    },
    /// The servers have restarted from disk. C-LD-12, C-LD-13.
    Restarted {
        /// Whether lock-delays have restarted; otherwise they are lost.
        keeps_delays: bool,
    },
    /// A deposed leader that does not know it has acknowledged a renewal. C-CON-5.
    RenewedByDeposed(SessionId),
    /// A renewal was answered with 200 although the end of the session is decided. C-TTL-5.
    RenewedInVain(SessionId),
    /// The client resumes after a time of jeopardy.
    Resumed(ClientId),
    /// The client is on record as holder of a slot.
    TookSlot(ClientId),
    /// It is not any more.
    FreedSlot(ClientId),
    /// The client is refused a slot, for all are taken.
    Full(ClientId),
    /// The client refuses to take part because others have agreed on another limit.
    LimitConflict(ClientId),
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Expire(session) => write!(f, "the TTL of {session} runs out"),
            Timer::Program(alarm) => alarm.fmt(f),
            Timer::Renew => f.write_str("time to renew the session"),
            Timer::Retry => f.write_str("time to try again"),
            Timer::GiveUp => f.write_str("no answer for too long"),
            Timer::Lapse => f.write_str("the lease is over"),
            Timer::Unwatch => f.write_str("the monitor's query had no response in time"),
            Timer::Rewatch => f.write_str("time to watch again"),
            Timer::Kill => f.write_str("the job is killed"),
            Timer::Destroy(session) => write!(f, "the end of {session} is applied"),
            Timer::Apply(client, call) => write!(f, "the acquire of {client} is applied [{}]", call.0),
            Timer::Deadline(client, call) => write!(f, "{client} has waited long enough [{}]", call.0),
            Timer::Elect => f.write_str("a leader is elected"),
            Timer::ElectBehind => f.write_str("a leader is elected that is behind with its log"),
            Timer::StepDown => f.write_str("the old leader steps down"),
            Timer::Revoke(session) => write!(f, "the old leader ends {session}"),
            Timer::Suspect(node) => write!(f, "gossip declares the node of {node} failed"),
            Timer::Reap(node) => write!(f, "the node of {node} is reaped"),
            Timer::CheckFails(node) => write!(f, "the check of {node} fails"),
            Timer::Sync(node) => write!(f, "the agent of {node} corrects the catalogue"),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Acquire => "take the lock",
            Command::Write => "write",
            Command::Release => "give the lock up",
            Command::Look => "find out who has the lock",
            Command::Finish => "finish the job",
            Command::Work => "do its work",
        })
    }
}

impl fmt::Display for ConsulEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConsulEvent::Discovered { observer, leader: Some(leader) } => {
                write!(f, "{observer} discovers that {leader} leads")
            }
            ConsulEvent::Discovered { observer, leader: None } => write!(f, "{observer} finds no leader"),
            ConsulEvent::LeaderLost => f.write_str("the servers have no leader"),
            ConsulEvent::Elected { restarts_ttls: true } => {
                f.write_str("the servers have a leader; every TTL restarts")
            }
            ConsulEvent::Elected { restarts_ttls: false } => {
                f.write_str("the servers have a leader; every TTL continues")
            }
            ConsulEvent::Restarted { keeps_delays: true } => {
                f.write_str("the servers have restarted; every TTL and every lock-delay restarts")
            }
            ConsulEvent::Restarted { keeps_delays: false } => {
                f.write_str("the servers have restarted; every TTL restarts, and lock-delays are lost")
            }
            ConsulEvent::RenewedByDeposed(session) => {
                write!(f, "the deposed leader renews {session}; the other servers do not know it")
            }
            ConsulEvent::RenewedInVain(session) => write!(f, "{session} is renewed, and its end is decided already"),
            ConsulEvent::Resumed(client) => write!(f, "{client} leaves jeopardy and resumes"),
            ConsulEvent::TookSlot(client) => write!(f, "{client} is on record as a holder"),
            ConsulEvent::FreedSlot(client) => write!(f, "{client} is off the record"),
            ConsulEvent::Full(client) => write!(f, "{client} finds every slot taken"),
            ConsulEvent::LimitConflict(client) => write!(f, "{client} refuses: the others have another limit"),
        }
    }
}
