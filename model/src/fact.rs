//! Facts: the events of a step. Properties, goals and stories use them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::held::Held;
use crate::ids::{ClientId, SessionId, Tenure, Token};
use crate::service::{Event as _, Service};
use crate::work_queue::QueueItem;

/// An event of one step. All lock services have the same events, except for [`Fact::Service`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub enum Fact<P: Service> {
    /// The service recorded the client as owner, or confirmed that it is.
    Granted {
        /// The client that sent the request.
        client: ClientId,
        /// The token of the tenure.
        token: Token,
        /// False if the tenure had begun before this step.
        fresh: bool,
        /// True if another client was on record until this step.
        stolen: bool,
    },
    /// The recorded tenure ended.
    Freed {
        /// The cause of the end.
        by: Ending,
    },
    /// The service refused a request.
    Refused {
        /// The client that sent the request.
        client: ClientId,
        /// The reason.
        why: Refusal,
    },
    /// A session began, or its TTL started again.
    Renewed {
        /// The id of the session.
        session: SessionId,
    },
    /// A session's TTL ran out at the server.
    Expired {
        /// The id of the session.
        session: SessionId,
    },
    /// A request destroyed a session.
    Destroyed {
        /// The id of the session.
        session: SessionId,
    },
    /// A session ended because its check failed or its node was removed.
    Ended {
        /// The id of the session.
        session: SessionId,
    },
    /// The client entered the critical section.
    Entered {
        /// The client.
        client: ClientId,
        /// The token that it will send with its writes.
        token: Token,
    },
    /// The client left the critical section.
    Left {
        /// The client.
        client: ClientId,
        /// The reason.
        why: Leaving,
    },
    /// The resource accepted a write.
    Written {
        /// The writing client.
        client: ClientId,
        /// The token of the write.
        token: Token,
        /// Ghost: the tenure in which the client sent the write.
        tenure: Tenure,
        /// The key that it changes, if it is to one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<u8>,
    },
    /// The resource refused a write.
    WriteRefused {
        /// The writing client.
        client: ClientId,
        /// The token of the write.
        token: Token,
        /// Ghost: the tenure in which the client sent the write.
        tenure: Tenure,
    },
    /// A message reached a process that is down. It is lost.
    Unheard,
    /// The program of a client panicked: its process is gone.
    Panicked {
        /// The client that runs the program.
        client: ClientId,
    },
    /// A lap of a client's program reached the limit of inputs: the search does not follow it any further.
    Cut {
        /// The client that runs the program.
        client: ClientId,
    },
    /// An event that only this service has.
    Service(P::Event),
    /// The work on an item of the work queue is done.
    Handled {
        /// The client that did it.
        client: ClientId,
        /// The item.
        item: QueueItem,
        /// Whether it had been done before.
        again: bool,
    },
}

/// The cause of the end of a recorded tenure.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The owner released the lock.
    Released,
    /// The owner's session ended, by TTL or by a request.
    Invalidated,
    /// A client or an operator deleted the entry.
    Deleted,
}

/// The reason of a refusal.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Another client is on record.
    Held,
    /// The lock-delay has not passed.
    LockDelay,
    /// The session no longer exists.
    NoSession,
    /// The caller does not hold the lock that it wants to release or change.
    NotHeld,
}

/// The reason why a client leaves the critical section.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leaving {
    /// Its user has finished.
    Done,
    /// The lease is over by the client's own clock.
    Lapsed,
    /// It was notified that it lost the lock.
    #[serde(alias = "told")]
    Notified,
    /// It crashed.
    Crashed,
}

