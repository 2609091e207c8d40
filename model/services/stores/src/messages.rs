//! The messages between clients and the store.

use std::fmt;

use serde::{Deserialize, Serialize};

use fencepost_model::ids::{Call, Index, RawId};
use fencepost_model::normal::Normal;
use fencepost_model::program::Alarm;
use fencepost_model::time::StartTime;

/// A request or a response, with the client's call.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoreMessage {
    /// A client's request.
    #[serde(alias = "ask")]
    Request(Call, Request),
    /// The store's response.
    #[serde(alias = "tell")]
    Response(Call, Answer),
}

/// One atomic operation of the store. The store numbers its entries in order.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Take a slot, if one is free; with a record, the client's TTL is part of it.
    Take,
    /// Free the slots that were taken too long ago.
    Reap,
    /// Whether the entry still exists.
    Check(Index),
    /// Add a free slot and remove the entry.
    Push(Index),
    /// If the entry still exists, remove it and free its slot.
    GiveBack(Index),
    /// Draw the next number of the counter.
    Draw,
    /// Insert the client into the list with that number.
    Insert(Index),
    /// Insert the client into the list, and return its rank; with a timestamp, the list is ordered by timestamps.
    Join(Option<StartTime>),
    /// Append the client to the list; with a name, a repeated request has no effect.
    Enqueue {
        /// Whether the store finds an entry that the client already has.
        named: bool,
    },
    /// The rank of an entry.
    Place(Index),
    /// Remove an entry from the list.
    Remove(Index),
}

/// The store's response.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The number of the entry or ticket.
    Number(Index),
    /// The number of the entry, and the number of entries before it.
    Placed(Index, u8),
    /// Yes.
    Yes,
    /// No; or: no slot is free.
    No,
}

/// Deadlines of a client.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// The client asks again.
    Retry,
    /// The client gives up a request that was not answered.
    GiveUp,
    /// Its entry is no longer valid.
    Lapse,
    /// A deadline of a client's program.
    Program(Alarm),
}

/// The commands of a user.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Take a slot.
    Acquire,
    /// Release the slot.
    Release,
}

impl fmt::Display for StoreMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreMessage::Request(Call(call), request) => write!(f, "{request} [{call}]"),
            StoreMessage::Response(Call(call), answer) => write!(f, "{answer} [{call}]"),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Take => f.write_str("a slot, please"),
            Request::Reap => f.write_str("free slots that were taken too long ago"),
            Request::Check(number) => write!(f, "check entry {}", number.raw()),
            Request::Push(number) => write!(f, "add a free slot and remove entry {}", number.raw()),
            Request::GiveBack(number) => write!(f, "if entry {} exists, free its slot", number.raw()),
            Request::Draw => f.write_str("a number, please"),
            Request::Insert(number) => write!(f, "insert me as entry {}", number.raw()),
            Request::Join(None) => f.write_str("insert me and return my rank"),
            Request::Join(Some(_)) => f.write_str("insert me at the time of my clock and return my rank"),
            Request::Enqueue { named: false } => f.write_str("append a new entry"),
            Request::Enqueue { named: true } => f.write_str("append my entry"),
            Request::Place(number) => write!(f, "return the rank of entry {}", number.raw()),
            Request::Remove(number) => write!(f, "remove entry {}", number.raw()),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Number(number) => write!(f, "entry {}", number.raw()),
            Answer::Placed(number, before) => write!(f, "entry {} has {before} before it", number.raw()),
            Answer::Yes => f.write_str("yes"),
            Answer::No => f.write_str("no"),
        }
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Timer::Retry => "it asks again",
            Timer::GiveUp => "no response came in time",
            Timer::Lapse => "its entry is no longer valid",
            Timer::Program(alarm) => return alarm.fmt(f),
        })
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Acquire => "take a slot",
            Command::Release => "release the slot",
        })
    }
}
