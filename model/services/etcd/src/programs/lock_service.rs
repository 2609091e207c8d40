//! A caller of the server's lock, `/v3/lock/lock` and `/v3/lock/unlock` (etcdserver/api/v3lock/lock.go of 3.4.23). What the server does for the
//! call, and sends to itself, is sent by the caller here: the requests are the same, and a message of the caller's stands for both.

use serde::{Deserialize, Serialize};

use super::holder::TenureEnd;
use super::{EtcdApi, EtcdMutex, EtcdSession, HolderTerms, SessionTerms};
use crate::Etcd;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};

/// The caller: it grants a lease, and never renews it. E-CC-30.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct LockService {
    /// Its TTL and id. It never renews the lease.
    pub terms: SessionTerms,
    /// What it does.
    pub holder: HolderTerms,
    /// Its lease.
    lease: Option<EtcdSession>,
    /// The call that waits.
    mutex: Option<EtcdMutex>,
}

impl LockService {
    /// A caller with such a lease.
    pub fn with(terms: SessionTerms, holder: HolderTerms) -> Self {
        let holder = HolderTerms { has_done: false, done_cancels: false, lives_on: false, ..holder };
        LockService { terms, holder, lease: None, mutex: None }
    }

    /// The answer `{key}`: it believes that it has the lock.
    async fn hold(&mut self, client: &Handle<Etcd>, mutex: EtcdMutex) -> Result<Lap, Gone> {
        let EtcdMutex { key, created, .. } = mutex;
        let end = match self.holder.may_enter(client).await {
            true => self.holder.hold(client, key, created).await,
            false => TenureEnd::Done,
        };
        if end == TenureEnd::Done {
            // `Unlock(key)`: `ls.c.Delete(ctx, string(req.Key))` (51).
            let _ = client.delete(key).await;
        }
        self.finish(client).await
    }

    async fn finish(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        self.holder.finish(client, &mut self.lease, &self.terms).await
    }
}

impl Recipe<Etcd> for LockService {
    const NAME: &'static str = "lock-service";

    async fn lap(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        if let Some(mut mutex @ EtcdMutex { wait: Some(step), .. }) = self.mutex.take() {
            if mutex.wait(client, step).await.is_err() {
                // The server's `Lock` deletes the key (mutex.go 72-73).
                let _ = mutex.unlock(client, false).await;
                return self.finish(client).await;
            }
            if mutex.wait.is_none() {
                return self.hold(client, mutex).await;
            }
            self.mutex = Some(mutex);
            return Ok(Lap::Again);
        }
        let lease = match self.lease {
            Some(lease) => lease,
            None => {
                let lease = EtcdSession::orphaned(client, &self.terms).await?;
                *self.lease.insert(lease)
            }
        };
        // `NewSession(WithLease(req.Lease), WithContext(ctx))`, `s.Orphan()`, `m.Lock(ctx)` (34-46).
        match EtcdMutex::lock(client, lease).await {
            Err(_) => self.finish(client).await,
            Ok(mutex) if mutex.wait.is_none() => self.hold(client, mutex).await,
            Ok(mutex) => {
                self.mutex = Some(mutex);
                Ok(Lap::Again)
            }
        }
    }
}
