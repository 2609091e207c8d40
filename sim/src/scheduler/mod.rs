//! Schedulers: each picks the next action, and learns what it did.

mod agenda;
mod armed;
mod priorities;
mod realistic;
mod uniform;

use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, Step, World};

pub(crate) use priorities::Priorities;
pub(crate) use realistic::{Realistic, may_stand_still};
pub(crate) use uniform::Uniform;

/// Picks the next action.
///
/// **Every action it picks is enabled; `None` means that the world is at rest.**
pub(crate) trait Scheduler<P: Service> {
    /// The next action.
    fn pick(&mut self, scenario: &Scenario<P>, world: &World<P>) -> Option<Action<P>>;

    /// What the action did.
    fn learn(&mut self, scenario: &Scenario<P>, world: &World<P>, action: &Action<P>, step: &Step<P>);

    /// The storm is over: from now on nothing goes wrong that has not gone wrong already, and what can be mended is.
    fn calm(&mut self, scenario: &Scenario<P>, world: &World<P>);
}

/// Which scheduler.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum SchedulerKind {
    /// Any enabled action, each with the same probability.
    Uniform,
    /// Latencies, users, stalls and mishaps as in the [`Profile`](crate::Profile).
    #[default]
    Realistic,
    /// The same, with some kinds of misfortune left out and all rates changed, by [`Swarm`](crate::Swarm).
    Swarm,
    /// The most urgent of all enabled actions, by priorities that change at a few random moments (PCT).
    Priorities,
}

impl SchedulerKind {
    /// All of them.
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

/// What may happen, and in a calm only what belongs to it; nothing once there is only time left to pass, and nobody waits.
fn options<P: Service>(scenario: &Scenario<P>, world: &World<P>, is_calm: bool, list: &mut Vec<Action<P>>) {
    scenario.enabled(world, list);
    if is_calm {
        list.retain(|action| !action.kind().is_mishap());
    }
    let only_time_passes = list.iter().all(|action| matches!(action, Action::Advance(_)));
    if only_time_passes && !is_anybody_waiting(scenario, world) {
        list.clear();
    }
}

/// Whether some deadline lies ahead.
fn is_anybody_waiting<P: Service>(scenario: &Scenario<P>, world: &World<P>) -> bool {
    let mut is_waiting = false;
    for process in world.processes() {
        world.wakes(scenario, process, &mut |_, _| is_waiting = true);
    }
    is_waiting
}
