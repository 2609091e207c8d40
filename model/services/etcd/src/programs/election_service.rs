//! A caller of the server's election, `/v3/election/campaign`, `proclaim` and `resign` (etcdserver/api/v3election/election.go of 3.4.23).
//! What the server does for a call is sent by the caller here, as in the lock service.

use serde::{Deserialize, Serialize};

use super::holder::TenureEnd;
use super::{EtcdElection, EtcdSession, HolderTerms, SessionTerms};
use crate::Etcd;
use crate::messages::Key;
use fencepost_model::ids::Index;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};

/// The caller: it grants a lease, and never renews it. E-CC-30.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct ElectionService {
    /// Its TTL and id. It never renews the lease.
    pub terms: SessionTerms,
    /// What it does.
    pub holder: HolderTerms,
    /// Whether it proclaims a value as soon as it is told that it leads, and gives up if that fails.
    pub proclaims: bool,
    /// Its lease.
    lease: Option<EtcdSession>,
    /// The call that waits.
    election: Option<EtcdElection>,
}

impl ElectionService {
    /// A caller with such a lease.
    pub fn with(terms: SessionTerms, holder: HolderTerms) -> Self {
        let holder = HolderTerms { has_done: false, done_cancels: false, lives_on: false, ..holder };
        ElectionService { terms, holder, proclaims: false, lease: None, election: None }
    }

    /// The answer `{leader: {name, key, rev, lease}}`: each later call names it, and the server makes an `Election` of it anew.
    async fn lead(&mut self, client: &Handle<Etcd>, key: Key, rev: Index) -> Result<Lap, Gone> {
        let Some(lease) = self.lease else { return Ok(Lap::Done) };
        let resumed = || EtcdElection::resumed(key, rev, lease.lease);
        let end = match self.proclaims && resumed().proclaim(client).await != Ok(true) {
            true => TenureEnd::Done,
            false if self.holder.may_enter(client).await => self.holder.hold(client, key, rev).await,
            false => TenureEnd::Done,
        };
        if end == TenureEnd::Done {
            let _ = resumed().resign(client).await;
        }
        self.finish(client).await
    }

    async fn finish(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        self.holder.finish(client, &mut self.lease, &self.terms).await
    }
}

impl Recipe<Etcd> for ElectionService {
    const NAME: &'static str = "election-service";

    async fn lap(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        if let Some(mut election @ EtcdElection { key: Some(key), wait: Some(step), .. }) = self.election.take() {
            if election.wait(client, step).await.is_err() {
                // The call fails, and the key stays (election.go 99-101). E-CC-21.
                return self.finish(client).await;
            }
            if election.wait.is_none() {
                return self.lead(client, key, election.created).await;
            }
            self.election = Some(election);
            return Ok(Lap::Again);
        }
        let lease = match self.lease {
            Some(lease) => lease,
            None => {
                let lease = EtcdSession::orphaned(client, &self.terms).await?;
                *self.lease.insert(lease)
            }
        };
        // `es.session(ctx, req.Lease)`, `e.Campaign(ctx, string(req.Value))` (39-46).
        match EtcdElection::campaign(client, lease).await {
            Err(_) => self.finish(client).await,
            Ok(election) => {
                self.election = Some(election);
                Ok(Lap::Again)
            }
        }
    }
}
