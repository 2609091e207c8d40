//! The loop of a leader, and its end: `renew` and `release`. OL-K-7, OL-K-12.

use std::iter::Peekable;
use std::vec;

use super::super::caller::{self, Caller, WorkEnds};
use super::super::elector::{Api, ElectorLap, Validity, within};
use super::super::{LeaseApi, LeaseError, LeaseRecord};
use super::ClientGo;
use crate::{ObservedLease, Release};
use fencepost_model::program::{First, OpenDeadline};

impl ClientGo {
    /// `renew`: `UntilWithContext` sleeps from the end of a poll, and begins at once. OL-K-7.
    pub(super) async fn renew(&mut self, api: &Api) {
        let mut validity = Validity::of_leader(api, self.valid_for());
        let is_first = self.next == ElectorLap::FirstRenewal;
        // An acquisition is no renewal.
        if !is_first {
            api.renewed();
        }
        let from_success = self.counts_from_success.then(|| api.deadline(self.renew_deadline));
        let renewal = async {
            if !is_first {
                api.sleep(self.retry_period).await;
            }
            self.poll(api, from_success, &mut validity).await
        };
        // `ctx.Done()`: the caller has cancelled. OL-K-10.
        let renewed = matches!(api.select(renewal, api.ended::<Caller>()).await, First::One(true));
        self.next = if renewed { ElectorLap::Renew } else { ElectorLap::Stop };
    }

    /// `wait.PollUntilContextTimeout(ctx, RetryPeriod, RenewDeadline, true, …)`: whether an attempt was successful. OL-K-7.
    async fn poll(
        &mut self,
        api: &Api,
        from_success: Option<OpenDeadline<ObservedLease>>,
        validity: &mut Validity<'_>,
    ) -> bool {
        let timeout = match from_success {
            Some(timeout) if timeout.has_come().await => return false,
            Some(timeout) => timeout,
            None => api.deadline(self.renew_deadline),
        };
        // It does not slide.
        let ticks = (1..).map(|tick| self.retry_period.times(tick)).take_while(|tick| *tick < self.renew_deadline);
        let mut ticks = ticks.map(|tick| api.deadline(tick)).collect::<Vec<_>>().into_iter().peekable();
        loop {
            let cuts_requests = self.cuts_requests;
            let attempt = self.attempt(api, validity);
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

    /// The work stops, without renewals, before the release: for the grace period at most.
    async fn await_work(&self, api: &Api) {
        match self.caller.grace {
            None => api.ended::<WorkEnds>().await,
            Some(grace) => drop(api.select(api.ended::<WorkEnds>(), api.sleep(grace)).await),
        }
    }

    /// `release`, with its own timeout, and what ends with `renew`: the leading context, then OnStoppedLeading. OL-K-10.
    pub(super) async fn stop(&mut self, api: &Api) {
        if self.awaits_work && !caller::runs::<Caller>(api).await {
            self.await_work(api).await;
        }
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
                let Ok(fresh) = within(api, self.request_timeout, api.get()).await else { return };
                (old, self.version) = (Some(fresh.record), Some(fresh.version));
            }
            let (Some(old), Some(version)) = (old, self.version) else { return };
            // `!le.IsLeader()`: of the record just read, only the transitions are looked at.
            if !self.is_leader() || self.release == Release::FreshRecord && old.holder != self.me {
                return;
            }
            let empty = LeaseRecord { holder: None, duration: self.second, transitions: old.transitions };
            let written = within(api, self.request_timeout, api.update(version, empty)).await;
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
