//! client-go's LeaderElector, line by line: tools/leaderelection/leaderelection.go and resourcelock/leaselock.go of
//! kubernetes/client-go@32ce75a7d. What differs in earlier versions is an option.

use std::iter::Peekable;
use std::vec;

use serde::{Deserialize, Serialize};

use super::caller::{self, Caller, CallerTerms, WorkEnds};
use super::{LeaseApi, LeaseError, LeaseObject, LeaseRecord, LeaseVersion, RawRecord};
use crate::messages::Name;
use crate::{Identity, ObservedLease, Release, Tokens};
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Handle, Lap, OpenDeadline, Recipe};
use fencepost_model::time::Ticks;

/// `type LeaderElectionConfig struct`, and what `LeaderElector` and `LeaseLock` remember.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct ClientGo {
    /// `LeaseDuration`.
    pub lease_duration: Ticks,
    /// `RenewDeadline`.
    pub renew_deadline: Ticks,
    /// `RetryPeriod`.
    pub retry_period: Ticks,
    /// `JitterFactor`: by how many ticks a sleep may be longer than the retry period. OL-K-6.
    pub jitter: u8,
    /// `LeaseDurationSeconds: int(le.config.LeaseDuration / time.Second)`, in ticks. OL-K-2.
    pub recorded: Ticks,
    /// The duration that a release records: 1 s. OL-S-5.
    pub second: Ticks,
    /// The timeout of the client's requests, in ticks. OL-K-13.
    pub request_timeout: Option<Ticks>,
    /// `ReleaseOnCancel`, by version: `Never`, `CachedVersion` to v0.33, `FreshVersion` from v0.34; `FreshRecord` is a repair. OL-K-12.
    #[normal(skip = "a constant")]
    pub release: Release,
    /// Whether a release is tried again on a conflict, from v0.37. OL-K-12.
    pub release_repeats: bool,
    /// Whether a leader first writes with the version that it has, from v0.30. OL-K-5.
    pub fast_path: bool,
    /// Whether a lease counts for the configured duration, not the recorded one, before v0.27. OL-K-4.
    pub counts_own: bool,
    /// Whether requests carry the context of the renew deadline: k/k#65094. OL-K-7.
    pub cuts_requests: bool,
    /// Whether the leading context ends before the release: a repair. OL-K-10.
    pub tells_first: bool,
    /// `Lock.Identity()`. OL-K-17.
    #[normal(skip = "a constant")]
    pub identity: Identity,
    /// What the work sends with its writes.
    #[normal(skip = "a constant")]
    pub token: Tokens,
    /// How its caller stops the work.
    pub caller: CallerTerms,
    pub(super) me: Option<Name>,
    /// `observedRecord`.
    pub(super) observed: Option<LeaseRecord>,
    /// `observedRawRecord`.
    pub(super) observed_raw: Option<RawRecord>,
    /// The version of `LeaseLock.lease`.
    pub(super) version: Option<LeaseVersion>,
    #[normal(skip = "a place in the code")]
    pub(super) next: ElectorLap,
}

/// Where the next lap goes on.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) enum ElectorLap {
    /// The body of `acquire`.
    #[default]
    Acquire,
    /// Its sleep.
    Jitter,
    /// `renew`, just after the acquisition.
    FirstRenewal,
    /// `renew`, after a renewal.
    Renew,
    /// After the loop of `renew`.
    Release,
}

type Api = Handle<ObservedLease>;

impl ClientGo {
    /// `IsLeader`: a cached fact. OL-K-3.
    fn is_leader(&self) -> bool {
        self.observed.is_some_and(|record| record.holder == self.me)
    }

    /// How long the observed record is valid. OL-K-4.
    fn valid_for(&self) -> Ticks {
        let recorded = self.observed.map_or(Ticks::ZERO, |record| record.duration);
        if self.counts_own { self.lease_duration } else { recorded }
    }

    /// `setObservedRecord`: `observedTime` is now. The handle's lease is that of the record that a contender observes; a leader keeps it
    /// for its own. OL-K-3.
    fn set_observed(&mut self, record: LeaseRecord, valid: &mut Option<OpenDeadline<ObservedLease>>, api: &Api) {
        self.observed = Some(record);
        let until = api.deadline(self.valid_for());
        if self.next == ElectorLap::Acquire {
            api.lease_until(&until);
        }
        *valid = Some(until);
    }

