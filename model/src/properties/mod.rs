//! Promises, judged at each step. There are four levels of truth, and no property mixes them: the server's record, the
//! clients' beliefs, the accepted writes, and progress.

mod belief;
mod effect;
mod ghosts;
mod own;
mod progress;
mod record;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use ghosts::Ghosts;
pub use own::{Definition, Judge, Memory, OwnProperty};

use crate::fact::Fact;
use crate::goal::Goal;
use crate::inline_vec::InlineVec;
use crate::mutation::{KernelMutation, Mutation};
use crate::scenario::Scenario;
use crate::service::{Administered, Event as _, Service, Settings as _};
use crate::time::Ticks;
use crate::world::{Action, World};

/// The view of a property: a transition with its facts, and the world after it. The ghosts are those before the
/// transition.
pub struct View<'a, P: Service> {
    /// The constants.
    pub scenario: &'a Scenario<P>,
    /// The action.
    pub action: &'a Action<P>,
    /// The facts of the step.
    pub facts: &'a [Fact<P>],
    /// The world after it.
    pub after: &'a World<P>,
    /// The ghosts before the step.
    pub ghosts: &'a Ghosts,
}

impl<P: Service> View<'_, P> {
    fn is_mutated(&self, mutation: impl Into<Mutation>) -> bool {
        self.scenario.is_mutated(mutation)
    }

    /// The facts about the number of slots.
    fn administered(&self) -> impl Iterator<Item = Administered> {
        self.facts.iter().filter_map(|fact| match fact {
            Fact::Service(fact) => fact.administered(),
            _ => None,
        })
    }

    /// The limit, if administrators change it.
    fn limit(&self) -> Option<u16> {
        if self.is_mutated(KernelMutation::LimitIsFirst) {
            return self.scenario.service.capacity_at_start();
        }
        self.administered().fold(self.ghosts.limit, |limit, fact| fact.limit().or(limit))
    }

    /// The numbers of the existing slots.
    fn numbers(&self) -> InlineVec<u8, 4> {
        P::record(&self.after.server.process, self.scenario).numbers.unwrap_or_default()
    }
}

/// A violation of a promise.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Violation {
    /// The violated property.
    pub property: Property,
    /// The violation as a sentence: it names the clients and the values.
    pub message: String,
}

/// The level of truth of a property.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The server's record.
    Record,
    /// The clients' beliefs.
    Belief,
    /// The writes that the resource accepted.
    Effect,
    /// Progress: what eventually happens.
    Progress,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Record => "record",
            Level::Belief => "belief",
            Level::Effect => "effect",
            Level::Progress => "progress",
        })
    }
}

/// Whether a promise of the property has a bound.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// It has no bound.
    Never,
    /// It needs a bound.
    Always,
    /// With a bound, it promises a deadline; without a bound, it promises that the event eventually happens.
    Maybe,
}

/// A set of properties as bits: every step asks which ghosts to update.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Watched(u64);

const _: () = assert!(Property::ALL.len() < 64, "a set of properties fits into 64 bits");

impl Watched {
    pub(crate) const fn of(properties: &[Property]) -> Self {
        let mut set = Watched(0);
        let mut place = 0;
        while place < properties.len() {
            set = set.and(properties[place]);
            place += 1;
        }
        set
    }

    /// All properties that scenarios define share the highest bit.
    pub(crate) const OWN: Watched = Watched(1 << 63);

    pub(crate) const fn and(self, property: Property) -> Self {
        Watched(self.0 | property.bit())
    }

