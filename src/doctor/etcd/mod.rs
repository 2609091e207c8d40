//! Settings of a session of etcd's Go client, with the mutex or the election on it.
//!
//! ```text
//! question  the settings, and the bounds that their user counts on
//! asked     what the doctor has to know of them
//! small     small scenarios, and the exact one
//! sizes     those whose proofs are proofs for the question, with the reasons, and those in which counterexamples are sought
//! ```

mod asked;
mod question;
mod sizes;
mod small;

pub use question::{RECIPES, SessionQuestion, SessionStop, TTL_LEAST};
pub use small::{SessionScenario, SmallStop};
