//! The DynamoDB lock client, line by line: AmazonDynamoDBLockClient.java and LockItem.java of
//! awslabs/amazon-dynamodb-lock-client@601eab15. The record version number is the version; an item that is released names no owner.
//! Left out: `releaseLock`, `ensure` and data.

use serde::{Deserialize, Serialize};

use super::caller::{Caller, CallerTerms, WorkEnds};
use super::elector::{Api, within};
use super::{LeaseApi, LeaseError, LeaseObject, LeaseRecord, LeaseVersion, RawRecord};
use crate::ObservedLease;
use crate::messages::Name;
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{First, Gone, Lap, OpenDeadline, Recipe};
use fencepost_model::time::Ticks;

/// `AmazonDynamoDBLockClient` with its options, and one call of `acquireLock` after the other.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct DynamoLockClient {
    /// `leaseDuration`: that of every client of the table.
    pub lease_duration: Ticks,
    /// `heartbeatPeriod`: the first heartbeat comes so long after the acquisition. OL-D-6.
    pub heartbeat_period: Ticks,
    /// `refreshPeriod`. OL-D-3.
    pub refresh_period: Ticks,
    /// `additionalTimeToWaitForLock`; none: the call waits for ever. OL-D-4.
    pub additional_time: Option<Ticks>,
    /// `shouldSkipBlockingWait`: a call looks once. OL-D-5.
    pub skips_blocking_wait: bool,
    /// Whether a look is compared with that of an earlier call, from 1.3. OL-D-5.
    pub remembers: bool,
    /// After how many ticks `acquireLock` is called again; none: never.
    pub call_again: Option<Ticks>,
    /// The timeout of requests, in ticks.
    pub request_timeout: Option<Ticks>,
    /// Whether the SDK repeats a creation that timed out, once. OL-D-9.
    pub sdk_repeats: bool,
    /// How long after the sending of the last heartbeat the work acts: it asks `isExpired`, or a session monitor calls back at the safe
    /// time; none: nothing stops it. OL-D-2, OL-D-7.
    pub guard: Option<Ticks>,
    /// `holdLockOnServiceUnavailable`. OL-D-8.
    pub holds_on_error: bool,
    /// How its caller stops the work.
    pub caller: CallerTerms,
    pub(super) me: Option<Name>,
    /// `lockTryingToBeAcquired`, or the entry of `notMyLocks`, by its record version number. The handle's lease is its lease.
    pub(super) seen: Option<RawRecord>,
    /// The record version number of the lock that it holds, and sends heartbeats for.
    pub(super) held: Option<LeaseVersion>,
}

impl DynamoLockClient {
    /// `lookupTime` is now: how long the work may act, or the lock is not expired.
    fn look_up(&self, api: &Api) -> OpenDeadline<ObservedLease> {
        api.deadline(self.guard.unwrap_or(self.lease_duration))
    }

    fn item(&self) -> LeaseRecord {
        LeaseRecord { holder: self.me, duration: self.lease_duration, transitions: 0 }
    }

    /// `putItem` with the condition that there is no item. The SDK knows no answer from a timeout only.
    async fn create(&self, api: &Api) -> Result<LeaseObject, LeaseError> {
        if let Some(length) = self.request_timeout.filter(|_| self.sdk_repeats)
            && let Ok(created) = api.timeout(length, api.create(self.item())).await
        {
            return created;
        }
        within(api, self.request_timeout, api.create(self.item())).await
    }

    /// One turn of the loop in `acquireLock`: whether the lock was granted. OL-D-3.
    async fn try_acquire(&mut self, api: &Api) -> bool {
        let existing = match within(api, self.request_timeout, api.get()).await {
            Ok(item) => Some(item),
            Err(LeaseError::NotFound) => None,
            Err(_) => return false,
        };
        // `lookupTime`: before the request is sent. OL-D-2.
        let looked_up;
        let put = match existing {
            None => {
                looked_up = self.look_up(api);
                self.create(api).await
            }
            Some(item) => {
                let is_same = self.seen == Some(item.raw);
                if item.record.holder.is_some() && !(is_same && api.lease_is_over().await) {
                    if !is_same {
                        self.seen = Some(item.raw);
                        api.lease_until(&api.deadline(item.record.duration));
                    }
                    api.refused();
                    return false;
                }
                looked_up = self.look_up(api);
                within(api, self.request_timeout, api.update(item.version, self.item())).await
            }
        };
        match put {
            Ok(item) => {
                api.lease_until(&looked_up);
                self.held = Some(item.version);
                true
            }
            // `ConditionalCheckFailedException`: another client has acquired the lock.
            Err(LeaseError::AlreadyExists) => {
                api.refused();
                false
            }
            Err(_) => false,
        }
    }

