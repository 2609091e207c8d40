//! After the storm: who still waits, and for how long that is allowed.

use fencepost_model::properties::Property;
use fencepost_model::protocol::Protocol;
use fencepost_model::scenario::{Promise, Scenario};
use fencepost_model::time::{TICKS_MAX, Ticks};
use fencepost_model::trace::{Patience, Wait, complaint};
use fencepost_model::world::World;

use crate::run::{Settings, Walk};

/// When nothing goes wrong any more: after how many steps it began, and who has kept trying since.
pub(crate) struct Calm {
    pub(crate) from: usize,
    pub(crate) patience: Patience,
}

/// The promises about what happens in the end, and how long a calm may last until it counts as the end.
pub(crate) struct Endless {
    pub(crate) properties: Vec<Property>,
    bound: Ticks,
    clients: i64,
}

impl Endless {
    pub(crate) fn of<P: Protocol>(scenario: &Scenario<P>, settings: &Settings) -> Self {
        let is_endless = |promise: &&Promise| promise.property.is_about_endless_runs(promise.bound);
        let clients = i64::from(scenario.clients);
        let bound = match settings.calm {
            Some(calm) => calm.saturating_mul(settings.refinement),
            None => P::longest(&scenario.service).count() * 8 + settings.refinement * 100,
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

    /// A tick more than anybody may wait.
    pub(crate) fn bound_of_all(&self) -> Ticks {
        self.bound.times(self.clients) + Ticks::new(1)
    }

    /// Notes who has waited too long.
    pub(crate) fn judge<P: Protocol>(&self, scenario: &Scenario<P>, world: &World<P>, calm: &Calm, walk: &mut Walk<P>) {
        for property in &self.properties {
            let Some((age, who)) = calm.patience.longest(world, *property) else { continue };
            if age <= self.bound(*property) {
                continue;
            }
            let message = complaint(scenario, world, age, who);
            if walk.note(*property, || message.clone()) {
                let step = walk.place();
                walk.waits.push(Wait { calm_from: calm.from, step, property: *property, waited: age, message });
            }
        }
    }
}
