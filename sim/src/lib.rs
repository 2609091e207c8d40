//! One plausible run: a scenario simulated from a seed.
//!
//! ```text
//! run        seed → scheduler → actions → digest, violations, trace
//! calm       after the storm: who still waits
//! hunt       the smallest seed whose run breaks a promise
//! coverage   what seeds have shown, and how likely the next one is to show something new
//! measure    what a run costs and what it gives
//! splitting  how likely what is rare is, from snapshots of worlds
//! scheduler  picks the next action: uniform, realistic, priorities
//! swarm      which misfortunes a seed plays with, and at which rates
//! random     the only source of chance: ChaCha8, one stream per concern
//! detector   gossip as a real protocol: SWIM with Lifeguard, which drives the checks of nodes
//! profile    how long things take, as tables of quantiles; shape: as people write them
//! ```
//!
//! The model says what may happen; a scheduler picks one thing at a time. Same scenario, settings and seed: the same
//! bytes on any machine. A slow link or a stopped process is nothing but a scheduler that does not pick its actions.

mod calm;
mod coverage;
mod detector;
mod hunt;
mod measure;
mod profile;
mod random;
mod run;
mod scheduler;
mod shape;
mod splitting;
mod swarm;

pub use coverage::Coverage;
pub use detector::{Cuts, Gossip, Outcome, Trial, trial};
pub use hunt::{Hunt, Hunted, hunt_any};
pub use profile::{Curve, NoCurve, Peer, Profile, SlowLink, Way};
pub use run::{Gist, Run, Settings, Violation, Walk, gist, gist_any, prepare, simulate, simulate_any, walk};
pub use scheduler::SchedulerKind;
pub use splitting::split_any;
pub use swarm::Swarm;
