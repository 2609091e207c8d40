//! A proving ground for distributed locks and semaphores.
//!
//! Build a [`Check`] in Rust and [`verify`](Check::verify) it in a test, or read a scenario from a TOML file with
//! [`catalogue::read`] and pass it to [`verify`](verify()):
//!
//! ```
//! use fencepost::consul::Sequencer;
//! use fencepost::{Accepts, Property, consul};
//!
//! consul::lock("our-ledger")
//!     .ttl(1)
//!     .lock_delay(1)
//!     .sequencer(Sequencer::ModifyIndex)
//!     .writes(1)
//!     .resource(Accepts::NotLower)
//!     .promise(Property::NoLostUpdate)
//!     .verify();
//! ```
//!
//! The crates: [`model`] says what may happen, [`sim`] takes one plausible run from a seed, [`checker`] takes every run,
//! [`reports`] tells people.

pub mod catalogue;
mod check;
mod length;
mod regression;
mod seeds;
mod services;
mod verify;

pub use fencepost_checker as checker;
pub use fencepost_model as model;
pub use fencepost_reports as reports;
pub use fencepost_sim as sim;

pub use fencepost_registry as registry;
pub use fencepost_registry::{AnyOutcome, AnyRealigned, AnyRun, AnyTrace};

pub use check::Check;
pub use length::Length;
pub use model::resource::Accepts;
pub use model::scenario::{Budget, Expect, Promise, Suite, Synchrony};
pub use model::time::Ticks;
pub use regression::regression;
pub use seeds::Seeds;
pub use services::{consul, etcd, lease, observed_lease, rabbitmq, redlock, stores};
pub use verify::{explain, rests_on, verify};

/// A service with its settings, bounds, budgets and promises; a [`Check`] builds one.
///
/// ```
/// use fencepost::sim::{Settings, simulate};
/// use fencepost::{Scenario, lease};
///
/// let scenario: Scenario<lease::Lease> = lease::lock("our-printer").clients(3).scenario();
/// let run = simulate(&scenario, &Settings { seed: 7, ..Settings::default() });
/// assert!(run.is_at_rest && run.violations.is_empty());
/// ```
#[doc(inline)]
pub use model::scenario::Scenario;

/// What a scenario promises, or is known to break.
///
/// ```
/// use fencepost::Property;
///
/// let property = Property::MutualExclusion;
/// assert_eq!(property.name(), "mutual-exclusion");
/// assert_eq!(property.about(), "at most one client is inside the critical section, by the steps that clients take");
/// ```
///
/// A property of your own looks at every step, and may count:
///
/// ```
/// use fencepost::model::fact::Fact;
/// use fencepost::{Level, lease};
///
/// lease::lock("our-printer")
///     .own_property("two-loans", Level::Record, |view, memory| {
///         memory[0] += view.facts.iter().filter(|fact| matches!(fact, Fact::Granted { fresh: true, .. })).count() as u32;
///         if memory[0] <= 2 { Ok(()) } else { Err("the lock was lent three times".to_owned()) }
///     })
///     .verify();
/// ```
#[doc(inline)]
pub use model::properties::{Level, Memory, Property, View};

/// What some execution must show, so that a proof says something.
///
/// ```
/// use fencepost::model::fact::Fact;
/// use fencepost::model::ids::Token;
/// use fencepost::{Goal, Property, lease};
///
/// // A single client is never refused: the goal is not reached, and a proof would be vacuous.
/// let alone = lease::lock("alone").clients(1).promise(Property::MutualExclusion);
/// alone.verify();
/// assert!(std::panic::catch_unwind(|| alone.goal(Goal::CONTENDED).verify()).is_err());
///
/// // A goal of your own: some client enters a second time.
/// lease::lock("twice")
///     .clients(1)
///     .rounds(2)
///     .own_goal("a-second-loan", |fact| matches!(fact, Fact::Entered { token, .. } if *token == Token::numbered(2)))
///     .promise(Property::MutualExclusion)
///     .verify();
/// ```
#[doc(inline)]
pub use model::scenario::Goal;

/// A scheduler of your own picks the actions of an execution.
///
/// ```
/// use fencepost::model::world::{Action, World};
/// use fencepost::sim::{Settings, offers, simulate_with};
/// use fencepost::{Property, Scenario, Scheduler, lease};
///
/// /// Messages first, then users, then time; of several the last one.
/// #[derive(Default)]
/// struct Eager {
///     offers: Vec<Action<lease::Lease>>,
/// }
///
/// impl Scheduler<lease::Lease> for Eager {
///     fn name(&self) -> &str {
///         "eager"
///     }
///
///     fn pick(&mut self, scenario: &Scenario<lease::Lease>, world: &World<lease::Lease>) -> Option<Action<lease::Lease>> {
///         offers(scenario, world, false, &mut self.offers);
///         self.offers.iter().copied().max_by_key(|action| match action {
///             Action::Deliver(_) => 2,
///             Action::Command { .. } => 1,
///             _ => 0,
///         })
///     }
/// }
///
/// let printer = lease::lock("our-printer").grace(2).promise(Property::MutualExclusion).scenario();
/// let settings = Settings { refinement: 1, ..Settings::default() };
/// let run = simulate_with(&printer, &settings, Eager::default()).expect("it picks what is enabled");
/// assert_eq!(run.trace.header.origin, "simulator, eager");
/// assert!(run.violations.is_empty());
/// ```
#[doc(inline)]
pub use sim::Scheduler;

/// Scenarios of every service in one list.
///
/// ```
/// use fencepost::sim::Settings;
/// use fencepost::{AnyScenario, catalogue};
///
/// let lease = catalogue::named("lease-just-enough").expect("it is there");
/// assert_eq!(lease.system(), "lease");
/// assert!(lease.simulate(&Settings::default()).violations.is_empty());
///
/// let all: Vec<Box<dyn AnyScenario>> = catalogue::all();
/// assert!(all.iter().any(|scenario| scenario.name() == lease.name()));
/// ```
#[doc(inline)]
pub use registry::AnyScenario;

/// Services with what they ship with, in one list.
///
/// ```
/// use fencepost::Catalogue;
/// use fencepost::lease::{Lease, SCENARIOS};
/// use fencepost::registry::Registered;
///
/// // A service of your own goes into such a list like those that ship with fencepost.
/// static LEASE: Registered<Lease> = Registered::new(SCENARIOS);
/// static CATALOGUE: Catalogue = Catalogue(&[|| &LEASE]);
/// assert!(CATALOGUE.all().iter().all(|scenario| scenario.system() == "lease"));
/// ```
#[doc(inline)]
pub use registry::Catalogue;
