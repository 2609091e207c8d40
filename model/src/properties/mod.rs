//! What is promised, judged at each step. Four levels of truth, never mixed: what servers store, what clients think,
//! what the resource accepted, and progress.

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
use crate::list::List;
use crate::mutation::{KernelMutation, Mutation};
use crate::scenario::Scenario;
use crate::service::{Administered, Event as _, Service, Settings as _};
use crate::time::Ticks;
use crate::world::{Action, World};

/// What a property looks at: a transition, told by its facts, and the world behind it. The ghosts have not heard of these
/// facts yet, so they tell what was before.
pub struct View<'a, P: Service> {
    /// The constants.
    pub scenario: &'a Scenario<P>,
    /// What happened.
    pub action: &'a Action<P>,
    /// What became true.
    pub facts: &'a [Fact<P>],
    /// The world after it.
    pub after: &'a World<P>,
    /// What was remembered before it.
    pub ghosts: &'a Ghosts,
}

impl<P: Service> View<'_, P> {
    fn is_mutated(&self, mutation: impl Into<Mutation>) -> bool {
        self.scenario.is_mutated(mutation)
    }

    /// What the facts say about how many slots there are.
    fn administered(&self) -> impl Iterator<Item = Administered> {
        self.facts.iter().filter_map(|fact| match fact {
            Fact::Service(fact) => fact.administered(),
            _ => None,
        })
    }

    /// How many may be inside, where administrators change that.
    fn limit(&self) -> Option<u16> {
        if self.is_mutated(KernelMutation::LimitIsFirst) {
            return self.scenario.service.capacity_at_start();
        }
        self.administered().fold(self.ghosts.limit, |limit, fact| fact.limit().or(limit))
    }

    /// The numbers of the slots that there are.
    fn numbers(&self) -> List<u8, 4> {
        P::record(&self.after.server.process, self.scenario).numbers.unwrap_or_default()
    }
}

/// A promise that broke.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Violation {
    /// Which one.
    pub property: Property,
    /// How, as a sentence.
    pub message: String,
}

/// Which truth a property is about.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// What servers store.
    Record,
    /// What clients think.
    Belief,
    /// What the resource accepted.
    Effect,
    /// What happens in the end.
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

/// Whether a promise of a property names a duration.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// It has none.
    Never,
    /// It is about a duration.
    Always,
    /// With one, it promises that it happens in time; without, that it happens in the end.
    Maybe,
}

/// A set of properties, as bits: every step asks what it has to remember for whom.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Watched(u64);

