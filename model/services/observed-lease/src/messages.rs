//! The messages between clients and store, the deadlines of clients, and the commands of users.

use std::hash::{Hash, Hasher};

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use fencepost_model::ids::{Call, Index, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::program::Alarm;
use fencepost_model::time::{StartTime, Ticks};

/// The identity that a contender writes as the holder. No two runs of any clients have the same session id.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    /// An identity of its own, as in hostname plus random part (OL-K-17).
    Own(SessionId),
    /// The identity that all clients share (OL-10).
    Common,
    /// That of a candidate: the number of the client, from 1. A higher number stands for versions that the strategy prefers (OL-K-16).
    Candidate(u8),
}

/// The content of the record, as a writer sends it (OL-S-1).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Normal, Deserialize)]
pub struct Entry {
    /// The holder's identity; none: the lease is free.
    pub holder: Option<Name>,
    /// The recorded duration, in ticks.
    pub duration: Ticks,
    /// The instant on the writer's wall clock before it sent the request; kept only where a reader interprets it (OL-S-7).
    pub renewed: Option<StartTime>,
    /// The number of transitions (OL-K-5); kept only where it is the token.
    pub transitions: u8,
    /// The candidate that is to follow the holder, where a controller elects (OL-K-16).
    #[serde(default)]
    pub preferred: Option<Name>,
}

impl Hash for Entry {
    /// Hashes nothing where no candidate is preferred: elections without a controller have the fingerprints that they had before.
    fn hash<H: Hasher>(&self, to: &mut H) {
        let Entry { holder, duration, renewed, transitions, preferred } = self;
        (holder, duration, renewed, transitions).hash(to);
        if let Some(preferred) = preferred {
            preferred.hash(to);
        }
    }
}

/// By hand: a field that is only left out would still count in a digest.
impl Serialize for Entry {
    fn serialize<T: Serializer>(&self, to: T) -> Result<T::Ok, T::Error> {
        let Entry { holder, duration, renewed, transitions, preferred } = self;
        let mut fields = to.serialize_struct("Entry", if preferred.is_none() { 4 } else { 5 })?;
        fields.serialize_field("holder", holder)?;
        fields.serialize_field("duration", duration)?;
        fields.serialize_field("renewed", renewed)?;
        fields.serialize_field("transitions", transitions)?;
        if preferred.is_some() {
            fields.serialize_field("preferred", preferred)?;
        }
        fields.end()
    }
}

/// The LeaseCandidates: the objects by which processes stand for election, as the bits of their numbers (OL-K-16).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Candidates(u8);

/// How many candidates there can be.
pub(super) const CANDIDATES_MAX: u8 = 8;

impl Candidates {
    /// Their numbers, the best one last.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (1..=CANDIDATES_MAX).filter(move |number| self.0 & Self::bit(*number) != 0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Whether there is one of this name.
    pub fn has(self, name: Name) -> bool {
        self.iter().any(|number| Name::Candidate(number) == name)
    }

    pub(super) fn add(&mut self, number: u8) {
        self.0 |= Self::bit(number);
    }

    pub(super) fn remove(&mut self, number: u8) {
        self.0 &= !Self::bit(number);
    }

    fn bit(number: u8) -> u8 {
        assert!((1..=CANDIDATES_MAX).contains(&number), "candidates have numbers from 1 to {CANDIDATES_MAX}");
        1 << (number - 1)
    }
}

impl Hash for Candidates {
    /// Hashes nothing if there are none.
    fn hash<H: Hasher>(&self, to: &mut H) {
        if !self.is_empty() {
            self.0.hash(to);
        }
    }
}

/// The record as the store shows it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Shown {
    /// The version that a conditional write has to name (OL-S-1).
    pub version: Index,
    /// The version at which the content last changed. Contenders compare contents, not versions (OL-S-8).
    pub content: Index,
    /// The content.
    pub entry: Entry,
}

/// A request to the store.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Read the record (OL-S-2).
    Get,
    /// Create the record, if there is none (OL-S-3).
    Create(Entry),
    /// Replace the record, if it has this version; without a version: in any case (OL-K-23).
    Put(Entry, Option<Index>),
    /// Delete the record, if it has this version; without a version: in any case (OL-O-3).
    Delete(Option<Index>),
    /// `lease-row`: take the row if its end has passed (OL-R-1).
    Take {
        /// The new end.
        until: RowEnd,
        /// The time of the client, with which the old end is compared; none: the database's.
        now: Option<StartTime>,
    },
    /// `lease-row`: extend the row by so much from now on the database's clock, if it is the client's and has not ended (OL-R-5).
    Extend(Ticks),
    /// `lease-row`: end the row then, if it is the client's; on the database's clock not before now (OL-R-4).
    Unlock(RowEnd),
    /// Replace the record, if it has this generation, its number of transitions; without a generation: create it, if there is none (OL-O-4).
    PutItem(Entry, Option<u8>),
    /// Create the object of the candidate of this number (OL-K-16).
    Nominate(u8),
    /// List the candidates (OL-K-16).
    Candidates,
    /// Delete the object of the candidate of this number (OL-20).
    Withdraw(u8),
}

/// When a row ends.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct RowEnd {
    /// A time that the client has read on its clock (OL-R-2); none: the database counts from its own time (OL-R-3).
    pub from: Option<StartTime>,
    /// How long after that.
    pub length: Ticks,
}

/// A response of the store.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Response {
    /// The record; none: there is no record (404).
    Found(Option<Shown>),
    /// The write was applied, and gave the record this version.
    Written(Index),
    /// The record was deleted, or the row was given back.
    Gone,
    /// The condition of the write does not hold (409, 412), or the row is another client's.
    Conflict,
    /// The record is invalid (422).
    Invalid,
    /// The store answers with an error (5xx).
    Unavailable,
    /// The condition of a `PutItem` does not hold: the record that it was tested on (OL-O-4).
    ConditionFailed(Option<Shown>),
    /// The candidates.
    Candidates(Candidates),
}

/// A request or a response, on a call of the client.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservedLeaseMessage {
    /// A client sends a request.
    Request(Call, Request),
    /// The store answers.
    Response(Call, Response),
    /// No message of the protocol: the machine of the client puts its process to sleep for this number of grains; see `budget.naps`. A fault of a
    /// service changes nothing but the server, so that it reaches a client as a message.
    Sleep(u16),
}

/// Deadlines.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// The next attempt begins.
    Attempt,
    /// A sleep of the shortest length begins.
    Draw,
    /// A request is given up.
    RequestTimeout,
    /// The deadline of renewing is over.
    RenewDeadline,
    /// The time for the release is over.
    ReleaseDeadline,
    /// The time that a cancelled elector waits for its work is over.
    Grace,
    /// The work has a deadline of its own, and it is over.
    Guard,
    /// The work has stopped.
    WorkStops,
    /// `lease-row`: the statement is sent.
    Statement,
    /// `lease-row`: the row is extended.
    KeepAlive,
    /// A deadline of a client's program.
    Program(Alarm),
}

/// The commands of a user.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Run the election.
    Run,
    /// Cancel it.
    Cancel,
    /// Write to the resource.
    Write,
}
