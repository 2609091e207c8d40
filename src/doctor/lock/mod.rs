//! Settings of a lock in Consul, or of its semaphore.
//!
//! ```text
//! question       the settings, and the bounds that their user counts on
//! configuration  files and flags as they are in the field, read as questions
//! asked          what the doctor has to know of them
//! promise        the exact scenario, in microseconds, with what it promises
//! coarse         small scenarios
//! wider          those whose proofs are proofs for the question, with the reasons
//! narrower       those in which counterexamples are sought
//! paces          when the steps of these happen in exact durations
//! messages       which messages are alike
//! written        small scenarios as files, for `fencepost check`
//! price          what settings cost
//! assumptions    what verdicts rest on
//! ```

mod asked;
mod assumptions;
mod coarse;
pub mod configuration;
mod messages;
mod narrower;
mod paces;
mod price;
mod promise;
mod question;
mod wider;
mod written;

pub use coarse::{Ends, Keeping, Lease, LockScenario, Told};
pub use question::{LOCK_DELAY_MAX, LockBelief, LockQuestion, RECIPES, TTL_MAX, TTL_MIN};
