//! Are these settings safe, and what should change? Settings of a Consul lock in seconds go in; for each promise comes out whether
//! it is kept, how much room there is, and what repairs it.
//!
//! ```text
//! configuration   files and flags as they are in the field, read as questions
//! question  the settings, and the bounds that their user counts on
//! promise   what is judged, and the exact scenario, in microseconds
//! coarse    small scenarios, as keys of a few whole numbers
//! wider     scenarios whose proofs are proofs for the question, with the reasons
//! narrower  scenarios in which counterexamples are sought
//! pace      when its steps happen in exact durations
//! retime    a counterexample in exact durations, accepted step by step
//! judge     the verdict: a proof, an execution, or neither
//! quantity  the numbers of a question
//! slack     where the verdict changes, by bisection
//! repair    changes that make a promise hold
//! pairs     those of two settings
//! written   small scenarios as files, for `fencepost check`
//! answer    all of it
//! ```
//!
//! Formulas choose ticks here and nothing else: each verdict is a proof of the checker or an execution that the model accepts.

mod answer;
mod coarse;
pub mod configuration;
mod judge;
mod narrower;
mod pace;
mod pairs;
mod promise;
mod quantity;
mod question;
mod repair;
mod retime;
mod slack;
mod wider;
mod written;

pub use answer::{Answer, assumptions};
pub use coarse::{Coarse, Ends, Keeping, Lease, Told};
pub use judge::{Doctor, Execution, Proof, Verdict};
pub use promise::Promise;
pub use quantity::{Direction, Quantity, QuantityValue};
pub use question::{FINEST, LOCK_DELAY_MAX, LockBelief, Question, QuestionError, RECIPES, TTL_MAX, TTL_MIN};
pub use repair::{Change, Price, Repair};
pub use slack::Boundary;
pub use wider::InTicks;
