//! Stand-ins for servers: a socket in front of a model. One is a Consul agent, by the model that [`fencepost_conform`] holds against real
//! agents; another is the part of a Kubernetes API server that leader election uses, the third an etcd server behind its JSON gateway. Programs in any language talk to them as they talk to
//! the real ones; the test that runs them has the clock, the faults and the verdict in hand.
//!
//! ```text
//! settings   what it is started with          clock       how its time passes
//! stand_in   requests, answers, deadlines     control     what a test asks under /fencepost/
//! faults     which request goes wrong, how    judge       what broke, and how it came
//! http       sockets                          torture     a test, with every fault at every request
//!
//! consul     a Consul agent                   leases      the part of a Kubernetes API server that leader election uses
//! etcd       an etcd server behind its JSON gateway
//! endpoints  what clients ask of the agent that is no part of the model
//! configuration   a Consul agent's file
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
mod consul;
mod control;
mod endpoints;
mod etcd;
mod faults;
mod http;
mod judge;
mod leases;
mod settings;
mod stand_in;
pub mod torture;

pub use clock::Clock;
pub use configuration::Configured;
pub use etcd::EtcdBackend;
pub use faults::{Fault, FaultPlan, PlanError, Rule, ServerEvent};
/// The versions of etcd as which a stand-in may answer.
pub use fencepost_etcd::mvcc::EtcdVersion;
pub use http::{Addresses, Server, StandInRun};
pub use judge::{Finding, LeaseRun, LeaseTakeover, LeaseTenure, Misuse, Verdict};
pub use leases::LeaseBackend;
pub use settings::{Settings, Timers};
pub use stand_in::{Answer, Fingerprint, Incoming, RequestOutcome, Seen, StandIn, Ticket};
