//! Waits in a calm: executions without further faults in which a waiting client is not served.

use serde::{Deserialize, Serialize};

use super::{ReplayError, TraceStep};
use crate::fact::Fact;
use crate::finding::Property;
use crate::ids::ClientId;
use crate::scenario::Scenario;
use crate::service::{Service, Settings as _};
use crate::time::{Instant, Ticks};
use crate::world::World;

/// A client waited too long after the last fault. A promise of progress is as good as violated.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The number of steps before the calm. No fault happens during the calm.
    pub calm_from: usize,
    /// The number of the step after which the wait was too long, from 1.
    pub step: usize,
    /// The violated promise: `eventually-acquired`, `progress` or `every-item-handled`.
    pub property: Property,
    /// The duration of the wait, in ticks.
    pub waited: Ticks,
    /// A sentence that names the waiting clients.
    pub message: String,
}

/// Tracks the waiting clients during a calm.
#[derive(Clone, Debug)]
pub struct Patience {
    /// The instant since which a slot has been free while a client was waiting.
    idle: Option<Instant>,
    /// For each client, the instant since which it has been waiting.
    trying: Vec<Option<Instant>>,
    /// The instant since which no item of the work queue was handled while some were not.
    unhandled: Option<Instant>,
}

impl Patience {
    /// The tracker at the beginning of a calm.
    pub fn new<P: Service>(scenario: &Scenario<P>, world: &World<P>) -> Self {
        let mut patience = Patience { idle: None, trying: vec![None; world.clients.len()], unhandled: None };
        patience.look(scenario, world, &[]);
        patience
    }

    /// Takes a world and the facts of the last step.
    pub fn look<P: Service>(&mut self, scenario: &Scenario<P>, world: &World<P>, facts: &[Fact<P>]) {
        let mut is_trying = vec![false; self.trying.len()];
        world.waiting().for_each(|client| is_trying[client.place()] = true);
        for fact in facts {
            if let Fact::Entered { client, .. } = fact {
                (self.idle, self.trying[client.place()]) = (None, None);
            }
            if matches!(fact, Fact::Handled { .. }) {
                self.unhandled = None;
            }
        }
        for (since, is_trying) in self.trying.iter_mut().zip(is_trying) {
            *since = is_trying.then(|| since.unwrap_or(world.now));
        }
        self.idle = world.is_idle(scenario).then(|| self.idle.unwrap_or(world.now));
        let is_done = world.unhandled(scenario).is_empty();
        self.unhandled = (!is_done).then(|| self.unhandled.unwrap_or(world.now));
    }

    /// The longest wait that counts for the property, and the clients: a single client, or all waiting clients.
    pub fn longest<P: Service>(&self, world: &World<P>, property: Property) -> Option<(Ticks, Option<ClientId>)> {
        match property {
            Property::EventuallyAcquired => self.idle.map(|since| (world.now - since, None)),
            Property::Progress => {
                let waits = self.trying.iter().enumerate();
                let first = waits.filter_map(|(place, since)| Some(((*since)?, place))).min();
                first.map(|(since, place)| (world.now - since, Some(ClientId::of(place))))
            }
            Property::EveryItemHandled => self.unhandled.map(|since| (world.now - since, None)),
            _ => None,
        }
    }
}

/// The waiting clients and the duration, as a sentence.
pub fn complaint<P: Service>(
    scenario: &Scenario<P>,
    world: &World<P>,
    property: Property,
    (age, who): (Ticks, Option<ClientId>),
) -> String {
    if property == Property::EveryItemHandled {
        let left = world.unhandled(scenario);
        let are = if left.is_one() { "is" } else { "are" };
        return format!("during the calm no item was handled for {age}, and {left} {are} left");
    }
    if let Some(client) = who {
        return format!("during the calm {client} waited for {age} and was not served");
    }
    let lacks = if scenario.service.capacity() == 1 { "the lock stayed free" } else { "a slot stayed free" };
    let names: Vec<String> = world.waiting().map(|client| client.to_string()).collect();
    format!("during the calm {lacks} for {age} while {} waited", names.join(" and "))
}

/// Whether all waits of a header are true of a replayed execution.
pub(super) fn confirm<P: Service>(
    scenario: &Scenario<P>,
    steps: &[TraceStep<P>],
    waits: &[Wait],
) -> Result<(), ReplayError> {
    let Some(calm_from) = waits.iter().map(|wait| wait.calm_from).min() else { return Ok(()) };
    let wrong = |wait: &Wait, message: &str| Err(ReplayError { step: wait.step, message: message.to_owned() });
    let mut world = scenario.observed();
    let mut patience = None;
    for (place, line) in (1..).zip(steps) {
        let step = world.step(scenario, &line.action);
        if place <= calm_from {
            patience = (place == calm_from).then(|| Patience::new(scenario, &world));
            continue;
        }
        let patience = patience.get_or_insert_with(|| Patience::new(scenario, &scenario.start()));
        patience.look(scenario, &world, &step.facts);
        for wait in waits.iter().filter(|wait| wait.step == place) {
            if patience.longest(&world, wait.property).is_none_or(|(age, _)| age != wait.waited) {
                return wrong(wait, "no client has waited that long");
            }
        }
    }
    let in_calm = |wait: &Wait| steps.iter().take(wait.step).skip(wait.calm_from);
    for wait in waits {
        if wait.calm_from != calm_from || wait.step > steps.len() || wait.step <= calm_from {
            return wrong(wait, "the calm of the trace has no such step");
        }
        if in_calm(wait).any(|line| line.action.kind().is_disturbance()) {
            return wrong(wait, "the calm contains a fault or an operator action");
        }
    }
    Ok(())
}