const _: () = assert!(Property::ALL.len() < 64, "a set of properties is a word");

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

    /// All that scenarios define share the highest bit.
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
        /// A promise that a lock service may keep or break.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Property {
            $($(#[doc = $doc])* $name,)*
            /// one that a scenario defines in Rust: see [`Scenario::own_property`]
            Own(OwnProperty),
        }

        /// Those that files can name, as bits of a set.
        enum Bit { $($name,)* }

        impl Property {
            /// All that files can name.
            pub const ALL: &'static [Property] = &[$(Property::$name,)*];

            const NAMES: &'static [&'static str] = &[$($text,)*];

            const fn bit(self) -> u64 {
                match self { $(Property::$name => 1 << Bit::$name as u64,)* Property::Own(_) => Watched::OWN.0 }
            }

            /// The name used everywhere.
            pub fn name(self) -> &'static str {
                match self { $(Property::$name => $text,)* Property::Own(own) => own.name }
            }

            /// The name in the corpus of hazards.
            pub fn hazards_name(self) -> &'static str {
                match self { $(Property::$name => $hazards,)* Property::Own(_) => "–" }
            }

            /// Which truth it is about.
            pub fn level(self) -> Level {
                match self { $(Property::$name => Level::$level,)* Property::Own(own) => own.level }
            }

            /// What it says.
            pub fn about(self) -> &'static str {
                match self { $(Property::$name => concat!($($doc),*).trim_ascii(),)* Property::Own(own) => own.name }
            }

            /// Whether the promise names a duration.
            pub fn bound(self) -> Bound {
                match self { $(Property::$name => Bound::$bound,)* Property::Own(_) => Bound::Never }
            }

            /// What must be possible for the property to be put to the test at all.
            pub fn needs(self) -> &'static [Goal] {
                match self { $(Property::$name => &[$(Goal::$goal),*],)* Property::Own(_) => &[] }
            }

            /// Judges a transition; a property that a scenario defines remembers something of it.
            ///
            /// # Errors
            /// A sentence that says who broke the promise, and how.
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
    /// the service never stores two owners of one lock, and never hands it on without freeing it
    SingleOwner = "single-owner", "MX-S", Record, bound: Never, needs: [EVERY_CLIENT_ENTERS], record::single_owner;
    /// after an invalidation nobody gets the lock for the lock-delay
    LockDelay = "lock-delay", "LD", Record, bound: Always, needs: [INVALIDATED, LOCK_DELAYED], record::lock_delay;
    /// a TTL never ends a session earlier than TTL after its last renewal
    TtlLowerBound = "ttl-lower-bound", "TTL-LB", Record, bound: Always, needs: [EXPIRED], record::ttl_lower_bound;
    /// the service never stores more holders of slots than the limit
    SlotLimit = "slot-limit", "SL-S", Record, bound: Never, needs: [EVERY_CLIENT_ENTERS], record::slot_limit;
    /// what serves as the lock is free or held, once
    SlotConservation = "slot-conservation", "CONS", Record, bound: Never, needs: [EVERY_CLIENT_ENTERS], record::slot_conservation;
    /// slots have the numbers from 1 to how many there are
    Contiguity = "contiguity", "CT", Record, bound: Never, needs: [ADMINISTERED], record::contiguity;
    /// an administrator counts as many slots as there are
    CountExact = "count-exact", "–", Record, bound: Never, needs: [ADMINISTERED], record::count_exact;
    /// when an administrator is done, there are as many slots as were asked for
    SizeAsAsked = "size-as-asked", "–", Record, bound: Never, needs: [ADMINISTERED], record::size_as_asked;
    /// every key's session lives, and no index ever falls
    SessionConsistency = "session-consistency", "–", Record, bound: Never, needs: [EVERY_CLIENT_ENTERS], record::session_consistency;
    /// never two clients that have entered the critical section and not yet left it by a step
    MutualExclusion = "mutual-exclusion", "MX-B", Belief, bound: Never, needs: [EVERY_CLIENT_ENTERS], belief::mutual_exclusion;
    /// never two clients inside whose own clocks are still within their leases
    LeaseExclusion = "lease-exclusion", "MX-L", Belief, bound: Never, needs: [EVERY_CLIENT_ENTERS], belief::lease_exclusion;
    /// never more clients inside than the limit that any of them was promised
    SlotLimitBelief = "slot-limit-belief", "SL-B", Belief, bound: Never, needs: [EVERY_CLIENT_ENTERS], belief::slot_limit_belief;
    /// never two clients inside the same slot
    SlotExclusion = "slot-exclusion", "–", Belief, bound: Never, needs: [EVERY_CLIENT_ENTERS], belief::slot_exclusion;
    /// a client that is told that it still holds its slot did hold it at some instant since it asked
    VerifyTruthful = "verify-truthful", "–", Belief, bound: Never, needs: [VERIFIED], belief::verify_truthful;
    /// never two administrators at work
    SingleAdministrator = "single-administrator", "–", Belief, bound: Never, needs: [ADMINISTERED], belief::single_administrator;
    /// a later tenure's token is strictly greater
    TokenOrder = "token-order", "FT-M", Effect, bound: Never, needs: [EVERY_CLIENT_ENTERS], effect::token_order;
    /// a finished tenure's sequencer is never accepted
    SequencerSound = "sequencer-sound", "SQ-sound", Effect, bound: Never, needs: [EVERY_CLIENT_ENTERS, WRITTEN], effect::sequencer_sound;
    /// the present holder's sequencer is never refused
    SequencerComplete = "sequencer-complete", "SQ-complete", Effect, bound: Never, needs: [EVERY_CLIENT_ENTERS, WRITTEN], effect::sequencer_complete;
    /// whoever asks who has the lock hears who had it at some instant since the question
    Linearizable = "linearizable", "LIN", Effect, bound: Never, needs: [EVERY_CLIENT_ENTERS, DISCOVERED], effect::linearizable;
    /// no accepted write belongs to a tenure older than the newest that touched the resource
    NoLostUpdate = "no-lost-update", "LU", Effect, bound: Never, needs: [EVERY_CLIENT_ENTERS, WRITTEN], effect::no_lost_update;
    /// a lock that nobody believes in, or a slot, is eventually acquired by somebody who keeps trying
    EventuallyAcquired = "eventually-acquired", "LV", Progress, bound: Maybe, needs: [EVERY_CLIENT_ENTERS], progress::acquired_in_time;
    /// each client that keeps trying gets its turn
    Progress = "progress", "PR", Progress, bound: Never, needs: [EVERY_CLIENT_ENTERS], progress::in_the_end;
}

impl Property {
    /// Whether a promise of it is judged on runs without end: no single step breaks it.
    pub fn is_about_endless_runs(self, bound: Option<Ticks>) -> bool {
        self.level() == Level::Progress && bound.is_none()
    }

    /// Whether it is about a semaphore; the others, but for the server's own bookkeeping, are about a lock.
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
