//! A scheduler: of what may happen, each action gets its turn.

use fencepost::Scenario;
use fencepost::model::service::Service;
use fencepost::model::world::{Action, World};
use fencepost::sim::{Scheduler, offers};

/// Goes round what is enabled in steps of this length. It draws nothing, and needs no seed.
pub struct Turns<S: Service> {
    step: usize,
    place: usize,
    offers: Vec<Action<S>>,
    is_calm: bool,
}

impl<S: Service> Turns<S> {
    /// Picks the enabled actions in turns of a fixed step.
    pub fn by(step: usize) -> Self {
        Turns { step, place: 0, offers: Vec::new(), is_calm: false }
    }
}

impl<S: Service> Scheduler<S> for Turns<S> {
    fn name(&self) -> &str {
        "turns"
    }

    fn pick(&mut self, scenario: &Scenario<S>, world: &World<S>) -> Option<Action<S>> {
        offers(scenario, world, self.is_calm, &mut self.offers);
        self.place += self.step;
        self.offers.get(self.place % self.offers.len().max(1)).copied()
    }

    fn calm(&mut self, _: &Scenario<S>, _: &World<S>) {
        self.is_calm = true;
    }
}
