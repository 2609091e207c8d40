//! `Mutex` of the Go client (clientv3/concurrency/mutex.go of 3.4.23, and what 3.5 adds).

use serde::{Deserialize, Serialize};

use super::{EtcdApi, EtcdError, EtcdSession, KeyWait};
use crate::Etcd;
use crate::messages::Key;
use fencepost_model::ids::Index;
use fencepost_model::normal::Normal;
use fencepost_model::program::Handle;

/// `type Mutex struct` (27-34).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct EtcdMutex {
    /// `myKey`.
    pub key: Key,
    /// `myRev`.
    pub created: Index,
    /// Where `Lock` waits; none: it has returned.
    pub wait: Option<KeyWait>,
}

impl EtcdMutex {
    /// `Lock` up to the wait (42-67): one transaction. E-CC-10.
    ///
    /// # Errors
    /// `if err != nil { return err }` (55-57): the key may be there or not.
    pub async fn lock(client: &Handle<Etcd>, session: EtcdSession) -> Result<Self, EtcdError> {
        // `m.myKey = fmt.Sprintf("%s%x", m.pfx, s.Lease())`.
        let key = Key::Of(session.lease);
        let put = client.put_if_absent(key, session.lease).await?;
        // `if len(ownerKey) == 0 || ownerKey[0].CreateRevision == m.myRev`: it has the lock already.
        let is_owner = put.oldest.is_none_or(|owner| owner.created == put.created);
        Ok(EtcdMutex { key, created: put.created, wait: (!is_owner).then_some(KeyWait::Get) })
    }

    /// `TryLock`, since 3.5 (client/v3/concurrency/mutex.go of 3.5.16, 48-67): the same transaction; with another one's key ahead its own is deleted,
    /// by name. None: `ErrLocked`. E-CC-16.
    ///
    /// # Errors
    /// As [`lock`](EtcdMutex::lock); and `if _, err := client.Delete(ctx, m.myKey); err != nil { return err }` (60-62): the key may be there or not.
    pub async fn try_lock(client: &Handle<Etcd>, session: EtcdSession) -> Result<Option<Self>, EtcdError> {
        let mutex = Self::lock(client, session).await?;
        if mutex.wait.is_none() {
            return Ok(Some(mutex));
        }
        client.delete(mutex.key).await?;
        Ok(None)
    }

    /// The same of a lock whose name begins with this one's: `NewMutex(s, "name/sub")`. Its keys are below this one's prefix, too, and no
    /// other client wants that one. E-CC-25.
    ///
    /// # Errors
    /// As [`lock`](EtcdMutex::lock).
    pub async fn lock_below(client: &Handle<Etcd>, session: EtcdSession) -> Result<Self, EtcdError> {
        let key = Self::below(session).key;
        let put = client.put_if_absent(key, session.lease).await?;
        Ok(EtcdMutex { key, created: put.created, wait: None })
    }

    /// That lock, of which only the key counts: `Unlock` goes by name.
    pub(super) fn below(session: EtcdSession) -> Self {
        EtcdMutex { key: Key::Below(session.lease), created: Index::NONE, wait: None }
    }

    /// A step of `waitDeletes(ctx, client, m.pfx, m.myRev-1)` (70).
    ///
    /// # Errors
    /// `werr` (72).
    pub async fn wait(&mut self, client: &Handle<Etcd>, step: KeyWait) -> Result<(), EtcdError> {
        self.wait = step.step(client, self.created).await?;
        Ok(())
    }

    /// Since 3.5: `client.Get(ctx, m.myKey)` after the wait; none: `ErrSessionExpired`. E-CC-12.
    ///
    /// # Errors
    /// The read has failed.
    pub async fn is_still_there(&self, client: &Handle<Etcd>) -> Result<bool, EtcdError> {
        Ok(client.get(self.key).await?.0.is_some())
    }

    /// `Unlock` (80-88): by name. With a comparison of the create revision it is in no released version. E-CC-14.
    ///
    /// # Errors
    /// `if _, err := client.Delete(ctx, m.myKey); err != nil { return err }`.
    pub async fn unlock(self, client: &Handle<Etcd>, compares: bool) -> Result<(), EtcdError> {
        match compares {
            true => client.delete_if_created(self.key, self.created).await,
            false => client.delete(self.key).await,
        }
    }
}