impl<P: Service> fmt::Display for Fact<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Fact::Granted { client, token: Token::NONE, fresh: true, .. } => write!(f, "{client} acquires the lock"),
            Fact::Granted { client, token: Token::NONE, fresh: false, .. } => {
                write!(f, "{client} receives a confirmation that it has the lock")
            }
            Fact::Granted { client, token, fresh: true, .. } => write!(f, "{client} acquires the lock ({token})"),
            Fact::Granted { client, token, fresh: false, .. } => {
                write!(f, "{client} receives a confirmation that it has the lock ({token})")
            }
            Fact::Freed { by: Ending::Released } => f.write_str("the lock is released"),
            Fact::Freed { by: Ending::Invalidated } => f.write_str("the lock is freed by the end of its session"),
            Fact::Freed { by: Ending::Deleted } => f.write_str("the lock's entry is deleted"),
            Fact::Refused { client, why } => write!(f, "{client} is refused: {why}"),
            Fact::Renewed { session } => write!(f, "the TTL of {session} starts"),
            Fact::Expired { session } => write!(f, "{session} expires"),
            Fact::Destroyed { session } => write!(f, "{session} is destroyed"),
            Fact::Ended { session } => write!(f, "{session} ends with what it is bound to"),
            Fact::Entered { client, token: Token::NONE } => write!(f, "{client} enters"),
            Fact::Entered { client, token } => write!(f, "{client} enters ({token})"),
            Fact::Left { client, why } => write!(f, "{client} leaves: {why}"),
            Fact::Written { client, token, key: Some(key), .. } => {
                write!(f, "the write of {client} to key {key} is accepted{}", in_brackets(token))
            }
            Fact::Written { client, token: Token::NONE, .. } => write!(f, "the write of {client} is accepted"),
            Fact::Written { client, token, .. } => write!(f, "the write of {client} is accepted ({token})"),
            Fact::WriteRefused { client, token, .. } => write!(f, "the write of {client} is refused ({token})"),
            Fact::Panicked { client } => write!(f, "the program of {client} panics"),
            Fact::Cut { client } => write!(f, "the lap of {client} is not followed any further"),
            Fact::Handled { client, item, again: false } => write!(f, "{client} handles {item}"),
            Fact::Handled { client, item, again: true } => write!(f, "{client} handles {item} once more"),
            Fact::Unheard => f.write_str("the message is lost: its receiver is down"),
            Fact::Service(fact) => fact.fmt(f),
        }
    }
}

impl<P: Service> Fact<P> {
    /// The fact as a sentence of a story. The text of `Display` is part of traces, and the same for each service.
    pub fn sentence(&self, held: Held) -> String {
        match *self {
            Fact::Service(event) => event.sentence(held),
            Fact::Ended { session } => format!("{session} ends: its check failed or its node was removed"),
            Fact::Freed { by: Ending::Invalidated } if held == Held::Lock => {
                "the lock is freed: its session or lease is over".to_owned()
            }
            _ if held == Held::Lock => self.to_string(),
            Fact::Granted { client, token, fresh: true, .. } => format!("{client} takes a slot{}", in_brackets(token)),
            Fact::Granted { client, token, fresh: false, .. } => {
                format!("{client} receives a confirmation that it holds a slot{}", in_brackets(token))
            }
            Fact::Freed { by: Ending::Released } => "a slot is released".to_owned(),
            Fact::Freed { by: Ending::Invalidated } => "a slot is freed: its entry has expired".to_owned(),
            Fact::Freed { by: Ending::Deleted } => "a slot is freed: its entry is deleted".to_owned(),
            Fact::Refused { client, why: Refusal::Held } => format!("{client} is refused: no slot is free"),
            Fact::Refused { client, why: Refusal::NotHeld } => {
                format!("{client} is refused: it does not hold the slot")
            }
            Fact::Left { client, why: Leaving::Notified } => {
                format!("{client} leaves: it was notified that it lost its slot")
            }
            _ => self.to_string(),
        }
    }
}

/// The token, if the service has tokens.
fn in_brackets(token: Token) -> String {
    if token == Token::NONE { String::new() } else { format!(" ({token})") }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Held => "another client has it",
            Refusal::LockDelay => "the lock-delay has not passed",
            Refusal::NoSession => "its session does not exist",
            Refusal::NotHeld => "the caller does not have it",
        })
    }
}

impl fmt::Display for Leaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Leaving::Done => "its work is done",
            Leaving::Lapsed => "its lease is over by its own clock",
            Leaving::Notified => "it was notified that it lost the lock",
            Leaving::Crashed => "it crashed",
        })
    }
}
