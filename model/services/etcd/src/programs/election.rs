//! `Election` of the Go client (clientv3/concurrency/election.go of 3.4.23); `observe` has `Observe` and `Leader`.

use serde::{Deserialize, Serialize};

use super::{EtcdApi, EtcdError, EtcdSession, KeyWait};
use crate::Etcd;
use crate::messages::{EtcdValue, Key, Response};
use fencepost_model::ids::{Index, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::program::Handle;

/// `type Election struct` (32-41).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct EtcdElection {
    /// `leaderKey`; none: it is empty.
    pub key: Option<Key>,
    /// `leaderRev`.
    pub created: Index,
    /// The lease of `leaderSession`; none: it is nil.
    pub session: Option<SessionId>,
    /// Where `Campaign` waits; none: it has returned.
    pub wait: Option<KeyWait>,
}

impl EtcdElection {
    /// `Campaign` up to the wait (69-91): one transaction. E-CC-20.
    ///
    /// # Errors
    /// `if err != nil { return err }` (78-80).
    pub async fn campaign(client: &Handle<Etcd>, session: EtcdSession) -> Result<Self, EtcdError> {
        let key = Key::Of(session.lease);
        let put = client.put_if_absent(key, session.lease).await?;
        Ok(Self::entered(key, put.created, session))
    }

    /// The same with a value.
    ///
    /// # Errors
    /// That of the transaction; or `Proclaim` has failed, and the key is given back (85-90).
    pub async fn campaign_with(
        client: &Handle<Etcd>,
        session: EtcdSession,
        value: EtcdValue,
    ) -> Result<Self, EtcdError> {
        let key = Key::Of(session.lease);
        let put = client.put_value_if_created(key, Index::NONE, session.lease, value).await?;
        let Some(found) = put else { return Err(EtcdError(Response::Key(None))) };
        let mut election = Self::entered(key, found.created, session);
        // `if string(kv.Value) != val`: the session has campaigned before.
        if found.value != value && election.proclaim_with(client, value).await != Ok(true) {
            let _ = election.resign(client).await;
            return Err(EtcdError(Response::Key(Some(found))));
        }
        Ok(election)
    }

    /// `e.leaderKey, e.leaderRev, e.leaderSession = k, resp.Header.Revision, s` (81).
    fn entered(key: Key, created: Index, session: EtcdSession) -> Self {
        EtcdElection { key: Some(key), created, session: Some(session.lease), wait: Some(KeyWait::Get) }
    }

    /// `ResumeElection` (49-57): what the server does with the `leader` of a request. E-CC-30.
    pub fn resumed(key: Key, created: Index, lease: SessionId) -> Self {
        EtcdElection { key: Some(key), created, session: Some(lease), wait: None }
    }

    /// A step of `waitDeletes(ctx, client, e.keyPrefix, e.leaderRev-1)` (93).
    ///
    /// # Errors
    /// Any but that of a context: `e.leaderSession = nil` (100), and the key stays. E-CC-21.
    pub async fn wait(&mut self, client: &Handle<Etcd>, step: KeyWait) -> Result<(), EtcdError> {
        match step.step(client, self.created).await {
            Ok(next) => {
                self.wait = next;
                Ok(())
            }
            Err(error) => {
                (self.wait, self.session) = (None, None);
                Err(error)
            }
        }
    }

    /// `Proclaim` (110-129): false for `ErrElectionNotLeader`. E-CC-22.
    ///
    /// # Errors
    /// `if terr != nil { return terr }` (119-121).
    pub async fn proclaim(&mut self, client: &Handle<Etcd>) -> Result<bool, EtcdError> {
        let (Some(lease), Some(key)) = (self.session, self.key) else { return Ok(false) };
        let is_leader = client.put_if_created(key, self.created, lease).await?;
        self.key = is_leader.then_some(key);
        Ok(is_leader)
    }

    /// The same with a value.
    ///
    /// # Errors
    /// As [`proclaim`](EtcdElection::proclaim).
    pub async fn proclaim_with(&mut self, client: &Handle<Etcd>, value: EtcdValue) -> Result<bool, EtcdError> {
        let (Some(lease), Some(key)) = (self.session, self.key) else { return Ok(false) };
        let put = client.put_value_if_created(key, self.created, lease, value).await?;
        let is_leader = put.is_some_and(|found| found.created == self.created);
        self.key = is_leader.then_some(key);
        Ok(is_leader)
    }

    /// `Resign` (132-145): "leaderSession = nil" whatever comes of it. E-CC-22.
    ///
    /// # Errors
    /// That of the transaction; nothing is tried again.
    pub async fn resign(&mut self, client: &Handle<Etcd>) -> Result<(), EtcdError> {
        if self.session.take().is_none() {
            return Ok(());
        }
        match self.key.take() {
            Some(key) => client.delete_if_created(key, self.created).await,
            None => Ok(()),
        }
    }
}
