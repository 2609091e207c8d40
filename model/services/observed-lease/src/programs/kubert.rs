//! The crate kubert, line by line: kubert/src/lease.rs of olix0r/kubert@f46649ed (0.25.0), the task of `LeaseManager::spawn`, with the
//! delays of backon's `ExponentialBuilder`. OL-K-22. The `Lease` is created without a spec by the first client, as by a manifest.

use serde::{Deserialize, Serialize};

use super::caller::{self, Caller, CallerTerms, WorkEnds};
use super::elector::{Api, identity, within};
use super::{LeaseApi, LeaseError, LeaseObject, LeaseRecord, LeaseVersion};
use crate::ObservedLease;
use crate::messages::Name;
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Lap, OpenDeadline, Recipe, WallTime};
use fencepost_model::time::Ticks;

/// `LeaseManager` with its `ClaimParams`, and an application that acts while `claim.is_current_for(claimant)`.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
pub struct Kubert {
    /// `lease_duration`: 30 s.
    pub lease_duration: Ticks,
    /// `renew_grace_period`: 1 s.
    pub renew_grace_period: Ticks,
    /// `API_TIMEOUT`: 10 s.
    pub api_timeout: Option<Ticks>,
    /// `min_delay` of the retries: 1 s, for what `with_min_delay` returns is dropped.
    pub min_delay: Ticks,
    /// Whether the lease is vacated when the application ends.
    pub vacates: bool,
    /// `claimant`; none: each process has a new one.
    pub identity: Option<Name>,
    /// How the application stops.
    pub caller: CallerTerms,
    pub(super) me: Option<Name>,
    /// `State::claim`.
    pub(super) claim: Option<Claim>,
    /// `Meta::version`.
    pub(super) version: Option<LeaseVersion>,
    /// Whether the application has been told that it is the holder.
    pub(super) acts: bool,
}

/// `struct Claim`: its expiry is `duration` after `renewed`.
#[derive(Copy, Clone, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Claim {
    holder: Name,
    renewed: WallTime,
    duration: Ticks,
}

impl Claim {
    /// The time of the expiry, or so much before it.
    fn expiry(&self, api: &Api, grace: Ticks) -> OpenDeadline<ObservedLease> {
        api.deadline_after(self.renewed, Ticks::new((self.duration - grace).count().max(0)))
    }

    /// `is_current`: `chrono::Utc::now() < self.expiry`.
    async fn is_current(&self, api: &Api) -> bool {
        !self.expiry(api, Ticks::ZERO).has_come().await
    }

    /// `expire_with_grace`.
    async fn expire_with_grace(&self, api: &Api, grace: Ticks) {
        let expiry = self.expiry(api, grace);
        if !expiry.has_come().await {
            expiry.passed().await;
        }
    }
}

impl Kubert {
    /// `get`.
    async fn get(&mut self, api: &Api) -> Result<(), LeaseError> {
        let lease = within(api, self.api_timeout, api.get()).await?;
        self.version = Some(lease.version);
        self.claim = match (lease.record.holder, lease.renewed) {
            (Some(holder), Some(renewed)) => Some(Claim { holder, renewed, duration: lease.record.duration }),
            _ => None,
        };
        // `if expiry <= chrono::Utc::now()`.
        if let Some(claim) = self.claim
            && !claim.is_current(api).await
        {
            self.claim = None;
        }
        Ok(())
    }

    /// `init`: the lease must have been created.
    async fn init(&mut self, api: &Api) -> Result<(), LeaseError> {
        if self.get(api).await == Err(LeaseError::NotFound) {
            let empty = LeaseRecord { holder: None, duration: Ticks::new(1), transitions: 0 };
            within(api, self.api_timeout, api.create(empty)).await.ok();
            return self.get(api).await;
        }
        Ok(())
    }

    /// `acquire` and `renew`: a patch with the version, and the time before it is sent.
    async fn patch(&mut self, api: &Api) -> Result<(), LeaseError> {
        let now = api.wall_time().await;
        let (me, version) = (self.me.ok_or(LeaseError::Invalid)?, self.version.ok_or(LeaseError::Invalid)?);
        let record = LeaseRecord { holder: Some(me), duration: self.lease_duration, transitions: 0 };
        let patched = within(api, self.api_timeout, api.update(version, record.renewed_at(now))).await;
        let LeaseObject { version, .. } = patched?;
        self.claim = Some(Claim { holder: me, renewed: now, duration: self.lease_duration });
        self.version = Some(version);
        Ok(())
    }

