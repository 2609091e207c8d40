//! What happens to servers, nodes and sessions at a request: just before it is carried out.

use std::fmt;

use fencepost_conform::{SECOND, nanoseconds};

use crate::clock::seconds;

/// An event that no client causes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ServerEvent {
    /// Another server leads.
    LeaderChange,
    /// Another server leads, and for this many nanoseconds the old one answers the client that asks: it does not know it yet.
    LeaderLingers(i64),
    /// The servers restart from their logs, and every connection is closed.
    Restart,
    /// A snapshot of the present state is restored.
    SnapshotRestore,
    /// An operator destroys every session of the client that asks.
    SessionDestroyed,
    /// An operator deregisters the agent's node; its agent registers it again.
    NodeDeregistered,
    /// Every TTL check of the agent turns critical.
    CheckCritical,
    /// Gossip takes the agent's node for failed, for this many nanoseconds.
    GossipFailure(i64),
    /// An operator deletes the lease that the request is about.
    LeaseDeleted,
    /// An operator changes a label of the lease that the request is about, and nothing else.
    LeaseLabelled,
    /// Another member leads, and is promoted: every lease begins anew.
    Promotion,
    /// The server restarts on its data, and every connection is closed.
    ServerRestart,
    /// An operator revokes the lease that the request is about.
    LeaseRevoked,
    /// An operator deletes the key that the request is about.
    KeyDeleted,
    /// An operator compacts the store up to its present revision.
    Compaction,
}

/// C-CON-2: how long a deposed leader can take itself for the leader, with the longest lease that is configured by default.
const LEASE_MAX: i64 = 5 * SECOND / 2;

impl ServerEvent {
    /// Events without a parameter, by their names.
    const PLAIN: [(&'static str, ServerEvent); 13] = [
        ("leader-change", ServerEvent::LeaderChange),
        ("restart", ServerEvent::Restart),
        ("snapshot-restore", ServerEvent::SnapshotRestore),
        ("session-destroyed", ServerEvent::SessionDestroyed),
        ("node-deregistered", ServerEvent::NodeDeregistered),
        ("check-critical", ServerEvent::CheckCritical),
        ("lease-deleted", ServerEvent::LeaseDeleted),
        ("lease-labelled", ServerEvent::LeaseLabelled),
        ("promotion", ServerEvent::Promotion),
        ("server-restart", ServerEvent::ServerRestart),
        ("lease-revoked", ServerEvent::LeaseRevoked),
        ("key-deleted", ServerEvent::KeyDeleted),
        ("compaction", ServerEvent::Compaction),
    ];

    /// How each is written.
    pub(super) const FORMS: &'static str = "leader-change, restart, snapshot-restore, session-destroyed, node-deregistered, \
check-critical, leader-lingers 500ms, gossip-failure 5s, lease-deleted, lease-labelled, \
promotion, server-restart, lease-revoked, key-deleted, compaction";

    /// The server that has it.
    pub(super) fn server(self) -> &'static str {
        match self {
            ServerEvent::LeaseDeleted | ServerEvent::LeaseLabelled => "leases",
            ServerEvent::Promotion
            | ServerEvent::ServerRestart
            | ServerEvent::LeaseRevoked
            | ServerEvent::KeyDeleted
            | ServerEvent::Compaction => "etcd",
            _ => "consul",
        }
    }

    /// The rules that allow it.
    pub(super) fn allowed_by(self) -> &'static str {
        match self {
            ServerEvent::LeaderChange => "C-TTL-6, C-LD-11",
            ServerEvent::LeaderLingers(_) => "C-CON-2, C-TTL-6",
            ServerEvent::Restart => "C-TTL-1, C-LD-12",
            ServerEvent::SnapshotRestore => "C-LD-13",
            ServerEvent::SessionDestroyed => "C-INV-3",
            ServerEvent::NodeDeregistered => "C-INV-3, C-INV-6",
            ServerEvent::CheckCritical => "C-INV-3, C-INV-10",
            ServerEvent::GossipFailure(_) => "C-INV-4",
            ServerEvent::LeaseDeleted => "OL-S-7",
            ServerEvent::LeaseLabelled => "OL-S-8",
            ServerEvent::Promotion => "E-LD-1",
            ServerEvent::ServerRestart => "E-LD-2",
            ServerEvent::LeaseRevoked => "E-LS-8",
            ServerEvent::KeyDeleted => "E-KV-2",
            ServerEvent::Compaction => "E-KV-9",
        }
    }

    /// Reads an event; none, if the text names another fault.
    pub(super) fn read(text: &str) -> Option<Result<ServerEvent, String>> {
        if let Some((_, event)) = ServerEvent::PLAIN.iter().find(|(name, _)| *name == text) {
            return Some(Ok(*event));
        }
        let (name, by) = text.split_once(' ')?;
        let by = || match nanoseconds(by.trim())? {
            by @ 1.. => Ok(by),
            _ => Err(format!("{name}: {by} is no time in the future")),
        };
        match name {
            "leader-lingers" => Some(by().and_then(|by| match by <= LEASE_MAX {
                true => Ok(ServerEvent::LeaderLingers(by)),
                false => Err(format!(
                    "`{text}`: no rule allows that. A deposed leader steps down when its lease ends, after {} s at most (C-CON-2)",
                    seconds(LEASE_MAX)
                )),
            })),
            "gossip-failure" => Some(by().map(ServerEvent::GossipFailure)),
            _ => None,
        }
    }
}

impl fmt::Display for ServerEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerEvent::LeaderLingers(by) => write!(f, "leader-lingers {}s", seconds(*by)),
            ServerEvent::GossipFailure(by) => write!(f, "gossip-failure {}s", seconds(*by)),
            _ => {
                let plain = ServerEvent::PLAIN.iter().find(|(_, event)| event == self);
                f.write_str(plain.map_or("", |(name, _)| name))
            }
        }
    }
}
