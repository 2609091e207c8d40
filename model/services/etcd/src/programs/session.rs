//! `Session` of the Go client (clientv3/concurrency/session.go of 3.4.23): a lease that is renewed as long as it is in use.

use serde::{Deserialize, Serialize};

use super::{EtcdApi, EtcdError, KeepAliveLoop};
use crate::Etcd;
use fencepost_model::ids::SessionId;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Handle};
use fencepost_model::time::Ticks;

/// `type sessionOptions struct` (104-108), and how the lessor of the client renews.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct SessionTerms {
    /// `ttl`: T. E-LS-1.
    pub ttl: Ticks,
    /// `leaseID`: other clients may use it, too. None: each session has its own. E-CC-15.
    pub lease: Option<SessionId>,
    /// See [`KeepAliveLoop::renew_after`].
    pub renew_after: Ticks,
    /// See [`KeepAliveLoop::resend_after`].
    pub resend_after: Ticks,
    /// See [`KeepAliveLoop::resends`].
    pub resends: bool,
    /// See [`KeepAliveLoop::done_loop`].
    pub done_loop: Ticks,
    /// `firstKeepAliveTimeout`: `DialTimeout` and 1 s, or 5 s (lease.go 192, 203-205). E-CC-4.
    pub first_deadline: Ticks,
    /// See [`KeepAliveLoop::limit`].
    pub limit: Option<Ticks>,
}

impl SessionTerms {
    /// Those of the Go client, with this TTL in seconds and a `DialTimeout` of 0, on a clock with this number of ticks a second.
    pub fn with(ttl: u16, ticks_per_second: i64) -> Self {
        let seconds = |count: i64| Ticks::new(count * ticks_per_second);
        let half = Ticks::new((ticks_per_second / 2).max(1));
        SessionTerms {
            ttl: seconds(ttl.into()),
            lease: None,
            renew_after: Ticks::new((i64::from(ttl) * ticks_per_second / 3).max(1)),
            resend_after: half,
            resends: true,
            done_loop: seconds(1),
            first_deadline: seconds(5),
            limit: None,
        }
    }
}

/// `type Session struct`.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct EtcdSession {
    /// `id`.
    pub lease: SessionId,
}

impl EtcdSession {
    /// `NewSession` (38-72): `client.Grant`, then `client.KeepAlive`, which does not wait for an answer. E-CC-1.
    ///
    /// # Errors
    /// The lease is not granted.
    pub async fn open(client: &Handle<Etcd>, terms: &SessionTerms) -> Result<Self, EtcdError> {
        let session = Self::orphaned(client, terms).await?;
        let SessionTerms { ttl, renew_after, resend_after, resends, done_loop, first_deadline, limit, .. } = *terms;
        let (lease, patience) = (session.lease, first_deadline);
        client.spawn(KeepAliveLoop {
            lease,
            ttl,
            renew_after,
            resend_after,
            resends,
            done_loop,
            limit,
            patience,
            next: None,
        });
        Ok(session)
    }

    /// The same without the keepalive: a lease that its client never renews. E-CC-30.
    ///
    /// # Errors
    /// The lease is not granted.
    pub async fn orphaned(client: &Handle<Etcd>, terms: &SessionTerms) -> Result<Self, EtcdError> {
        let limit = terms.limit.map(|limit| client.deadline(limit));
        let lease = match terms.lease {
            Some(lease) => lease,
            None => client.unique().await,
        };
        client.grant(lease, terms.ttl).await?;
        if let Some(limit) = limit {
            client.lease_until(&limit);
        }
        Ok(EtcdSession { lease })
    }

    /// `<-s.Done()` (84).
    pub async fn done(client: &Handle<Etcd>) {
        client.ended::<KeepAliveLoop>().await;
    }

    /// Whether `Done` is closed: `select { case <-s.Done(): … default: … }`.
    pub async fn is_done(client: &Handle<Etcd>) -> bool {
        matches!(client.select(Self::done(client), client.lease_is_over()).await, First::One(()))
    }

    /// `Orphan` (89-92): `s.cancel(); <-s.donec`. E-CC-6.
    pub fn orphan(client: &Handle<Etcd>) {
        client.stop::<KeepAliveLoop>();
        client.no_lease();
    }

    /// `Close` (95-102): "if revoke takes longer than the ttl, lease is expired anyway". An error is the caller's, who is leaving. E-CC-6.
    pub async fn close(self, client: &Handle<Etcd>, terms: &SessionTerms) {
        Self::orphan(client);
        let _ = client.timeout(terms.ttl, client.revoke(self.lease)).await;
    }
}