    /// `acquireLock`. A call that waits for ever has a lap for each turn.
    async fn acquire(&mut self, api: &Api) -> Turn {
        if self.me.is_none() {
            self.me = Some(api.unique_identity().await);
        }
        if !self.remembers && (self.skips_blocking_wait || self.additional_time.is_some()) {
            self.seen = None;
        }
        let waits = self.additional_time.map(|time| [api.deadline(time), api.deadline(time + self.lease_duration)]);
        let mut has_slept_once = false;
        loop {
            if self.try_acquire(api).await {
                return Turn::Granted;
            }
            if self.skips_blocking_wait {
                return Turn::Over;
            }
            if let Some([wait, longer]) = &waits {
                // `millisecondsToWait += existingLock.get().getLeaseDuration()`, once. OL-D-4.
                has_slept_once |= self.seen.is_some();
                let wait = if has_slept_once { longer } else { wait };
                if wait.is_over().await {
                    return Turn::Over;
                }
            }
            api.sleep(self.refresh_period).await;
            if waits.is_none() {
                return Turn::Next;
            }
        }
    }

    /// `run` of the heartbeat thread, from one heartbeat to the next: whether the lock is still in its list. OL-D-6.
    async fn heartbeat(&mut self, api: &Api, version: LeaseVersion) -> bool {
        let next = api.deadline(self.heartbeat_period);
        // `lockItem.isExpired()`: it is removed from the list.
        if api.lease_is_over().await {
            return false;
        }
        let looked_up = self.look_up(api);
        match within(api, self.request_timeout, api.update(version, self.item())).await {
            Ok(item) => {
                api.lease_until(&looked_up);
                api.renewed();
                self.held = Some(item.version);
            }
            Err(LeaseError::Conflict) => return false,
            // 503: `lockItem.updateLookUpTime(…)`. OL-D-8.
            Err(_) if self.holds_on_error => api.lease_until(&self.look_up(api)),
            Err(_) => {}
        }
        // `Thread.sleep(Math.max(this.heartbeatPeriodInMilliseconds - timeElapsed, 0))`.
        next.passed().await;
        true
    }
}

/// What comes of a turn.
enum Turn {
    /// The lock.
    Granted,
    /// The next turn.
    Next,
    /// The call ends without the lock.
    Over,
}

impl Recipe<ObservedLease> for DynamoLockClient {
    const NAME: &'static str = "dynamodb-lock-client";

    async fn lap(&mut self, api: &Api) -> Result<Lap, Gone> {
        let Some(version) = self.held else {
            match (self.acquire(api).await, self.call_again) {
                (Turn::Granted, _) => {
                    api.enter(Token::NONE);
                    api.spawn(Caller { token: Token::NONE, terms: self.caller });
                    api.select(api.ended::<Caller>(), api.sleep(self.heartbeat_period)).await;
                }
                (Turn::Next, _) => {}
                (Turn::Over, Some(period)) => api.sleep(period).await,
                (Turn::Over, None) => {
                    // Its user has no lock, and does not ask again.
                    api.no_lease();
                    api.lease_ended().await;
                }
            }
            return Ok(Lap::Again);
        };
        if let First::Other(true) = api.select(api.ended::<Caller>(), self.heartbeat(api, version)).await {
            return Ok(Lap::Again);
        }
        // The work hears nothing of a lock that has no heartbeats any more: its guard stops it, if there is one.
        api.ended::<Caller>().await;
        api.ended::<WorkEnds>().await;
        api.no_lease();
        (self.seen, self.held) = (None, None);
        Ok(Lap::Done)
    }
}
