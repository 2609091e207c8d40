//! The crate kube-leader-election 0.44.0, line by line: src/lease.rs, as in hendrikmaus/kube-leader-election@24a6596e, in the loop of
//! examples/shared-lease.rs. OL-K-23. `step_down` is left out: that loop never calls it.

use serde::{Deserialize, Serialize};

use super::caller::{self, Caller, CallerTerms, WorkEnds};
use super::elector::{Api, identity, within};
use super::{LeaseApi, LeaseError, LeaseObject, LeaseRecord};
use crate::ObservedLease;
use crate::messages::Name;
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Lap, Recipe};
use fencepost_model::time::Ticks;

/// `LeaseLock` with its `LeaseLockParams`, and the loop around it.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
pub struct KubeLeaderElection {
    /// `lease_ttl`: 15 s.
    pub lease_ttl: Ticks,
    /// The sleep between two calls: 5 s.
    pub period: Ticks,
    /// The timeout of the client's requests, in ticks.
    pub request_timeout: Option<Ticks>,
    /// Whether a patch names the version that was read: a repair of OL-19.
    pub names_version: bool,
    /// `holder_id`; none: each process has a new one.
    pub identity: Option<Name>,
    /// How the caller stops its work.
    pub caller: CallerTerms,
    pub(super) me: Option<Name>,
    /// `is_leader`.
    pub(super) is_leader: bool,
}

impl KubeLeaderElection {
    /// `acquire_lease`, `renew_lease` and `create_lease` read the clock just before they send the request.
    async fn write(&self, api: &Api, old: Option<LeaseObject>) -> Result<bool, LeaseError> {
        let now = api.wall_time().await;
        let record = LeaseRecord { holder: self.me, duration: self.lease_ttl, transitions: 0 }.renewed_at(now);
        let written = match old {
            None => within(api, self.request_timeout, api.create(record)).await,
            Some(old) if self.names_version => within(api, self.request_timeout, api.update(old.version, record)).await,
            Some(_) => within(api, self.request_timeout, api.patch(record)).await,
        };
        if written == Err(LeaseError::AlreadyExists) && !self.is_leader {
            api.refused();
        }
        written?;
        api.lease_before(&api.deadline_after(now, self.lease_ttl));
        api.renewed();
        Ok(true)
    }

    /// `try_acquire_or_renew`: whether the lease was acquired or renewed.
    async fn try_acquire_or_renew(&self, api: &Api) -> Result<bool, LeaseError> {
        let lease = match within(api, self.request_timeout, api.get()).await {
            Ok(lease) => lease,
            Err(LeaseError::NotFound) => return self.write(api, None).await,
            Err(error) => return Err(error),
        };
        // `TraverseLease`: a lease without a holder, or without a time, is an error.
        let (Some(holder), Some(renewed)) = (lease.record.holder, lease.renewed) else {
            return Err(LeaseError::Invalid);
        };
        // `are_we_leading`, or `has_lease_expired`: `now.gt(&timeout)`.
        if Some(holder) == self.me || api.deadline_after(renewed, lease.record.duration).is_over().await {
            return self.write(api, Some(lease)).await;
        }
        if !self.is_leader {
            api.refused();
        }
        Ok(false)
    }

    /// Waits for something while the work, if there is any, goes on; none: it has ended, and the loop ends with it.
    async fn beside_work<T>(&self, api: &Api, waits: impl Future<Output = T>) -> Option<T> {
        if !self.is_leader {
            return Some(waits.await);
        }
        match api.select(api.ended::<Caller>(), waits).await {
            First::One(()) => None,
            First::Other(value) => Some(value),
        }
    }

    /// The body of the loop: an error changes nothing. None: the work has ended.
    async fn turn(&mut self, api: &Api) -> Option<()> {
        match self.beside_work(api, self.try_acquire_or_renew(api)).await? {
            Ok(true) if !self.is_leader => {
                api.enter(Token::NONE);
                api.spawn(Caller { token: Token::NONE, terms: self.caller });
                self.is_leader = true;
            }
            Ok(false) if self.is_leader => {
                caller::tell(api, self.caller).await;
                api.ended::<WorkEnds>().await;
                self.is_leader = false;
            }
            Ok(_) | Err(_) => {}
        }
        self.beside_work(api, api.sleep(self.period)).await
    }
}

impl Recipe<ObservedLease> for KubeLeaderElection {
    const NAME: &'static str = "kube-leader-election";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        if self.me.is_none() {
            self.me = Some(identity(api, self.identity).await);
        }
        if self.turn(api).await.is_some() {
            return Ok(Lap::Again);
        }
        api.ended::<WorkEnds>().await;
        api.no_lease();
        self.is_leader = false;
        Ok(Lap::Done)
    }
}
