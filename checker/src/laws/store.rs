//! The law of searches on disk. The store is in memory, so the law opens no file.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fencepost_model::finding::Finding;
use fencepost_model::scenario::{Promise, Scenario};
use fencepost_model::service::Service;

use super::{LawViolation, expect, require};
use crate::check::check;
use crate::engine::SearchStore;
use crate::engine::disk::memory::MemoryFolder;
use crate::limits::{Limits, Progress, Supervisor};
use crate::options::Options;

/// Scenarios with more states than this take too long here.
const STATES_MAX: u64 = 3_000;

/// The size of the buffers, in bytes: for scenarios of this size there are several runs.
const ROOM: usize = 8 << 10;

/// Stops searches when they have asked often enough.
struct Interruption {
    after: u64,
    questions: AtomicU64,
}

/// One that stops them after this number of questions.
pub(super) fn interruption(after: u64) -> Arc<dyn Supervisor> {
    Arc::new(Interruption { after, questions: AtomicU64::new(0) })
}

/// The reason.
const INTERRUPTED: &str = "an interruption";

/// Whether a search was stopped so.
pub(super) fn is_interrupted(finding: &Finding) -> bool {
    format!("{:?}", finding.verdict).contains(INTERRUPTED)
}

impl Supervisor for Interruption {
    fn stop(&self, _: &Progress) -> Option<String> {
        (self.questions.fetch_add(1, Relaxed) >= self.after).then(|| INTERRUPTED.to_owned())
    }

    fn microseconds(&self) -> u64 {
        0
    }
}

/// A search on disk, which is interrupted every few levels and resumed, has the verdicts, counts and counterexamples of a search in memory.
pub(super) fn stores_come_to_the_same<P: Service>(scenario: &Scenario<P>) -> Result<(), LawViolation> {
    let is_stepwise = |promise: &Promise| !promise.property.is_about_endless_runs(promise.bound);
    let scenario = scenario.judging(is_stepwise);
    if scenario.has_own_promises() || scenario.promises.is_empty() {
        return Ok(());
    }
    let limits = Limits { states: Some(STATES_MAX), depth: None };
    let in_memory = expect(check(&scenario, &Options { limits, ..Options::default() }))?;
    let store = SearchStore::of(Arc::new(MemoryFolder::default()), "a law".to_owned(), ROOM);
    // Each part of the search takes longer than the one before, so that the level that takes longest is completed.
    for after in 1.. {
        let supervisor = interruption(after);
        let workers = if after % 2 == 0 { 2 } else { 1 };
        let options = Options { limits, supervisor, workers, store: Some(store.clone()), ..Options::default() };
        let on_disk = expect(check(&scenario, &options))?;
        if on_disk.iter().any(|outcome| is_interrupted(&outcome.finding)) {
            continue;
        }
        for (one, other) in in_memory.iter().zip(&on_disk) {
            require(one == other, || {
                let counts = |finding: &Finding| {
                    format!(
                        "{} with {} states and {} transitions",
                        finding.verdict.word(),
                        finding.states,
                        finding.transitions
                    )
                };
                let (one, other) = (&one.finding, &other.finding);
                format!("{} is {} in memory, and {} on disk", one.property, counts(one), counts(other))
            })?;
        }
        return Ok(());
    }
    Ok(())
}
