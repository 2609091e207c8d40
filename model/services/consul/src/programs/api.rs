//! What a program can ask of Consul, as its HTTP API has it.

use std::fmt;
use std::future::Future;

use crate::{
    Answer, Claim, Consul, Entry, Key, KeyList, Listing, Opaque, Operation, Prefix, Request, SessionInfo, SessionList,
    Target, Terms, Transaction, Tree, Watch,
};
use fencepost_model::ids::{ClientId, Index, SessionId, Tenure, Token};
use fencepost_model::program::{Gone, Handle};
use fencepost_model::time::Ticks;

/// An answer that is no success: status and body, as the servers give them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ApiError(pub Answer);

impl ApiError {
    /// HTTP's status; none if the connection was refused, or closed before the answer.
    pub fn status(&self) -> Option<u16> {
        Some(match self.0 {
            Answer::Disconnected => return None,
            Answer::UnknownSession | Answer::Absent => 404,
            Answer::RolledBack(_) => 409,
            Answer::InvalidSession | Answer::Missing(_) | Answer::Critical(_) | Answer::NoLeader => 500,
            _ => 200,
        })
    }

    /// The beginning of the body, as the servers write it.
    pub fn body(&self) -> &'static str {
        match self.0 {
            Answer::InvalidSession => "invalid session",
            Answer::Missing(None) => "Missing node registration",
            Answer::Missing(Some(_)) => "Missing check",
            Answer::Critical(_) => "Check",
            Answer::NoLeader => "No cluster leader",
            _ => "",
        }
    }
}

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

    /// The same with `?consistent`: a deposed leader does not answer it. C-CON-3.
    fn watch_consistent(
        &self,
        key: Key,
        index: Index,
        wait: Option<Ticks>,
    ) -> impl Future<Output = Result<Option<Entry>>>;

    /// `GET /v1/session/info/:id`; none: it is gone, or never was. C-SES-16.
    fn session_info(&self, session: SessionId) -> impl Future<Output = Result<Option<SessionInfo>>>;

    /// `GET /v1/session/list`: those that any client created, live ones only. C-SES-16.
    fn session_list(&self) -> impl Future<Output = Result<SessionList>>;

    /// `GET /v1/session/node/:node`: those on the node of this client. C-SES-16.
    fn node_sessions(&self, node: ClientId) -> impl Future<Output = Result<SessionList>>;

    /// `GET /v1/kv/:prefix?keys`. C-KV-21.
    fn keys(&self, prefix: Prefix) -> impl Future<Output = Result<KeyList>>;

    /// The same as a blocking query.
    fn watch_keys(&self, prefix: Prefix, index: Index, wait: Option<Ticks>) -> impl Future<Output = Result<KeyList>>;

    /// `GET /v1/kv/:prefix?recurse`: the first three rows, and how many more there are. C-KV-21.
    fn tree(&self, prefix: Prefix) -> impl Future<Output = Result<Tree>>;

    /// `GET /v1/kv/:prefix?recurse` below the semaphore's prefix. C-KV-21.
    fn list(&self) -> impl Future<Output = Result<Listing>>;

    /// The same as a blocking query.
    fn watch_list(&self, index: Index, wait: Option<Ticks>) -> impl Future<Output = Result<Listing>>;

    /// The same with `?consistent`. C-CON-3.
    fn watch_list_consistent(&self, index: Index, wait: Option<Ticks>) -> impl Future<Output = Result<Listing>>;

    /// `PUT /v1/kv/:key?flags=:flags`. C-KV-8.
    fn put(&self, key: Key, content: impl Into<Content>) -> impl Future<Output = Result<bool>>;

    /// `PUT /v1/kv/:key?cas=:index&flags=:flags`; index 0: only if the key is absent. C-KV-9.
    fn cas(&self, key: Key, index: Index, content: impl Into<Content>) -> impl Future<Output = Result<bool>>;

    /// `PUT /v1/kv/:key?acquire=:session&flags=:flags`. C-KV-10.
    fn acquire(&self, key: Key, session: SessionId, content: impl Into<Content>) -> impl Future<Output = Result<bool>>;

    /// `PUT /v1/kv/:key?release=:session&flags=:flags`. C-KV-12.
    fn release(&self, key: Key, session: SessionId, content: impl Into<Content>) -> impl Future<Output = Result<bool>>;

    /// `DELETE /v1/kv/:key`.
    fn delete(&self, key: Key) -> impl Future<Output = Result<bool>>;

    /// `DELETE /v1/kv/:key?cas=:index`.
    fn delete_cas(&self, key: Key, index: Index) -> impl Future<Output = Result<bool>>;

    /// `DELETE /v1/kv/:prefix?recurse`. C-KV-17.
    fn delete_tree(&self, prefix: Prefix) -> impl Future<Output = Result<bool>>;

    /// `PUT /v1/txn`, of up to three operations. C-TXN-3.
    ///
    /// # Panics
    /// There are more operations.
    fn transaction(&self, operations: &[Operation]) -> impl Future<Output = Result<Committed>>;
}

