//! Any enabled action, each with the same probability. It assumes nothing about likely executions.

use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, World};

use super::{Scheduler, SchedulerKind, offers};
use crate::random::{Concern, Stream};

pub(crate) struct Uniform<P: Service> {
    choice: Stream,
    enabled: Vec<Action<P>>,
    is_calm: bool,
}

impl<P: Service> Uniform<P> {
    pub(crate) fn new(seed: u64) -> Self {
        Uniform { choice: Stream::new(seed, Concern::Choice), enabled: Vec::new(), is_calm: false }
    }
}

impl<P: Service> Scheduler<P> for Uniform<P> {
    fn name(&self) -> &str {
        SchedulerKind::Uniform.name()
    }

    fn pick(&mut self, scenario: &Scenario<P>, world: &World<P>) -> Option<Action<P>> {
        offers(scenario, world, self.is_calm, &mut self.enabled);
        self.choice.pick(&self.enabled)
    }

    fn calm(&mut self, _: &Scenario<P>, _: &World<P>) {
        self.is_calm = true;
    }
}
