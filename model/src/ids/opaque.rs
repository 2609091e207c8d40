//! Ids whose numbers mean nothing: positions in a log, fencing tokens, sessions.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::ClientId;

/// The number behind an opaque id. Services count them, and what translates to a real server maps them. A program that
/// imports this looks at names: under other names, with which every search runs it, it does something else, and is refused
/// as not deterministic.
///
/// ```
/// use fencepost_model::ids::{Index, RawId};
/// assert_eq!(Index::numbered(7).raw(), 7);
/// ```
///
/// Without it no expression gets at the number; only messages print it:
///
/// ```compile_fail,E0616
/// # use fencepost_model::ids::Index;
/// fn next(index: Index) -> u32 {
///     index.0 + 1
/// }
/// ```
///
/// ```compile_fail,E0616
/// # use fencepost_model::ids::SessionId;
/// fn is_mine(session: SessionId) -> bool {
///     session.number == 1
/// }
/// ```
///
/// ```compile_fail,E0369
/// # use fencepost_model::ids::Token;
/// fn following(token: Token) -> Token {
///     token + 1
/// }
/// ```
pub trait RawId {
    /// A number, or several.
    type Raw;

    /// What is behind the id.
    fn raw(self) -> Self::Raw;

    /// The one after it: the next position, or the next session of the same creator.
    #[must_use]
    fn next(self) -> Self;
}

macro_rules! opaque {
    ($(#[$doc:meta])* $name:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The number 0.
            pub const NONE: Self = $name(0);

            /// The id with this number.
            #[inline]
            #[must_use]
            pub const fn numbered(number: u32) -> Self {
                $name(number)
            }
        }

        impl RawId for $name {
            type Raw = u32;

            #[inline]
            fn raw(self) -> u32 {
                self.0
            }

            #[inline]
            fn next(self) -> Self {
                $name(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($text)?;
                self.0.fmt(f)
            }
        }
    };
}

opaque!(
    /// A position in the log of a service (a raft index, a revision). Only the order counts; 0 means *none*.
    Index, "index "
);
opaque!(
    /// The order of tenures at the resource: a fencing token. 0 means *none sent*.
    Token, "token "
);

impl Index {
    /// The position as a fencing token.
    #[inline]
    #[must_use]
    pub const fn token(self) -> Token {
        Token(self.0)
    }
}

/// A session of a lock service: its creator, and its number among the creator's sessions. It stands in for a random id:
/// it is always fresh. Programs compare it for equality; its order is for the tables of services.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct SessionId {
    creator: ClientId,
    number: u16,
}

/// What a session id is made of.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SessionParts {
    /// The client that created it.
    pub creator: ClientId,
    /// Its number among the creator's sessions, from 1.
    pub number: u16,
}

impl SessionId {
    /// The session with this number among those of its creator.
    #[inline]
    #[must_use]
    pub const fn numbered(creator: ClientId, number: u16) -> Self {
        SessionId { creator, number }
    }
}

impl RawId for SessionId {
    type Raw = SessionParts;

    #[inline]
    fn raw(self) -> SessionParts {
        SessionParts { creator: self.creator, number: self.number }
    }

    #[inline]
    fn next(self) -> Self {
        SessionId { number: self.number + 1, ..self }
    }
}

impl Hash for SessionId {
    /// Written at once: session ids are the most frequent values of a world. The numbers of a search fit into a byte.
    #[inline]
    fn hash<H: Hasher>(&self, to: &mut H) {
        let (creator, number) = (u64::from(self.creator.0), u64::from(self.number));
        let is_small = creator < 15 && number < 16;
        to.write_u64(if is_small { creator << 4 | number } else { 256 + (creator << 16 | number) });
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session {}.{}", self.creator.0, self.number)
    }
}
