//! Scenarios, traces and services of any kind behind object-safe traits.
//!
//! ```text
//! scenario   dyn AnyScenario: describe, check, simulate, hunt, vary, browse
//! trace      dyn AnyTrace: replay, shrink, realign, script, check what follows
//! service    dyn AnyService: what a service ships with, and how its files are read
//! catalogue  a list of services: the scenarios of all of them, and who reads which file
//! random     random valid scenarios, for laws that must not know the catalogue only
//! ```
//!
//! A service is compiled for its traits once, in a package of its own: code that uses them through these traits compiles
//! none of it anew.

mod catalogue;
pub mod random;
mod scenario;
mod service;
mod shorten;
mod trace;

pub use catalogue::Catalogue;
pub use scenario::{AnyOutcome, AnyRun, AnyScenario, Description};
pub use service::{AnyService, Erase, Registered, erase};
pub use trace::{AnyRealigned, AnyTrace};