/// What came of a transaction.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Committed {
    /// 200: each operation is applied.
    All,
    /// 409: none is applied, for the operation with this number, from 0, failed.
    RolledBack(u8),
}

/// The value that a write has for an entry, with its flags; without any, they become 0. C-KV-8.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Content {
    /// The value.
    pub value: Opaque,
    /// The caller's own number: in Consul 64 bits, of which a program has [`LOCK_FLAGS`](crate::LOCK_FLAGS),
    /// [`SEMAPHORE_FLAGS`](crate::SEMAPHORE_FLAGS), 0, and numbers of its own from 3 to 254; 255 stands for all others.
    pub flags: u8,
}

impl From<Opaque> for Content {
    fn from(value: Opaque) -> Self {
        Content { value, flags: 0 }
    }
}

impl Opaque {
    /// The value with these flags.
    pub fn flagged(self, flags: u8) -> Content {
        Content { value: self, flags }
    }
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

    async fn watch_consistent(&self, key: Key, index: Index, wait: Option<Ticks>) -> Result<Option<Entry>> {
        found(self.request(Request::WatchConsistent(Watch { target: Target::Key(key), index, wait })).await)
    }

    async fn session_info(&self, session: SessionId) -> Result<Option<SessionInfo>> {
        match self.request(Request::SessionInfo(session)).await {
            Answer::Session(session) => Ok(session),
            other => Err(ApiError(other)),
        }
    }

    async fn session_list(&self) -> Result<SessionList> {
        sessions(self.request(Request::Sessions(None)).await)
    }

    async fn node_sessions(&self, node: ClientId) -> Result<SessionList> {
        sessions(self.request(Request::Sessions(Some(node))).await)
    }

    async fn keys(&self, prefix: Prefix) -> Result<KeyList> {
        keys(self.request(Request::Keys(prefix)).await)
    }

    async fn watch_keys(&self, prefix: Prefix, index: Index, wait: Option<Ticks>) -> Result<KeyList> {
        keys(self.request(Request::Watch(Watch { target: Target::Keys(prefix), index, wait })).await)
    }

    async fn tree(&self, prefix: Prefix) -> Result<Tree> {
        match self.request(Request::Tree(prefix)).await {
            Answer::Tree(tree) => Ok(tree),
            other => Err(ApiError(other)),
        }
    }

    async fn list(&self) -> Result<Listing> {
        listed(self.request(Request::List).await)
    }

    async fn watch_list(&self, index: Index, wait: Option<Ticks>) -> Result<Listing> {
        listed(self.request(Request::Watch(Watch { target: Target::Prefix, index, wait })).await)
    }

    async fn watch_list_consistent(&self, index: Index, wait: Option<Ticks>) -> Result<Listing> {
        listed(self.request(Request::WatchConsistent(Watch { target: Target::Prefix, index, wait })).await)
    }

    async fn put(&self, key: Key, content: impl Into<Content>) -> Result<bool> {
        let Content { value, flags } = content.into();
        done(self.request(Request::Put { key, value, flags }).await)
    }

    async fn cas(&self, key: Key, index: Index, content: impl Into<Content>) -> Result<bool> {
        let Content { value, flags } = content.into();
        done(self.request(Request::Cas { key, index, value, flags }).await)
    }

    async fn acquire(&self, key: Key, session: SessionId, content: impl Into<Content>) -> Result<bool> {
        let Content { value, flags } = content.into();
        done(self.request(Request::Acquire(Claim::new(key, session, value, flags))).await)
    }

    async fn release(&self, key: Key, session: SessionId, content: impl Into<Content>) -> Result<bool> {
        let Content { value, flags } = content.into();
        done(self.request(Request::Release(Claim::new(key, session, value, flags))).await)
    }

    async fn delete(&self, key: Key) -> Result<bool> {
        done(self.request(Request::Delete(key)).await)
    }

    async fn delete_cas(&self, key: Key, index: Index) -> Result<bool> {
        done(self.request(Request::DeleteCas { key, index }).await)
    }

    async fn delete_tree(&self, prefix: Prefix) -> Result<bool> {
        done(self.request(Request::DeleteTree(prefix)).await)
    }

    async fn transaction(&self, operations: &[Operation]) -> Result<Committed> {
        let operations = operations.iter().copied().collect();
        match self.request(Request::Commit(Transaction { operations, tenure: Tenure::default() })).await {
            Answer::Committed => Ok(Committed::All),
            Answer::RolledBack(operation) => Ok(Committed::RolledBack(operation)),
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

fn sessions(answer: Answer) -> Result<SessionList> {
    match answer {
        Answer::Sessions(list) => Ok(list),
        other => Err(ApiError(other)),
    }
}

fn keys(answer: Answer) -> Result<KeyList> {
    match answer {
        Answer::Keys(list) => Ok(list),
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
        self.modify.token()
    }

    /// Its LockIndex as a token to send with writes.
    pub fn lock_token(&self) -> Token {
        Token::numbered(self.lock_index)
    }
}