    pub(crate) const fn has_any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

macro_rules! properties {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal, $hazards:literal, $level:ident, bound: $bound:ident, needs: [$($goal:ident),*], $check:path;)*) => {
        /// A promise that a lock service may keep or violate.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Property {
            $($(#[doc = $doc])* $name,)*
            /// a property that a scenario defines in Rust: see [`Scenario::own_property`]
            Own(OwnProperty),
        }

        /// The properties that files can name, as bits of a set.
        enum Bit { $($name,)* }

        impl Property {
            /// Every property that files can name.
            pub const ALL: &'static [Property] = &[$(Property::$name,)*];

            const NAMES: &'static [&'static str] = &[$($text,)*];

            const fn bit(self) -> u64 {
                match self { $(Property::$name => 1 << Bit::$name as u64,)* Property::Own(_) => Watched::OWN.0 }
            }

            /// The name in files and output.
            pub fn name(self) -> &'static str {
                match self { $(Property::$name => $text,)* Property::Own(own) => own.name }
            }

            /// The name in the corpus of hazards.
            pub fn hazards_name(self) -> &'static str {
                match self { $(Property::$name => $hazards,)* Property::Own(_) => "–" }
            }

            /// Its level of truth.
            pub fn level(self) -> Level {
                match self { $(Property::$name => Level::$level,)* Property::Own(own) => own.level }
            }

            /// The property as a sentence.
            pub fn about(self) -> &'static str {
                match self { $(Property::$name => concat!($($doc),*).trim_ascii(),)* Property::Own(own) => own.name }
            }

            /// Whether a promise of it has a bound.
            pub fn bound(self) -> Bound {
                match self { $(Property::$name => Bound::$bound,)* Property::Own(_) => Bound::Never }
            }

            /// The goals that some execution must reach; otherwise a proof of the property is vacuous.
            pub fn needs(self) -> &'static [Goal] {
                match self { $(Property::$name => &[$(Goal::$goal),*],)* Property::Own(_) => &[] }
            }

            /// Judges a transition; a property that a scenario defines updates its own memory.
            ///
            /// # Errors
            /// A sentence that names the clients and the values of the violation.
            pub(crate) fn check<P: Service>(
                self,
                view: &View<'_, P>,
                bound: Option<Ticks>,
                memory: &mut Memory,
            ) -> Result<(), String> {
                match self { $(Property::$name => $check(view, bound),)* Property::Own(own) => own.check(view, memory) }
            }
        }
    };
}

