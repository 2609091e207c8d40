//! Scenarios made in Rust, and scenarios made from scenarios.

use super::{Budget, Clocks, Expect, Fairness, Goal, Links, OwnGoal, Promise, Scenario, Suite, Synchrony};
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
            variant: String::new(),
            about: String::new(),
            suite: Suite::Standard,
            tick: None,
            clients: 2,
            rounds: 1,
            writes: 0,
            resource: Accepts::All,
            service: P::Settings::default(),
            synchrony: Synchrony::default(),
            fairness: Fairness::default(),
            network: Links::default(),
            clocks: Clocks::default(),
            budget: Budget::default(),
            promises: Vec::new(),
            goals: Vec::new(),
            own_goals: Vec::new(),
            own_properties: Vec::new(),
            mutation: None,
        }
    }

    /// Sets the number of clients that want the lock.
    pub fn clients(mut self, clients: u16) -> Self {
        self.clients = clients;
        self
    }

    /// Sets how often each client's user asks for the lock.
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

    /// Says which writes the resource accepts.
    pub fn resource(mut self, accepts: Accepts) -> Self {
        self.resource = accepts;
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

    /// Allows for faults of the kernel's kinds; for those of the service see [`Scenario::allow`].
    pub fn budget(mut self, change: impl FnOnce(&mut Budget)) -> Self {
        change(&mut self.budget);
        self
    }

    /// Allows for faults of the service, by the name of their budget: `.allow("clock_jumps", 1)`.
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

    /// Adds a promise that names a duration and is expected to hold.
    pub fn promise_within(self, property: Property, bound: impl Into<Ticks>) -> Self {
        self.promised(Promise { property, bound: Some(bound.into()), expect: Expect::Proven })
    }

    /// Adds a promise that is expected to break.
    pub fn expect_violated(self, property: Property) -> Self {
        self.promised(Promise { property, bound: None, expect: Expect::Violated })
    }

    /// Adds a promise, whole.
    pub fn promised(mut self, promise: Promise) -> Self {
        self.promises.push(promise);
        self
    }

    /// Adds something that must be possible.
    pub fn goal(mut self, goal: Goal) -> Self {
        self.goals.push(goal);
        self
    }

    /// Adds something that must be possible: some execution must have a fact of which this is true. It stands in no file.
    pub fn own_goal(mut self, name: &'static str, is_reached: fn(&Fact<P>) -> bool) -> Self {
        self.own_goals.push(OwnGoal { goal: Goal::new(name), is_reached });
        self
    }

    /// Adds a property of your own, and the promise of it. It is judged after every step.
    ///
    /// It looks at the facts of the step, at the action and at the world behind it. What it compares must have a meaning in each
    /// world alike: not the value of an instant, of a token or of a log position, for the checker renames them. Files cannot
    /// name it.
    ///
    /// # Panics
    /// The level is progress: a step does not break what is promised of endless executions.
    pub fn own_property(mut self, name: &'static str, level: Level, check: Judge<P>) -> Self {
        assert!(level != Level::Progress, "`{name}` is judged after each step: it is not about progress");
        let property = OwnProperty { name, level };
        self.own_properties.push(Definition { property, check });
        self.promise(Property::Own(property))
    }

    /// The same scenario on a finer clock: every duration multiplied.
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
            offsets: self.clocks.offsets.iter().map(|offset| offset.times(factor)).collect(),
        };
        for promise in &mut fine.promises {
            promise.bound = scale(promise.bound);
        }
        fine
    }

    /// The same scenario with more of the same: more clients, more rounds.
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

    /// What the promises of this run are about.
    #[inline]
    pub(crate) fn watched(&self) -> Watched {
        self.promises.iter().fold(Watched::default(), |all, promise| all.and(promise.property))
    }
}