    /// `ensure_claimed`.
    async fn ensure_claimed(&mut self, api: &Api) -> Result<Claim, LeaseError> {
        loop {
            if let Some(claim) = self.claim {
                let is_mine = Some(claim.holder) == self.me;
                let renew_at = claim.expiry(api, if is_mine { self.renew_grace_period } else { Ticks::ZERO });
                // Mine: `chrono::Utc::now() < renew_at`; another's: `claim.is_current()`.
                if !renew_at.has_come().await {
                    if !is_mine {
                        api.refused();
                    }
                    return Ok(claim);
                }
            }
            match (self.patch(api).await, self.claim) {
                (Ok(()), Some(claim)) => {
                    api.lease_before(&claim.expiry(api, Ticks::ZERO));
                    api.renewed();
                    return Ok(claim);
                }
                // "Another process updated the claim's resource version".
                (Err(LeaseError::Conflict), _) => self.get(api).await?,
                (Err(error), _) => return Err(error),
                (Ok(()), None) => return Err(LeaseError::Invalid),
            }
        }
    }

    /// `.retry(new_backoff.with_max_delay(grace))`: three times. The first delay is not limited.
    async fn retry(&mut self, api: &Api, grace: Ticks) -> Result<Claim, LeaseError> {
        let mut claimed = self.ensure_claimed(api).await;
        for delay in [self.min_delay, self.min_delay.min(grace), self.min_delay.min(grace)] {
            if claimed.is_err() {
                api.sleep(delay).await;
                claimed = self.ensure_claimed(api).await;
            }
        }
        claimed
    }

    /// `tx.send(claim)`: the application begins, or stops, or goes on.
    async fn publish(&mut self, api: &Api, claim: Claim) {
        let is_mine = Some(claim.holder) == self.me;
        if is_mine && !self.acts {
            api.enter(Token::NONE);
            api.spawn(Caller { token: Token::NONE, terms: self.caller });
        } else if !is_mine && self.acts {
            caller::tell(api, self.caller).await;
            api.ended::<WorkEnds>().await;
        }
        self.acts = is_mine;
    }

    /// One turn of the spawned task. False: `tx.closed()`.
    async fn turn(&mut self, api: &Api, claim: Claim) -> Result<bool, LeaseError> {
        let is_mine = Some(claim.holder) == self.me;
        let grace = if is_mine { self.renew_grace_period } else { Ticks::ZERO };
        let acts = self.acts;
        let claimed = async {
            claim.expire_with_grace(api, grace).await;
            self.retry(api, grace).await
        };
        let claimed = match acts {
            true => match api.select(api.ended::<Caller>(), claimed).await {
                First::One(()) => return Ok(false),
                First::Other(claimed) => claimed,
            },
            false => claimed.await,
        };
        self.publish(api, claimed?).await;
        Ok(true)
    }

    /// `vacate`.
    async fn vacate(&mut self, api: &Api) {
        if let (Some(claim), Some(version)) = (self.claim.take(), self.version)
            && claim.is_current(api).await
            && Some(claim.holder) == self.me
            && self.vacates
        {
            let empty = LeaseRecord { holder: None, duration: Ticks::new(1), transitions: 0 };
            within(api, self.api_timeout, api.update(version, empty)).await.ok();
        }
    }
}

impl Recipe<ObservedLease> for Kubert {
    const NAME: &'static str = "kubert";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        let Some(claim) = self.claim else {
            self.me = Some(identity(api, self.identity).await);
            // `init(…).await?`, `self.ensure_claimed(&claimant, &params).await?`.
            self.init(api).await.map_err(|_| Gone)?;
            let claim = self.ensure_claimed(api).await.map_err(|_| Gone)?;
            self.publish(api, claim).await;
            return Ok(Lap::Again);
        };
        match self.turn(api, claim).await {
            Ok(true) => return Ok(Lap::Again),
            Ok(false) => self.vacate(api).await,
            // The task has ended with an error: the application acts while its claim is current.
            Err(_) if self.acts => api.ended::<Caller>().await,
            Err(_) => {}
        }
        api.ended::<WorkEnds>().await;
        api.no_lease();
        (self.claim, self.version, self.acts) = (None, None, false);
        Ok(Lap::Done)
    }
}