properties! {
    /// the service never stores two owners of one lock, and never grants it to another client before it is freed
    SingleOwner = "single-owner", "MX-S", Record, bound: Never, needs: [EVERY_CLIENT_ENTERS], record::single_owner;
    /// after an invalidation, the service grants the lock to no client before the lock-delay has passed
    LockDelay = "lock-delay", "LD", Record, bound: Always, needs: [INVALIDATED, LOCK_DELAYED], record::lock_delay;
    /// a TTL never ends a session earlier than TTL after its last renewal
    TtlLowerBound = "ttl-lower-bound", "TTL-LB", Record, bound: Always, needs: [EXPIRED], record::ttl_lower_bound;
    /// the service never stores more holders of slots than the limit
    SlotLimit = "slot-limit", "SL-S", Record, bound: Never, needs: [EVERY_CLIENT_ENTERS], record::slot_limit;
    /// every permit is free or held by exactly one client
    SlotConservation = "slot-conservation", "CONS", Record, bound: Never, needs: [EVERY_CLIENT_ENTERS], record::slot_conservation;
    /// slot numbers are contiguous from 1 to the number of slots
    Contiguity = "contiguity", "CT", Record, bound: Never, needs: [ADMINISTERED], record::contiguity;
    /// an administrator counts the exact number of slots
    CountExact = "count-exact", "–", Record, bound: Never, needs: [ADMINISTERED], record::count_exact;
    /// when an administrator finishes, the number of slots is the requested number
    SizeAsAsked = "size-as-asked", "–", Record, bound: Never, needs: [ADMINISTERED], record::size_as_asked;
    /// every key's session exists, and no index ever decreases
    SessionConsistency = "session-consistency", "–", Record, bound: Never, needs: [EVERY_CLIENT_ENTERS], record::session_consistency;
    /// at most one client is inside the critical section, by the steps that clients take
    MutualExclusion = "mutual-exclusion", "MX-B", Belief, bound: Never, needs: [EVERY_CLIENT_ENTERS], belief::mutual_exclusion;
    /// at most one client is inside with a lease that its own clock still covers
    LeaseExclusion = "lease-exclusion", "MX-L", Belief, bound: Never, needs: [EVERY_CLIENT_ENTERS], belief::lease_exclusion;
    /// the number of clients inside never exceeds the limit that any of them was given
    SlotLimitBelief = "slot-limit-belief", "SL-B", Belief, bound: Never, needs: [EVERY_CLIENT_ENTERS], belief::slot_limit_belief;
    /// no two clients are inside the same slot
    SlotExclusion = "slot-exclusion", "–", Belief, bound: Never, needs: [EVERY_CLIENT_ENTERS], belief::slot_exclusion;
    /// a client that receives a confirmation of its slot held it at some instant since its request
    VerifyTruthful = "verify-truthful", "–", Belief, bound: Never, needs: [VERIFIED], belief::verify_truthful;
    /// at most one administrator is at work
    SingleAdministrator = "single-administrator", "–", Belief, bound: Never, needs: [ADMINISTERED], belief::single_administrator;
    /// no program of a client ever panics
    NoPanic = "no-panic", "–", Belief, bound: Never, needs: [EVERY_CLIENT_ENTERS], belief::no_panic;
    /// a later tenure's token is strictly greater
    TokenOrder = "token-order", "FT-M", Effect, bound: Never, needs: [EVERY_CLIENT_ENTERS], effect::token_order;
    /// a finished tenure's sequencer is never accepted
    SequencerSound = "sequencer-sound", "SQ-sound", Effect, bound: Never, needs: [EVERY_CLIENT_ENTERS, WRITTEN], effect::sequencer_sound;
    /// the current holder's sequencer is never refused
    SequencerComplete = "sequencer-complete", "SQ-complete", Effect, bound: Never, needs: [EVERY_CLIENT_ENTERS, WRITTEN], effect::sequencer_complete;
    /// a read of the lock's holder returns a client that held it at some instant since the request
    Linearizable = "linearizable", "LIN", Effect, bound: Never, needs: [EVERY_CLIENT_ENTERS, DISCOVERED], effect::linearizable;
    /// no accepted write belongs to a tenure older than the newest that touched the resource
    NoLostUpdate = "no-lost-update", "LU", Effect, bound: Never, needs: [EVERY_CLIENT_ENTERS, WRITTEN], effect::no_lost_update;
    /// no item of the work queue is handled twice
    HandledOnce = "handled-once", "–", Effect, bound: Never, needs: [EVERY_CLIENT_ENTERS, HANDLED], effect::handled_once;
    /// a free lock or slot is eventually acquired by a waiting client
    EventuallyAcquired = "eventually-acquired", "LV", Progress, bound: Maybe, needs: [EVERY_CLIENT_ENTERS], progress::acquired_in_time;
    /// each waiting client eventually gets its turn
    Progress = "progress", "PR", Progress, bound: Never, needs: [EVERY_CLIENT_ENTERS], progress::in_the_end;
    /// each item of the work queue is eventually handled
    EveryItemHandled = "every-item-handled", "–", Progress, bound: Never, needs: [EVERY_CLIENT_ENTERS, HANDLED], progress::in_the_end;
}

impl Property {
    /// Whether its promises are judged on endless executions: no single step violates them.
    pub fn is_about_endless_runs(self, bound: Option<Ticks>) -> bool {
        self.level() == Level::Progress && bound.is_none()
    }

    /// Whether it is about the items of a work queue.
    pub fn is_about_items(self) -> bool {
        matches!(self, Property::HandledOnce | Property::EveryItemHandled)
    }

    /// Whether it is about a semaphore. Other properties are about a lock, except those of the server's own
    /// bookkeeping.
    pub fn is_about_slots(self) -> bool {
        matches!(
            self,
            Property::SlotLimit
                | Property::SlotLimitBelief
                | Property::SlotExclusion
                | Property::Contiguity
                | Property::CountExact
                | Property::SizeAsAsked
                | Property::VerifyTruthful
                | Property::SingleAdministrator
        )
    }
}

impl Serialize for Property {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Property {
    /// Files cannot name what a scenario defines in Rust.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let found = Property::ALL.iter().find(|property| property.name() == name).copied();
        found.ok_or_else(|| serde::de::Error::unknown_variant(&name, Property::NAMES))
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
