//! Small numbers with a meaning of their own. Indexes, tenures, calls and the numbers of sessions have no absolute
//! meaning, only an order; the normal form renumbers them.
//!
//! What a program is given of them is opaque: it compares sessions for equality and indexes for their order, and sends a
//! token. Their numbers are read through [`RawId`], by services and by what translates to a real server.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

mod opaque;
pub use opaque::{Index, RawId, SessionId, SessionParts, Token};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty), $text:literal) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// The next number.
            #[must_use]
            pub fn next(self) -> Self {
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

number!(
    /// A client, counted from 1 for people and from 0 as a [`place`](ClientId::place).
    ClientId(u16), "client "
);
number!(
    /// The number of a tenure, from the recorded acquisition to its end. A ghost: no process ever reads it; 0 means *none*.
    Tenure(u32), "tenure "
);
number!(
    /// Links a response to its request, like a separate connection in HTTP. Only identity counts.
    Call(u16), "call "
);

impl ClientId {
    /// The client at `place` in the world's list, from 0.
    pub fn of(place: usize) -> Self {
        ClientId(u16::try_from(place + 1).expect("scenarios are limited to 65,534 clients"))
    }

    /// Its index in the world's list, from 0.
    pub fn place(self) -> usize {
        usize::from(self.0) - 1
    }
}

/// A participant.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessId {
    /// One of the clients.
    Client(ClientId),
    /// The lock service.
    Server,
    /// The resource that the lock protects.
    Resource,
}

impl ProcessId {
    /// The client, if the participant is one.
    pub fn client(self) -> Option<ClientId> {
        match self {
            ProcessId::Client(client) => Some(client),
            ProcessId::Server | ProcessId::Resource => None,
        }
    }

    /// Its place in the order of processes.
    #[inline]
    pub(crate) fn rank(self) -> u32 {
        match self {
            ProcessId::Client(client) => client.0.into(),
            ProcessId::Server => u32::MAX - 1,
            ProcessId::Resource => u32::MAX,
        }
    }
}

impl Ord for ProcessId {
    /// Clients, then the server, then the resource.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for ProcessId {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for ProcessId {
    /// One write; clients count from 1.
    #[inline]
    fn hash<H: Hasher>(&self, to: &mut H) {
        to.write_u32(match self {
            ProcessId::Server => 0,
            ProcessId::Client(client) => client.0.into(),
            ProcessId::Resource => u32::MAX,
        });
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessId::Client(client) => client.fmt(f),
            ProcessId::Server => f.write_str("the server"),
            ProcessId::Resource => f.write_str("the resource"),
        }
    }
}

impl From<ClientId> for ProcessId {
    fn from(client: ClientId) -> Self {
        ProcessId::Client(client)
    }
}
