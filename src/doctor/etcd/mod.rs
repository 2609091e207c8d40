//! Settings of a session of etcd's Go client, with the mutex or the election on it.
//!
//! ```text
//! question  the settings, and the bounds that their user counts on
//! asked     what the doctor has to know of them
//! assumptions  what they cost, and what verdicts rest on
//! small     small scenarios, and the exact one
//! keeping   whether a session is kept
//! configuration  command lines of etcdctl, and scenario files
//! sizes     those whose proofs are proofs for the question, with the reasons, and those in which counterexamples are sought
//! ```

mod asked;
mod assumptions;
pub mod configuration;
mod keeping;
mod question;
mod sizes;
mod small;

pub use keeping::KeptSession;
pub use question::{RECIPES, SessionQuestion, SessionStop, TTL_LEAST};
pub use small::{SessionScenario, SmallSession, SmallStop};
