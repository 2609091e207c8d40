//! What must be possible in a scenario, so that a proof says something.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::fact::{Ending, Fact, Refusal};
use crate::ids::ClientId;
use crate::scenario::Scenario;
use crate::service::{Event, Service};

/// Something that some execution of a scenario must show. The kernel's are constants here; a service has its own in
/// [`Service::GOALS`], and a scenario built in Rust may add more with
/// [`Scenario::own_goal`].
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

/// Reads the goals of a scenario: the kernel's, and its service's.
pub(crate) fn read<'de, S: Service, D: Deserializer<'de>>(from: D) -> Result<Vec<Goal>, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    let known = || Goal::KERNEL.iter().chain(S::GOALS);
    let goal = |name: &String| {
        known().find(|goal| goal.name() == name).copied().ok_or_else(|| {
            let known: Vec<&str> = known().map(|goal| goal.name()).collect();
            let known = known.join("`, `");
            serde::de::Error::custom(format!("unknown variant `{name}`, expected one of `{known}`"))
        })
    };
    names.iter().map(goal).collect()
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
const CLIENT_BITS: usize = 32;

/// A goal of a scenario built in Rust, beside those of the kernel and of the service.
pub struct OwnGoal<S: Service> {
    /// Its name.
    pub goal: Goal,
    /// Whether a fact reaches it.
    pub is_reached: fn(&Fact<S>) -> bool,
}

impl Reached {
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
}

impl<S: Service> Scenario<S> {
    /// What these facts reach.
    pub fn reached(&self, facts: &[Fact<S>]) -> Reached {
        facts.iter().fold(Reached(0), |reached, fact| Reached(reached.0 | self.bits(fact)))
    }

    fn bits(&self, fact: &Fact<S>) -> u64 {
        let own = (0..).zip(&self.own_goals).filter(|(_, own)| (own.is_reached)(fact));
        let first = Goal::KERNEL.len() + S::GOALS.len();
        own.fold(common_bits(fact), |bits, (place, _): (usize, _)| bits | 1 << (first + place))
    }

    /// The place of a goal among those of the scenario; none: it is not one of them.
    pub fn place_of(&self, goal: Goal) -> Option<usize> {
        let own = self.own_goals.iter().map(|own| own.goal);
        Goal::KERNEL.iter().chain(S::GOALS).copied().chain(own).position(|other| other == goal)
    }

    /// Whether the goal is among those reached.
    pub fn has_reached(&self, reached: Reached, goal: Goal) -> bool {
        if goal == Goal::EVERY_CLIENT_ENTERS {
            let all = (1u64 << usize::from(self.clients).min(CLIENT_BITS)) - 1;
            return (reached.0 >> 32) & all == all;
        }
        self.place_of(goal).is_some_and(|place| reached.0 & (1 << place) != 0)
    }
}

/// What a fact reaches among the goals of kernel and service.
fn common_bits<S: Service>(fact: &Fact<S>) -> u64 {
    let goal = match fact {
        Fact::Entered { client, .. } => return Reached::bit(*client),
        Fact::Refused { why: Refusal::Held, .. } => Goal::CONTENDED,
        Fact::Refused { why: Refusal::LockDelay, .. } => Goal::LOCK_DELAYED,
        Fact::Expired { .. } => Goal::EXPIRED,
        Fact::Ended { .. } => Goal::CHECK_FAILED,
        Fact::Freed { by: Ending::Invalidated } => Goal::INVALIDATED,
        Fact::Freed { by: Ending::Deleted } => Goal::DELETED,
        Fact::Written { .. } => Goal::WRITTEN,
        Fact::WriteRefused { .. } => Goal::WRITE_REFUSED,
        Fact::Service(event) => match event.goal() {
            Some(goal) => goal,
            None => return 0,
        },
        _ => return 0,
    };
    let place = Goal::KERNEL.iter().chain(S::GOALS).position(|other| *other == goal);
    1 << place.expect("a service lists the goals that its events reach")
}

impl<S: Service> Clone for OwnGoal<S> {
    fn clone(&self) -> Self {
        OwnGoal { ..*self }
    }
}

impl<S: Service> PartialEq for OwnGoal<S> {
    /// Goals are told apart by their names.
    fn eq(&self, other: &Self) -> bool {
        self.goal == other.goal
    }
}

impl<S: Service> fmt::Debug for OwnGoal<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.goal, f)
    }
}
