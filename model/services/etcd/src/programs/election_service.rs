//! A caller of the server's election, `/v3/election/campaign`, `proclaim` and `resign` (etcdserver/api/v3election/election.go of 3.4.23).
//! What the server does for a call is sent by the caller here, as in the lock service.

use serde::{Deserialize, Serialize};

use super::holder::TenureEnd;
use super::{EtcdElection, EtcdError, EtcdSession, HolderTerms, SessionTerms};
use crate::Etcd;
use crate::messages::{EtcdValue, Key};
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
    /// How many values it announces while it leads, beside its name: as [`GoElection::announces`](super::GoElection::announces).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announces: Option<u8>,
    /// Its lease.
    lease: Option<EtcdSession>,
    /// The call that waits.
    election: Option<EtcdElection>,
}

impl ElectionService {
    /// A caller with such a lease.
    pub fn with(terms: SessionTerms, holder: HolderTerms) -> Self {
        let holder = HolderTerms { has_done: false, done_cancels: false, lives_on: false, ..holder };
        ElectionService { terms, holder, proclaims: false, announces: None, lease: None, election: None }
    }

    /// `es.session(ctx, req.Lease)`, `e.Campaign(ctx, string(req.Value))` (39-46), up to the wait.
    async fn campaign(&self, client: &Handle<Etcd>, lease: EtcdSession) -> Result<EtcdElection, EtcdError> {
        match self.announces {
            None => EtcdElection::campaign(client, lease).await,
            Some(_) => EtcdElection::campaign_with(client, lease, EtcdValue::Name(client.me())).await,
        }
    }

    /// `e.Proclaim(ctx, string(req.Value))` (67) of each value, one call after the other, as long as it leads.
    async fn proclaim(&self, client: &Handle<Etcd>, resumed: impl Fn() -> EtcdElection) -> bool {
        let mut leads = !self.proclaims || resumed().proclaim(client).await == Ok(true);
        for number in 1..=self.announces.unwrap_or(0) {
            leads = leads && resumed().proclaim_with(client, EtcdValue::Number(number)).await == Ok(true);
        }
        leads
    }

    /// The answer `{leader: {name, key, rev, lease}}`: each later call names it, and the server makes an `Election` of it anew.
    async fn lead(&mut self, client: &Handle<Etcd>, key: Key, rev: Index) -> Result<Lap, Gone> {
        let Some(lease) = self.lease else { return Ok(Lap::Done) };
        let resumed = || EtcdElection::resumed(key, rev, lease.lease);
        let end = match self.proclaim(client, resumed).await && self.holder.may_enter(client).await {
            true => self.holder.hold(client, key, rev).await,
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
        match self.campaign(client, lease).await {
            Err(_) => self.finish(client).await,
            Ok(election) => {
                self.election = Some(election);
                Ok(Lap::Again)
            }
        }
    }
}
