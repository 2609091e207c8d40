//! What must be possible in a scenario, so that a proof says something.

use std::fmt;

use serde::Serialize;

use crate::ids::ClientId;

/// Something that some execution of a scenario must show. The kernel's are constants here; a service has its own in
/// [`Service::GOALS`](crate::service::Service::GOALS), and a scenario built in Rust may add more with
/// [`Scenario::own_goal`](crate::scenario::Scenario::own_goal).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct Goal(&'static str);

macro_rules! goals {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        impl Goal {
            $($(#[doc = $doc])* pub const $name: Goal = Goal($text);)*

            /// Those of the kernel.
            pub const KERNEL: &'static [Goal] = &[$(Goal::$name,)*];
        }
    };
}

goals! {
    /// Each client is inside at some time in some execution.
    EVERY_CLIENT_ENTERS = "every-client-enters",
    /// A client is refused because another one has the lock.
    CONTENDED = "contended",
    /// A client is refused because of the lock-delay.
    LOCK_DELAYED = "lock-delayed",
    /// A session's TTL runs out.
    EXPIRED = "expired",
    /// A session ends while it has the lock, for whatever reason.
    INVALIDATED = "invalidated",
    /// Somebody removes the lock's entry.
    DELETED = "deleted",
    /// The resource accepts a write.
    WRITTEN = "written",
    /// The resource refuses a write.
    WRITE_REFUSED = "write-refused",
    /// A third party discovers the leader.
    DISCOVERED = "discovered",
    /// A failing check, or the removal of what it belongs to, ends a session.
    CHECK_FAILED = "check-failed",
    /// A client is refused a slot, for all are taken.
    FULL = "full",
    /// A client gives its slot back.
    SLOT_FREED = "slot-freed",
    /// A client asks whether it still has its slot, and is told so.
    VERIFIED = "verified",
    /// An administrator finishes an operation.
    ADMINISTERED = "administered",
}

impl Goal {
    /// A goal with this name, in kebab-case.
    pub const fn new(name: &'static str) -> Self {
        Goal(name)
    }

    /// The name in scenario files.
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which goals have been reached, and which clients have been inside; collected over all executions of an exploration. The
/// bit of a goal is its place among those of the scenario: the kernel's, the service's, its own.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Reached(pub u64);

/// Clients beyond this one share its bit.
pub(crate) const CLIENT_BITS: usize = 32;

impl Reached {
    /// The bit of a client that has been inside.
    pub(crate) fn bit(client: ClientId) -> u64 {
        1 << (32 + client.place().min(CLIENT_BITS - 1))
    }

    /// Whether the client has been inside.
    pub fn has_entered(self, client: ClientId) -> bool {
        self.0 & Self::bit(client) != 0
    }

    /// Notes that the client has been inside.
    pub fn enter(&mut self, client: ClientId) {
        self.0 |= Self::bit(client);
    }
}
