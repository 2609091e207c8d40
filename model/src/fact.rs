//! What became true: the words in which properties, goals and stories are told.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::{ClientId, SessionId, Tenure, Token};
use crate::service::Service;

/// Something that became true during one step. Common to all lock services, but for [`Fact::Service`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub enum Fact<P: Service> {
    /// The service recorded the client as owner, or confirmed that it is.
    Granted {
        /// Who asked.
        client: ClientId,
        /// The token that belongs to the tenure.
        token: Token,
        /// False if the tenure had begun before.
        fresh: bool,
        /// True if somebody else was on record until this very step.
        stolen: bool,
    },
    /// The recorded tenure ended.
    Freed {
        /// How it ended.
        by: Ending,
    },
    /// The service said no.
    Refused {
        /// Who asked.
        client: ClientId,
        /// Why.
        why: Refusal,
    },
    /// A session began, or its TTL began again.
    Renewed {
        /// Which one.
        session: SessionId,
    },
    /// A session's TTL ran out at the server.
    Expired {
        /// Which one.
        session: SessionId,
    },
    /// A session was destroyed by a call.
    Destroyed {
        /// Which one.
        session: SessionId,
    },
    /// A session ended with the check or the node that it was bound to.
    Ended {
        /// Which one.
        session: SessionId,
    },
    /// The client entered the critical section.
    Entered {
        /// Who.
        client: ClientId,
        /// The token it will send.
        token: Token,
    },
    /// The client left the critical section.
    Left {
        /// Who.
        client: ClientId,
        /// Why.
        why: Leaving,
    },
    /// The resource accepted a write.
    Written {
        /// Whose.
        client: ClientId,
        /// With which token.
        token: Token,
        /// Ghost: of which tenure.
        tenure: Tenure,
    },
    /// The resource refused a write.
    WriteRefused {
        /// Whose.
        client: ClientId,
        /// With which token.
        token: Token,
        /// Ghost: of which tenure.
        tenure: Tenure,
    },
    /// A message reached a process that is down.
    Unheard,
    /// Something that only this service has a word for.
    Service(P::Event),
}

/// How a recorded tenure ends.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The owner gave it back.
    Released,
    /// The owner's session ended, by TTL or by a call.
    Invalidated,
    /// Somebody removed the entry.
    Deleted,
}

/// Why the service says no.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Another one is on record.
    Held,
    /// The lock-delay is not over.
    LockDelay,
    /// The session is gone.
    NoSession,
    /// The caller does not have what it wants to give back or change.
    NotHeld,
}

/// Why a client leaves the critical section.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leaving {
    /// Its user was done.
    Done,
    /// Its own clock said that the lease is over.
    Lapsed,
    /// It was told that the lock is gone.
    #[serde(alias = "told")]
    Notified,
    /// It crashed.
    Crashed,
}

impl<P: Service> fmt::Display for Fact<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Fact::Granted { client, token: Token(0), fresh: true, .. } => write!(f, "{client} acquires the lock"),
            Fact::Granted { client, token: Token(0), fresh: false, .. } => {
                write!(f, "{client} is told again that it has the lock")
            }
            Fact::Granted { client, token, fresh: true, .. } => write!(f, "{client} acquires the lock ({token})"),
            Fact::Granted { client, token, fresh: false, .. } => {
                write!(f, "{client} is told again that it has the lock ({token})")
            }
            Fact::Freed { by: Ending::Released } => f.write_str("the lock is released"),
            Fact::Freed { by: Ending::Invalidated } => f.write_str("the lock is freed by the end of its session"),
            Fact::Freed { by: Ending::Deleted } => f.write_str("the lock's entry is deleted"),
            Fact::Refused { client, why } => write!(f, "{client} is refused: {why}"),
            Fact::Renewed { session } => write!(f, "the TTL of {session} starts"),
            Fact::Expired { session } => write!(f, "{session} expires"),
            Fact::Destroyed { session } => write!(f, "{session} is destroyed"),
            Fact::Ended { session } => write!(f, "{session} ends with what it is bound to"),
            Fact::Entered { client, token: Token(0) } => write!(f, "{client} enters"),
            Fact::Entered { client, token } => write!(f, "{client} enters ({token})"),
            Fact::Left { client, why } => write!(f, "{client} leaves: {why}"),
            Fact::Written { client, token: Token(0), .. } => write!(f, "the write of {client} is accepted"),
            Fact::Written { client, token, .. } => write!(f, "the write of {client} is accepted ({token})"),
            Fact::WriteRefused { client, token, .. } => write!(f, "the write of {client} is refused ({token})"),
            Fact::Unheard => f.write_str("nobody is there to hear it"),
            Fact::Service(fact) => fact.fmt(f),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Held => "another one has it",
            Refusal::LockDelay => "the lock-delay is not over",
            Refusal::NoSession => "its session is gone",
            Refusal::NotHeld => "it does not have it",
        })
    }
}

impl fmt::Display for Leaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Leaving::Done => "its work is done",
            Leaving::Lapsed => "its lease is over by its own clock",
            Leaving::Notified => "it was told that the lock is gone",
            Leaving::Crashed => "it crashed",
        })
    }
}
