//! Names of deadlines, of users' wishes, and of facts that only Consul has a word for.

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
    /// The client loses patience with its request.
    GiveUp,
    /// The client's lease is over by its own clock.
    Lapse,
    /// The client loses patience with its monitor.
    Unwatch,
    /// Its monitor asks again after an error.
    Rewatch,
    /// The job is killed.
    Kill,
    /// The destroy entry of a session whose timer fired is applied. C-TTL-4.
    Destroy(SessionId),
    /// An acquire that passed the leader's look at the lock-delay is applied. C-LD-9.
    Apply(ClientId, #[normal(of = 0)] Call),
    /// A blocking query has waited long enough. C-BLK-2.
    Deadline(ClientId, #[normal(of = 0)] Call),
    /// The servers have a leader again.
    Elect,
    /// The same, and its lock-delays start now: it had not applied the log to its end. C-LD-11.
    ElectBehind,
    /// A deposed leader learns that it is none. C-CON-2.
    StepDown,
    /// A deposed leader ends a session whose time is up by its own clock.
    Revoke(SessionId),
    /// Gossip gives a silent node up. C-INV-4.
    Suspect(ClientId),
    /// The servers forget a node that has been silent for very long. C-INV-4.
    Reap(ClientId),
    /// A check notices that the process on its node is gone. C-INV-10.
    CheckFails(ClientId),
    /// The agent of a living node puts the catalogue right. C-INV-10.
    Sync(ClientId),
    /// A deadline of a client's program.
    Program(Alarm),
}

/// What a user may ask of a client.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Get the lock, or a slot.
    Acquire,
    /// Write to the resource.
    Write,
    /// Give the lock up.
    Release,
    /// Find out who has it.
    Look,
    /// A job that nobody watches any more comes to its end.
    Finish,
}

/// Facts that only Consul has a word for.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConsulEvent {
    /// An observer has read who leads, or that nobody does.
    Discovered {
        /// The observer.
        observer: ClientId,
        /// Whom the key names while a session holds it.
        leader: Option<ClientId>,
    },
    /// The servers have no leader any more.
    LeaderLost,
    /// They have one again. C-TTL-6.
    Elected {
        /// Whether it has restarted every TTL.
        restarts_ttls: bool,
    },
    /// The servers have restarted from what they have on disk. C-LD-12, C-LD-13.
    Restarted {
        /// Whether lock-delays have restarted; otherwise they are gone.
        keeps_delays: bool,
    },
    /// A leader that is deposed and does not know it has acknowledged a renewal. C-CON-5.
    RenewedByDeposed(SessionId),
    /// A renewal was answered with 200 although the session's end is decided. C-TTL-5.
    RenewedInVain(SessionId),
    /// The client goes on acting after a time of jeopardy.
    Resumed(ClientId),
    /// The client is on record as holder of a slot.
    TookSlot(ClientId),
    /// It is not any more.
    FreedSlot(ClientId),
    /// The client is refused a slot, for all are taken.
    Full(ClientId),
    /// The client refuses to take part, for others have agreed on another limit.
    LimitConflict(ClientId),
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Expire(session) => write!(f, "the time of {session} is up"),
            Timer::Program(alarm) => alarm.fmt(f),
            Timer::Renew => f.write_str("time to renew the session"),
            Timer::Retry => f.write_str("time to try again"),
            Timer::GiveUp => f.write_str("no answer for too long"),
            Timer::Lapse => f.write_str("the lease is over"),
            Timer::Unwatch => f.write_str("no word from the monitor for too long"),
            Timer::Rewatch => f.write_str("time to watch again"),
            Timer::Kill => f.write_str("the job is killed"),
            Timer::Destroy(session) => write!(f, "the end of {session} is applied"),
            Timer::Apply(client, call) => write!(f, "the acquire of {client} is applied [{}]", call.0),
            Timer::Deadline(client, call) => write!(f, "{client} has waited long enough [{}]", call.0),
            Timer::Elect => f.write_str("a leader is elected"),
            Timer::ElectBehind => f.write_str("a leader is elected that is behind with its log"),
            Timer::StepDown => f.write_str("the old leader steps down"),
            Timer::Revoke(session) => write!(f, "the old leader ends {session}"),
            Timer::Suspect(node) => write!(f, "gossip gives the node of {node} up"),
            Timer::Reap(node) => write!(f, "the node of {node} is reaped"),
            Timer::CheckFails(node) => write!(f, "the check of {node} fails"),
            Timer::Sync(node) => write!(f, "the agent of {node} puts the catalogue right"),
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
            Command::Finish => "let the job end",
        })
    }
}

impl fmt::Display for ConsulEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConsulEvent::Discovered { observer, leader: Some(leader) } => {
                write!(f, "{observer} discovers that {leader} leads")
            }
            ConsulEvent::Discovered { observer, leader: None } => write!(f, "{observer} discovers that nobody leads"),
            ConsulEvent::LeaderLost => f.write_str("the servers have no leader"),
            ConsulEvent::Elected { restarts_ttls: true } => {
                f.write_str("the servers have a leader; every TTL restarts")
            }
            ConsulEvent::Elected { restarts_ttls: false } => {
                f.write_str("the servers have a leader; every TTL goes on")
            }
            ConsulEvent::Restarted { keeps_delays: true } => {
                f.write_str("the servers have restarted; every TTL and every lock-delay restarts")
            }
            ConsulEvent::Restarted { keeps_delays: false } => {
                f.write_str("the servers have restarted; every TTL restarts, and lock-delays are gone")
            }
            ConsulEvent::RenewedByDeposed(session) => {
                write!(f, "the old leader renews {session}, and nobody else knows")
            }
            ConsulEvent::RenewedInVain(session) => write!(f, "{session} is renewed, and its end is decided already"),
            ConsulEvent::Resumed(client) => write!(f, "{client} is out of jeopardy and goes on"),
            ConsulEvent::TookSlot(client) => write!(f, "{client} is on record as a holder"),
            ConsulEvent::FreedSlot(client) => write!(f, "{client} is off the record"),
            ConsulEvent::Full(client) => write!(f, "{client} finds every slot taken"),
            ConsulEvent::LimitConflict(client) => write!(f, "{client} refuses: the others have another limit"),
        }
    }
}
