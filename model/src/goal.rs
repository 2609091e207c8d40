//! Goals: what some execution of a scenario must reach. A proof of a scenario that reaches no goal is vacuous.

use std::fmt;

use serde::Serialize;

use crate::ids::ClientId;

/// An event that some execution of a scenario must reach. The kernel's goals are constants here. A service has its own
/// in [`Service::GOALS`](crate::service::Service::GOALS), and a scenario built in Rust may add more with
/// [`Scenario::own_goal`](crate::scenario::Scenario::own_goal).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct Goal(&'static str);

macro_rules! goals {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        impl Goal {
            $($(#[doc = $doc])* pub const $name: Goal = Goal($text);)*

            /// The goals of the kernel.
            pub const KERNEL: &'static [Goal] = &[$(Goal::$name,)*];
        }
    };
}

goals! {
    /// Each client enters in some execution.
    EVERY_CLIENT_ENTERS = "every-client-enters",
    /// A client is refused because another client has the lock.
    CONTENDED = "contended",
    /// A client is refused because of the lock-delay.
    LOCK_DELAYED = "lock-delayed",
    /// A session's TTL runs out.
    EXPIRED = "expired",
    /// A session ends while it has the lock, for whatever reason.
    INVALIDATED = "invalidated",
    /// A client or an operator deletes the lock's entry.
    DELETED = "deleted",
    /// The resource accepts a write.
    WRITTEN = "written",
    /// The resource refuses a write.
    WRITE_REFUSED = "write-refused",
    /// A third party discovers the leader.
    DISCOVERED = "discovered",
    /// A failing check, or the removal of what it belongs to, ends a session.
    CHECK_FAILED = "check-failed",
    /// A client is refused a slot because all slots are taken.
    FULL = "full",
    /// A client releases its slot.
    SLOT_FREED = "slot-freed",
    /// A client asks whether it still has its slot, and the service confirms it.
    VERIFIED = "verified",
    /// An administrator finishes an operation.
    ADMINISTERED = "administered",
    /// A lap of a program reached the limit of inputs: executions beyond it were not searched.
    LAP_CUT = "lap-cut",
    /// A client handles an item of the work queue.
    HANDLED = "handled",
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

/// The goals that have been reached, and the clients that have been inside, collected over all executions of an
/// exploration. The bit of a goal is its index among the goals of the scenario: the kernel's, the service's, its own.
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

    /// The clients that have been inside, each with the bit of its place.
    pub fn entered(self) -> u32 {
        u32::try_from(self.0 >> 32).expect("these are the high bits")
    }

    /// Notes that the client has been inside.
    pub fn enter(&mut self, client: ClientId) {
        self.0 |= Self::bit(client);
    }
}
