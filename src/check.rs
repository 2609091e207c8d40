//! Checks of a scenario in a user's test, with the verdicts that the test requires.

use fencepost_model::fact::Fact;
use fencepost_model::ids::ClientId;
use fencepost_model::program::{Programmable, Recipe};
use fencepost_model::properties::{Judge, Level, Property};
use fencepost_model::resource::Accepts;
use fencepost_model::scenario::{Budget, Goal, Promise, Scenario};
use fencepost_model::service::Service;
use fencepost_model::time::Ticks;
use fencepost_model::units::{Duration, PartsPerMillion};
use fencepost_registry::{AnyScenario, Erase, Registered, erase};

use crate::length::Length;
use crate::seeds::Seeds;
use crate::verify::verify;

/// A scenario with its promises, as a test builds it.
///
/// It begins with a service: [`consul::lock`](crate::consul::lock), [`lease::lock`](crate::lease::lock), …, or
/// [`Check::new`] with a service of your own. Two clients want the lock once, nothing fails, and delays are unbounded,
/// until the check says otherwise. Durations are in ticks, as `2`; or have a unit, as `"15s"`, after [`tick`](Check::tick): see [`Length`].
///
/// ```
/// use fencepost::{Property, lease};
///
/// // The lease ends 2 ticks after the request for it, and a client may be late by 1: the server waits 2 more.
/// lease::lock("our-printer")
///     .lease(2)
///     .grace(2)
///     .wake_delay(1)
///     .promise(Property::MutualExclusion)
///     .verify();
///
/// // One tick less is not enough.
/// lease::lock("our-printer")
///     .lease(2)
///     .grace(1)
///     .wake_delay(1)
///     .expect_violated(Property::MutualExclusion)
///     .verify();
/// ```
#[must_use = "nothing is checked before `.verify()` or `.survives(…)`"]
#[derive(Clone, Debug)]
pub struct Check<S: Service> {
    scenario: Scenario<S>,
    /// That of a service which ships with fencepost is compiled with it, and not in each test.
    erase: Erase<S>,
}

impl<S: Service> From<Scenario<S>> for Check<S> {
    fn from(scenario: Scenario<S>) -> Self {
        Check { scenario, erase: erase() }
    }
}

impl<S: Service> Check<S> {
    /// A check of this service, with the name that findings and traces have.
    pub fn new(name: &str) -> Self {
        Scenario::new(name).into()
    }

    /// The same of a service that is registered: its explorers have been compiled.
    pub fn of(service: &Registered<S>, name: &str) -> Self {
        Check { scenario: Scenario::new(name), erase: service.erase() }
    }

    /// Says which system of the service it is, where there are several; otherwise it is the first one.
    pub fn system(self, name: &str) -> Self {
        self.with(|scenario| Scenario { system: name.to_owned(), ..scenario })
    }

    /// Says how long a tick is, as `"500ms"`. From here on durations may have units, and verdicts tell of seconds. Every number of ticks that was
    /// set before is one of these ticks.
    ///
    /// ```
    /// use fencepost::{Property, lease};
    ///
    /// let printer = || lease::lock("our-printer").tick("500ms").lease("2s").wake_delay("1s").promise(Property::MutualExclusion);
    /// printer().grace("1500ms").verify();
    /// ```
    ///
    /// # Panics
    /// It is no duration, or 0.
    #[track_caller]
    pub fn tick(self, tick: &str) -> Self {
        let tick: Duration = tick.parse().unwrap_or_else(|error| panic!("{error}"));
        assert!(tick > Duration::ZERO, "a tick is longer than 0");
        self.with(|scenario| Scenario { tick: Some(tick), ..scenario })
    }

    /// How long a tick is, if that was said.
    pub(crate) fn tick_length(&self) -> Option<Duration> {
        self.scenario.tick
    }

    /// A duration in ticks of this check.
    ///
    /// # Panics
    /// It is no whole number of them.
    #[track_caller]
    pub(crate) fn ticks(&self, length: impl Into<Length>) -> Ticks {
        length.into().in_ticks_of(self.scenario.tick)
    }

    /// Sets the number of clients that want the lock.
    pub fn clients(self, clients: u16) -> Self {
        self.with(|scenario| scenario.clients(clients))
    }

    /// Sets how often each client's user asks for the lock.
    pub fn rounds(self, rounds: u8) -> Self {
        self.with(|scenario| scenario.rounds(rounds))
    }

    /// Sets how many writes a client may send per tenure.
    pub fn writes(self, writes: u8) -> Self {
        self.with(|scenario| scenario.writes(writes))
    }

    /// Bounds the delay of messages; otherwise it is unbounded.
    #[track_caller]
    pub fn message_delay(self, at_most: impl Into<Length>) -> Self {
        let at_most = self.ticks(at_most);
        self.with(|scenario| scenario.message_delay(at_most))
    }

    /// Bounds the delay of a client's own wake-ups; otherwise it is unbounded.
    #[track_caller]
    pub fn wake_delay(self, at_most: impl Into<Length>) -> Self {
        let at_most = self.ticks(at_most);
        self.with(|scenario| scenario.wake_delay(at_most))
    }

