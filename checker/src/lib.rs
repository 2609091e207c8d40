//! Every run: exhaustive exploration of a scenario, with verdicts that can be trusted.
//!
//! ```text
//! check       a scenario's promises → findings: which runs are needed, and what they mean
//! limits      what may cut a search; the supervisor who says so
//! mutants     faults built into the model on purpose, and which promise notices
//! stateright  the scenario as a stateright model, and the path of a violation as a trace
//! ```
//!
//! `Proven` is said only of a space that was searched to its end, and only if the promise was put to the test.
//! Every counterexample is rebuilt and re-validated in the concrete world before anybody sees it.

mod check;
mod limits;
pub mod mutants;
mod stateright;

pub use check::{InternalError, Options, Outcome, check, check_any};
pub use stateright::{browse, browse_any};

pub use limits::{Limits, Progress, Supervisor, Unsupervised};
