//! The law of searches in several processes, which are threads here, with a space each.

use fencepost_model::scenario::{Promise, Scenario};
use fencepost_model::service::Service;

use super::{LawViolation, expect, require};
use crate::check::check;
use crate::engine::cluster::pipes::in_processes;
use crate::limits::Limits;
use crate::options::Options;

/// Scenarios with more states than this take too long here.
const STATES_MAX: u64 = 3_000;

/// Several processes have the verdicts, counts and counterexamples of one.
pub(super) fn processes_come_to_the_same<P: Service>(scenario: &Scenario<P>) -> Result<(), LawViolation> {
    let is_stepwise = |promise: &Promise| !promise.property.is_about_endless_runs(promise.bound);
    let scenario = scenario.judging(is_stepwise);
    if scenario.has_own_promises() || scenario.promises.is_empty() {
        return Ok(());
    }
    let limits = Limits { states: Some(STATES_MAX), depth: None };
    let alone = expect(check(&scenario, &Options { limits, ..Options::default() }))?;
    for (processes, workers) in [(2, 1), (3, 2)] {
        let search = |peers| check(&scenario, &Options { limits, workers, peers: Some(peers), ..Options::default() });
        let searched = in_processes(processes, search).map_err(|error| LawViolation(error.to_string()))?;
        for (process, outcomes) in searched.into_iter().enumerate() {
            let outcomes = expect(outcomes)?;
            for (one, other) in alone.iter().zip(&outcomes) {
                require(one == other, || {
                    let (one, other) = (&one.finding, &other.finding);
                    format!(
                        "{} is {} with {} states in one process, and {} with {} states in process {process} of {processes}",
                        one.property,
                        one.verdict.word(),
                        one.states,
                        other.verdict.word(),
                        other.states,
                    )
                })?;
            }
        }
    }
    Ok(())
}
