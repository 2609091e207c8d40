//! The law of searches in several processes, which are threads here, with a space each.

use std::sync::Arc;

use fencepost_model::finding::Finding;
use fencepost_model::scenario::{Promise, Scenario};
use fencepost_model::service::Service;

use super::store::{interruption, is_interrupted};
use super::{LawViolation, expect, require};
use crate::check::check;
use crate::engine::cluster::pipes::in_processes;
use crate::engine::disk::memory::MemoryFolder;
use crate::engine::{Peers, SearchStore};
use crate::limits::Limits;
use crate::options::Options;
use crate::outcome::{CheckOutcome, InternalError};

/// Scenarios with more states than this take too long here.
const STATES_MAX: u64 = 3_000;

/// Several processes have the verdicts, counts and counterexamples of one, also if they are interrupted and go on from their checkpoints.
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
        come_to(&alone, searched, "in several processes")?;
    }
    let folders = [MemoryFolder::default(), MemoryFolder::default()];
    // Each part of the search takes longer than the one before, so that the level that takes longest is completed.
    for after in 1.. {
        let search = |peers: Arc<dyn Peers>| {
            let store = SearchStore::of(Arc::new(folders[peers.process()].clone()), "a law".to_owned(), 0);
            let (supervisor, peers, store) = (interruption(after), Some(peers), Some(store));
            check(&scenario, &Options { limits, workers: 1, supervisor, peers, store, ..Options::default() })
        };
        let searched = in_processes(folders.len(), search).map_err(|error| LawViolation(error.to_string()))?;
        let is_cut = |outcome: &CheckOutcome<P>| is_interrupted(&outcome.finding);
        if !searched.iter().flatten().flatten().any(is_cut) {
            return come_to(&alone, searched, "from checkpoints");
        }
    }
    Ok(())
}

/// Whether each process came to the same as one alone.
fn come_to<P: Service>(
    alone: &[CheckOutcome<P>],
    searched: Vec<Result<Vec<CheckOutcome<P>>, InternalError>>,
    how: &str,
) -> Result<(), LawViolation> {
    for (process, outcomes) in searched.into_iter().enumerate() {
        let outcomes = expect(outcomes)?;
        for (one, other) in alone.iter().zip(&outcomes) {
            require(one == other, || {
                let counts = |finding: &Finding| {
                    let Finding { verdict, states, transitions, .. } = finding;
                    format!("{} with {states} states and {transitions} transitions", verdict.word())
                };
                let (one, other) = (&one.finding, &other.finding);
                format!("{} is {} alone, and {} in process {process} {how}", one.property, counts(one), counts(other))
            })?;
        }
    }
    Ok(())
}
