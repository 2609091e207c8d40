//! Clocks that run away, each at a rate of its own, and are set right now and then.

use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::{Instant, TICKS_MAX, Ticks};
use fencepost_model::world::{Action, World};

use super::super::agenda::PlannedAction;
use super::Realistic;

impl<P: Service> Realistic<P> {
    /// Each clock has a rate of its own, and is set right now and then.
    pub(super) fn plan_clocks(&mut self, scenario: &Scenario<P>, world: &World<P>) {
        let Some(rates) = self.profile.drift.clone().filter(|_| scenario.budget.slips > 0) else { return };
        for process in world.processes().filter(|process| *process != ProcessId::Resource) {
            // Without refinement a curve's numbers are what it says.
            let rate = rates.draw(1000, &mut self.clocks).count();
            let is_ahead = self.clocks.below(2) == 0;
            let period = i128::from(scenario.clocks.step.count()) * 1_000_000 / i128::from(rate.max(1));
            let period = Ticks::new(i64::try_from(period).unwrap_or(i64::MAX).clamp(1, TICKS_MAX / 4));
            self.drifts.push(period);
            if rate > 0 {
                self.agenda.plan(world.now + period, PlannedAction::Drift(process, is_ahead));
            }
            self.plan_resync(world.now, process);
        }
    }

    pub(super) fn plan_resync(&mut self, now: Instant, process: ProcessId) {
        if let Some(curve) = &self.profile.resync_every {
            let wait = curve.draw(self.refinement, &mut self.clocks).max(Ticks::new(1));
            self.agenda.plan(now + wait, PlannedAction::Resync(process));
        }
    }

    /// A clock runs away by a step, as long as there is a budget for it.
    pub(super) fn drift(
        &mut self,
        scenario: &Scenario<P>,
        world: &World<P>,
        process: ProcessId,
        is_ahead: bool,
    ) -> Option<Action<P>> {
        if world.left.slips == 0 {
            return None;
        }
        let place = process.client().map_or(self.drifts.len() - 1, ClientId::place);
        self.agenda.plan(world.now + self.drifts[place], PlannedAction::Drift(process, is_ahead));
        let step = scenario.clocks.step;
        Some(Action::Slip { process, by: if is_ahead { step } else { step.times(-1) } })
    }

    /// A clock is set right, step by step, at once.
    pub(super) fn resync(&mut self, scenario: &Scenario<P>, world: &World<P>, process: ProcessId) -> Option<Action<P>> {
        let wrong = world.skew(process) - scenario.clocks.offset(process);
        let step = scenario.clocks.step;
        let back = Action::Slip { process, by: if wrong > Ticks::ZERO { step.times(-1) } else { step } };
        if wrong != Ticks::ZERO && scenario.is_enabled(world, &back) {
            self.agenda.plan(world.now, PlannedAction::Resync(process));
            return Some(back);
        }
        if world.left.slips > 0 {
            self.plan_resync(world.now, process);
        }
        None
    }
}
