//! An observed world: explorers carry it from step to step.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::Monitor;
use crate::properties::Violation;
use crate::scenario::Scenario;
use crate::service::Service;
use crate::world::{Action, Step, World};

/// A world with the monitor that has observed every step so far. It dereferences to the world.
#[derive(PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Observed<P: Service> {
    /// The world. It knows nothing of the monitor.
    pub world: World<P>,
    /// The monitor.
    pub monitor: Monitor,
}

/// The result of one step, with the promises that it violates. It dereferences to the step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservedStep<P: Service> {
    /// The result of the step.
    pub step: Step<P>,
    /// The violated promises.
    pub violations: Vec<Violation>,
}

impl<P: Service> Observed<P> {
    /// Carries out one action and lets the monitor observe it.
    ///
    /// # Panics
    /// The action is not enabled and has no meaning: the caller made a mistake.
    pub fn step(&mut self, scenario: &Scenario<P>, action: &Action<P>) -> ObservedStep<P> {
        let step = scenario.step_stamped(&mut self.world, action, self.monitor.stamps(scenario));
        let violations = self.monitor.observe(scenario, action, &step.facts, &self.world);
        ObservedStep { step, violations }
    }
}

impl<P: Service> Clone for Observed<P> {
    fn clone(&self) -> Self {
        Observed { world: self.world.clone(), monitor: self.monitor.clone() }
    }

    /// Copies a world into one that is no longer needed. A search does this at every step.
    fn clone_from(&mut self, other: &Self) {
        self.world.clone_from(&other.world);
        self.monitor.clone_from(&other.monitor);
    }
}

impl<P: Service> Deref for Observed<P> {
    type Target = World<P>;
    fn deref(&self) -> &World<P> {
        &self.world
    }
}

impl<P: Service> Deref for ObservedStep<P> {
    type Target = Step<P>;
    fn deref(&self) -> &Step<P> {
        &self.step
    }
}
