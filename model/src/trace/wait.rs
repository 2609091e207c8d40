//! Runs in which nothing goes wrong any more, and still somebody who keeps trying does not get in.

use serde::{Deserialize, Serialize};

use super::{ReplayError, TraceStep};
use crate::fact::Fact;
use crate::finding::Property;
use crate::ids::ClientId;
use crate::scenario::Scenario;
use crate::service::{Service, Settings as _};
use crate::time::{Instant, Ticks};
use crate::world::World;

/// Somebody waited too long after the last fault: a promise about what happens in the end is as good as broken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// How many steps come before the calm, in which nothing goes wrong any more.
    pub calm_from: usize,
    /// The step after which it had lasted too long, from 1.
    pub step: usize,
    /// The promise: `eventually-acquired`, or `progress`.
    pub property: Property,
    /// For how long somebody had waited by then.
    pub waited: Ticks,
    /// Who, as a sentence.
    pub message: String,
}

/// Remembers since when who keeps trying, in a calm.
#[derive(Clone, Debug)]
pub struct Patience {
    /// Since when there has been room although somebody keeps trying.
    idle: Option<Instant>,
    /// For each client, since when it has kept trying.
    trying: Vec<Option<Instant>>,
}

impl Patience {
    /// At the beginning of a calm.
    pub fn new<P: Service>(scenario: &Scenario<P>, world: &World<P>) -> Self {
        let mut patience = Patience { idle: None, trying: vec![None; world.clients.len()] };
        patience.look(scenario, world, &[]);
        patience
    }

    /// Looks at a world, and at what has just become true in it.
    pub fn look<P: Service>(&mut self, scenario: &Scenario<P>, world: &World<P>, facts: &[Fact<P>]) {
        let mut is_trying = vec![false; self.trying.len()];
        world.waiting().for_each(|client| is_trying[client.place()] = true);
        for fact in facts {
            if let Fact::Entered { client, .. } = fact {
                (self.idle, self.trying[client.place()]) = (None, None);
            }
        }
        for (since, is_trying) in self.trying.iter_mut().zip(is_trying) {
            *since = is_trying.then(|| since.unwrap_or(world.now));
        }
        self.idle = world.is_idle(scenario).then(|| self.idle.unwrap_or(world.now));
    }

    /// The longest that anybody has waited for what the property promises, and who: a single client, or all that keep trying.
    pub fn longest<P: Service>(&self, world: &World<P>, property: Property) -> Option<(Ticks, Option<ClientId>)> {
        match property {
            Property::EventuallyAcquired => self.idle.map(|since| (world.now - since, None)),
            Property::Progress => {
                let waits = self.trying.iter().enumerate();
                let first = waits.filter_map(|(place, since)| Some(((*since)?, place))).min();
                first.map(|(since, place)| (world.now - since, Some(ClientId::of(place))))
            }
            _ => None,
        }
    }
}

/// Who has waited for how long, as a sentence.
pub fn complaint<P: Service>(scenario: &Scenario<P>, world: &World<P>, age: Ticks, who: Option<ClientId>) -> String {
    if let Some(client) = who {
        return format!("in the calm {client} kept trying for {age}, and did not get in");
    }
    let lacks = if scenario.service.capacity() == 1 { "nobody got the lock" } else { "a slot stayed free" };
    let names: Vec<String> = world.waiting().map(|client| client.to_string()).collect();
    format!("in the calm {lacks} for {age}, and {} kept trying", names.join(" and "))
}

/// Whether all that is said of waiting is true of a run that was repeated.
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
                return wrong(wait, "nobody has waited that long");
            }
        }
    }
    let in_calm = |wait: &Wait| steps.iter().take(wait.step).skip(wait.calm_from);
    for wait in waits {
        if wait.calm_from != calm_from || wait.step > steps.len() || wait.step <= calm_from {
            return wrong(wait, "the run has no such step in its calm");
        }
        if in_calm(wait).any(|line| line.action.kind().is_disturbance()) {
            return wrong(wait, "something goes wrong in what is said to be the calm");
        }
    }
    Ok(())
}
