//! What must be possible in a scenario, so that a proof says something.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fact::{Ending, Fact, Refusal};
use crate::ids::ClientId;
use crate::protocol::Protocol;

macro_rules! goals {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        /// Something that some run of a scenario must show.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Goal { $($(#[doc = $doc])* #[serde(rename = $text)] $name,)* }

        impl Goal {
            /// All of them.
            pub const ALL: &'static [Goal] = &[$(Goal::$name,)*];

            /// The name in scenario files.
            pub fn name(self) -> &'static str {
                match self { $(Goal::$name => $text,)* }
            }
        }
    };
}

goals! {
    /// Each client is inside at some time in some run.
    EveryClientEnters = "every-client-enters",
    /// A client is refused because another one has the lock.
    Contended = "contended",
    /// A client is refused because of the lock-delay.
    LockDelayed = "lock-delayed",
    /// A session's TTL runs out.
    Expired = "expired",
    /// A session ends while it has the lock, for whatever reason.
    Invalidated = "invalidated",
    /// Somebody removes the lock's entry.
    Deleted = "deleted",
    /// The resource accepts a write.
    Written = "written",
    /// The resource refuses a write.
    WriteRefused = "write-refused",
    /// A third party discovers the leader.
    Discovered = "discovered",
    /// The service is without a leader for a while, and has one again.
    Elected = "elected",
    /// A failing check, or the removal of what it belongs to, ends a session.
    CheckFailed = "check-failed",
    /// A client hears that its session lives although its end is decided already.
    RenewedInVain = "renewed-in-vain",
    /// A deposed leader acknowledges a renewal.
    RenewedByDeposed = "renewed-by-deposed",
    /// A client stops acting in jeopardy, and goes on later.
    Resumed = "resumed",
    /// A client is refused a slot, for all are taken.
    Full = "full",
    /// A client gives its slot back.
    SlotFreed = "slot-freed",
    /// A client refuses to take part, for others have agreed on another limit.
    LimitConflict = "limit-conflict",
    /// A client asks whether it still has its slot, and is told so.
    Verified = "verified",
    /// An administrator finishes an operation.
    Administered = "administered",
    /// A connection is over.
    ConnectionLost = "connection-lost",
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which goals have been reached, and which clients have been inside; collected over all runs of an exploration.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Reached(pub u64);

/// Clients beyond this one share its bit.
const CLIENT_BITS: usize = 32;

impl Reached {
    /// What these facts reach.
    pub fn by<P: Protocol>(facts: &[Fact<P>]) -> Self {
        facts.iter().fold(Reached(0), |reached, fact| Reached(reached.0 | Self::bits(fact)))
    }

    fn bits<P: Protocol>(fact: &Fact<P>) -> u64 {
        let goal = match fact {
            Fact::Entered { client, .. } => return Self::bit(*client),
            Fact::Refused { why: Refusal::Held, .. } => Goal::Contended,
            Fact::Refused { why: Refusal::LockDelay, .. } => Goal::LockDelayed,
            Fact::Expired { .. } => Goal::Expired,
            Fact::Ended { .. } => Goal::CheckFailed,
            Fact::Freed { by: Ending::Invalidated } => Goal::Invalidated,
            Fact::Freed { by: Ending::Deleted } => Goal::Deleted,
            Fact::Written { .. } => Goal::Written,
            Fact::WriteRefused { .. } => Goal::WriteRefused,
            Fact::Service(fact) => match P::reaches(fact) {
                Some(goal) => goal,
                None => return 0,
            },
            _ => return 0,
        };
        1 << goal as u64
    }

    fn bit(client: ClientId) -> u64 {
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

    /// Whether the goal is among them, in a scenario with that many clients.
    pub fn contains(self, goal: Goal, clients: u16) -> bool {
        match goal {
            Goal::EveryClientEnters => {
                let all = (1u64 << usize::from(clients).min(CLIENT_BITS)) - 1;
                (self.0 >> 32) & all == all
            }
            goal => self.0 & (1 << goal as u64) != 0,
        }
    }
}
