//! Builders of scenarios in Rust, and scenarios derived from scenarios.

use super::prefix::refine;
use super::{Budget, Clocks, Expect, Fairness, FaultPlace, Goal, Links, OwnGoal, Promise, Scenario, Suite, Synchrony};
use crate::action_kind::ActionKind;
use crate::fact::Fact;
use crate::properties::{Definition, Judge, Level, OwnProperty, Property, Watched};
use crate::resource::Accepts;
use crate::service::{Service, Settings};
use crate::time::Ticks;
use crate::units::Duration;

impl<P: Service> Scenario<P> {
    /// Two clients, one round, no faults, no promises.
    pub fn new(name: &str) -> Self {
        Scenario {
            name: name.to_owned(),
            system: P::SYSTEMS[0].to_owned(),
            hazard: None,
            also: Vec::new(),
            title: String::new(),
            variant: String::new(),
            about: String::new(),
            story: String::new(),
            sources: Vec::new(),
            suite: Suite::Standard,
            tick: None,
            clients: 2,
            rounds: 1,
            writes: 0,
            resource: Accepts::All,
            work_items: 0,
            service: P::Settings::default(),
            programs: Vec::new(),
            synchrony: Synchrony::default(),
            fairness: Fairness::default(),
            network: Links::default(),
            clocks: Clocks::default(),
            budget: Budget::default(),
            promises: Vec::new(),
            fault_places: Vec::new(),
            prefix: Vec::new(),
            goals: Vec::new(),
            own_goals: Vec::new(),
            own_properties: Vec::new(),
            mutation: None,
        }
    }

    /// Sets the number of contenders.
    pub fn clients(mut self, clients: u16) -> Self {
        self.clients = clients;
        self
    }

    /// Sets how often each client's user asks for the lock; [`UNLIMITED`](super::UNLIMITED): without end.
    pub fn rounds(mut self, rounds: u8) -> Self {
        self.rounds = rounds;
        self
    }

    /// Sets how many writes a client may send per tenure.
    pub fn writes(mut self, writes: u8) -> Self {
        self.writes = writes;
        self
    }

    /// Changes the settings of the service and of the client recipe.
    pub fn service(mut self, change: impl FnOnce(&mut P::Settings)) -> Self {
        change(&mut self.service);
        self
    }

    /// Sets the check that the resource applies to writes.
    pub fn resource(mut self, accepts: Accepts) -> Self {
        self.resource = accepts;
        self
    }

    /// Puts items into the resource's work queue, at most 16.
    pub fn work_items(mut self, count: u8) -> Self {
        self.work_items = count;
        self
    }

    /// Bounds the delay of messages.
    pub fn message_delay(mut self, at_most: impl Into<Ticks>) -> Self {
        self.synchrony.message_delay = Some(at_most.into());
        self
    }

    /// Bounds the delay of a client's own wake-ups.
    pub fn wake_delay(mut self, at_most: impl Into<Ticks>) -> Self {
        self.synchrony.wake_delay = Some(at_most.into());
        self
    }

    /// Bounds the delay of the servers' deadlines.
    pub fn server_delay(mut self, at_most: impl Into<Ticks>) -> Self {
        self.synchrony.server_delay = Some(at_most.into());
        self
    }

    /// Allows faults of the kernel's kinds; for those of the service see [`Scenario::allow`].
    pub fn budget(mut self, change: impl FnOnce(&mut Budget)) -> Self {
        change(&mut self.budget);
        self
    }

    /// Allows faults of the service, by the name of their budget: `.allow("clock_jumps", 1)`.
    ///
    /// # Panics
    /// The service declares no such fault; or more than 254 are allowed.
    pub fn allow(mut self, budget: &str, at_most: u8) -> Self {
        self.budget.allow::<P::Fault>(budget, at_most);
        self
    }

    /// Adds a promise that is expected to hold.
    pub fn promise(self, property: Property) -> Self {
        self.promised(Promise { property, bound: None, expect: Expect::Proven })
    }

    /// Adds a promise with a bound, which is expected to hold.
    pub fn promise_within(self, property: Property, bound: impl Into<Ticks>) -> Self {
        self.promised(Promise { property, bound: Some(bound.into()), expect: Expect::Proven })
    }

