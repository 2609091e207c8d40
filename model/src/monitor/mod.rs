//! The monitor: it folds the facts of each step into ghosts, and reports the promises that the step violates.
//!
//! **No process can see it.** A step of the [world](crate::world) emits facts; it knows neither ghosts nor promises.
//! Explorers carry the world and its monitor together, as [`Observed`].
//!
//! ```text
//! observed     a world with its monitor: what explorers carry
//! calls        names of calls without a waiting client
//! numbers      instants and numbers without absolute meaning, by what they count among
//! equivalence  observed worlds that differ only in values without absolute meaning
//! arranged     an observed world in which clients have changed places
//! ```

mod arranged;
mod calls;
mod equivalence;
mod numbers;
mod observed;

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

pub use calls::name_closed_calls;
pub use equivalence::Renaming;
pub use numbers::{ByKind, NumberKind, Numbers};
pub use observed::{Observed, ObservedStep};

use crate::fact::Fact;
use crate::mutation::KernelMutation;
use crate::normal::Normal;
use crate::properties::{Ghosts, Memory, Property, View, Violation};
use crate::scenario::Scenario;
use crate::service::Service;
use crate::time::Instant;
use crate::world::{Action, Stamps, World};

/// The ghosts of an execution: history that the properties of its scenario need.
#[derive(PartialEq, Eq, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Monitor {
    /// The ghosts of the properties that files can name.
    pub ghosts: Ghosts,
    /// The memories of the properties that the scenario defines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<Memory>,
}

impl Hash for Monitor {
    /// Hashes nothing more if the scenario defines no property.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ghosts.hash(state);
        if !self.own.is_empty() {
            self.own.hash(state);
        }
    }
}

impl Clone for Monitor {
    fn clone(&self) -> Self {
        Monitor { ghosts: self.ghosts.clone(), own: self.own.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.ghosts.clone_from(&other.ghosts);
        self.own.clone_from(&other.own);
    }
}

impl Monitor {
    /// The initial monitor of a scenario with that number of participants.
    pub fn new<P: Service>(scenario: &Scenario<P>, clients: usize) -> Self {
        Monitor { ghosts: Ghosts::new(scenario, clients), own: vec![Memory::default(); scenario.own_properties.len()] }
    }

    /// Folds a step into the ghosts: its facts, and the world that it led to. Returns the promises that it violates.
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

    /// The tenures with which new writes are stamped.
    #[inline]
    pub fn stamps<P: Service>(&self, scenario: &Scenario<P>) -> Stamps<'_> {
        let is_newest = scenario.is_mutated(KernelMutation::StampIsNewestTenure);
        Stamps { held: &self.ghosts.held, newest: is_newest.then_some(self.ghosts.tenure) }
    }

    /// Finds the promises that a step violates. Without a fact, only a clock jump or the passing of time can violate
    /// one. Properties that the scenario defines are judged after every step.
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
        let is_quiet = facts.is_empty() && !is_late && !is_slip;
        if is_quiet && self.own.is_empty() {
            return Vec::new();
        }
        let view = View { scenario, action, facts, after, ghosts: &self.ghosts };
        let mut violations = Vec::new();
        for promise in &scenario.promises {
            let own = own_place(scenario, promise.property);
            if is_quiet && own.is_none() {
                continue;
            }
            let mut memory = own.map(|place| self.own[place]).unwrap_or_default();
            if let Err(message) = promise.property.check(&view, promise.bound, &mut memory) {
                violations.push(Violation { property: promise.property, message });
                if scenario.is_mutated(KernelMutation::FirstViolationOnly) {
                    break;
                }
            }
        }
        violations
    }

    /// Updates the ghosts that the promises of a scenario need.
    #[inline]
    pub fn remember<P: Service>(
        &mut self,
        scenario: &Scenario<P>,
        action: &Action<P>,
        facts: &[Fact<P>],
        after: &World<P>,
    ) {
        if !self.own.is_empty() {
            let view = View { scenario, action, facts, after, ghosts: &self.ghosts };
            for promise in &scenario.promises {
                if let Some(place) = own_place(scenario, promise.property) {
                    // The facts of the step were judged already.
                    drop(promise.property.check(&view, promise.bound, &mut self.own[place]));
                }
            }
        }
        self.ghosts.remember(scenario, action, facts, after);
    }

    /// The same, if it depends on nothing but the facts; see [`Scenario::looks_at_every_world`].
    pub fn remember_facts<P: Service>(&mut self, scenario: &Scenario<P>, now: Instant, facts: &[Fact<P>]) {
        self.ghosts.remember_facts(scenario, now, facts);
    }
}

/// The index of the property's memory, if the scenario defines the property.
fn own_place<P: Service>(scenario: &Scenario<P>, property: Property) -> Option<usize> {
    if let Property::Own(own) = property { scenario.place_of_own(own) } else { None }
}
