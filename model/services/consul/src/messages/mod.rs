//! The messages between clients and server. HTTP's status codes become variants: an answer is a 200 with a body unless
//! it says otherwise.
//!
//! `values` has the contents of the store, `lists` the answers to reads of several things, `catalogue` nodes, services and checks,
//! `timers` the deadlines, commands and facts, `display` the labels.

mod catalogue;
mod display;
mod lists;
mod timers;
mod values;

use serde::{Deserialize, Serialize};

pub use catalogue::{Item, Registration, Text};
pub use lists::{KeyList, NodeHealth, NodeList, Row, SessionInfo, SessionList, Tree};
pub use timers::{Command, ConsulEvent, Timer};
pub use values::{Checks, Entry, Key, Opaque, Plain, Prefix, Slots, Spelling, Terms};

use super::Status;
use super::settings::CheckKind;
use fencepost_model::ids::{Call, ClientId, Index, SessionId, Tenure, Token};
use fencepost_model::inline_array::InlineArray;
use fencepost_model::normal::Normal;
use fencepost_model::time::Ticks;

/// The common key of the lock recipe.
pub const LOCK: Key = Key::Lock;

/// The flags that the Go client gives the key of a lock: 0x2ddccbc058a50c18 in Consul. C-LCK-3.
pub const LOCK_FLAGS: u8 = 1;

/// The flags that it gives the keys of a semaphore: 0xe0f69a2baa414de0 in Consul. C-SEM-3.
pub const SEMAPHORE_FLAGS: u8 = 2;

/// A client's request to the server.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the HTTP API's own words")]
pub enum Request {
    CreateSession(Terms),
    RenewSession(SessionId),
    DestroySession(SessionId),
    Get(Key),
    GetConsistent(Key),
    Put {
        key: Key,
        value: Opaque,
        flags: u8,
    },
    Cas {
        key: Key,
        index: Index,
        value: Opaque,
        flags: u8,
    },
    Acquire(Claim),
    Release(Claim),
    Delete(Key),
    DeleteCas {
        key: Key,
        index: Index,
    },
    FindSession,
    List,
    /// Every entry below the prefix. A client in a queue reads the entries that are older than its own key, which has
    /// this index.
    Before(Index),
    Watch(Watch),
    Commit(Transaction),
    SessionInfo(SessionId),
    /// Of a node, or of all.
    Sessions(Option<ClientId>),
    Keys(Prefix),
    Tree(Prefix),
    DeleteTree(Prefix),
    /// The address of the leader.
    Leader,
    Nodes,
    NodeHealth(ClientId),
    SetCheck(ClientId, CheckKind, Status),
    DeregisterCheck(ClientId, CheckKind),
    DeregisterNode(ClientId),
    /// A blocking query with `?consistent`.
    WatchConsistent(Watch),
}

/// The session of an acquire or release, and the value that it writes.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Claim<V = Opaque> {
    /// The key.
    pub key: Key,
    /// The session.
    pub session: SessionId,
    /// The spelling of the session's id.
    #[serde(default, skip_serializing_if = "Spelling::is_plain")]
    pub spelling: Spelling,
    /// The new value.
    pub value: V,
    /// The new flags.
    pub flags: u8,
}

/// A blocking query: the server answers when the target's index is higher than the given index. C-BLK-1.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Watch {
    /// The target.
    pub target: Target,
    /// The index that the client knows; 0 does not block.
    pub index: Index,
    /// The maximum wait at the server, in ticks; none, or 0: no limit. C-BLK-2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Ticks>,
}

/// The target of a blocking query.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// One key.
    Key(Key),
    /// Everything below the semaphore's prefix.
    Prefix,
    /// The names of the keys below a prefix.
    Keys(Prefix),
}

/// Several operations that are applied atomically. C-TXN-3.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Transaction {
    /// In this order.
    pub operations: InlineArray<Operation, 3>,
    /// Ghost: the tenure in which it was sent. The world stamps it, and only properties read it.
    #[serde(default)]
    pub tenure: Tenure,
}

