//! `Election` of the Go client (clientv3/concurrency/election.go of 3.4.23). Values are left out; `Proclaim` puts the key.

use serde::{Deserialize, Serialize};

use super::{EtcdApi, EtcdError, EtcdSession, KeyWait};
use crate::Etcd;
use crate::messages::Key;
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
        // `e.leaderKey, e.leaderRev, e.leaderSession = k, resp.Header.Revision, s`.
        let (key, session) = (Some(key), Some(session.lease));
        Ok(EtcdElection { key, created: put.created, session, wait: Some(KeyWait::Get) })
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
        let Some(lease) = self.session else { return Ok(false) };
        let is_leader = match self.key {
            Some(key) => client.put_if_created(key, self.created, lease).await?,
            None => false,
        };
        if !is_leader {
            self.key = None;
        }
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
