//! `tryAcquireOrRenew`: one attempt to acquire or to renew, with what it remembers. OL-K-5.

use super::super::elector::{Api, Validity, within};
use super::super::{LeaseApi, LeaseError, LeaseObject, LeaseRecord};
use super::ClientGo;
use crate::Tokens;
use fencepost_model::time::Ticks;

impl ClientGo {
    /// `IsLeader`: a cached fact. OL-K-3.
    pub(super) fn is_leader(&self) -> bool {
        self.observed.is_some_and(|record| record.holder == self.me)
    }

    /// How long the observed record is valid. OL-K-4.
    pub(super) fn valid_for(&self) -> Ticks {
        let recorded = self.observed.map_or(Ticks::ZERO, |record| record.duration);
        if self.counts_own { self.lease_duration } else { recorded }
    }

    /// A write of its own is acknowledged: the lap is over, and the next one begins with its lease. `observedRawRecord` stays. OL-K-3.
    fn acknowledge(&mut self, written: LeaseObject) -> bool {
        (self.observed, self.version) = (Some(written.record), Some(written.version));
        true
    }

    /// One attempt, by whether a controller elects: whether it was successful.
    pub(super) async fn attempt(&mut self, api: &Api, validity: &mut Validity<'_>) -> bool {
        match self.coordinated {
            false => self.try_acquire_or_renew(api, validity).await,
            true => self.try_coordinated_renew(api, validity).await,
        }
    }

    /// `tryCoordinatedRenew`: who is written in renews, until another one is to follow. No contender takes over. OL-K-16.
    async fn try_coordinated_renew(&mut self, api: &Api, validity: &mut Validity<'_>) -> bool {
        // `RenewTime: now`.
        let now = api.wall_time().await;
        let Ok(old) = within(api, self.request_timeout, api.get()).await else { return false };
        self.version = Some(old.version);
        if self.observed_raw != Some(old.raw) {
            (self.observed, self.observed_raw) = (Some(old.record), Some(old.raw));
            validity.begin(old.record.duration);
        }
        // `hasExpired`: `Before(now)`.
        if validity.has_passed().await {
            return false;
        }
        if !self.is_leader() {
            return self.refuse(validity);
        }
        // "If the lease has been marked as \"end of term\", don't renew it".
        if old.preferred.is_some() {
            return false;
        }
        let record = LeaseRecord { holder: self.me, duration: self.recorded, transitions: 0 }.renewed_at(now);
        match within(api, self.request_timeout, api.update(old.version, record)).await {
            Ok(written) => self.acknowledge(written),
            Err(_) => false,
        }
    }

    /// `tryAcquireOrRenew`: whether the attempt was successful.
    async fn try_acquire_or_renew(&mut self, api: &Api, validity: &mut Validity<'_>) -> bool {
        let timeout = self.request_timeout;
        // `isLeaseValid(now.Time)`, with `now` from the beginning of the attempt.
        let mut is_valid = !validity.is_over().await;
        let mut record = LeaseRecord { holder: self.me, duration: self.recorded, transitions: 0 };
        // "1. fast path for the leader to update optimistically".
        if self.fast_path && self.is_leader() && is_valid {
            record.transitions = self.observed.map_or(0, |old| old.transitions);
            // "lease not initialized, call get or create first".
            if let Some(version) = self.version
                && let Ok(written) = within(api, timeout, api.update(version, record)).await
            {
                return self.acknowledge(written);
            }
        }
        // "2. obtain or create the ElectionRecord".
        let old = match within(api, timeout, api.get()).await {
            Ok(old) => old,
            Err(LeaseError::NotFound) => {
                // A creation that fails leaves an empty lease, which no update can name.
                self.version = None;
                return match within(api, timeout, api.create(record)).await {
                    Ok(written) => self.acknowledge(written),
                    Err(LeaseError::AlreadyExists) => self.refuse(validity),
                    Err(_) => false,
                };
            }
            Err(_) => return false,
        };
        self.version = Some(old.version);
        // "3. Record obtained, check the Identity & Time".
        if self.observed_raw != Some(old.raw) {
            (self.observed, self.observed_raw) = (Some(old.record), Some(old.raw));
            validity.begin(self.valid_for());
            // What is observed now is valid for some time; a duration of 0 is over at once.
            is_valid = self.valid_for() > Ticks::ZERO;
        }
        if old.record.holder.is_some() && is_valid && !self.is_leader() {
            return self.refuse(validity);
        }
        // "4. We're going to try to update."
        if self.token == Tokens::Transitions {
            record.transitions = old.record.transitions.saturating_add(u8::from(!self.is_leader()));
        }
        match within(api, timeout, api.update(old.version, record)).await {
            Ok(written) => self.acknowledge(written),
            Err(_) => false,
        }
    }

    /// "Lease is held by and has not yet expired".
    fn refuse(&self, validity: &Validity<'_>) -> bool {
        validity.report_refusal();
        false
    }
}
