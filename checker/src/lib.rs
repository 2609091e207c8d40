//! Every run: exhaustive exploration of a scenario, with verdicts that can be trusted.
//!
//! ```text
//! around      everything that can follow a moment of a recorded run
//! certificate a file by which another program can check a proof
//! check       a scenario's promises → findings: which explorations are needed
//! engine      our own search, level by level, on any number of threads
//! explain     a path of normal forms as a run of the concrete world
//! laws        what is true of every scenario and of every search, under names
//! limits      what may cut a search; the supervisor who says so
//! liveness    liveness properties: fair cycles of the state graph
//! mutants     faults built into the sources on purpose, and what notices them
//! options     how to check
//! outcome     what an exploration found, and what that means for a promise
//! reduction   which worlds count as one, and transitions that are looked up: normal form, symmetry, component tables
//! stateright  the scenario as a stateright model: the other search, and its Explorer
//! worlds      the scenario as a space for our own search
//! ```
//!
//! Without the feature `stateright`, which is on by default, there are neither the other search nor laws and mutants, which compare both.
//!
//! `Proven` is reported only for a space that was explored exhaustively, and only if the property was exercised.
//! Every counterexample is rebuilt and re-validated in the concrete world before it is reported.

mod around;
mod certificate;
mod check;
pub mod engine;
mod explain;
#[cfg(feature = "stateright")]
pub mod laws;
mod limits;
mod liveness;
#[cfg(feature = "stateright")]
pub mod mutants;
mod options;
mod outcome;
mod reduction;
#[cfg(feature = "stateright")]
mod stateright;
mod worlds;

pub use around::check_around;
pub use certificate::{CertificateError, CertificateSize, certify};
pub use check::check;
pub use engine::{Peers, SearchStore, StoreError};
pub use limits::{Limits, Progress, Supervisor, Unsupervised};
pub use options::{Engine, Options};
pub use outcome::{CheckOutcome, InternalError};
#[cfg(feature = "stateright")]
pub use stateright::{Searchable, browse};
