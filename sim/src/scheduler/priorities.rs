//! Priorities that change at a few random moments, after PCT (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010): of
//! all that may happen the most urgent does. For threads that take turns, PCT bounds from below how often it finds a bug of a
//! given depth. Here the actors are users, links, clocks, time itself and each kind of chance, and no such bound is claimed:
//! `fencepost hunt --scheduler priorities` shows what it finds.

use std::collections::BTreeMap;

use fencepost_model::action_kind::ActionKind;
use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, Step, World};

use super::{Scheduler, SchedulerKind, offers};
use crate::random::{Concern, Stream};

/// The number of actions among which the priorities change.
const HORIZON: u64 = 120;
/// So often.
const CHANGES: usize = 3;

pub(crate) struct Priorities<P: Service> {
    choice: Stream,
    /// How urgent what an actor does is; drawn when it is first seen.
    urgency: Urgency,
    /// The actions after which the most urgent process gets the lowest priority.
    changes: Vec<u64>,
    taken: u64,
    enabled: Vec<Action<P>>,
    is_calm: bool,
}

/// How urgent what each actor does is.
#[derive(Default)]
struct Urgency(BTreeMap<Actor, u64>);

impl Urgency {
    fn of(&mut self, actor: Actor, choice: &mut Stream) -> u64 {
        *self.0.entry(actor).or_insert_with(|| (1 << 32) + choice.below(1 << 32))
    }

    fn set(&mut self, actor: Actor, urgency: u64) {
        self.0.insert(actor, urgency);
    }

    fn forget(&mut self, actor: Actor) {
        self.0.remove(&actor);
    }
}

/// What has a priority of its own, as a thread has in PCT.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Actor {
    User(ClientId),
    Link(ProcessId, ProcessId),
    Clock(ProcessId),
    Time,
    Chance(ActionKind),
}

fn actor<P: Service>(action: &Action<P>) -> Actor {
    match action {
        Action::Command { client, .. } => Actor::User(*client),
        Action::Deliver(envelope) => Actor::Link(envelope.from, envelope.to),
        Action::Wake { process, .. } => Actor::Clock(*process),
        Action::Advance(_) => Actor::Time,
        other => Actor::Chance(other.kind()),
    }
}

impl<P: Service> Priorities<P> {
    pub(crate) fn new(seed: u64) -> Self {
        let mut choice = Stream::new(seed, Concern::Choice);
        let changes = (0..CHANGES).map(|_| choice.below(HORIZON)).collect();
        Priorities { choice, urgency: Urgency::default(), changes, taken: 0, enabled: Vec::new(), is_calm: false }
    }

    fn urgency_of(&mut self, actor: Actor) -> u64 {
        self.urgency.of(actor, &mut self.choice)
    }
}

impl<P: Service> Scheduler<P> for Priorities<P> {
    fn name(&self) -> &str {
        SchedulerKind::Priorities.name()
    }

    fn pick(&mut self, scenario: &Scenario<P>, world: &World<P>) -> Option<Action<P>> {
        offers(scenario, world, self.is_calm, &mut self.enabled);
        // During a calm no process is postponed for long.
        if self.is_calm {
            return self.choice.pick(&self.enabled);
        }
        let enabled = std::mem::take(&mut self.enabled);
        let urgent = enabled.iter().map(actor).max_by_key(|actor| self.urgency_of(*actor))?;
        let offers: Vec<Action<P>> = enabled.iter().filter(|action| actor(*action) == urgent).copied().collect();
        self.enabled = enabled;
        // Time could pass for ever; after a while another process gets its turn.
        let is_over = urgent == Actor::Time && self.choice.below(4) == 0;
        if is_over || self.changes.contains(&self.taken) {
            self.urgency.set(urgent, self.choice.below(1 << 32));
        }
        self.taken += 1;
        self.choice.pick(&offers)
    }

    fn learn(&mut self, _: &Scenario<P>, _: &World<P>, action: &Action<P>, _: &Step<P>) {
        // What is not time gives time a new chance.
        if !matches!(action, Action::Advance(_)) && self.choice.below(8) == 0 {
            self.urgency.forget(Actor::Time);
        }
    }

    fn calm(&mut self, _: &Scenario<P>, _: &World<P>) {
        self.is_calm = true;
    }
}
