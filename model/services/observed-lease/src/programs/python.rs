//! The elector of the Python package `kubernetes`, line by line: kubernetes/leaderelection/leaderelection.py of
//! kubernetes-client/python@863f5a89. It never releases the lease, and its deadline ends no request. OL-K-21.

use serde::{Deserialize, Serialize};

use super::caller::{self, Caller, CallerTerms, WorkEnds};
use super::client_go::ElectorLap;
use super::{LeaseApi, LeaseError, LeaseObject, LeaseRecord, RawRecord};
use crate::messages::Name;
use crate::{Identity, ObservedLease};
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, OpenDeadline, Recipe};
use fencepost_model::time::Ticks;

/// `class LeaderElection`, with its `election_config`.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct PythonElector {
    /// `lease_duration`: what it records, and what it counts of the records of others.
    pub lease_duration: Ticks,
    /// `renew_deadline`.
    pub renew_deadline: Ticks,
    /// `retry_period`.
    pub retry_period: Ticks,
    /// The timeout of the client's requests, in ticks; none by default.
    pub request_timeout: Option<Ticks>,
    /// `lock.identity`.
    #[normal(skip = "a constant")]
    pub identity: Identity,
    /// How its caller stops the work: `onstopped_leading`.
    pub caller: CallerTerms,
    pub(super) me: Option<Name>,
    /// `observed_record`.
    pub(super) observed: Option<LeaseRecord>,
    /// The same with its times.
    pub(super) observed_raw: Option<RawRecord>,
    #[normal(skip = "a place in the code")]
    pub(super) next: ElectorLap,
}

type Api = Handle<ObservedLease>;

impl PythonElector {
    async fn ask<T>(&self, api: &Api, request: impl Future<Output = Result<T, LeaseError>>) -> Result<T, LeaseError> {
        match self.request_timeout {
            None => request.await,
            Some(length) => api.timeout(length, request).await.unwrap_or(Err(LeaseError::Unavailable)),
        }
    }

    /// `self.observed_record = …`, `self.observed_time_milliseconds = int(time.time() * 1000)`.
    fn observe(&mut self, object: LeaseObject, valid: &mut Option<OpenDeadline<ObservedLease>>, api: &Api) {
        (self.observed, self.observed_raw) = (Some(object.record), Some(object.raw));
        let until = api.deadline(self.lease_duration);
        if self.next == ElectorLap::Acquire {
            api.lease_until(&until);
        }
        *valid = Some(until);
    }

    /// `try_acquire_or_renew`; `expired`: the lease duration is over at `now_timestamp`, which is read first.
    async fn try_acquire_or_renew(
        &mut self,
        api: &Api,
        mut expired: bool,
        valid: &mut Option<OpenDeadline<ObservedLease>>,
    ) -> bool {
        let record = LeaseRecord { holder: self.me, duration: self.lease_duration, transitions: 0 };
        let old = match self.ask(api, api.get()).await {
            Ok(old) => old,
            Err(LeaseError::NotFound) => {
                let created = self.ask(api, api.create(record)).await;
                if created == Err(LeaseError::AlreadyExists) {
                    self.report(api);
                }
                return self.finish(created, valid, api);
            }
            Err(_) => return false,
        };
        // `old_election_record.holder_identity is None`.
        if old.record.holder.is_some() {
            if self.observed_raw != Some(old.raw) {
                self.observe(old, valid, api);
                expired = false;
            }
            // "lease held by {} and has not expired".
            if old.record.holder != self.me && !expired {
                self.report(api);
                return false;
            }
        }
        // `self.update_lock(leader_election_record)`.
        let updated = self.ask(api, api.update(old.version, record)).await;
        self.finish(updated, valid, api)
    }

    fn finish(
        &mut self,
        written: Result<LeaseObject, LeaseError>,
        valid: &mut Option<OpenDeadline<ObservedLease>>,
        api: &Api,
    ) -> bool {
        let Ok(object) = written else { return false };
        self.observe(object, valid, api);
        true
    }

    /// A contender reports that another's lease is valid.
    fn report(&self, api: &Api) {
        if self.next == ElectorLap::Acquire {
            api.refused();
        }
    }

    /// The body of the loop in `acquire`.
    async fn acquire(&mut self, api: &Api) {
        if self.me.is_none() {
            self.me = Some(match self.identity {
                Identity::Unique => api.unique_identity().await,
                Identity::Hostname => api.hostname(),
                Identity::Shared => Name::Common,
            });
        }
        let expired = api.lease_has_come().await;
        if !self.try_acquire_or_renew(api, expired, &mut None).await {
            self.next = ElectorLap::Jitter;
            return;
        }
        // `threading.Thread(target=self.run_onstarted_leading, …)`.
        api.enter(Token(0));
        api.spawn(Caller { token: Token(0), terms: self.caller });
        self.next = ElectorLap::FirstRenewal;
    }

    /// The body of the loop in `renew_loop`.
    async fn renew(&mut self, api: &Api) {
        let mut valid = Some(api.deadline(self.lease_duration));
        api.lease_until(&api.deadline(self.lease_duration - Ticks::new(1)));
        if self.next == ElectorLap::Renew {
            api.sleep(self.retry_period).await;
        }
        let timeout = api.deadline(self.renew_deadline);
        // `while int(time.time() * 1000) < timeout`.
        while !timeout.has_come().await {
            let expired = match &valid {
                Some(valid) => valid.has_come().await,
                None => true,
            };
            if self.try_acquire_or_renew(api, expired, &mut valid).await {
                self.next = ElectorLap::Renew;
                return;
            }
            api.sleep(self.retry_period).await;
        }
        // "failed to renew, return".
        self.next = ElectorLap::Release;
    }
}

impl Recipe<ObservedLease> for PythonElector {
    const NAME: &'static str = "python-elector";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        match self.next {
            ElectorLap::Acquire => self.acquire(api).await,
            ElectorLap::Jitter => {
                api.sleep(self.retry_period).await;
                self.next = ElectorLap::Acquire;
            }
            ElectorLap::FirstRenewal | ElectorLap::Renew => self.renew(api).await,
            ElectorLap::Release => {
                // `self.election_config.onstopped_leading()`.
                caller::tell(api, self.caller).await;
                api.ended::<WorkEnds>().await;
                api.no_lease();
                (self.observed, self.observed_raw) = (None, None);
                self.next = ElectorLap::Acquire;
                return Ok(Lap::Done);
            }
        }
        Ok(Lap::Again)
    }
}
