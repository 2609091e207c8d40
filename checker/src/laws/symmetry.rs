//! The same verdicts with a reduction and without.

use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;

use super::{LawViolation, expect, require};
use crate::check::check;
use crate::limits::Limits;
use crate::options::Options;
use crate::reduction::PartialOrder;

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

/// Verdicts and shortest lengths do not depend on whether covered worlds are left out; also together with symmetry and partial orders.
pub(super) fn verdicts_are_the_same_without_covered_worlds<P: Service>(
    scenario: &Scenario<P>,
) -> Result<(), LawViolation> {
    for together in [false, true] {
        let options = |subsumption| {
            let is_with = subsumption && together;
            Options { subsumption, symmetry: is_with, partial_order: is_with, ..Options::default() }
        };
        verdicts_agree(scenario, "where covered worlds are left out", &options)?;
    }
    Ok(())
}

/// Verdicts do not depend on whether actions wait where they may; with partial orders and symmetry together.
pub(super) fn verdicts_are_the_same_in_partial_order<P: Service>(scenario: &Scenario<P>) -> Result<(), LawViolation> {
    let options = |partial_order| Options { partial_order, symmetry: partial_order, ..Options::default() };
    verdicts_agree(scenario, "with partial orders", &options)?;
    scenario.promises.iter().try_for_each(|promise| lengths_are_told(scenario, promise.property))
}

/// Where no shorter counterexample could be looked for, a counterexample says so.
fn lengths_are_told<P: Service>(scenario: &Scenario<P>, property: Property) -> Result<(), LawViolation> {
    let order = PartialOrder::of(&scenario.judging(|promise| promise.property == property));
    let limits = Limits { states: Some(STATES_MAX), depth: None };
    let only = Some(property);
    let unsought = Options { only, limits, partial_order: true, states_for_shortest: Some(1), ..Options::default() };
    let finding = expect(check(scenario, &unsought))?.remove(0).finding;
    let Some(story) = finding.verdict.story().filter(|story| story.repeats_from.is_none()) else { return Ok(()) };
    require(order.is_none() || story.is_not_known_shortest || story.steps.len() < 3, || {
        format!("{property}: a counterexample of {} steps is called a shortest one", story.steps.len())
    })
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
