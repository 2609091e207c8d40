//! etcd: leases, and the locks and elections of its Go client.

pub use fencepost_etcd::*;
pub use fencepost_etcd_explore::SERVICE;

use crate::{Check, Length};

/// A check of the `Mutex` of clientv3/concurrency on a session, as 3.4 has it.
///
/// ```
/// use fencepost::model::scenario::Ways;
/// use fencepost::{Property, Scenario, etcd};
///
/// // A holder that loses etcd, and stops before its lease can end.
/// let our_lock = || etcd::mutex("our-lock").ttl(3).message_delay(0).wake_delay(0).budget(|budget| budget.cuts = 1);
/// let cut = |mut scenario: Scenario<_>| {
///     scenario.network.ways = Ways::Both;
///     scenario
/// };
/// our_lock().stops_before_expiry(1).with(cut).promise(Property::MutualExclusion).verify();
/// // One that looks at nothing works beside its successor.
/// our_lock().with(cut).expect_violated(Property::MutualExclusion).verify();
/// ```
pub fn mutex(name: &str) -> Check<Etcd> {
    Check::of(&SERVICE, name)
}

impl Check<Etcd> {
    /// Sets T, in ticks.
    #[track_caller]
    pub fn ttl(self, ttl: impl Into<Length>) -> Self {
        let ttl = self.ticks(ttl);
        self.settings(|settings: &mut Settings| settings.ttl = ttl)
    }

    /// A holder stops this much before T has passed since the sending of the last acknowledged renewal, in ticks.
    #[track_caller]
    pub fn stops_before_expiry(self, margin: impl Into<Length>) -> Self {
        let margin = self.ticks(margin);
        self.settings(|settings: &mut Settings| (settings.stop, settings.margin) = (Stop::BeforeExpiry, margin))
    }
}