    /// Adds a promise that is expected to be violated.
    pub fn expect_violated(self, property: Property) -> Self {
        self.promised(Promise { property, bound: None, expect: Expect::Violated })
    }

    /// Adds a complete promise.
    pub fn promised(mut self, promise: Promise) -> Self {
        self.promises.push(promise);
        self
    }

    /// Adds a goal, which some execution must reach.
    pub fn goal(mut self, goal: Goal) -> Self {
        self.goals.push(goal);
        self
    }

    /// Adds a goal of your own: some execution must have a fact for which the function is true. Files cannot name it.
    pub fn own_goal(mut self, name: &'static str, is_reached: fn(&Fact<P>) -> bool) -> Self {
        self.own_goals.push(OwnGoal { goal: Goal::new(name), is_reached });
        self
    }

    /// Adds a property of your own, with a promise of it. It is judged after every step.
    ///
    /// The property reads the facts of the step, the action and the world after it. Compare only values with an
    /// absolute meaning: the checker renames instants, tokens and log positions. Files cannot name the property.
    ///
    /// # Panics
    /// The level is progress: a single step cannot violate a promise about endless executions.
    pub fn own_property(mut self, name: &'static str, level: Level, check: Judge<P>) -> Self {
        assert!(level != Level::Progress, "`{name}` is judged after each step: its level cannot be progress");
        let property = OwnProperty { name, level };
        self.own_properties.push(Definition { property, check });
        self.promise(Property::Own(property))
    }

    /// Keeps a kind of fault to a place: it may strike only before an action of what it strikes whose label has `before` in it, with `#`
    /// for each number. With several places for one kind, it may strike at each of them.
    pub fn only_before(mut self, fault: ActionKind, before: &str) -> Self {
        self.fault_places.push(FaultPlace { fault, before: before.to_owned() });
        self
    }

    /// Adds an action to the prefix, by its label: every execution begins with the prefix, which is not judged.
    pub fn begins_with(mut self, label: &str) -> Self {
        self.prefix.push(label.to_owned());
        self
    }

    /// The same scenario on a finer clock: every duration is multiplied by the factor.
    pub fn refined(&self, factor: i64) -> Self {
        let mut fine = self.clone();
        // A tick that is no whole number of nanoseconds has no name.
        let tick = |tick: Duration| {
            (tick.nanoseconds() % factor == 0).then(|| Duration::of_nanoseconds(tick.nanoseconds() / factor))
        };
        fine.tick = self.tick.and_then(tick);
        let scale = |ticks: Option<Ticks>| ticks.map(|ticks| ticks.times(factor));
        fine.service.durations(&mut |ticks| *ticks = ticks.times(factor));
        fine.synchrony.message_delay = scale(self.synchrony.message_delay);
        fine.synchrony.wake_delay = scale(self.synchrony.wake_delay);
        fine.synchrony.server_delay = scale(self.synchrony.server_delay);
        fine.clocks = Clocks {
            skew: self.clocks.skew.times(factor),
            step: self.clocks.step.times(factor),
            drift: self.clocks.drift,
            // It is told of a tick that has a length.
            rate: self.clocks.rate.filter(|_| fine.tick.is_some()),
            offsets: self.clocks.offsets.iter().map(|offset| offset.times(factor)).collect(),
        };
        fine.prefix.iter_mut().for_each(|label| refine(label, factor, self.tick));
        fine.programs.iter_mut().for_each(|program| program.factor *= factor);
        for promise in &mut fine.promises {
            promise.bound = scale(promise.bound);
        }
        fine
    }

    /// The same scenario with more clients and more rounds.
    pub fn widened(&self, clients: u16, rounds: u8) -> Self {
        Scenario { clients, rounds, ..self.clone() }
    }

    /// The same scenario with only some of its promises judged.
    pub fn judging(&self, wanted: impl Fn(&Promise) -> bool) -> Self {
        let promises = self.promises.iter().copied().filter(wanted).collect();
        Scenario { promises, ..self.clone() }
    }

    /// Whether some promise of this run is about the property.
    pub fn watches(&self, property: Property) -> bool {
        self.watched().has_any(Watched::of(&[property]))
    }

    /// The properties of the promises.
    #[inline]
    pub(crate) fn watched(&self) -> Watched {
        self.promises.iter().fold(Watched::default(), |all, promise| all.and(promise.property))
    }
}
