//! What a program can ask of the store: each request with its answers and errors. Versions and contents are opaque: they can be
//! compared for equality, and sent back.

use std::fmt;
use std::future::Future;

use serde::{Deserialize, Serialize};

use crate::ObservedLease;
use crate::messages::{Candidates, Entry, Name, Request, Response, RowEnd, Shown};
use fencepost_model::ids::{Index, Token};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Handle, WallTime};
use fencepost_model::time::Ticks;

/// What a program says: a request to the store, or a report.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaseSaying {
    /// To the store.
    Ask(Request),
    /// A report: another's record is valid.
    Refused,
}

/// The record of an election, without the times of its writer, which most clients do not interpret (OL-S-7): every write makes it
/// another [raw record](RawRecord), because renewTime changes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct LeaseRecord {
    /// holderIdentity; none: the lease is free.
    pub holder: Option<Name>,
    /// leaseDurationSeconds, in ticks.
    pub duration: Ticks,
    /// leaseTransitions: left at 0 where nothing reads them.
    pub transitions: u8,
}

impl LeaseRecord {
    /// The same with renewTime, by the wall clock of its writer (OL-K-20, OL-K-22, OL-K-23, OL-O-2).
    pub fn renewed_at(self, time: WallTime) -> RenewedRecord {
        RenewedRecord { record: self, renewed: time }
    }
}

/// A record that its readers compare with their wall clocks.
#[derive(Copy, Clone, Debug, Normal, Serialize, Deserialize)]
pub struct RenewedRecord {
    /// All else.
    pub record: LeaseRecord,
    /// renewTime.
    pub renewed: WallTime,
}

/// A record as a controller writes it.
#[derive(Copy, Clone, Debug)]
pub struct ElectedRecord {
    /// All else.
    pub record: LeaseRecord,
    /// renewTime.
    pub renewed: Option<WallTime>,
    /// preferredHolder.
    pub preferred: Option<Name>,
}

/// The lease as the store showed it.
#[derive(Copy, Clone, Debug, Normal, Serialize, Deserialize)]
pub struct LeaseObject {
    /// Its spec.
    pub record: LeaseRecord,
    /// renewTime; none: its writer left it out.
    pub renewed: Option<WallTime>,
    /// preferredHolder; none: no candidate is to follow. OL-K-16.
    pub preferred: Option<Name>,
    /// The spec as bytes.
    pub raw: RawRecord,
    /// Its resourceVersion.
    pub version: LeaseVersion,
}

/// Two are equal if their versions are: readings of wall clocks are not compared.
impl PartialEq for LeaseObject {
    fn eq(&self, other: &Self) -> bool {
        (self.raw, self.version) == (other.raw, other.version)
    }
}

impl Eq for LeaseObject {}

/// A record as bytes, times included: two are equal iff no write came between the reads that showed them (OL-S-8).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct RawRecord(Index);

/// A resourceVersion: it changes with the record, and with labels (OL-S-1).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct LeaseVersion(Index);

impl LeaseVersion {
    /// The version as the token of a tenure.
    pub fn token(self) -> Token {
        self.0.token()
    }
}

/// When a row ends: so long after a time that the client has read, or after that of the database. OL-R-2, OL-R-3.
#[derive(Copy, Clone, Debug)]
pub enum RowUntil {
    /// A time of the client.
    Client(WallTime, Ticks),
    /// The database's.
    Database(Ticks),
}

/// What becomes of a `PutItem`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PutItem {
    /// It was applied.
    Written,
    /// `ConditionalCheckFailedException`, with the item that the condition was tested on.
    ConditionFailed(Option<LeaseObject>),
}

/// Why a request has no result.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LeaseError {
    /// 404: a read finds no lease.
    NotFound,
    /// 409: there is one already.
    AlreadyExists,
    /// 409: it has another version, or it was deleted (OL-S-3, OL-S-4).
    Conflict,
    /// 422: the record is invalid (OL-S-5).
    Invalid,
    /// 5xx, or no answer in time: a request that was given up may be applied (OL-S-6).
    Unavailable,
}

