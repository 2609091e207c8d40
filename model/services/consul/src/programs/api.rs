//! What a program can ask of Consul, as its HTTP API has it.

use std::fmt;
use std::future::Future;

use crate::{
    Answer, Claim, Consul, Entry, Key, Listing, Opaque, Operation, Request, Target, Terms, Transaction, Watch,
};
use fencepost_model::ids::{Index, SessionId, Tenure, Token};
use fencepost_model::program::{Gone, Handle};
use fencepost_model::time::Ticks;

/// An answer that is no success: status and body, as the servers give them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ApiError(pub Answer);

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for ApiError {}

impl From<ApiError> for Gone {
    fn from(_: ApiError) -> Gone {
        Gone
    }
}

type Result<T> = std::result::Result<T, ApiError>;

/// The requests of the HTTP API. Each waits for its answer, for ever if none comes: wrap it in a
/// [`timeout`](Handle::timeout) if the client gives up.
pub trait HttpApi {
    /// `PUT /v1/session/create`. C-SES-1.
    fn create_session(&self, terms: Terms) -> impl Future<Output = Result<SessionId>>;

    /// `PUT /v1/session/renew/:id`: false for 404, the session is gone. C-SES-18.
    fn renew_session(&self, session: SessionId) -> impl Future<Output = Result<bool>>;

    /// `PUT /v1/session/destroy/:id`. C-SES-19.
    fn destroy_session(&self, session: SessionId) -> impl Future<Output = Result<()>>;

    /// The same, and the client goes on without the answer.
    fn send_destroy_session(&self, session: SessionId);

    /// `GET /v1/kv/:key`; none for 404. C-KV-5.
    fn get(&self, key: Key) -> impl Future<Output = Result<Option<Entry>>>;

    /// `GET /v1/kv/:key?consistent`. C-CON-3.
    fn get_consistent(&self, key: Key) -> impl Future<Output = Result<Option<Entry>>>;

    /// `GET /v1/kv/:key?index=:index&wait=:wait`: a blocking query; index 0 does not block, and without a wait, or with
    /// one of 0, the server's own applies. C-BLK-1, C-BLK-2.
    fn watch(&self, key: Key, index: Index, wait: Option<Ticks>) -> impl Future<Output = Result<Option<Entry>>>;

    /// `GET /v1/kv/:prefix?recurse` below the semaphore's prefix. C-KV-21.
    fn list(&self) -> impl Future<Output = Result<Listing>>;

    /// The same as a blocking query.
    fn watch_list(&self, index: Index, wait: Option<Ticks>) -> impl Future<Output = Result<Listing>>;

    /// `PUT /v1/kv/:key`.
    fn put(&self, key: Key, value: Opaque) -> impl Future<Output = Result<bool>>;

    /// `PUT /v1/kv/:key?cas=:index`; index 0: only if the key is absent.
    fn cas(&self, key: Key, index: Index, value: Opaque) -> impl Future<Output = Result<bool>>;

    /// `PUT /v1/kv/:key?acquire=:session`. C-KV-8.
    fn acquire(&self, key: Key, session: SessionId, value: Opaque) -> impl Future<Output = Result<bool>>;

    /// `PUT /v1/kv/:key?release=:session`. C-KV-12.
    fn release(&self, key: Key, session: SessionId, value: Opaque) -> impl Future<Output = Result<bool>>;

    /// `DELETE /v1/kv/:key`.
    fn delete(&self, key: Key) -> impl Future<Output = Result<bool>>;

    /// `DELETE /v1/kv/:key?cas=:index`.
    fn delete_cas(&self, key: Key, index: Index) -> impl Future<Output = Result<bool>>;

    /// `PUT /v1/txn`, of up to three operations: whether it was committed. C-TXN-3.
    fn transaction(&self, operations: &[Operation]) -> impl Future<Output = Result<bool>>;
}

impl HttpApi for Handle<Consul> {
    async fn create_session(&self, terms: Terms) -> Result<SessionId> {
        match self.request(Request::CreateSession(terms)).await {
            Answer::Created(session) => Ok(session),
            other => Err(ApiError(other)),
        }
    }

    async fn renew_session(&self, session: SessionId) -> Result<bool> {
        match self.request(Request::RenewSession(session)).await {
            Answer::Renewed => Ok(true),
            Answer::UnknownSession => Ok(false),
            other => Err(ApiError(other)),
        }
    }

    async fn destroy_session(&self, session: SessionId) -> Result<()> {
        done(self.request(Request::DestroySession(session)).await).map(|_| ())
    }

    fn send_destroy_session(&self, session: SessionId) {
        self.send(Request::DestroySession(session));
    }

    async fn get(&self, key: Key) -> Result<Option<Entry>> {
        found(self.request(Request::Get(key)).await)
    }

    async fn get_consistent(&self, key: Key) -> Result<Option<Entry>> {
        found(self.request(Request::GetConsistent(key)).await)
    }

    async fn watch(&self, key: Key, index: Index, wait: Option<Ticks>) -> Result<Option<Entry>> {
        found(self.request(Request::Watch(Watch { target: Target::Key(key), index, wait })).await)
    }

    async fn list(&self) -> Result<Listing> {
        listed(self.request(Request::List).await)
    }

    async fn watch_list(&self, index: Index, wait: Option<Ticks>) -> Result<Listing> {
        listed(self.request(Request::Watch(Watch { target: Target::Prefix, index, wait })).await)
    }

    async fn put(&self, key: Key, value: Opaque) -> Result<bool> {
        done(self.request(Request::Put { key, value, flags: 0 }).await)
    }

    async fn cas(&self, key: Key, index: Index, value: Opaque) -> Result<bool> {
        done(self.request(Request::Cas { key, index, value, flags: 0 }).await)
    }

    async fn acquire(&self, key: Key, session: SessionId, value: Opaque) -> Result<bool> {
        done(self.request(Request::Acquire(Claim::new(key, session, value, 0))).await)
    }

    async fn release(&self, key: Key, session: SessionId, value: Opaque) -> Result<bool> {
        done(self.request(Request::Release(Claim::new(key, session, value, 0))).await)
    }

    async fn delete(&self, key: Key) -> Result<bool> {
        done(self.request(Request::Delete(key)).await)
    }

    async fn delete_cas(&self, key: Key, index: Index) -> Result<bool> {
        done(self.request(Request::DeleteCas { key, index }).await)
    }

    async fn transaction(&self, operations: &[Operation]) -> Result<bool> {
        let operations = operations.iter().copied().collect();
        match self.request(Request::Commit(Transaction { operations, tenure: Tenure::default() })).await {
            Answer::Committed => Ok(true),
            Answer::RolledBack(_) => Ok(false),
            other => Err(ApiError(other)),
        }
    }
}

fn done(answer: Answer) -> Result<bool> {
    match answer {
        Answer::Done(done) => Ok(done),
        other => Err(ApiError(other)),
    }
}

fn found(answer: Answer) -> Result<Option<Entry>> {
    match answer {
        Answer::Found(entry) => Ok(Some(entry)),
        Answer::Absent => Ok(None),
        other => Err(ApiError(other)),
    }
}

fn listed(answer: Answer) -> Result<Listing> {
    match answer {
        Answer::Listed(listing) => Ok(listing),
        other => Err(ApiError(other)),
    }
}

impl Entry {
    /// Its ModifyIndex as a token to send with writes.
    pub fn modify_token(&self) -> Token {
        Token(self.modify.0)
    }

    /// Its LockIndex as a token to send with writes.
    pub fn lock_token(&self) -> Token {
        Token(self.lock_index)
    }
}
