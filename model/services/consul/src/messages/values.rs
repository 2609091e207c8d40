//! The contents of the store, and the terms of sessions.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::settings::{Behavior, CheckKind};
use fencepost_model::ids::{ClientId, Index, SessionId, Token};
use fencepost_model::inline_array::InlineArray;
use fencepost_model::normal::{Normal, Visitor};
use fencepost_model::time::Ticks;

/// A key of the store.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Key {
    /// The common key of the lock recipe.
    #[default]
    Lock,
    /// The protected resource, if it is in the same store.
    Data,
    /// The coordination entry of a semaphore, `<prefix>/.lock`. C-SEM-3.
    Slots,
    /// The key of one contender for a semaphore, `<prefix>/<session>`. C-SEM-2.
    Contender(SessionId),
    /// The key of the same session in another semaphore, `<prefix>2/<session>`: a longer name with the same prefix.
    Neighbour(SessionId),
    /// A key of another application.
    Other,
    /// A key by its place among all names in their order: those that the HTTP edge gives, or those of a program's own,
    /// which have the common prefix [`Prefix::NAMED`].
    Named(u16),
}

/// A prefix of keys; a string, not a folder (C-KV-5).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prefix {
    /// The empty one: every key has it.
    All,
    /// The semaphore's: the coordination entry and the contenders' keys have it.
    Semaphore,
    /// A name, by its rank among all names. Every name with this prefix follows it directly, so the prefix is a range.
    Named {
        /// Its own place.
        first: u16,
        /// The rank of the last name with this prefix.
        last: u16,
    },
}

impl Prefix {
    /// That of every key that has a place among all names.
    pub const NAMED: Prefix = Prefix::Named { first: 0, last: u16::MAX };

    /// Whether the key has this prefix.
    pub fn contains(self, key: Key) -> bool {
        match self {
            Prefix::All => true,
            Prefix::Semaphore => key.is_below_prefix(),
            Prefix::Named { first, last } => matches!(key, Key::Named(place) if (first..=last).contains(&place)),
        }
    }

    /// The name of its tombstone. C-KV-24: a deletion of everything leaves none.
    pub fn name(self) -> Option<Key> {
        match self {
            Prefix::All => None,
            Prefix::Semaphore => Some(Key::Slots),
            Prefix::Named { first, .. } => Some(Key::Named(first)),
        }
    }
}

/// The spelling of a session's id in a string: lookups ignore the letter case, comparisons of holders do not
/// (C-SES-20). 0 is the server's own spelling.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Spelling(pub u8);

impl Spelling {
    /// Whether it is the server's own.
    pub fn is_plain(&self) -> bool {
        *self == Spelling::default()
    }
}

impl Key {
    /// Whether it is below the semaphore's prefix.
    pub fn is_below_prefix(self) -> bool {
        matches!(self, Key::Slots | Key::Contender(_) | Key::Neighbour(_))
    }
}

/// A value. Only observers of a leader election and contenders for a semaphore read it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opaque {
    /// Empty.
    Empty,
    /// The name of a client.
    Name(ClientId),
    /// A value of an operator.
    Foreign,
    /// A random number.
    Number(#[normal(skip = "drawn at random, and no log position")] Token),
    /// Bytes that the HTTP edge keeps under this number.
    Bytes(u32),
    /// A semaphore's limit and holders.
    Slots(Slots),
}

/// A value that is not a semaphore's entry. Transactions write only such values, so that they stay small.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the same as those of `Opaque`")]
pub enum Plain {
    Empty,
    Name(ClientId),
    Foreign,
    Number(#[normal(skip = "drawn at random, and no log position")] Token),
    Bytes(u32),
}

impl Opaque {
    /// The value, unless it is a semaphore's entry.
    pub fn plain(self) -> Option<Plain> {
        Some(match self {
            Opaque::Empty => Plain::Empty,
            Opaque::Name(client) => Plain::Name(client),
            Opaque::Foreign => Plain::Foreign,
            Opaque::Number(token) => Plain::Number(token),
            Opaque::Bytes(number) => Plain::Bytes(number),
            Opaque::Slots(_) => return None,
        })
    }
}

impl From<Plain> for Opaque {
    fn from(value: Plain) -> Self {
        match value {
            Plain::Empty => Opaque::Empty,
            Plain::Name(client) => Opaque::Name(client),
            Plain::Foreign => Opaque::Foreign,
            Plain::Number(token) => Opaque::Number(token),
            Plain::Bytes(number) => Opaque::Bytes(number),
        }
    }
}

/// The content of a semaphore's coordination entry: `{"Limit": n, "Holders": […]}`. C-SEM-3.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Slots {
    /// The limit of holders.
    pub limit: u8,
    /// The holders.
    pub holders: InlineArray<SessionId, 4>,
}

/// The checks that a session is bound to. C-SES-10.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Checks(u32);

impl Checks {
    /// Whether this check is among them.
    pub fn contains(self, kind: CheckKind) -> bool {
        self.0 & (1 << kind.number()) != 0
    }

    /// Every kind of check, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = CheckKind> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let number = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(CheckKind::of(number))
        })
    }
}

impl FromIterator<CheckKind> for Checks {
    fn from_iter<I: IntoIterator<Item = CheckKind>>(kinds: I) -> Self {
        Checks(kinds.into_iter().fold(0, |bits, kind| bits | 1 << kind.number()))
    }
}

/// The terms of a new session. C-SES-1.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Terms {
    /// TTL, if any.
    pub ttl: Option<Ticks>,
    /// The requested lock-delay, in ticks; capped at use (C-SES-9).
    pub lock_delay: Ticks,
    /// What its end does to its keys.
    pub behavior: Behavior,
    /// The checks that it is bound to. C-TTL-9: a TTL does not replace checks.
    #[serde(default)]
    pub checks: Checks,
}

/// An entry of the store, without its key. C-KV-6.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Entry {
    /// The value.
    pub value: Opaque,
    /// The caller's own number.
    pub flags: u8,
    /// LockIndex: the number of acquisitions while the key was free.
    pub lock_index: u32,
    /// The session that holds it.
    pub session: Option<SessionId>,
    /// The holder's spelling of its session's id.
    #[serde(default, skip_serializing_if = "Spelling::is_plain")]
    pub spelling: Spelling,
    /// The log position of its creation.
    pub create: Index,
    /// The log position of its last real change.
    pub modify: Index,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Lock => f.write_str("the key"),
            Key::Data => f.write_str("the data"),
            Key::Slots => f.write_str("the semaphore's entry"),
            Key::Contender(session) => write!(f, "the contender key of {session}"),
            Key::Neighbour(session) => write!(f, "the contender key of {session} in another semaphore"),
            Key::Other => f.write_str("another key"),
            Key::Named(place) => write!(f, "key {place}"),
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Prefix::All => f.write_str("every key"),
            Prefix::Semaphore => f.write_str("the prefix"),
            Prefix::NAMED => f.write_str("the named keys"),
            Prefix::Named { first, .. } => write!(f, "prefix {first}"),
        }
    }
}

impl fmt::Display for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limit {}, held by", self.limit)?;
        if self.holders.is_empty() {
            return f.write_str(" none");
        }
        self.holders.iter().enumerate().try_for_each(|(place, session)| {
            let comma = if place == 0 { " " } else { ", " };
            write!(f, "{comma}{session}")
        })
    }
}

/// Written by hand: holders are a set, also where nothing calls `sort`, as in a client.
impl Normal for Slots {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        self.holders.visit(visitor);
        self.holders.sort_unstable();
    }
}
