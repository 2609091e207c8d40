//! A scheduler: of what may happen, each action gets its turn.

use fencepost::Scenario;
use fencepost::model::service::Service;
use fencepost::model::world::{Action, World};
use fencepost::sim::{Scheduler, offers};

/// Picks the first enabled action, then the second one, and so on. It draws nothing, and needs no seed.
pub struct Turns<S: Service> {
    picked: usize,
    offers: Vec<Action<S>>,
    is_calm: bool,
}

impl<S: Service> Default for Turns<S> {
    fn default() -> Self {
        Turns { picked: 0, offers: Vec::new(), is_calm: false }
    }
}

impl<S: Service> Scheduler<S> for Turns<S> {
    fn name(&self) -> &str {
        "turns"
    }

    fn pick(&mut self, scenario: &Scenario<S>, world: &World<S>) -> Option<Action<S>> {
        offers(scenario, world, self.is_calm, &mut self.offers);
        self.picked += 1;
        self.offers.get(self.picked % self.offers.len().max(1)).copied()
    }

    fn calm(&mut self, _: &Scenario<S>, _: &World<S>) {
        self.is_calm = true;
    }
}
