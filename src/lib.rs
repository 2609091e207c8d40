//! A proving ground for distributed locks and semaphores.
//!
//! Build a [`Scenario`] in Rust or read one from a TOML file, and [`Verify::verify`] it in a test:
//!
//! ```
//! use fencepost::consul::{Belief, Consul, Sequencer};
//! use fencepost::{Accepts, Property, Scenario, Ticks, Verify};
//!
//! Scenario::<Consul>::new("our-ledger")
//!     .rounds(1, 1)
//!     .service(|lock| {
//!         lock.ttl = Some(Ticks::new(1));
//!         lock.lock_delay = Ticks::new(1);
//!         lock.sequencer = Sequencer::ModifyIndex;
//!     })
//!     .resource(Accepts::NotLower)
//!     .promise(Property::NoLostUpdate)
//!     .verify();
//! ```
//!
//! The rooms: [`model`] says what may happen, [`sim`] takes one plausible run from a seed, [`checker`] takes every run,
//! [`reports`] tells people.

pub mod catalogue;
mod regression;
mod seeds;
mod verify;

pub use fencepost_checker as checker;
pub use fencepost_consul as consul;
pub use fencepost_lease as lease;
pub use fencepost_model as model;
pub use fencepost_rabbitmq as rabbitmq;
pub use fencepost_redlock as redlock;
pub use fencepost_reports as reports;
pub use fencepost_sim as sim;
pub use fencepost_stores as stores;

pub use fencepost_registry as registry;
pub use fencepost_registry::{AnyOutcome, AnyRealigned, AnyRun, AnyScenario, AnyTrace};
pub use model::properties::Property;
pub use model::resource::Accepts;
pub use model::scenario::{Budget, Expect, Goal, Promise, Scenario, Suite, Synchrony};
pub use model::time::Ticks;
pub use regression::regression;
pub use seeds::Seeds;
pub use verify::{Verify, explain, rests_on};