    /// A request with the timeout of the client.
    async fn ask<T>(&self, api: &Api, request: impl Future<Output = Result<T, LeaseError>>) -> Result<T, LeaseError> {
        match self.request_timeout {
            None => request.await,
            Some(length) => api.timeout(length, request).await.unwrap_or(Err(LeaseError::Unavailable)),
        }
    }

    /// A write of its own is acknowledged: the lap is over, and the next one begins with its lease. OL-K-3.
    fn acknowledge(&mut self, written: LeaseObject) -> bool {
        (self.observed, self.version) = (Some(written.record), Some(written.version));
        true
    }

    /// `tryAcquireOrRenew`; `expired` is `!isLeaseValid(now)` with `now` from its beginning. OL-K-4, OL-K-5.
    async fn try_acquire_or_renew(
        &mut self,
        api: &Api,
        mut expired: bool,
        valid: &mut Option<OpenDeadline<ObservedLease>>,
    ) -> bool {
        let mut record = LeaseRecord { holder: self.me, duration: self.recorded, transitions: 0 };
        // "1. fast path for the leader to update optimistically".
        if self.fast_path && self.is_leader() && !expired {
            record.transitions = self.observed.map_or(0, |old| old.transitions);
            // "lease not initialized, call get or create first".
            if let Some(version) = self.version
                && let Ok(written) = self.ask(api, api.update(version, record)).await
            {
                return self.acknowledge(written);
            }
        }
        // "2. obtain or create the ElectionRecord".
        let old = match self.ask(api, api.get()).await {
            Ok(old) => old,
            Err(LeaseError::NotFound) => {
                // A creation that fails leaves an empty lease, which no update can name.
                self.version = None;
                return match self.ask(api, api.create(record)).await {
                    Ok(written) => self.acknowledge(written),
                    Err(error) => self.fail(error == LeaseError::AlreadyExists, api),
                };
            }
            Err(_) => return false,
        };
        self.version = Some(old.version);
        // "3. Record obtained, check the Identity & Time".
        if self.observed_raw != Some(old.raw) {
            self.set_observed(old.record, valid, api);
            self.observed_raw = Some(old.raw);
            // What is observed now is valid for some time; a duration of 0 is over at once.
            expired = self.valid_for() == Ticks::ZERO;
        }
        if old.record.holder.is_some() && !expired && !self.is_leader() {
            return self.fail(true, api);
        }
        // "4. We're going to try to update."
        if self.token == Tokens::Transitions {
            record.transitions = old.record.transitions.saturating_add(u8::from(!self.is_leader()));
        }
        match self.ask(api, api.update(old.version, record)).await {
            Ok(written) => self.acknowledge(written),
            Err(_) => false,
        }
    }

    /// An attempt has failed; a contender reports that another's lease is valid.
    fn fail(&self, is_held: bool, api: &Api) -> bool {
        if is_held && self.next == ElectorLap::Acquire {
            api.refused();
        }
        false
    }

