//! A certificate: a file from which another program can check that the promises of a scenario hold, without the search that found it.
//!
//! ```text
//! closed_set  every world that can be reached, complete and not as a fingerprint, with all transitions between them
//! parts       worlds are written in parts, each once
//! lines       the lines of the file
//! components  why no fair execution is endless while a promise about endless executions stays open
//! ```
//!
//! The file contains a set of worlds with their monitors, and for each action that is enabled in one of them the world that stands for its
//! successor, with a witness: by how much instants are moved back, which numbers change, and which interchangeable clients change places,
//! unless a promise is about endless executions. Nothing else of the checker is used: no partial order, no message is left out, no transition
//! is looked up, and no world is told from another by a hash. So the set is larger than what a search counts. `fencepost-audit` reads
//! the file; it knows the kernel and the services, and not this crate.

mod closed_set;
mod components;
mod lines;
mod parts;

use std::io;

use fencepost_model::finding::{Finding, Property, Verdict};
use fencepost_model::scenario::{Expect, Promise, Scenario};
use fencepost_model::service::Service;
use thiserror::Error;

use self::closed_set::ClosedSet;
use self::components::Fairly;
use crate::options::Options;
use crate::outcome::InternalError;

/// The size of a certificate.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct CertificateSize {
    /// The worlds.
    pub members: u64,
    /// The transitions, those that change nothing included.
    pub transitions: u64,
}

/// Why no certificate was written.
#[derive(Debug, Error)]
pub enum CertificateError {
    /// A promise that is expected to hold is not proven; the verdict.
    #[error("a certificate is about promises that hold, and `{0}` is {1}")]
    NotProven(Property, &'static str),
    /// No promise is proven.
    #[error("a certificate is about promises that hold, and none is proven")]
    NothingProven,
    /// A property or a goal of the scenario is a function in Rust.
    #[error(
        "a certificate contains its scenario as a file, and a file cannot contain a property that is defined in Rust"
    )]
    DefinedInRust,
    /// The scenario has a deliberate fault.
    #[error("a certificate is about the model as it is, and the scenario has a `mutation`")]
    Mutated,
    /// A limit stopped it.
    #[error("it does not have all worlds: stopped by {0}")]
    Cut(String),
    /// The file cannot be written.
    #[error("the certificate cannot be written: {0}")]
    Unwritable(#[from] io::Error),
    /// The search said that a promise holds, and the closed set contains a violation of it.
    #[error("internal error: `{0}` is proven, and the closed set of worlds contains a violation of it")]
    Contradiction(Property),
    /// An internal error of the checker or of the model.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

/// Writes a certificate for the promises of a scenario that these findings call proven.
///
/// It takes one thread, and memory for each world of the closed set: about a hundred bytes, and eight for each transition if a promise is
/// about endless executions.
///
/// # Errors
/// A promise that is expected to hold is not proven, or one of the other reasons of [`CertificateError`]. What has been written is no
/// certificate then.
pub fn certify<P: Service>(
    scenario: &Scenario<P>,
    findings: &[Finding],
    options: &Options,
    out: &mut dyn io::Write,
) -> Result<CertificateSize, CertificateError> {
    let is_proven = |finding: &&Finding| matches!(finding.verdict, Verdict::Proven(_));
    let missing = findings.iter().find(|finding| finding.expect == Expect::Proven && !is_proven(finding));
    if let Some(finding) = missing {
        return Err(CertificateError::NotProven(finding.property, finding.verdict.word()));
    }
    if scenario.mutation.is_some() {
        return Err(CertificateError::Mutated);
    }
    if scenario.has_own_promises() {
        return Err(CertificateError::DefinedInRust);
    }
    let proven: Vec<Property> = findings.iter().filter(is_proven).map(|finding| finding.property).collect();
    let certified = |promise: &Promise| proven.contains(&promise.property);
    let judged = Scenario { own_goals: Vec::new(), ..scenario.judging(certified) };
    if judged.promises.is_empty() {
        return Err(CertificateError::NothingProven);
    }
    let is_endless = |promise: &Promise| promise.property.is_about_endless_runs(promise.bound);
    let endless: Vec<Property> =
        judged.promises.iter().copied().filter(is_endless).map(|promise| promise.property).collect();
    let fairly = (!endless.is_empty()).then(|| Fairly::new(&judged));
    let mut set = ClosedSet::new(&judged, fairly, out)?;
    set.explore(options)?;
    set.finish(&endless)
}