    /// The clock of each client is slower than the servers' by at most this rate, as `"200ppm"`; otherwise all clocks run alike. It becomes a
    /// skew over the longest duration of the settings, so say it after them.
    ///
    /// ```
    /// use fencepost::{Property, lease};
    ///
    /// let lock = || lease::lock("our-printer").tick("500ms").lease("2s").grace("1500ms").wake_delay("500ms");
    /// let printer = || lock().promise(Property::MutualExclusion);
    /// printer().clock_rate("200ppm").verify();
    /// let scenario = printer().clock_rate("200ppm").scenario();
    /// assert_eq!(scenario.clocks.skew.count(), 1, "less than a tick, rounded up");
    /// ```
    ///
    /// # Panics
    /// It is no rate, the check has no [`tick`](Check::tick), or there would be more slips of clocks than a budget can have.
    #[track_caller]
    pub fn clock_rate(self, at_most: &str) -> Self {
        let rate: PartsPerMillion = at_most.parse().unwrap_or_else(|error| panic!("{error}"));
        self.with(|scenario| scenario.with_clock_rate(rate).unwrap_or_else(|error| panic!("{error}")))
    }

    /// Bounds the delay of the servers' deadlines; otherwise it is unbounded.
    #[track_caller]
    pub fn server_delay(self, at_most: impl Into<Length>) -> Self {
        let at_most = self.ticks(at_most);
        self.with(|scenario| scenario.server_delay(at_most))
    }

    /// Says which writes the resource accepts.
    pub fn resource(self, accepts: Accepts) -> Self {
        self.with(|scenario| scenario.resource(accepts))
    }

    /// Allows for faults of network, processes and clocks: `.budget(|budget| budget.crashes = 1)`.
    pub fn budget(self, change: impl FnOnce(&mut Budget)) -> Self {
        self.with(|scenario| scenario.budget(change))
    }

    /// Allows for faults of the service, by the name of their budget: `.allow("clock_jumps", 1)`.
    ///
    /// # Panics
    /// The service declares no such fault; or more than 254 are allowed.
    pub fn allow(self, budget: &str, at_most: u8) -> Self {
        self.with(|scenario| scenario.allow(budget, at_most))
    }

    /// Changes the settings of the service and of its clients.
    pub fn settings(self, change: impl FnOnce(&mut S::Settings)) -> Self {
        self.with(|scenario| scenario.service(change))
    }

    /// Changes whatever else the scenario has: clocks, fairness, the network.
    pub fn with(self, change: impl FnOnce(Scenario<S>) -> Scenario<S>) -> Self {
        Check { scenario: change(self.scenario), ..self }
    }

    /// Adds a goal: a proof is vacuous unless some execution reaches it.
    pub fn goal(self, goal: Goal) -> Self {
        self.with(|scenario| scenario.goal(goal))
    }

    /// Adds a goal of your own: some execution must have a fact of which this is true.
    pub fn own_goal(self, name: &'static str, is_reached: fn(&Fact<S>) -> bool) -> Self {
        self.with(|scenario| scenario.own_goal(name, is_reached))
    }

    /// Adds a property of your own, and the promise that it holds; see [`Scenario::own_property`].
    pub fn own_property(self, name: &'static str, level: Level, check: Judge<S>) -> Self {
        self.with(|scenario| scenario.own_property(name, level, check))
    }

    /// Adds a promise that is expected to hold.
    pub fn promise(self, property: Property) -> Self {
        self.with(|scenario| scenario.promise(property))
    }

    /// Adds a promise that names a duration and is expected to hold.
    #[track_caller]
    pub fn promise_within(self, property: Property, bound: impl Into<Length>) -> Self {
        let bound = self.ticks(bound);
        self.with(|scenario| scenario.promise_within(property, bound))
    }

    /// Adds a promise that is expected to break.
    pub fn expect_violated(self, property: Property) -> Self {
        self.with(|scenario| scenario.expect_violated(property))
    }

    /// Adds a promise, whole.
    pub fn promised(self, promise: Promise) -> Self {
        self.with(|scenario| scenario.promised(promise))
    }

    /// The scenario: for [`sim`](crate::sim), [`checker`](crate::checker), and [`Seeds::run`].
    pub fn scenario(self) -> Scenario<S> {
        self.scenario
    }

    /// Explores every interleaving, and insists on the expected verdicts.
    ///
    /// # Panics
    /// A verdict is another one, or the scenario is impossible. The message says what broke, tells the story, lists the
    /// assumptions, and ends with how to replay it.
    pub fn verify(&self) {
        verify(self.as_any());
    }

    /// Simulates this number of seeds, and requires the promises that are expected to hold; [`Seeds`] says which seeds, and what
    /// the environment may change.
    ///
    /// # Panics
    /// An execution breaks a promise. The message tells the shrunk story, and ends with the line that reproduces it.
    pub fn survives(&self, seeds: u64) {
        Seeds::count(seeds).run(self.as_any());
    }

    fn as_any(&self) -> &dyn AnyScenario {
        (self.erase)(&self.scenario)
    }
}

impl<S: Programmable> Check<S> {
    /// Has every client run a recipe, written as plain async code: see [`program`](fencepost_model::program).
    pub fn programs<R: Recipe<S>>(self, recipe: R) -> Self {
        self.with(|scenario| scenario.programs(recipe))
    }

    /// Has one client run a recipe; the others are what they would be otherwise.
    pub fn program<R: Recipe<S>>(self, client: ClientId, recipe: R) -> Self {
        self.with(|scenario| scenario.program(client, recipe))
    }
}
