//! Keys, requests, responses, deadlines, and the commands of users.

use std::hash::{Hash, Hasher};

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::rarely::hash_rarely;
use fencepost_model::ids::{Call, ClientId, Index, RawId, SessionId, Tenure};
use fencepost_model::normal::Normal;
use fencepost_model::program::Alarm;
use fencepost_model::time::Ticks;

/// A key below the prefix of the lock (E-CC-10, E-CC-25).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Key {
    /// `name/LEASE`: the key of a contender; a lease names it.
    Of(SessionId),
    /// `name/sub/LEASE`: the key of a lock whose name begins like this one's.
    Below(SessionId),
    /// A key that an operator has put below the prefix, without a lease.
    Stranger,
}

impl Key {
    /// The client whose lease names it; none: an operator's.
    pub fn client(self) -> Option<ClientId> {
        match self {
            Key::Of(lease) | Key::Below(lease) => Some(lease.raw().creator),
            Key::Stranger => None,
        }
    }
}

/// A value of a key, which the store compares with nothing (E-KV-1).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EtcdValue {
    /// No bytes.
    #[default]
    Empty,
    /// The name of a client, as candidates announce themselves.
    Name(ClientId),
    /// A number that a program has chosen.
    Number(u8),
    /// Something that a program has no name for.
    Other,
}

impl EtcdValue {
    /// Whether it has no bytes: messages leave it out then.
    pub fn is_empty(&self) -> bool {
        *self == EtcdValue::Empty
    }
}

impl Hash for EtcdValue {
    /// Most keys have no value.
    fn hash<H: Hasher>(&self, to: &mut H) {
        match *self {
            EtcdValue::Empty => {}
            EtcdValue::Name(client) => hash_rarely(1 << 16 | u32::from(client.0), to),
            EtcdValue::Number(number) => hash_rarely(2 << 16 | u32::from(number), to),
            EtcdValue::Other => hash_rarely(3 << 16, to),
        }
    }
}

/// Which keys a watch of events is about.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyRange {
    /// One key.
    One(Key),
    /// All keys below the prefix of the lock (E-CC-25).
    Prefix,
}

impl KeyRange {
    /// Whether a key is one of them.
    pub fn has(self, key: Key) -> bool {
        match self {
            KeyRange::One(one) => one == key,
            KeyRange::Prefix => true,
        }
    }
}

/// Where a watch of events goes on. Programs get one from a revision, and the next one from each event.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct EventCursor {
    /// The first revision.
    from: Index,
    /// How many events of that revision were shown.
    past: u8,
}

impl EventCursor {
    /// `WithRev(revision)`.
    pub fn at(revision: Index) -> Self {
        EventCursor { from: revision, past: 0 }
    }

    /// `WithRev(revision + 1)`.
    pub fn after(revision: Index) -> Self {
        EventCursor::at(revision.next())
    }

    /// The first revision of which an event is missing: what a client asks for whose connection broke (E-W-7).
    pub fn start(self) -> Index {
        if self.past == 0 { self.from } else { self.from.next() }
    }

    /// How many events of which revision were shown.
    pub fn shown(self) -> (Index, u8) {
        (self.from, self.past)
    }

    /// Whether an event comes next or later.
    pub fn is_before(self, event: &KeyEvent) -> bool {
        (self.from, self.past) < (event.revision, event.place)
    }
}

/// A put or a deletion, as a watch shows it (E-W-2, E-W-4).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct KeyEvent {
    /// The key, as it was put. Of one that was deleted there is nothing but its name.
    pub shown: Shown,
    /// The revision: the modification revision of the key.
    pub revision: Index,
    /// Its place among the events of that revision that the watch shows, from 1.
    pub place: u8,
    /// Whether the key was deleted.
    pub is_delete: bool,
}

impl KeyEvent {
    /// Where the watch goes on.
    pub fn cursor(&self) -> EventCursor {
        EventCursor { from: self.revision, past: self.place }
    }
}

/// What a transaction compares: the create revision of a key; 0: there is no such key (E-TXN-2).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Compare {
    /// The key.
    pub key: Key,
    /// The create revision that it must have.
    pub created: Index,
}

/// What a transaction does with the key that it compares, if the compare holds. Otherwise it reads the key.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Put it with this lease, and without a value.
    Put(SessionId),
    /// Delete it.
    Delete,
    /// Write the protected value, which is a key of this store (E-CC-24). The tenure is a ghost.
    Write(Tenure),
    /// Put it with this lease and this value. The answer has the key as it is then, and not the oldest one (E-CC-20, E-CC-22).
    PutValue(SessionId, EtcdValue),
}

