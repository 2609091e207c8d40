//! Leader election by an observed lease: Kubernetes Lease with client-go, and its relatives.

pub use fencepost_observed_lease::*;
pub use fencepost_observed_lease_explore::SERVICE;

use crate::{Check, Length};

/// A check of an observed lease, with the behaviour of client-go.
///
/// ```
/// use fencepost::model::scenario::Cutting;
/// use fencepost::{Property, Scenario, observed_lease};
///
/// // L > R + D, and one cut between holder and store.
/// let our_operator = || {
///     observed_lease::lock("our-operator").terms(4, 2, 1).message_delay(0).wake_delay(0).budget(|budget| budget.cuts = 1)
/// };
/// let loses = |mut scenario: Scenario<_>| {
///     scenario.network.cuts = Cutting::Drop;
///     scenario
/// };
/// our_operator().with(loses).promise(Property::MutualExclusion).verify();
/// // A cut that holds the answer to an acquisition back, and delivers it later: its client leads beside the next one.
/// our_operator().expect_violated(Property::MutualExclusion).verify();
/// ```
pub fn lock(name: &str) -> Check<ObservedLease> {
    Check::of(&SERVICE, name)
}

impl Check<ObservedLease> {
    /// Sets LeaseDuration, RenewDeadline and RetryPeriod.
    #[track_caller]
    pub fn terms(
        self,
        lease: impl Into<Length>,
        renew_deadline: impl Into<Length>,
        retry_period: impl Into<Length>,
    ) -> Self {
        let [lease, renew_deadline, retry_period] =
            [lease.into(), renew_deadline.into(), retry_period.into()].map(|length: Length| self.ticks(length));
        self.settings(|settings: &mut Settings| {
            settings.lease = lease;
            settings.renew_deadline = renew_deadline;
            settings.retry_period = retry_period;
        })
    }

    /// Sets how the lease is given back.
    pub fn release(self, release: Release) -> Self {
        self.settings(|settings: &mut Settings| settings.release = release)
    }
}
