//! client-go's LeaderElector, line by line: tools/leaderelection/leaderelection.go and resourcelock/leaselock.go of
//! kubernetes/client-go@32ce75a7d. What differs in earlier versions is an option.
//!
//! `attempt` has `tryAcquireOrRenew`, `renew` the loop of a leader and `release`.

mod attempt;
mod renew;

use serde::{Deserialize, Serialize};

use super::caller::{Caller, CallerTerms};
use super::elector::{Api, ElectorLap, Validity, identity, jittered};
use super::{LeaseApi, LeaseRecord, LeaseVersion, RawRecord};
use crate::messages::Name;
use crate::{ObservedLease, Release, Tokens};
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Lap, Recipe};
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
    /// Whether the renew deadline counts from the last success: a repair. OL-8.
    pub counts_from_success: bool,
    /// Whether a cancelled elector waits for its work without renewals, for the grace of its caller: the proposal of k/k#139504. OL-4.
    pub awaits_work: bool,
    /// `Coordinated`: a controller elects. The identity is that of a candidate. OL-K-16.
    pub coordinated: bool,
    /// `Lock.Identity()`; none: each process has a new one, as hostname and a random part. OL-K-17.
    pub identity: Option<Name>,
    /// What the work sends with its writes.
    #[normal(skip = "a constant")]
    pub token: Tokens,
    /// How its caller stops the work.
    pub caller: CallerTerms,
    pub(in crate::programs) me: Option<Name>,
    /// `observedRecord`.
    pub(in crate::programs) observed: Option<LeaseRecord>,
    /// `observedRawRecord`.
    pub(in crate::programs) observed_raw: Option<RawRecord>,
    /// The version of `LeaseLock.lease`.
    pub(in crate::programs) version: Option<LeaseVersion>,
    #[normal(skip = "a place in the code")]
    pub(in crate::programs) next: ElectorLap,
}

impl ClientGo {
    /// The body of `acquire`, and `go le.config.Callbacks.OnStartedLeading(ctx)` after it. There is no deadline. OL-K-6.
    async fn acquire(&mut self, api: &Api) {
        if self.me.is_none() {
            let me = identity(api, self.identity).await;
            if let Name::Candidate(number) = me {
                // `LeaseCandidate.Run`: `ensureLease`, which comes again after minutes only.
                api.nominate(number).await.ok();
            }
            self.me = Some(me);
        }
        if !self.attempt(api, &mut Validity::of_contender(api)).await {
            self.next = ElectorLap::Sleep;
            return;
        }
        let token = match self.token {
            Tokens::None => Token::NONE,
            Tokens::Transitions => Token::numbered(self.observed.map_or(0, |record| u32::from(record.transitions)) + 1),
            Tokens::ResourceVersion => self.version.map_or(Token::NONE, LeaseVersion::token),
        };
        api.enter(token);
        api.spawn(Caller { token, terms: self.caller });
        self.next = ElectorLap::FirstRenewal;
    }

    /// `JitterUntilWithContext` sleeps for `Jitter(period, jitterFactor)`. OL-K-6.
    async fn sleep(&mut self, api: &Api) {
        jittered(api, self.retry_period, self.jitter).await;
        self.next = ElectorLap::Acquire;
    }
}

impl Recipe<ObservedLease> for ClientGo {
    const NAME: &'static str = "client-go";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        match self.next {
            ElectorLap::Acquire => self.acquire(api).await,
            ElectorLap::Sleep => self.sleep(api).await,
            ElectorLap::FirstRenewal | ElectorLap::Renew => self.renew(api).await,
            ElectorLap::Stop => {
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
