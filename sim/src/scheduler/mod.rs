//! Schedulers: each picks the next action, and learns what it did. Those of this crate are named by [`SchedulerKind`];
//! [`simulate_with`](crate::simulate_with) takes one from anywhere.

mod agenda;
mod armed;
mod contract;
mod priorities;
mod realistic;
mod uniform;

use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, Step, World};

pub(crate) use contract::check;
pub use contract::{Pick, SchedulerError};
pub(crate) use priorities::Priorities;
pub(crate) use realistic::{Realistic, may_stand_still};
pub(crate) use uniform::Uniform;

/// Picks the next action of an execution: *when* and *how often*, of what the scenario says *may* happen.
///
/// **Every action it picks is enabled; `None` means that the world is at rest.** After [`Scheduler::calm`] it picks no fault.
/// [`offers`] lists what may be picked under this contract. [`simulate_with`](crate::simulate_with) checks every pick, and an
/// action outside the contract is a [`SchedulerError`] that names scheduler and action.
///
/// Chance belongs to the scheduler: one that draws from a generator with a fixed seed gives the same execution each time.
pub trait Scheduler<S: Service> {
    /// Its name, in errors and in the header of traces.
    fn name(&self) -> &str;

    /// The next action.
    fn pick(&mut self, scenario: &Scenario<S>, world: &World<S>) -> Option<Action<S>>;

    /// What the action did: `world` is the state after it.
    fn learn(&mut self, _scenario: &Scenario<S>, _world: &World<S>, _action: &Action<S>, _step: &Step<S>) {}

    /// The storm is over: from now on no fault occurs, and what can be mended is mended in the end.
    fn calm(&mut self, _scenario: &Scenario<S>, _world: &World<S>) {}
}

/// The kind of a scheduler.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum SchedulerKind {
    /// Any enabled action, each with the same probability.
    Uniform,
    /// Latencies, users, stalls and faults as in the [`Profile`](crate::Profile).
    #[default]
    Realistic,
    /// The same, with some kinds of faults left out and all rates changed, by [`Swarm`](crate::Swarm).
    Swarm,
    /// The most urgent of all enabled actions, by priorities that change at a few random moments (PCT).
    Priorities,
}

impl SchedulerKind {
    /// Every scheduler, in the order of help and reports.
    pub const ALL: [SchedulerKind; 4] =
        [SchedulerKind::Uniform, SchedulerKind::Realistic, SchedulerKind::Swarm, SchedulerKind::Priorities];

    /// How much finer its clock usually is than the scenario's: those that list what may happen move tick by tick.
    pub fn refinement(self) -> i64 {
        match self {
            SchedulerKind::Uniform | SchedulerKind::Priorities => 1,
            SchedulerKind::Realistic | SchedulerKind::Swarm => 1000,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SchedulerKind::Uniform => "uniform",
            SchedulerKind::Realistic => "realistic",
            SchedulerKind::Swarm => "swarm",
            SchedulerKind::Priorities => "priorities",
        }
    }
}

/// Lists what a scheduler may pick: what is enabled, and in the calm no fault. The list is empty once only time is left to
/// pass and no deadline lies ahead.
pub fn offers<P: Service>(scenario: &Scenario<P>, world: &World<P>, is_calm: bool, list: &mut Vec<Action<P>>) {
    scenario.enabled(world, list);
    if is_calm {
        list.retain(|action| !action.kind().is_disturbance());
    }
    let only_time_passes = list.iter().all(|action| matches!(action, Action::Advance(_)));
    if only_time_passes && !is_any_client_waiting(scenario, world) {
        list.clear();
    }
}

/// Whether some deadline lies ahead.
fn is_any_client_waiting<P: Service>(scenario: &Scenario<P>, world: &World<P>) -> bool {
    let mut is_waiting = false;
    for process in world.processes() {
        world.wakes(scenario, process, &mut |_, _| is_waiting = true);
    }
    is_waiting
}