    /// The body of `acquire`, and `go le.config.Callbacks.OnStartedLeading(ctx)` after it. There is no deadline. OL-K-6.
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
        let token = match self.token {
            Tokens::None => Token(0),
            Tokens::Transitions => Token(self.observed.map_or(0, |record| u32::from(record.transitions)) + 1),
            Tokens::ResourceVersion => self.version.map_or(Token(0), LeaseVersion::token),
        };
        api.enter(token);
        api.spawn(Caller { token, terms: self.caller });
        self.next = ElectorLap::FirstRenewal;
    }

    /// `renew`: `UntilWithContext` sleeps from the end of a poll, and begins at once. OL-K-7.
    async fn renew(&mut self, api: &Api) {
        let mut valid = Some(api.deadline(self.valid_for()));
        // Its own lease covers what lies before its end.
        api.lease_until(&api.deadline(self.valid_for() - Ticks::new(1)));
        let is_first = self.next == ElectorLap::FirstRenewal;
        let renewal = async {
            if !is_first {
                api.sleep(self.retry_period).await;
            }
            self.poll(api, &mut valid).await
        };
        // `ctx.Done()`: the caller has cancelled. OL-K-10.
        let renewed = matches!(api.select(renewal, api.ended::<Caller>()).await, First::One(true));
        self.next = if renewed { ElectorLap::Renew } else { ElectorLap::Release };
    }

    /// `wait.PollUntilContextTimeout(ctx, RetryPeriod, RenewDeadline, true, …)`: whether an attempt was successful. OL-K-7.
    async fn poll(&mut self, api: &Api, valid: &mut Option<OpenDeadline<ObservedLease>>) -> bool {
        let timeout = api.deadline(self.renew_deadline);
        // It does not slide.
        let ticks = (1..).map(|tick| self.retry_period.times(tick)).take_while(|tick| *tick < self.renew_deadline);
        let mut ticks = ticks.map(|tick| api.deadline(tick)).collect::<Vec<_>>().into_iter().peekable();
        loop {
            let expired = match &*valid {
                Some(valid) => valid.has_come().await,
                None => true,
            };
            let cuts_requests = self.cuts_requests;
            let attempt = self.try_acquire_or_renew(api, expired, valid);
            let result = match cuts_requests {
                true => api.select(attempt, timeout.passed()).await,
                false => First::One(attempt.await),
            };
            match result {
                First::One(true) => return true,
                First::One(false) => {}
                First::Other(()) => return false,
            }
            // A ticker keeps one tick for a condition that takes long.
            if !have_come(&mut ticks).await {
                match ticks.next() {
                    Some(tick) => drop(api.select(tick.passed(), timeout.passed()).await),
                    None => timeout.passed().await,
                }
                have_come(&mut ticks).await;
            }
            // The context is looked at once more: no attempt starts at or after its end.
            if timeout.has_come().await {
                return false;
            }
        }
    }

    /// `release`, with its own timeout, and what ends with `renew`: the leading context, then OnStoppedLeading. OL-K-10.
    async fn stop(&mut self, api: &Api) {
        if self.tells_first || self.release == Release::Never {
            caller::tell(api, self.caller).await;
        }
        let timeout = self.renew_deadline;
        // Whether it succeeds is logged only.
        api.timeout(timeout, self.try_release(api)).await.ok();
        caller::tell(api, self.caller).await;
        api.ended::<WorkEnds>().await;
        api.no_lease();
    }

    /// `tryRelease`, or `release` up to v0.33. OL-K-12.
    async fn try_release(&mut self, api: &Api) {
        while self.release != Release::Never {
            let mut old = self.observed;
            if self.release != Release::CachedVersion {
                let Ok(fresh) = self.ask(api, api.get()).await else { return };
                (old, self.version) = (Some(fresh.record), Some(fresh.version));
            }
            let (Some(old), Some(version)) = (old, self.version) else { return };
            // `!le.IsLeader()`: of the record just read, only the transitions are looked at.
            if !self.is_leader() || self.release == Release::FreshRecord && old.holder != self.me {
                return;
            }
            let empty = LeaseRecord { holder: None, duration: self.second, transitions: old.transitions };
            let written = self.ask(api, api.update(version, empty)).await;
            if written != Err(LeaseError::Conflict) || !self.release_repeats {
                return;
            }
        }
    }
}

/// Takes the ticks that have come: whether there was one.
async fn have_come(ticks: &mut Peekable<vec::IntoIter<OpenDeadline<ObservedLease>>>) -> bool {
    let mut have_come = false;
    while let Some(tick) = ticks.peek()
        && tick.has_come().await
    {
        drop(ticks.next());
        have_come = true;
    }
    have_come
}

impl Recipe<ObservedLease> for ClientGo {
    const NAME: &'static str = "client-go";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        match self.next {
            ElectorLap::Acquire => self.acquire(api).await,
            // `Jitter(period, jitterFactor)`. The shortest sleep begins unless chance says otherwise at once.
            ElectorLap::Jitter => {
                let more = match self.jitter {
                    0 => 0,
                    jitter => match api.select(api.random(jitter), api.sleep(Ticks::ZERO)).await {
                        First::One(more) => i64::from(more) + 1,
                        First::Other(()) => 0,
                    },
                };
                api.sleep(self.retry_period + Ticks::new(more)).await;
                self.next = ElectorLap::Acquire;
            }
            ElectorLap::FirstRenewal | ElectorLap::Renew => self.renew(api).await,
            ElectorLap::Release => {
                self.stop(api).await;
                // `Run` returns.
                (self.observed, self.observed_raw, self.version) = (None, None, None);
                self.next = ElectorLap::Acquire;
                return Ok(Lap::Done);
            }
        }
        Ok(Lap::Again)
    }
}
