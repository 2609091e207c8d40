//! What clients and server say to each other. HTTP's status codes become variants: an answer is a 200 with a body unless
//! it says otherwise.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::settings::Behavior;
use crate::ids::{Call, ClientId, Index, SessionId};
use crate::time::Ticks;
use crate::world::normal::{Normal, Visitor};

/// A key of the store.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(pub u8);

/// The key that the lock recipe agrees on.
pub const LOCK: Key = Key(0);

/// A value that nobody looks into, except observers of a leader election.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opaque {
    /// Nothing.
    Empty,
    /// The name of a client.
    Name(ClientId),
    /// What a bystander writes.
    Foreign,
}

/// What a session is created with. C-SES-1.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Terms {
    /// TTL, if any.
    pub ttl: Option<Ticks>,
    /// Lock-delay as asked for; capped at use (C-SES-9).
    pub lock_delay: Ticks,
    /// What its end does to its keys.
    pub behavior: Behavior,
}

/// An entry of the store, without its key. C-KV-6.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// What was written.
    pub value: Opaque,
    /// The caller's own number.
    pub flags: u8,
    /// How often a free key was acquired; not always.
    pub lock_index: u32,
    /// Who has it.
    pub session: Option<SessionId>,
    /// The log position of its creation.
    pub create: Index,
    /// The log position of its last real change.
    pub modify: Index,
}

/// What a client asks of the server.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the HTTP API's own words")]
pub enum Request {
    CreateSession(Terms),
    RenewSession(SessionId),
    DestroySession(SessionId),
    Get(Key),
    Put { key: Key, value: Opaque, flags: u8 },
    Cas { key: Key, index: Index, value: Opaque, flags: u8 },
    Acquire(Claim),
    Release(Claim),
    Delete(Key),
    DeleteCas { key: Key, index: Index },
}

/// What a session wants with a key, and what it writes at the same time.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// Which key.
    pub key: Key,
    /// For whom.
    pub session: SessionId,
    /// The new value.
    pub value: Opaque,
    /// The new flags.
    pub flags: u8,
}

/// What the server answers.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The new session's id.
    Created(SessionId),
    /// The session lives; its TTL begins again.
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
}

/// A message: each request has a connection of its own, and its answer comes back on that.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Text {
    /// To the server.
    Ask(Call, Request),
    /// Back.
    Tell(Call, Answer),
}

/// Deadlines of server and clients.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// The server's timer of a session. C-TTL-1.
    Expire(SessionId),
    /// The client's next renewal.
    Renew,
    /// The client tries again after a refusal.
    Retry,
    /// The client loses patience with its request.
    GiveUp,
    /// The client's lease is over by its own clock.
    Lapse,
}

/// What a user may ask of a client.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wish {
    /// Get the lock.
    Acquire,
    /// Write to the resource.
    Write,
    /// Give the lock up.
    Release,
    /// Find out who has it.
    Look,
}

/// Facts that only Consul has a word for.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// An observer has read who leads, or that nobody does.
    Discovered {
        /// The observer.
        observer: ClientId,
        /// Whom the key names while a session holds it.
        leader: Option<ClientId>,
    },
}

impl Normal for Entry {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        if let Some(session) = &mut self.session {
            visitor.session(session);
        }
        visitor.index(&mut self.create);
        visitor.index(&mut self.modify);
    }
}

impl Normal for Text {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Text::Ask(call, request) => {
                visitor.call(call);
                request.visit(visitor);
            }
            Text::Tell(call, answer) => {
                visitor.call(call);
                answer.visit(visitor);
            }
        }
    }
}

impl Normal for Request {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Request::RenewSession(session) | Request::DestroySession(session) => visitor.session(session),
            Request::Acquire(claim) | Request::Release(claim) => visitor.session(&mut claim.session),
            Request::Cas { index, .. } | Request::DeleteCas { index, .. } => visitor.index(index),
            Request::CreateSession(_) | Request::Get(_) | Request::Put { .. } | Request::Delete(_) => {}
        }
    }
}

impl Normal for Answer {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Answer::Created(session) => visitor.session(session),
            Answer::Found(entry) => entry.visit(visitor),
            Answer::Absent | Answer::Renewed | Answer::UnknownSession | Answer::Done(_) | Answer::InvalidSession => {}
        }
    }
}

impl Normal for Timer {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        if let Timer::Expire(session) = self {
            visitor.session(session);
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Text::Ask(call, request) => write!(f, "{request} [{}]", call.0),
            Text::Tell(call, answer) => write!(f, "{answer} [{}]", call.0),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::CreateSession(_) => f.write_str("create a session"),
            Request::RenewSession(session) => write!(f, "renew {session}"),
            Request::DestroySession(session) => write!(f, "destroy {session}"),
            Request::Get(key) => write!(f, "get {key}"),
            Request::Put { key, .. } => write!(f, "put {key}"),
            Request::Cas { key, index, .. } => write!(f, "put {key} if at {index}"),
            Request::Acquire(Claim { key, session, .. }) => write!(f, "acquire {key} for {session}"),
            Request::Release(Claim { key, session, .. }) => write!(f, "release {key} of {session}"),
            Request::Delete(key) => write!(f, "delete {key}"),
            Request::DeleteCas { key, index } => write!(f, "delete {key} if at {index}"),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Created(session) => write!(f, "created {session}"),
            Answer::Renewed => f.write_str("renewed"),
            Answer::UnknownSession => f.write_str("404, unknown session"),
            Answer::Done(done) => write!(f, "{done}"),
            Answer::InvalidSession => f.write_str("500, invalid session"),
            Answer::Found(entry) => {
                write!(f, "LockIndex {}, ModifyIndex {}", entry.lock_index, entry.modify.0)?;
                match entry.session {
                    Some(session) => write!(f, ", held by {session}"),
                    None => f.write_str(", free"),
                }
            }
            Answer::Absent => f.write_str("404, no such key"),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LOCK => f.write_str("the key"),
            Key(other) => write!(f, "key {other}"),
        }
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Expire(session) => write!(f, "the time of {session} is up"),
            Timer::Renew => f.write_str("time to renew the session"),
            Timer::Retry => f.write_str("time to try again"),
            Timer::GiveUp => f.write_str("no answer for too long"),
            Timer::Lapse => f.write_str("the lease is over"),
        }
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wish::Acquire => "take the lock",
            Wish::Write => "write",
            Wish::Release => "give the lock up",
            Wish::Look => "find out who has the lock",
        })
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Discovered { observer, leader: Some(leader) } => {
                write!(f, "{observer} discovers that {leader} leads")
            }
            Word::Discovered { observer, leader: None } => write!(f, "{observer} discovers that nobody leads"),
        }
    }
}
