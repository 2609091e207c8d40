//! What a program can ask of etcd, as clientv3 has it.

use std::fmt;
use std::future::Future;

use serde::{Deserialize, Serialize};

use crate::Etcd;
use crate::events::Observation;
use crate::messages::{Compare, EtcdValue, Key, Operation, Request, Response, Shown};
use fencepost_model::ids::{Index, SessionId, Tenure};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle};
use fencepost_model::time::Ticks;

/// What a program sends: a request, or something about itself that is a fact of the execution and no message.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EtcdQuery {
    /// A request.
    Ask(Request),
    /// Its session has ended: `Done` closes (E-CC-3, E-CC-5).
    SessionEnded,
    /// Its wait has failed, for its watch is compacted (E-W-5).
    Compacted,
    /// It has read the oldest key, or that there is none (E-CC-23).
    HasRead(Option<Key>),
    /// `Observe` tells who leads (E-CC-23).
    Observed(Observation),
    /// The channel of `Observe` closes (E-CC-23).
    ObserveEnded,
}

impl fmt::Display for EtcdQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EtcdQuery::Ask(request) => request.fmt(f),
            EtcdQuery::SessionEnded => f.write_str("its session has ended"),
            EtcdQuery::Compacted => f.write_str("its watch is compacted"),
            EtcdQuery::HasRead(Some(key)) => write!(f, "the oldest is {key}"),
            EtcdQuery::HasRead(None) => f.write_str("there is no key"),
            EtcdQuery::Observed(told) => write!(f, "{} leads", told.shown.key),
            EtcdQuery::ObserveEnded => f.write_str("its channel is closed"),
        }
    }
}

/// A response that is no success.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct EtcdError(pub Response);

impl EtcdError {
    /// The code of gRPC (E-GEN-7). A watch that ends has none.
    pub fn code(&self) -> Option<u8> {
        match self.0 {
            Response::NoLease => Some(5),
            Response::Key(_) => Some(2),
            Response::Compacted => Some(11),
            Response::Failed => Some(14),
            _ => None,
        }
    }

    /// The message, as the servers write it; otherwise what the model says of the response.
    pub fn message(&self) -> String {
        match self.0 {
            Response::NoLease => "etcdserver: requested lease not found".to_owned(),
            Response::Compacted => "etcdserver: mvcc: required revision has been compacted".to_owned(),
            Response::Key(_) => "election: not leader".to_owned(),
            response => response.to_string(),
        }
    }
}

impl fmt::Display for EtcdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for EtcdError {}

impl From<EtcdError> for Gone {
    fn from(_: EtcdError) -> Gone {
        Gone
    }
}

type Result<T> = std::result::Result<T, EtcdError>;

/// What the first step of `Lock` and `Campaign` is told (E-CC-10, E-CC-20).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct LeasePut {
    /// The create revision of the key: that of the put, or of the key that existed.
    pub created: Index,
    /// The oldest key of the prefix.
    pub oldest: Option<Shown>,
}

/// The requests of clientv3. Each waits for its answer, for ever if none comes, as `context.Background()` does: wrap it in a
/// [`timeout`](Handle::timeout) if the client gives up. A request that fails was not carried out (E-GEN-8 leaves that open: then no answer
/// comes here).
pub trait EtcdApi {
    /// `LeaseGrant`, with an id of the client's; one that exists is left alone. E-LS-1.
    fn grant(&self, lease: SessionId, ttl: Ticks) -> impl Future<Output = Result<()>>;

    /// `KeepAliveOnce`: false if the answer is 0, for the lease is gone. E-LS-3, E-LS-6.
    fn keep_alive_once(&self, lease: SessionId) -> impl Future<Output = Result<bool>>;

    /// `LeaseRevoke`. E-LS-8.
    fn revoke(&self, lease: SessionId) -> impl Future<Output = Result<()>>;

    /// `Txn().If(CreateRevision(key) = 0).Then(OpPut(key, lease), get oldest).Else(OpGet(key), get oldest)`. E-CC-10.
    fn put_if_absent(&self, key: Key, lease: SessionId) -> impl Future<Output = Result<LeasePut>>;

    /// `Txn().If(CreateRevision(key) = created).Then(OpPut(key, lease))`: whether it succeeded. E-CC-22.
    fn put_if_created(&self, key: Key, created: Index, lease: SessionId) -> impl Future<Output = Result<bool>>;

    /// `Txn().If(CreateRevision(key) = created).Then(OpPut(key, value, lease)).Else(OpGet(key))`: the key afterwards. E-CC-20, E-CC-22.
    fn put_value_if_created(
        &self,
        key: Key,
        created: Index,
        lease: SessionId,
        value: EtcdValue,
    ) -> impl Future<Output = Result<Option<Shown>>>;

    /// `Put(key, value, WithLease(lease))`. E-KV-1, E-LS-9.
    fn put(&self, key: Key, lease: Option<SessionId>, value: EtcdValue) -> impl Future<Output = Result<()>>;