/// The requests of the store. Each waits for its answer, for ever if none comes: wrap it in a [`timeout`](Handle::timeout).
pub trait LeaseApi {
    /// GET. OL-S-2.
    fn get(&self) -> impl Future<Output = Result<LeaseObject, LeaseError>>;

    /// POST. OL-S-3.
    fn create(&self, record: impl Into<Entry>) -> impl Future<Output = Result<LeaseObject, LeaseError>>;

    /// PUT with the version that it replaces. OL-S-3.
    fn update(
        &self,
        version: LeaseVersion,
        record: impl Into<Entry>,
    ) -> impl Future<Output = Result<LeaseObject, LeaseError>>;

    /// A merge patch without a version. OL-K-23.
    fn patch(&self, record: impl Into<Entry>) -> impl Future<Output = Result<LeaseObject, LeaseError>>;

    /// DELETE, if it has this version; without a version: in any case. OL-O-3.
    fn delete(&self, version: Option<LeaseVersion>) -> impl Future<Output = Result<(), LeaseError>>;

    /// `lease-row`: one statement that takes the row if its end has passed, compared with this time of the client, or with the database's:
    /// whether it did. OL-R-1.
    fn take_row(&self, until: RowUntil, now: Option<WallTime>) -> impl Future<Output = Result<bool, LeaseError>>;

    /// `lease-row`: extends the row by so much from the database's time on, if it is the client's and has not ended: whether it did. OL-R-5.
    fn extend_row(&self, length: Ticks) -> impl Future<Output = Result<bool, LeaseError>>;

    /// `lease-row`: ends the row then, or now if that is later, if it is the client's: whether it was. OL-R-4.
    fn end_row(&self, until: RowUntil) -> impl Future<Output = Result<bool, LeaseError>>;

    /// PutItem of DynamoDB with a condition: the item has this generation, its number of transitions; none: there is no item. OL-O-4.
    fn put_item(
        &self,
        record: impl Into<Entry>,
        generation: Option<u8>,
    ) -> impl Future<Output = Result<PutItem, LeaseError>>;

    /// Creates the LeaseCandidate of this number. OL-K-16.
    fn nominate(&self, number: u8) -> impl Future<Output = Result<(), LeaseError>>;

    /// Deletes the LeaseCandidate of this number. OL-20.
    fn withdraw(&self, number: u8) -> impl Future<Output = Result<(), LeaseError>>;

    /// Lists the LeaseCandidates. OL-K-16.
    fn candidates(&self) -> impl Future<Output = Result<Candidates, LeaseError>>;

    /// Reports that another's record is valid.
    fn refused(&self);

    /// An identity that no other process has: hostname and a random part. OL-K-17.
    fn unique_identity(&self) -> impl Future<Output = Name>;
}

async fn ask(handle: &Handle<ObservedLease>, request: Request) -> Response {
    handle.request(LeaseSaying::Ask(request)).await
}

/// The lease after a write: its content has the version of the write.
fn written(response: Response, entry: Entry, refused: LeaseError) -> Result<LeaseObject, LeaseError> {
    match response {
        Response::Written(version) => Ok(Shown { version, content: version, entry }.into()),
        Response::Conflict => Err(refused),
        Response::Invalid => Err(LeaseError::Invalid),
        _ => Err(LeaseError::Unavailable),
    }
}

impl From<LeaseRecord> for Entry {
    fn from(LeaseRecord { holder, duration, transitions }: LeaseRecord) -> Entry {
        Entry { holder, duration, renewed: None, transitions, preferred: None }
    }
}

impl From<RenewedRecord> for Entry {
    fn from(RenewedRecord { record, renewed }: RenewedRecord) -> Entry {
        Entry { renewed: Some(renewed.into()), ..record.into() }
    }
}

impl From<ElectedRecord> for Entry {
    fn from(ElectedRecord { record, renewed, preferred }: ElectedRecord) -> Entry {
        Entry { renewed: renewed.map(Into::into), preferred, ..record.into() }
    }
}

impl From<Shown> for LeaseObject {
    fn from(Shown { version, content, entry }: Shown) -> LeaseObject {
        let Entry { holder, duration, transitions, renewed, preferred } = entry;
        let record = LeaseRecord { holder, duration, transitions };
        let renewed = renewed.map(WallTime::from);
        LeaseObject { record, renewed, preferred, raw: RawRecord(content), version: LeaseVersion(version) }
    }
}

