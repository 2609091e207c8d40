//! A stand-in for a Consul agent: a socket in front of the model that [`fencepost_conform`] holds against real agents. Programs in any
//! language talk to it as they talk to Consul; the test that runs them has its clock, its faults and its verdict in hand.
//!
//! ```text
//! settings   what it is started with          clock       how its time passes
//! stand_in   requests, answers, deadlines     endpoints   what clients ask that is no part of the model
//! faults     which request goes wrong, how    control     what a test asks under /fencepost/
//! judge      what broke, and how it came      record      the run, as `fencepost conform --recorded` reads it
//! torture    a test, with every fault at every request
//! http       sockets                          configuration   a Consul agent's file
//! ```
//!
//! Everything but `http` and `clock` is a function of what it is given: the same requests at the same instants get the same answers.
//!
//! ```
//! use fencepost_serve::{Clock, Settings, Server};
//!
//! let settings = Settings { clock: Clock::Manual, ..Settings::default() };
//! let server = Server::start(settings, "127.0.0.1:0").expect("a free port");
//! let agent = fencepost_conform::Consul::connect(&format!("http://{}", server.address())).expect("it answers");
//! assert_eq!(agent.version, "1.8.7");
//! assert_eq!(server.stop().verdict.name(), "vacuous", "no client was ever inside");
//! ```

mod clock;
mod configuration;
mod control;
mod endpoints;
mod faults;
mod http;
mod judge;
mod record;
mod settings;
mod stand_in;
pub mod torture;

pub use clock::Clock;
pub use configuration::Configured;
pub use faults::{Fault, FaultPlan, PlanError, Rule, ServerEvent};
pub use http::{Addresses, Server, StandInRun};
pub use judge::{Finding, Misuse, Verdict};
pub use settings::{Settings, Timers};
pub use stand_in::{Answer, Fingerprint, Incoming, RequestOutcome, Seen, StandIn, Ticket};
