//! The elector of the Python package `kubernetes`, line by line: kubernetes/leaderelection/leaderelection.py of
//! kubernetes-client/python@863f5a89. It never releases the lease, and its deadline ends no request. OL-K-21. The package itself, 37.0.2, does
//! the same in every schedule of `src/conform/tests/electors`. Left out: work that raises an exception, which ends the renewals.

use serde::{Deserialize, Serialize};

use super::caller::{self, Caller, CallerTerms, WorkEnds};
use super::elector::{Api, ElectorLap, Validity, identity, within};
use super::{LeaseApi, LeaseError, LeaseObject, LeaseRecord, RawRecord};
use crate::ObservedLease;
use crate::messages::Name;
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Lap, Recipe};
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
    /// The timeout of the client's requests, in ticks; none by default. A lock of the user's own reports such a request as failed: those of the
    /// package raise an exception that ends `run()`.
    pub request_timeout: Option<Ticks>,
    /// `lock.identity`; none: each process has a new one.
    pub identity: Option<Name>,
    /// How its caller stops the work: `onstopped_leading`.
    pub caller: CallerTerms,
    pub(super) me: Option<Name>,
    /// `observed_record.holder_identity`.
    pub(super) observed_holder: Option<Name>,
    /// `observed_record`, with its times.
    pub(super) observed_raw: Option<RawRecord>,
    #[normal(skip = "a place in the code")]
    pub(super) next: ElectorLap,
}

impl PythonElector {
    /// `self.observed_record = …`, `self.observed_time_milliseconds = int(time.time() * 1000)`.
    fn observe(&mut self, object: LeaseObject, validity: &mut Validity<'_>) {
        (self.observed_holder, self.observed_raw) = (object.record.holder, Some(object.raw));
        validity.begin(self.lease_duration);
    }

    /// `try_acquire_or_renew`.
    async fn try_acquire_or_renew(&mut self, api: &Api, validity: &mut Validity<'_>) -> bool {
        // `now_timestamp = time.time()`.
        let mut has_finished = validity.is_over().await;
        let record = LeaseRecord { holder: self.me, duration: self.lease_duration, transitions: 0 };
        let written = match within(api, self.request_timeout, api.get()).await {
            Ok(old) => {
                // `old_election_record.holder_identity is None`: the lease is updated in any case.
                if old.record.holder.is_some() {
                    if self.observed_raw != Some(old.raw) {
                        self.observe(old, validity);
                        has_finished = false;
                    }
                    // "yet to finish lease_duration, lease held by {} and has not expired".
                    if self.observed_holder != self.me && !has_finished {
                        validity.report_refusal();
                        return false;
                    }
                }
                // `self.update_lock(leader_election_record)`.
                within(api, self.request_timeout, api.update(old.version, record)).await
            }
            Err(LeaseError::NotFound) => within(api, self.request_timeout, api.create(record)).await,
            Err(_) => return false,
        };
        if written == Err(LeaseError::AlreadyExists) {
            validity.report_refusal();
        }
        written.is_ok_and(|object| {
            self.observe(object, validity);
            true
        })
    }

    /// The body of the loop in `acquire`.
    async fn acquire(&mut self, api: &Api) {
        if self.me.is_none() {
            self.me = Some(identity(api, self.identity).await);
        }
        if !self.try_acquire_or_renew(api, &mut Validity::of_contender(api)).await {
            self.next = ElectorLap::Sleep;
            return;
        }
        // `threading.Thread(target=self.run_onstarted_leading, …)`.
        api.enter(Token::NONE);
        api.spawn(Caller { token: Token::NONE, terms: self.caller });
        self.next = ElectorLap::FirstRenewal;
    }

    /// The body of the loop in `renew_loop`.
    async fn renew(&mut self, api: &Api) {
        let mut validity = Validity::of_leader(api, self.lease_duration);
        if self.next == ElectorLap::Renew {
            api.sleep(self.retry_period).await;
        }
        let timeout = api.deadline(self.renew_deadline);
        // `while int(time.time() * 1000) < timeout`.
        while !timeout.has_come().await {
            if self.try_acquire_or_renew(api, &mut validity).await {
                self.next = ElectorLap::Renew;
                return;
            }
            api.sleep(self.retry_period).await;
        }
        // "failed to renew, return".
        self.next = ElectorLap::Stop;
    }
}

impl Recipe<ObservedLease> for PythonElector {
    const NAME: &'static str = "python-elector";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        match self.next {
            ElectorLap::Acquire => self.acquire(api).await,
            ElectorLap::Sleep => {
                api.sleep(self.retry_period).await;
                self.next = ElectorLap::Acquire;
            }
            ElectorLap::FirstRenewal | ElectorLap::Renew => self.renew(api).await,
            ElectorLap::Stop => {
                // `self.election_config.onstopped_leading()`.
                caller::tell(api, self.caller).await;
                api.ended::<WorkEnds>().await;
                api.no_lease();
                (self.observed_holder, self.observed_raw) = (None, None);
                self.next = ElectorLap::Acquire;
                return Ok(Lap::Done);
            }
        }
        Ok(Lap::Again)
    }
}
