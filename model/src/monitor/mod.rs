//! The monitor: it folds the facts of each step into ghosts, and says which promises the step breaks.
//!
//! **No process can see it.** A step of the [world](crate::world) states facts; it knows neither ghosts nor promises. Explorers carry
//! the world and its monitor together, as [`Observed`].
//!
//! ```text
//! observed     a world with its monitor: what explorers carry
//! equivalence  observed worlds that differ only in values without absolute meaning
//! ```

mod equivalence;
mod observed;

use serde::{Deserialize, Serialize};

pub use observed::{Observed, ObservedStep};

use crate::fact::Fact;
use crate::mutation::KernelMutation;
use crate::normal::Normal;
use crate::properties::{Ghosts, View, Violation};
use crate::scenario::Scenario;
use crate::service::Service;
use crate::time::Instant;
use crate::world::{Action, Stamps, World};

/// What has been remembered of an execution for the properties of its scenario.
#[derive(PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Monitor {
    /// What the properties must remember.
    pub ghosts: Ghosts,
}

impl Clone for Monitor {
    fn clone(&self) -> Self {
        Monitor { ghosts: self.ghosts.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.ghosts.clone_from(&other.ghosts);
    }
}

impl Monitor {
    /// That of a scenario, before anything has happened to so many participants.
    pub fn new<P: Service>(scenario: &Scenario<P>, clients: usize) -> Self {
        Monitor { ghosts: Ghosts::new(scenario, clients) }
    }

    /// Folds a step into what is remembered: its facts, and the world that it led to. Returns the promises that it breaks.
    #[inline]
    pub fn observe<P: Service>(
        &mut self,
        scenario: &Scenario<P>,
        action: &Action<P>,
        facts: &[Fact<P>],
        after: &World<P>,
    ) -> Vec<Violation> {
        let violations = self.judge(scenario, action, facts, after);
        self.remember(scenario, action, facts, after);
        violations
    }

    /// With which tenures writes are stamped that are sent now.
    #[inline]
    pub fn stamps<P: Service>(&self, scenario: &Scenario<P>) -> Stamps<'_> {
        let is_newest = scenario.is_mutated(KernelMutation::StampIsNewestTenure);
        Stamps { held: &self.ghosts.held, newest: is_newest.then_some(self.ghosts.tenure) }
    }

    /// Looks which promises a step breaks. Without a fact only a clock that slipped can break one, or time that passed.
    pub fn judge<P: Service>(
        &self,
        scenario: &Scenario<P>,
        action: &Action<P>,
        facts: &[Fact<P>],
        after: &World<P>,
    ) -> Vec<Violation> {
        let is_late = matches!(action, Action::Advance(_)) && self.ghosts.idle.is_some();
        let is_late = is_late && !scenario.is_mutated(KernelMutation::LatenessUnjudged);
        let is_slip = matches!(action, Action::Slip { .. }) && !scenario.is_mutated(KernelMutation::SlipUnjudged);
        if facts.is_empty() && !is_late && !is_slip {
            return Vec::new();
        }
        let view = View { scenario, action, facts, after, ghosts: &self.ghosts };
        let mut violations = Vec::new();
        for promise in &scenario.promises {
            if let Err(message) = promise.property.check(&view, promise.bound) {
                violations.push(Violation { property: promise.property, message });
                if scenario.is_mutated(KernelMutation::FirstViolationOnly) {
                    break;
                }
            }
        }
        violations
    }

    /// Remembers what the promises of a scenario need of a step.
    #[inline]
    pub fn remember<P: Service>(
        &mut self,
        scenario: &Scenario<P>,
        action: &Action<P>,
        facts: &[Fact<P>],
        after: &World<P>,
    ) {
        self.ghosts.remember(scenario, action, facts, after);
    }

    /// The same where that depends on nothing but the facts; see [`Scenario::looks_at_every_world`].
    pub fn remember_facts<P: Service>(&mut self, scenario: &Scenario<P>, now: Instant, facts: &[Fact<P>]) {
        self.ghosts.remember_facts(scenario, now, facts);
    }
}