impl Operation {
    /// The value that it puts.
    pub fn value(self) -> EtcdValue {
        match self {
            Operation::PutValue(_, value) => value,
            Operation::Put(_) | Operation::Delete | Operation::Write(_) => EtcdValue::Empty,
        }
    }
}

/// A request.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Grant the lease with this id and this TTL (E-LS-1).
    Grant(SessionId, Ticks),
    /// Renew the lease (E-LS-3).
    Renew(SessionId),
    /// Revoke the lease (E-LS-8).
    Revoke(SessionId),
    /// A transaction; its answer has the oldest key of the prefix, too (E-CC-10).
    Txn(Compare, Operation),
    /// Read the newest key of the prefix that was created before this revision (E-KV-7, E-CC-11).
    Newest(Index),
    /// Read the key (E-CC-12).
    Get(Key),
    /// Watch the key from this revision on, until it is deleted (E-CC-11).
    Watch(Key, Index),
    /// Delete the key (E-CC-14).
    Delete(Key),
    /// Read the holder, in the way of `service.reads`.
    Holder,
    /// Put the key, with this lease or none (E-KV-1, E-LS-9).
    Put(Key, Option<SessionId>, EtcdValue),
    /// Read the oldest key of the prefix (E-CC-23).
    First {
        /// Whether from the local copy of the member (E-KV-10).
        serializable: bool,
    },
    /// Watch the keys from there on, until the next event (E-W-2).
    Follow(KeyRange, EventCursor),
}

/// A key as a read shows it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Deserialize)]
pub struct Shown {
    /// The key.
    pub key: Key,
    /// Its create revision.
    pub created: Index,
    /// Its value.
    #[serde(default)]
    pub value: EtcdValue,
}

impl Serialize for Shown {
    /// Without a value it is what it was before there were values: digests of older executions stay.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Shown { key, created, value } = self;
        let mut fields = to.serialize_struct("Shown", if value.is_empty() { 2 } else { 3 })?;
        fields.serialize_field("key", key)?;
        fields.serialize_field("created", created)?;
        if !value.is_empty() {
            fields.serialize_field("value", value)?;
        }
        fields.end()
    }
}

/// A response.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Response {
    /// The lease was granted, or a lease with this id exists (E-LS-1).
    Granted,
    /// The lease was renewed (E-LS-3).
    Renewed,
    /// There is no such lease: `TTL` is 0 (E-LS-6).
    NoLease,
    /// The request was carried out.
    Done,
    /// A transaction was carried out.
    Txn {
        /// The create revision of the compared key afterwards; none: there is no such key.
        created: Option<Index>,
        /// The oldest key of the prefix.
        oldest: Option<Shown>,
    },
    /// A key was found, or none, at this revision of the store.
    Found(Option<Shown>, Index),
    /// The watched key was deleted.
    Deleted,
    /// The revision from which a watch began is compacted (E-W-5).
    Compacted,
    /// The connection is broken; a client resumes its watch (E-W-7).
    Disconnected,
    /// The holder; none: no key, or a key of no client.
    Holder(Option<ClientId>),
    /// The request failed, and was not carried out.
    Failed,
    /// A transaction that puts a value was carried out: the compared key afterwards; none: there is no such key.
    Key(Option<Shown>),
    /// The next event of a watch.
    Event(KeyEvent),
}

/// A request or a response, on a call of the client.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EtcdMessage {
    /// A client sends a request.
    Request(Call, Request),
    /// A member answers.
    Response(Call, Response),
}

/// Deadlines.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// The leader revokes an overdue lease (E-LS-5).
    Revoke(SessionId),
    /// The leader logs the rest of a lease (E-LS-13).
    Checkpoint(SessionId),
    /// A leader is promoted, or the members run again (E-LD-1).
    Return,
    /// In the view of the stalled leader a lease is overdue: it proposes to revoke it (E-LD-9).
    RevokeStalled(SessionId),
    /// That proposal is committed, after the stall (E-LD-9).
    Forwarded(SessionId),
    /// A client sends the next renewal (E-CC-2).
    Renewal,
    /// A client drops its session (E-CC-3).
    SessionDone,
    /// A self-limiting holder stops.
    Stop,
    /// A deadline of a client that runs a program.
    Program(Alarm),
    /// A client waits no longer for the revoke of its lease (E-CC-6).
    Close,
}

/// The commands of a user.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Take the lock, or campaign.
    Acquire,
    /// Unlock, or resign.
    Release,
    /// Write to the resource.
    Write,
    /// Read the holder. A third party is told to do what it does: it reads who leads.
    Look,
}
