//! Locks on several nodes: Redlock, which asks a majority, and a lock that is copied from a leading node.

use fencepost_model::time::Ticks;
pub use fencepost_redlock::*;
pub use fencepost_redlock_explore::SERVICE;

use crate::Check;

/// A check of Redlock, with a lease of so long on each node.
///
/// ```
/// use fencepost::{Property, Ticks, redlock};
///
/// redlock::lock("our-cache", 2)
///     .settings(|redlock| {
///         redlock.nodes = 1;
///         redlock.drift = Ticks::new(1);
///     })
///     .promise(Property::LeaseExclusion)
///     .verify();
/// ```
pub fn lock(name: &str, lease: impl Into<Ticks>) -> Check<Redlock> {
    Check::of(&SERVICE, name).settings(|redlock: &mut Settings| redlock.lease = Some(lease.into()))
}

/// A check of a lock on a leading node, which copies it to the others.
pub fn copied_lock(name: &str) -> Check<Redlock> {
    Check::of(&SERVICE, name).system("copied-lock")
}
