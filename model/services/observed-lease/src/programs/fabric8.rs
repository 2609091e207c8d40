//! fabric8's elector, line by line: LeaderElector.java, ResourceLock.java and Utils.scheduleWithVariableRate of
//! fabric8io/kubernetes-client@ceb92181. OL-K-20. The sleeps of a contender count from the end of an attempt, and each renewal from the
//! beginning of the one before.

use serde::{Deserialize, Serialize};

use super::caller::{self, Caller, CallerTerms, WorkEnds};
use super::elector::{Api, identity, jittered, within};
use super::{LeaseApi, LeaseError, LeaseRecord, LeaseVersion};
use crate::messages::Name;
use crate::{ObservedLease, Tokens};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Lap, Recipe, WallTime};
use fencepost_model::time::Ticks;

/// `LeaderElector` with its `LeaderElectionConfig`.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
pub struct Fabric8Elector {
    /// `leaseDuration`.
    pub lease_duration: Ticks,
    /// `renewDeadline`.
    pub renew_deadline: Ticks,
    /// `retryPeriod`.
    pub retry_period: Ticks,
    /// `JITTER_FACTOR`: by how many ticks the sleep of a contender may be longer than the retry period.
    pub jitter: u8,
    /// `releaseOnCancel`.
    pub release_on_cancel: bool,
    /// The timeout of the client's requests, in ticks. A release has no other.
    pub request_timeout: Option<Ticks>,
    /// `lock.identity()`; none: each process has a new one.
    pub identity: Option<Name>,
    /// What the work sends with its writes: `leaderTransitions`, or the version of the acquisition.
    #[normal(skip = "a constant")]
    pub token: Tokens,
    /// How the work stops after `onStopLeading`; it heeds no other call.
    pub caller: CallerTerms,
    pub(super) me: Option<Name>,
    /// The holder of `observedRecord`.
    pub(super) observed: Option<Name>,
    /// `renewBy`, less the deadline: only a leader has one.
    pub(super) renewed: Option<WallTime>,
    /// Whether the work acts: between `onStartLeading` and `onStopLeading`.
    pub(super) acts: bool,
}

impl Fabric8Elector {
    /// `updateObserved`, with its callbacks.
    async fn update_observed(&mut self, api: &Api, holder: Option<Name>, token: Token) {
        let before = std::mem::replace(&mut self.observed, holder);
        if before == holder {
            return;
        }
        if before == self.me {
            self.stop_work(api, Leaving::Lapsed);
        } else if holder == self.me {
            // Work that is stopping yet has ended before it begins again.
            api.ended::<WorkEnds>().await;
            api.enter(token);
            api.spawn(Caller { token, terms: self.caller });
            self.acts = true;
        }
    }

    /// `onStopLeading()`.
    fn stop_work(&mut self, api: &Api, why: Leaving) {
        if std::mem::take(&mut self.acts) {
            api.stop::<Caller>();
            caller::stop(api, self.caller, why);
        }
    }

    fn token_of(&self, transitions: u8, version: LeaseVersion) -> Token {
        match self.token {
            Tokens::None => Token::NONE,
            Tokens::Transitions => Token::numbered(u32::from(transitions) + 1),
            Tokens::ResourceVersion => version.token(),
        }
    }

