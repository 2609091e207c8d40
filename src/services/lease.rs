//! The smallest lock: a server that lends one lease, and clients that stop by themselves when it is over.

pub use fencepost_lease::*;
pub use fencepost_lease_explore::SERVICE;

use crate::{Check, Length};

/// A check of a lease.
///
/// ```
/// use fencepost::{Property, lease};
///
/// lease::lock("our-printer").grace(2).wake_delay(1).promise(Property::MutualExclusion).verify();
/// ```
pub fn lock(name: &str) -> Check<Lease> {
    Check::of(&SERVICE, name)
}

impl Check<Lease> {
    /// Sets how long the lock is lent.
    #[track_caller]
    pub fn lease(self, length: impl Into<Length>) -> Self {
        let length = self.ticks(length);
        self.settings(|lease| lease.lease = length)
    }

    /// Sets how long the server waits after that before it lends again.
    #[track_caller]
    pub fn grace(self, length: impl Into<Length>) -> Self {
        let length = self.ticks(length);
        self.settings(|lease| lease.grace = length)
    }

    /// Sets how long a client waits after a refusal.
    #[track_caller]
    pub fn retry_every(self, period: impl Into<Length>) -> Self {
        let period = self.ticks(period);
        self.settings(|lease| lease.retry_every = period)
    }
}
