//! After the storm: who still waits, and for how long that is allowed.

use fencepost_model::properties::Property;
use fencepost_model::scenario::{Promise, Scenario};
use fencepost_model::service::{Service, Settings as _};
use fencepost_model::time::{TICKS_MAX, Ticks};
use fencepost_model::trace::{Patience, Wait, complaint};
use fencepost_model::world::World;

use crate::profile::Profile;
use crate::scheduler::{SchedulerKind, may_stand_still};
use crate::settings::Settings;
use crate::swarm::Swarm;
use crate::walk::Walk;

/// When nothing goes wrong any more: after how many steps it began, and who has kept trying since.
pub(crate) struct Calm {
    pub(crate) from: usize,
    pub(crate) patience: Patience,
}

/// The progress promises, and the length of a calm after which an unfulfilled one is violated.
pub(crate) struct Endless {
    pub(crate) properties: Vec<Property>,
    bound: Ticks,
    clients: i64,
}

/// The number of steps in a row, each as late as it can be, before a wait counts as endless.
const STEPS: i64 = 100;

/// The default bound of a wait: several times the longest duration of the service, the longest stall, and `STEPS` times the
/// longest delay of a step. So every wait that exceeds it contains at least `STEPS` rounds in which each weakly fair action was
/// taken. A bound in ticks alone takes a stall that outlasts the storm, and a few slow messages in a row, for starvation.
fn usual<P: Service>(scenario: &Scenario<P>, settings: &Settings) -> i64 {
    let (step, standstill) = match settings.scheduler {
        // On average each enabled action is picked as often as time passes: its delay is about a tick.
        SchedulerKind::Uniform | SchedulerKind::Priorities => (Ticks::new(settings.refinement), Ticks::ZERO),
        SchedulerKind::Realistic => latest(scenario, &settings.profile, settings.refinement),
        SchedulerKind::Swarm => {
            let profile = Swarm::of(settings.seed).profile(&settings.profile);
            latest(scenario, &profile, settings.refinement)
        }
    };
    let longest = scenario.service.longest().count().saturating_mul(8);
    longest.saturating_add(standstill.count()).saturating_add(step.count().saturating_mul(STEPS))
}

/// The longest delay of a step, at least a tick of the scenario; and the longest stall.
fn latest<P: Service>(scenario: &Scenario<P>, profile: &Profile, refinement: i64) -> (Ticks, Ticks) {
    let delay = profile.latency_max(refinement);
    let delay = scenario.synchrony.message_delay.map_or(delay, |bound| delay.min(bound));
    let [lateness, thinking] = [&profile.lateness, &profile.thinking].map(|curve| curve.longest(refinement));
    let step = delay.max(lateness).max(thinking).max(Ticks::new(refinement));
    let standstill = if may_stand_still(scenario) { profile.stall.longest(refinement) } else { Ticks::ZERO };
    (step, standstill)
}

impl Endless {
    pub(crate) fn of<P: Service>(scenario: &Scenario<P>, settings: &Settings) -> Self {
        let is_endless = |promise: &&Promise| promise.property.is_about_endless_runs(promise.bound);
        let clients = i64::from(scenario.clients);
        let bound = match settings.calm {
            Some(calm) => calm.saturating_mul(settings.refinement),
            None => usual(scenario, settings),
        };
        Endless {
            properties: scenario.promises.iter().filter(is_endless).map(|promise| promise.property).collect(),
            bound: Ticks::new(bound.min(TICKS_MAX / 4 / clients.max(1))),
            clients,
        }
    }

    /// For `progress` each client has as much time.
    fn bound(&self, property: Property) -> Ticks {
        if property == Property::Progress { self.bound.times(self.clients) } else { self.bound }
    }

    /// The longest allowed wait, plus a tick.
    pub(crate) fn bound_of_all(&self) -> Ticks {
        self.bound.times(self.clients) + Ticks::new(1)
    }

    /// Notes who has waited too long.
    pub(crate) fn judge<P: Service>(&self, scenario: &Scenario<P>, world: &World<P>, calm: &Calm, walk: &mut Walk<P>) {
        for property in &self.properties {
            let Some((age, who)) = calm.patience.longest(world, *property) else { continue };
            if age <= self.bound(*property) {
                continue;
            }
            let message = complaint(scenario, world, *property, (age, who));
            if walk.note(*property, || message.clone()) {
                let step = walk.place();
                walk.waits.push(Wait { calm_from: calm.from, step, property: *property, waited: age, message });
            }
        }
    }
}
