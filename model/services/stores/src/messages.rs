//! What clients and the store say to each other.

use std::fmt;

use serde::{Deserialize, Serialize};

use fencepost_model::ids::{Call, Index};
use fencepost_model::normal::Normal;
use fencepost_model::time::StartTime;

/// A request or an answer, on a call of the client's.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoreMessage {
    /// From a client.
    #[serde(alias = "ask")]
    Request(Call, Request),
    /// From the store.
    #[serde(alias = "tell")]
    Response(Call, Answer),
}

/// One atomic operation of the store. Entries have numbers, which the store gives out in order.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Take a slot, if one is free; with a record, the client's TTL goes into it.
    Take,
    /// Free what was taken too long ago.
    Reap,
    /// Is that entry still there?
    Check(Index),
    /// One slot more is free, and that entry is gone.
    Push(Index),
    /// If that entry is still there, it is gone, and its slot is free.
    GiveBack(Index),
    /// The next number of the counter.
    Draw,
    /// Put me on the list, with that number.
    Insert(Index),
    /// Put me on the list, and say how many come before me; with a timestamp, in the order of those.
    Join(Option<StartTime>),
    /// Put me on the list behind all others; recognisably, so that it happens once.
    Enqueue {
        /// Whether an entry that the client has already is found again.
        named: bool,
    },
    /// How many come before that entry?
    Place(Index),
    /// Take that entry off the list.
    Remove(Index),
}

/// What the store answers.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The entry, or the ticket, has that number.
    Number(Index),
    /// It has that number, and so many come before it.
    Placed(Index, u8),
    /// It is so.
    Yes,
    /// It is not so; none is free.
    No,
}

/// Deadlines of a client.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// Time to ask again.
    Retry,
    /// No answer for so long that none is expected any more.
    GiveUp,
    /// Its entry does not count any more.
    Lapse,
}

/// What a user may ask.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Get a slot.
    Acquire,
    /// Give it back.
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
            Request::Reap => f.write_str("free what was taken too long ago"),
            Request::Check(Index(number)) => write!(f, "is entry {number} still there?"),
            Request::Push(Index(number)) => write!(f, "one more is free, entry {number} is done"),
            Request::GiveBack(Index(number)) => write!(f, "if entry {number} is still there, its slot is free"),
            Request::Draw => f.write_str("a number, please"),
            Request::Insert(Index(number)) => write!(f, "put me on the list as {number}"),
            Request::Join(None) => f.write_str("put me on the list and say where"),
            Request::Join(Some(_)) => f.write_str("put me on the list at the time of my clock, and say where"),
            Request::Enqueue { named: false } => f.write_str("a new entry at the end, please"),
            Request::Enqueue { named: true } => f.write_str("my entry at the end, please"),
            Request::Place(Index(number)) => write!(f, "how many come before entry {number}?"),
            Request::Remove(Index(number)) => write!(f, "remove entry {number}"),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Number(Index(number)) => write!(f, "it is number {number}"),
            Answer::Placed(Index(number), before) => write!(f, "entry {number} has {before} before it"),
            Answer::Yes => f.write_str("yes"),
            Answer::No => f.write_str("no"),
        }
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Timer::Retry => "time to ask again",
            Timer::GiveUp => "no answer has come",
            Timer::Lapse => "its entry does not count any more",
        })
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Acquire => "take a slot",
            Command::Release => "give the slot back",
        })
    }
}
