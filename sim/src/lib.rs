//! One plausible run: a scenario simulated from a seed.
//!
//! ```text
//! settings   the seed, the scheduler, the clock, how long storm and calm last
//! run        seed → scheduler → actions → digest, violations, trace
//! walk       a run as it is taken
//! calm       after the storm: who still waits
//! hunt       the smallest seed whose run breaks a promise
//! coverage   what seeds have shown, and how likely the next one is to show something new
//! measure    what a run costs and what it gives
//! splitting  how likely what is rare is, from snapshots of worlds
//! scheduler  picks the next action: uniform, realistic, priorities, or one of your own
//! swarm      which kinds of faults a seed uses, and at which rates
//! random     the only source of chance: ChaCha8, one stream per concern
//! detector   detector as a real protocol: SWIM with Lifeguard, which drives the checks of nodes
//! profile    how long things take
//! curve      distributions as tables of quantiles; shape: as people write them
//! ```
//!
//! The model says what may happen; a scheduler picks one thing at a time. Same scenario, settings and seed: the same
//! bytes on any machine. A slow link or a stopped process is nothing but a scheduler that does not pick its actions.

mod calm;
mod coverage;
mod curve;
mod detector;
mod hunt;
mod measure;
mod profile;
mod random;
mod run;
mod scheduler;
mod settings;
mod splitting;
mod swarm;
mod walk;

pub use coverage::Coverage;
pub use curve::{Curve, CurveError};
pub use detector::{Cuts, DetectorSettings, Trial, TrialOutcome, trial};
pub use hunt::{Hunt, Hunted, hunt};
pub use profile::{Peer, Profile, SlowLink, Way};
pub use run::{Run, RunSummary, prepare, ready, simulate, simulate_with, summarize, walk};
pub use scheduler::{Pick, Scheduler, SchedulerError, SchedulerKind, offers};
pub use settings::Settings;
pub use splitting::split;
pub use swarm::Swarm;
pub use walk::{Violation, Walk};
