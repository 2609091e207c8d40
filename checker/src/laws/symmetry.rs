//! The same verdicts with a reduction and without.

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
    verdicts_agree(scenario, "with symmetry", &|symmetry| Options { symmetry, ..Options::default() })
}

/// Verdicts and shortest lengths do not depend on whether messages without a reaction are left out.
pub(super) fn verdicts_are_the_same_in_silence<P: Service>(scenario: &Scenario<P>) -> Result<(), LawViolation> {
    let options = |leaves_out_unheard| Options { leaves_out_unheard, symmetry: false, ..Options::default() };
    verdicts_agree(scenario, "where unheard messages are left out", &options)
}

/// The second of two searches says the same of each promise as the first, if that came to an end.
fn verdicts_agree<P: Service>(
    scenario: &Scenario<P>,
    how: &str,
    options: &dyn Fn(bool) -> Options,
) -> Result<(), LawViolation> {
    let limits = Limits { states: Some(STATES_MAX), depth: None };
    let by = |is_reduced| {
        let outcomes = expect(check(scenario, &Options { limits, ..options(is_reduced) }))?;
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
        require(with == without, || format!("{} is {} {how}, and {} without", with.0, with.1, without.1))?;
    }
    Ok(())
}
