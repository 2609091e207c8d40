//! What programs and the broker say to each other.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::display;
use crate::messages::{Answer, Problem, Request};
use fencepost_model::ids::SessionId;
use fencepost_model::normal::Normal;

/// What a program does with the broker.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doing {
    /// Sends a method.
    Send {
        /// On this connection.
        connection: SessionId,
        /// On this channel.
        channel: u8,
        /// Whether `channel.close-ok` goes before it.
        close_ok: bool,
        /// The method.
        request: Request,
    },
    /// Closes its socket without a close method.
    HangUp(SessionId),
    /// Says to its user how it goes on.
    Report(Report),
}

/// What a client or an administrator says to its user.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Report {
    /// Another client has the message that is the lock.
    Empty,
    /// It found no slot.
    Full,
    /// It has stopped trying.
    GaveUp,
    /// Whether it still holds its slot.
    Verified(bool),
    /// Another administrator is at work.
    Busy,
    /// It has counted the slots.
    Counted(u8),
    /// It begins, and this is the limit.
    Began(u8),
    /// It has finished: the requested number of slots, which should remain.
    Finished(u8),
    /// The same, but some removed slots are still held.
    Pending(u8),
    /// It stops before the end.
    Aborted,
}

/// What the broker says to a program.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Saying {
    /// The response to a method.
    Answer(Answer),
    /// The end of a connection, with the reason in `connection.close`; without one, its socket is closed.
    ConnectionClosed(SessionId, Option<Problem>),
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doing::Send { connection, channel, close_ok, request } => {
                f.write_str(if *close_ok { "close-ok, and " } else { "" })?;
                write!(f, "{request} (on channel {channel} of {})", display::connection(*connection))
            }
            Doing::HangUp(connection) => write!(f, "close the socket of {}", display::connection(*connection)),
            Doing::Report(report) => report.fmt(f),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report::Empty => f.write_str("another client has the lock"),
            Report::Full => f.write_str("there is no free slot"),
            Report::GaveUp => f.write_str("it gives up"),
            Report::Verified(true) => f.write_str("it still holds its slot"),
            Report::Verified(false) => f.write_str("it has lost its slot"),
            Report::Busy => f.write_str("another administrator is at work"),
            Report::Counted(count) => write!(f, "it counts {count}"),
            Report::Began(limit) => write!(f, "it begins; the limit is {limit}"),
            Report::Finished(size) => write!(f, "it has finished; the target is {size}"),
            Report::Pending(size) => {
                write!(f, "it has finished; the target is {size}, and removed slots are still held")
            }
            Report::Aborted => f.write_str("it stops half-way"),
        }
    }
}

impl fmt::Display for Saying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Saying::Answer(answer) => answer.fmt(f),
            Saying::ConnectionClosed(id, Some(problem)) => {
                write!(f, "{} is closed: {problem}", display::connection(*id))
            }
            Saying::ConnectionClosed(id, None) => write!(f, "{} is reset", display::connection(*id)),
        }
    }
}
