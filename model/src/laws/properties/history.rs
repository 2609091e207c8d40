//! An execution so far, step by step, and what the twins ask about it.

use crate::fact::Fact;
use crate::ids::{ClientId, Tenure};
use crate::laws::walk::after;
use crate::monitor::Observed;
use crate::process::{Belief, Client};
use crate::properties::Property;
use crate::scenario::{Promise, Scenario};
use crate::service::{Record, Service, Settings as _};
use crate::time::{Instant, Ticks};
use crate::world::{Action, Condition, World};

/// One step.
pub(super) struct Moment<P: Service> {
    pub(super) action: Action<P>,
    pub(super) facts: Vec<Fact<P>>,
    pub(super) after: Observed<P>,
}

/// An execution so far.
pub(super) struct History<'a, P: Service> {
    pub(super) scenario: &'a Scenario<P>,
    start: Observed<P>,
    pub(super) moments: Vec<Moment<P>>,
}

impl<'a, P: Service> History<'a, P> {
    /// That of the prefix, and the promises that it violates.
    pub(super) fn begin(scenario: &'a Scenario<P>) -> (Self, Vec<Property>) {
        let start = Scenario { prefix: Vec::new(), ..scenario.clone() }.observed();
        let mut history = History { scenario, start, moments: Vec::new() };
        let mut violated = Vec::new();
        for action in scenario.prefix_actions().expect("the scenario is valid") {
            let (next, step) = after(scenario, history.last(), &action);
            violated.extend(step.violations.iter().map(|violation| violation.property));
            history.push(Moment { action, facts: step.facts.to_vec(), after: next });
        }
        (history, violated)
    }

    pub(super) fn push(&mut self, moment: Moment<P>) {
        self.moments.push(moment);
    }

    pub(super) fn pop(&mut self) {
        self.moments.pop();
    }

    /// The world at its end.
    pub(super) fn last(&self) -> &Observed<P> {
        self.moments.last().map_or(&self.start, |moment| &moment.after)
    }

    /// The action of the last step.
    pub(super) fn action(&self) -> Option<&Action<P>> {
        self.moments.last().map(|moment| &moment.action)
    }

    /// The facts of the last step.
    pub(super) fn news(&self) -> &[Fact<P>] {
        self.moments.last().map_or(&[], |moment| &moment.facts)
    }

    /// The facts of all steps before the last one, each with its instant.
    pub(super) fn past(&self) -> impl DoubleEndedIterator<Item = (Instant, &Fact<P>)> {
        let before = &self.moments[..self.moments.len().saturating_sub(1)];
        before.iter().flat_map(|moment| moment.facts.iter().map(|fact| (moment.after.now, fact)))
    }

    /// The tenure that the client was granted last, according to the facts of all steps.
    pub(super) fn granted_last(&self, client: ClientId) -> Option<Tenure> {
        let (mut count, mut own) = (Tenure::default(), None);
        for fact in self.moments.iter().flat_map(|moment| &moment.facts) {
            if let Fact::Granted { client: other, fresh, .. } = fact {
                count = if *fresh { count.next() } else { count };
                own = if *other == client { Some(count) } else { own };
            }
        }
        own
    }

    /// The record of the service at the end.
    pub(super) fn record(&self) -> Record {
        P::record(&self.last().server.process, self.scenario)
    }

    /// The clients that are inside at the end, each with its belief and with the time of its clock.
    pub(super) fn inside(&self) -> Vec<(ClientId, Belief, Instant)> {
        let world = self.last();
        let hosts = world.clients.iter().enumerate();
        hosts
            .filter(|(_, host)| host.condition != Condition::Down && host.process.belief().is_inside)
            .map(|(place, host)| (ClientId::of(place), host.process.belief(), world.now + host.skew))
            .collect()
    }

    /// Whether a promise bounds how long the lock may be idle.
    pub(super) fn bounds_idleness(&self) -> bool {
        let is_it = |promise: &Promise| promise.property == Property::EventuallyAcquired && promise.bound.is_some();
        self.scenario.promises.iter().any(is_it)
    }

    /// The instant since which the lock has been free while a client was waiting and the servers were up.
    pub(super) fn idle_for(&self) -> Option<Ticks> {
        let is_idle = |world: &World<P>| {
            let hosts = || world.clients.iter();
            let inside = hosts().filter(|host| host.condition != Condition::Down && host.process.belief().is_inside);
            let tries = hosts().any(|host| host.condition == Condition::Up && host.process.belief().is_waiting);
            let has_room = inside.count() < self.scenario.service.capacity();
            world.server.condition == Condition::Up && has_room && tries
        };
        let since = self.moments.iter().rev().take_while(|moment| is_idle(&moment.after)).last()?;
        Some(self.last().now - since.after.now)
    }
}
