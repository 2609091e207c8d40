//! Settings of a leader election by an observed lease: client-go and what is built on it.
//!
//! ```text
//! question     the settings, and the bounds that their user counts on
//! configuration  flags and files as they are in the field, read as questions
//! asked        what the doctor has to know of them
//! small        small scenarios, and the exact one
//! wider        those whose proofs are proofs for the question, with the reasons
//! narrower     those in which counterexamples are sought, and those of files
//! schedule     an execution in exact durations that breaks mutual exclusion
//! price        what settings cost
//! assumptions  what verdicts rest on
//! ```

mod asked;
mod assumptions;
pub mod configuration;
mod narrower;
mod price;
mod question;
mod schedule;
mod small;
mod wider;

pub use question::{ElectionQuestion, RECIPES};
pub use small::{CutOff, ElectionScenario, Healthy, Others, Terms};
