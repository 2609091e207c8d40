//! The same verdicts with symmetry and without.

use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;

use super::{LawViolation, expect, require};
use crate::check::check;
use crate::limits::Limits;
use crate::options::Options;

/// Larger scenarios take too long here.
const STATES_MAX: u64 = 6_000;

/// Verdicts and shortest lengths do not depend on whether interchangeable clients count as one.
pub(super) fn verdicts_are_the_same<P: Service>(scenario: &Scenario<P>) -> Result<(), LawViolation> {
    let limits = Limits { states: Some(STATES_MAX), depth: None };
    let by = |symmetry| {
        let options = Options { limits, symmetry, ..Options::default() };
        let outcomes = expect(check(scenario, &options))?;
        let essence = outcomes.into_iter().map(|outcome| {
            let verdict = outcome.finding.verdict;
            (outcome.finding.property, verdict.word(), verdict.story().map(|story| story.steps.len()))
        });
        Ok(essence.collect::<Vec<_>>())
    };
    for (with, without) in by(true)?.into_iter().zip(by(false)?) {
        if without.1 == "bounded" {
            continue;
        }
        require(with == without, || format!("{} is {} with symmetry, and {} without", with.0, with.1, without.1))?;
    }
    Ok(())
}