impl From<RowUntil> for RowEnd {
    fn from(until: RowUntil) -> RowEnd {
        match until {
            RowUntil::Client(from, length) => RowEnd { from: Some(from.into()), length },
            RowUntil::Database(length) => RowEnd { from: None, length },
        }
    }
}

/// Whether a statement has changed a row.
fn changed(response: Response) -> Result<bool, LeaseError> {
    match response {
        Response::Written(_) | Response::Gone => Ok(true),
        Response::Conflict => Ok(false),
        _ => Err(LeaseError::Unavailable),
    }
}

impl LeaseApi for Handle<ObservedLease> {
    async fn get(&self) -> Result<LeaseObject, LeaseError> {
        match ask(self, Request::Get).await {
            Response::Found(Some(shown)) => Ok(shown.into()),
            Response::Found(None) => Err(LeaseError::NotFound),
            _ => Err(LeaseError::Unavailable),
        }
    }

    async fn create(&self, record: impl Into<Entry>) -> Result<LeaseObject, LeaseError> {
        let entry = record.into();
        written(ask(self, Request::Create(entry)).await, entry, LeaseError::AlreadyExists)
    }

    async fn update(&self, version: LeaseVersion, record: impl Into<Entry>) -> Result<LeaseObject, LeaseError> {
        let entry = record.into();
        written(ask(self, Request::Put(entry, Some(version.0))).await, entry, LeaseError::Conflict)
    }

    async fn patch(&self, record: impl Into<Entry>) -> Result<LeaseObject, LeaseError> {
        let entry = record.into();
        written(ask(self, Request::Put(entry, None)).await, entry, LeaseError::Conflict)
    }

    async fn delete(&self, version: Option<LeaseVersion>) -> Result<(), LeaseError> {
        match ask(self, Request::Delete(version.map(|version| version.0))).await {
            Response::Gone => Ok(()),
            Response::Conflict => Err(LeaseError::Conflict),
            _ => Err(LeaseError::Unavailable),
        }
    }

    async fn take_row(&self, until: RowUntil, now: Option<WallTime>) -> Result<bool, LeaseError> {
        changed(ask(self, Request::Take { until: until.into(), now: now.map(Into::into) }).await)
    }

    async fn extend_row(&self, length: Ticks) -> Result<bool, LeaseError> {
        changed(ask(self, Request::Extend(length)).await)
    }

    async fn end_row(&self, until: RowUntil) -> Result<bool, LeaseError> {
        changed(ask(self, Request::Unlock(until.into())).await)
    }

    async fn put_item(&self, record: impl Into<Entry>, generation: Option<u8>) -> Result<PutItem, LeaseError> {
        match ask(self, Request::PutItem(record.into(), generation)).await {
            Response::Written(_) => Ok(PutItem::Written),
            Response::ConditionFailed(item) => Ok(PutItem::ConditionFailed(item.map(Into::into))),
            Response::Invalid => Err(LeaseError::Invalid),
            _ => Err(LeaseError::Unavailable),
        }
    }

    async fn nominate(&self, number: u8) -> Result<(), LeaseError> {
        match ask(self, Request::Nominate(number)).await {
            Response::Written(_) => Ok(()),
            _ => Err(LeaseError::Unavailable),
        }
    }

    async fn withdraw(&self, number: u8) -> Result<(), LeaseError> {
        match ask(self, Request::Withdraw(number)).await {
            Response::Gone => Ok(()),
            _ => Err(LeaseError::Unavailable),
        }
    }

    async fn candidates(&self) -> Result<Candidates, LeaseError> {
        match ask(self, Request::Candidates).await {
            Response::Candidates(candidates) => Ok(candidates),
            _ => Err(LeaseError::Unavailable),
        }
    }

    fn refused(&self) {
        self.send(LeaseSaying::Refused);
    }

    async fn unique_identity(&self) -> Name {
        Name::Own(self.unique().await)
    }
}

impl fmt::Display for LeaseSaying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeaseSaying::Ask(request) => request.fmt(f),
            LeaseSaying::Refused => f.write_str("another client has the lease"),
        }
    }
}