    /// `Txn().If(CreateRevision(key) = created).Then(OpDelete(key))`: carried out, or not, for the compare failed. E-CC-22.
    fn delete_if_created(&self, key: Key, created: Index) -> impl Future<Output = Result<()>>;

    /// `Txn().If(CreateRevision(key) = created).Then(OpPut(value))` of the protected value: whether it succeeded. E-CC-24.
    fn write_if_created(&self, key: Key, created: Index) -> impl Future<Output = Result<bool>>;

    /// `Get(key)`, with the revision of the store. E-KV-10.
    fn get(&self, key: Key) -> impl Future<Output = Result<(Option<Shown>, Index)>>;

    /// `Get(prefix, WithLastCreate(), WithMaxCreateRev(before - 1))`, with the revision of the store. E-KV-7.
    fn newest_before(&self, before: Index) -> impl Future<Output = Result<(Option<Shown>, Index)>>;

    /// `Delete(key)`. E-CC-14.
    fn delete(&self, key: Key) -> impl Future<Output = Result<()>>;

    /// `Watch(key, WithRev(from))` until the key is deleted. E-W-2, E-W-5, E-W-7.
    fn watch_delete(&self, key: Key, from: Index) -> impl Future<Output = Result<()>>;
}

impl EtcdApi for Handle<Etcd> {
    async fn grant(&self, lease: SessionId, ttl: Ticks) -> Result<()> {
        match self.request(EtcdQuery::Ask(Request::Grant(lease, ttl))).await {
            Response::Granted => Ok(()),
            other => Err(EtcdError(other)),
        }
    }

    async fn keep_alive_once(&self, lease: SessionId) -> Result<bool> {
        match self.request(EtcdQuery::Ask(Request::Renew(lease))).await {
            Response::Renewed => Ok(true),
            Response::NoLease => Ok(false),
            other => Err(EtcdError(other)),
        }
    }

    async fn revoke(&self, lease: SessionId) -> Result<()> {
        done(self.request(EtcdQuery::Ask(Request::Revoke(lease))).await)
    }

    async fn put_if_absent(&self, key: Key, lease: SessionId) -> Result<LeasePut> {
        match transact(self, key, Index::NONE, Operation::Put(lease)).await? {
            (Some(created), oldest) => Ok(LeasePut { created, oldest }),
            (None, _) => Err(EtcdError(Response::Failed)),
        }
    }

    async fn put_if_created(&self, key: Key, created: Index, lease: SessionId) -> Result<bool> {
        Ok(transact(self, key, created, Operation::Put(lease)).await?.0 == Some(created))
    }

    async fn put_value_if_created(
        &self,
        key: Key,
        created: Index,
        lease: SessionId,
        value: EtcdValue,
    ) -> Result<Option<Shown>> {
        let operation = Operation::PutValue(lease, value);
        match self.request(EtcdQuery::Ask(Request::Txn(Compare { key, created }, operation))).await {
            Response::Key(found) => Ok(found),
            other => Err(EtcdError(other)),
        }
    }

    async fn put(&self, key: Key, lease: Option<SessionId>, value: EtcdValue) -> Result<()> {
        done(self.request(EtcdQuery::Ask(Request::Put(key, lease, value))).await)
    }

    async fn delete_if_created(&self, key: Key, created: Index) -> Result<()> {
        transact(self, key, created, Operation::Delete).await.map(|_| ())
    }

    async fn write_if_created(&self, key: Key, created: Index) -> Result<bool> {
        Ok(transact(self, key, created, Operation::Write(Tenure::default())).await?.0 == Some(created))
    }

    async fn get(&self, key: Key) -> Result<(Option<Shown>, Index)> {
        found(self.request(EtcdQuery::Ask(Request::Get(key))).await)
    }

    async fn newest_before(&self, before: Index) -> Result<(Option<Shown>, Index)> {
        found(self.request(EtcdQuery::Ask(Request::Newest(before))).await)
    }

    async fn delete(&self, key: Key) -> Result<()> {
        done(self.request(EtcdQuery::Ask(Request::Delete(key))).await)
    }

    async fn watch_delete(&self, key: Key, from: Index) -> Result<()> {
        match self.request(EtcdQuery::Ask(Request::Watch(key, from))).await {
            Response::Deleted => Ok(()),
            other => Err(EtcdError(other)),
        }
    }
}

/// A transaction on the create revision of a key: that revision afterwards, and the oldest key of the prefix.
async fn transact(
    client: &Handle<Etcd>,
    key: Key,
    created: Index,
    operation: Operation,
) -> Result<(Option<Index>, Option<Shown>)> {
    match client.request(EtcdQuery::Ask(Request::Txn(Compare { key, created }, operation))).await {
        Response::Txn { created, oldest } => Ok((created, oldest)),
        other => Err(EtcdError(other)),
    }
}

fn done(response: Response) -> Result<()> {
    match response {
        Response::Done => Ok(()),
        other => Err(EtcdError(other)),
    }
}

pub(super) fn found(response: Response) -> Result<(Option<Shown>, Index)> {
    match response {
        Response::Found(found, revision) => Ok((found, revision)),
        other => Err(EtcdError(other)),
    }
}