    /// `tryAcquireOrRenew`. An error is a `KubernetesClientException`.
    async fn try_acquire_or_renew(&mut self, api: &Api) -> Result<bool, LeaseError> {
        // `final ZonedDateTime now = now()`, before the read.
        let now = api.wall_time().await;
        let mut record = LeaseRecord { holder: self.me, duration: self.lease_duration, transitions: 0 };
        let written = match within(api, self.request_timeout, api.get()).await {
            Err(LeaseError::NotFound) => within(api, self.request_timeout, api.create(record.renewed_at(now))).await,
            Err(error) => return Err(error),
            Ok(old) => {
                let is_leader = old.record.holder == self.me;
                if !is_leader {
                    self.update_observed(api, old.record.holder, Token::NONE).await;
                    // `canBecomeLeader`: `now().isAfter(…)`, with the time after the read.
                    let is_free = match (old.record.holder, old.renewed) {
                        (Some(_), Some(renewed)) => api.deadline_after(renewed, old.record.duration).is_over().await,
                        _ => true,
                    };
                    if !is_free {
                        self.report_refusal(api);
                        return Ok(false);
                    }
                }
                if self.token == Tokens::Transitions {
                    record.transitions = old.record.transitions.saturating_add(u8::from(!is_leader));
                }
                within(api, self.request_timeout, api.update(old.version, record.renewed_at(now))).await
            }
        };
        if written == Err(LeaseError::AlreadyExists) {
            self.report_refusal(api);
        }
        let written = written?;
        api.lease_before(&api.deadline_after(now, self.lease_duration));
        self.update_observed(api, self.me, self.token_of(record.transitions, written.version)).await;
        Ok(true)
    }

    /// A contender reports that another's record is valid.
    fn report_refusal(&self, api: &Api) {
        if self.renewed.is_none() {
            api.refused();
        }
    }

    /// One turn of the loop in `acquire`.
    async fn acquire(&mut self, api: &Api) {
        if self.me.is_none() {
            self.me = Some(identity(api, self.identity).await);
        }
        match self.try_acquire_or_renew(api).await {
            // `renewBy` at the beginning of `renewWithTimeout`.
            Ok(true) => self.renewed = Some(api.wall_time().await),
            Ok(false) | Err(_) => jittered(api, self.retry_period, self.jitter).await,
        }
    }

    /// One tick of the loop in `renewWithTimeout`. False: it is completed.
    async fn renew(&mut self, api: &Api, renewed: WallTime) -> bool {
        let next = api.deadline(self.retry_period);
        // `System.currentTimeMillis() > renewBy.get()`.
        if api.deadline_after(renewed, self.renew_deadline).is_over().await {
            return false;
        }
        // `synchronized`: a cancellation waits for the attempt.
        match self.try_acquire_or_renew(api).await {
            Ok(true) => {
                self.renewed = Some(api.wall_time().await);
                api.renewed();
            }
            // "renewal failed, exit".
            Ok(false) => return false,
            Err(_) => {}
        }
        if !self.acts {
            // It has lost the lease to another one, and its write has failed: no caller is left that could cancel.
            next.passed().await;
            return true;
        }
        let passed = async {
            if !next.has_come().await {
                next.passed().await;
            }
        };
        matches!(api.select(api.ended::<Caller>(), passed).await, First::Other(()))
    }

    /// `stopLeading`: the record first, and the callback second; so it is on cancellation, too.
    async fn stop_leading(&mut self, api: &Api) {
        let is_cancelled = self.acts && !caller::runs::<Caller>(api).await;
        if self.observed == self.me && self.release_on_cancel {
            // `release`: "lost leadership already" is no error.
            if let Ok(current) = within(api, self.request_timeout, api.get()).await
                && current.record.holder == self.me
            {
                let now = api.wall_time().await;
                let transitions = current.record.transitions;
                let empty = LeaseRecord { holder: None, duration: Ticks::new(1), transitions }.renewed_at(now);
                within(api, self.request_timeout, api.update(current.version, empty)).await.ok();
            }
        }
        self.stop_work(api, if is_cancelled { Leaving::Done } else { Leaving::Lapsed });
        api.ended::<WorkEnds>().await;
    }
}

impl Recipe<ObservedLease> for Fabric8Elector {
    const NAME: &'static str = "fabric8-elector";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        let Some(renewed) = self.renewed else {
            self.acquire(api).await;
            return Ok(Lap::Again);
        };
        if self.renew(api, renewed).await {
            return Ok(Lap::Again);
        }
        self.stop_leading(api).await;
        api.no_lease();
        (self.observed, self.renewed) = (None, None);
        Ok(Lap::Done)
    }
}