/// One verb of a transaction. C-TXN-2.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the HTTP API's own words")]
pub enum Operation {
    #[default]
    Nothing,
    CheckSession {
        key: Key,
        session: Option<SessionId>,
        #[serde(default, skip_serializing_if = "Spelling::is_plain")]
        spelling: Spelling,
    },
    CheckIndex {
        key: Key,
        index: Index,
    },
    Set {
        key: Key,
        value: Plain,
        flags: u8,
    },
    Cas {
        key: Key,
        index: Index,
        value: Plain,
        flags: u8,
    },
    Lock(Claim<Plain>),
    Unlock(Claim<Plain>),
    Get(Key),
    GetTree(Prefix),
    CheckNotExists(Key),
    Delete(Key),
    DeleteCas {
        key: Key,
        index: Index,
    },
    DeleteTree(Prefix),
    SetCheck(ClientId, CheckKind, Status),
    Unknown,
    Register(Registration),
    RegisterAt(Registration, Index),
    Show(Item),
    Deregister(Item),
    DeregisterAt(Item, Index),
}

/// The server's response.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The new session's id.
    Created(SessionId),
    /// The session is alive; its TTL starts again.
    Renewed,
    /// 404 to a renewal: there is no such session.
    UnknownSession,
    /// `true` or `false`.
    Done(bool),
    /// 500 `invalid session` to an acquire. C-KV-10.
    InvalidSession,
    /// The entry.
    Found(Entry),
    /// 404 to a get.
    Absent,
    /// A session with the requested name, if there is one.
    Named(Option<SessionId>),
    /// The entries below the semaphore's prefix.
    Listed(Listing),
    /// The newest of the older contender keys: its session and its ModifyIndex.
    Before(Option<(SessionId, Index)>),
    /// 200 to a transaction.
    Committed,
    /// 409 to a transaction: the operation with this number, from 0, failed. No operation is applied.
    RolledBack(u8),
    /// 500: the node, or a check for the session, is not registered. C-SES-5.
    Missing(Option<CheckKind>),
    /// 500: a check for the session is critical. C-SES-5.
    Critical(CheckKind),
    /// 500 `No cluster leader`. C-CON-6.
    NoLeader,
    /// No status: the connection was refused, or closed before the answer.
    Disconnected,
    /// A session, if it is alive.
    Session(Option<SessionInfo>),
    /// Live sessions.
    Sessions(SessionList),
    /// The names of keys.
    Keys(KeyList),
    /// Entries of keys.
    Tree(Tree),
    /// Whether there is a leader.
    Leader(bool),
    /// The nodes of the catalogue.
    Nodes(NodeList),
    /// The checks of a node.
    Health(NodeHealth),
}

impl Answer {
    /// Whether the servers could not be asked: there is no leader, or no connection.
    pub fn is_outage(self) -> bool {
        matches!(self, Answer::NoLeader | Answer::Disconnected)
    }
}

/// A recursive read of the semaphore's prefix, as far as contenders use it: the coordination entry, and the sessions
/// named by any entry (C-SEM-4). Contenders ignore entries without a session.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Listing {
    /// The index of the result. C-KV-21.
    pub index: Index,
    /// The coordination entry.
    pub slots: Option<Entry>,
    /// Sessions that hold an entry below the prefix.
    #[normal(sorted)]
    pub alive: InlineArray<SessionId, 6>,
}

/// A holder's order to a third party: write on behalf of the holder, with its sequencer.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Order {
    /// The session that holds the lock.
    pub session: SessionId,
    /// The key's LockIndex, or another number if the scenario uses one.
    pub token: Token,
    /// Ghost: the tenure in which it was given.
    #[serde(default)]
    pub tenure: Tenure,
}

/// A message: each request has its own connection, and the response uses the same connection.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConsulMessage {
    /// To the server.
    #[serde(alias = "ask")]
    Request(Call, Request),
    /// Back.
    #[serde(alias = "tell")]
    Response(Call, Answer),
    /// An order of a holder to a third party.
    #[serde(alias = "hand")]
    Order(ClientId, #[normal(of = 0)] Call, Order),
    /// Back: whether it was carried out.
    #[serde(alias = "handled")]
    OrderDone(ClientId, #[normal(of = 0)] Call, bool),
}

impl Request {
    /// The blocking query that it is, if it is one.
    pub fn watch(&self) -> Option<&Watch> {
        match self {
            Request::Watch(watch) | Request::WatchConsistent(watch) => Some(watch),
            _ => None,
        }
    }
}

impl<V> Claim<V> {
    /// A claim in the session's own spelling.
    pub fn new(key: Key, session: SessionId, value: V, flags: u8) -> Self {
        Claim { key, session, spelling: Spelling::default(), value, flags }
    }
}

impl From<Claim<Plain>> for Claim {
    fn from(Claim { key, session, spelling, value, flags }: Claim<Plain>) -> Self {
        Claim { key, session, spelling, value: value.into(), flags }
    }
}
