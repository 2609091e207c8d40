//! What can be asked about, and what the doctor has to know of it: the settings of one kind of client, with the bounds that their user
//! counts on. `lock` has those of Consul, `election` those of observed leases.

use std::fmt;

use fencepost_model::process::Message;
use fencepost_model::scenario::{Expect, Scenario};
use fencepost_model::service::Service;
use fencepost_model::trace::Trace;
use fencepost_model::units::Duration;
use fencepost_registry::Erase;

use crate::pace::Pace;
use crate::promise::Promise;
use crate::quantity::{Direction, Quantity, QuantityValue};
use crate::repair::{Change, Price};
use crate::rounding::{FINEST, down};

/// The settings of a client, and the bounds that its user counts on. Every duration is a multiple of [`FINEST`].
pub trait Asked: Clone + Ord + fmt::Debug {
    /// The service that the client is one of.
    type Service: Service;

    /// The small scenarios that are explored for it.
    type Small: SmallScenario<Service = Self::Service>;

    /// The maximum number of states of one small scenario.
    const STATES_MAX: u64;

    /// What the world is like in which clocks do not drift.
    const EVEN_CLOCKS: &'static str;

    /// Looks for settings that cannot be meant.
    ///
    /// # Errors
    /// The first mistake found.
    fn validate(&self) -> Result<(), QuestionError>;

    /// What is odd about the settings, and does not keep them from being judged.
    fn notes(&self) -> Vec<String>;

    /// The settings and the bounds in two lines.
    fn heading(&self) -> String;

    /// What is judged, in the order of a report.
    fn promises(&self) -> &'static [Promise];

    /// The numbers of such a question, in the order of the answer.
    fn quantities() -> &'static [Quantity];

    /// What the world is like in which a bound is 0: the pause, the latency, the drift or the time that work takes to stop.
    fn meaning_of_zero(bound: Quantity) -> &'static str {
        match bound {
            Quantity::Pause => {
                "no client ever stands still: no garbage collection, no swapping, no virtual machine that is moved"
            }
            Quantity::Latency => "no message takes any time, and no request waits at a server",
            Quantity::StopTime => "the work of a leader ends at the very instant at which it has lost the lease",
            _ => Self::EVEN_CLOCKS,
        }
    }

    /// Repairs are multiples of this, in the unit of the quantity, where a multiple is enough.
    fn grain(&self, _: Quantity) -> i64 {
        1
    }

    /// The value of a quantity, if the question has one.
    fn value(&self, quantity: Quantity) -> Option<QuantityValue>;

    /// Changes a quantity, whether the result can be meant or not; false: the question has no such quantity.
    fn set(&mut self, quantity: Quantity, value: QuantityValue) -> bool;

    /// The span that others are compared with: the TTL, the lease.
    fn scale(&self) -> Duration;

    /// How far values of a quantity are tried, in its unit.
    fn limit(&self, quantity: Quantity, direction: Direction) -> i64;

    /// Scenarios whose proofs are proofs for the question: each the coarsest of its kind that looks as if it proved the promise.
    fn wider(&self, promise: Promise) -> Vec<InTicks<Self::Small>>;

    /// Scenarios in which a counterexample is sought: each the coarsest of its kind that looks as if it broke the promise.
    fn narrower(&self, promise: Promise) -> Vec<InTicks<Self::Small>>;

    /// The question as it is, in ticks of [`FINEST`]. It is much too fine to be explored: executions of the small scenario are accepted by
    /// it.
    fn exactly(&self, promise: Promise, sized: &InTicks<Self::Small>) -> Scenario<Self::Service>;

    /// When the steps of an execution of the small scenario happen in exact durations, in the order in which it is tried.
    fn paces(&self, sized: &InTicks<Self::Small>) -> Vec<Pace>;

    /// Whether a counterexample is arranged in exact durations, and not sought in small scenarios.
    fn is_arranged(_: Promise) -> bool {
        false
    }

    /// An execution in exact durations that breaks the promise whose counterexamples are arranged; none: it breaks nothing.
    fn arranged(&self) -> Option<Trace<Self::Service>> {
        None
    }

    /// Changes that are no numbers, and the settings with them.
    fn other_kinds(&self, promise: Promise) -> Vec<(Change, Self)>;

    /// What the settings cost.
    fn price(&self) -> Price;

    /// What verdicts on the promise rest on.
    fn assumptions(&self, promise: Promise) -> Vec<String>;

    /// Values nearer to each other than this are not told apart: a hundredth of the [`scale`](Asked::scale).
    fn precision(&self, quantity: Quantity) -> i64 {
        match quantity {
            Quantity::Drift => 2_000,
            _ => (down(self.scale().max(Duration::of_seconds(1)), FINEST) / 100).max(1),
        }
    }
}

/// A small scenario, in ticks: a key of a few whole numbers, so that what was explored once is known.
///
/// A scenario that is *wider* than a question has every execution of it, up to a change that keeps the promise as it is: what is proven
/// there is proven. The reasons stand at the functions that choose it, and tests compare them with whole recipes on random grids. Executions
/// of a scenario that is *narrower* count only after the exact scenario has accepted them, so that needs no reason.
///
/// It prints as a name for files: letters, digits and hyphens.
pub trait SmallScenario: Copy + Ord + fmt::Debug + fmt::Display {
    /// The service of the scenario.
    type Service: Service;

    /// The scenario itself.
    fn scenario(&self) -> Scenario<Self::Service>;

    /// Puts a scenario behind its object-safe trait.
    fn erase() -> Erase<Self::Service>;

    /// Whether every execution of the other one is one of this one, too, so that this one's proof is a proof there.
    fn is_wider_than(&self, other: &Self) -> bool;

    /// The scenario for a file, in which only properties stand that every reader of files knows, with remarks on what it says; none: no
    /// property of files says what the promise says.
    fn for_file(&self, promise: Promise, expect: Expect, about: String) -> Option<(Scenario<Self::Service>, String)>;

    /// Whether two messages ask or answer the same, whatever durations and values they carry.
    fn is_alike(one: &Message<Self::Service>, other: &Message<Self::Service>) -> bool;

    /// Whether the small scenario leaves such a message out, as reads that a recipe makes first.
    fn leaves_out(message: &Message<Self::Service>) -> bool;

    /// Whether it is the answer to the creation of a session.
    fn is_created(message: &Message<Self::Service>) -> bool;
}

/// A scenario with the tick that it was made for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct InTicks<S> {
    /// The scenario.
    pub scenario: S,
    /// How long one of its ticks is.
    pub tick: Duration,
}

/// A setting that cannot be meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuestionError {
    /// The setting.
    pub setting: &'static str,
    /// What is wrong with it, and what would be right.
    pub message: String,
}

impl QuestionError {
    /// A mistake in this setting.
    pub fn new(setting: &'static str, message: impl Into<String>) -> Self {
        QuestionError { setting, message: message.into() }
    }
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.setting, self.message)
    }
}

impl std::error::Error for QuestionError {}
