//! Keys, requests, responses, deadlines, and the commands of users.

use serde::{Deserialize, Serialize};

use fencepost_model::ids::{Call, ClientId, Index, SessionId, Tenure};
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
    /// Put it with this lease.
    Put(SessionId),
    /// Delete it.
    Delete,
    /// Write the protected value, which is a key of this store (E-CC-24). The tenure is a ghost.
    Write(Tenure),
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
}

/// A key as a read shows it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Shown {
    /// The key.
    pub key: Key,
    /// Its create revision.
    pub created: Index,
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
    /// Read the holder.
    Look,
}
