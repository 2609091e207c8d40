//! Counterexamples of one candidate, tried on others: where the same steps still violate a promise, no search is needed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost::model::trace::{Trace, realign};
use fencepost::{AnyScenario, AnyTrace, Promise, Property, with_trace};

/// At most this number is kept: those that have refuted most candidates.
const KEPT_MAX: usize = 6;

/// At most this number is added to them, to be tried on the next candidates.
const NEW_MAX: usize = 4;

/// Executions that violate a promise, the most useful first.
#[derive(Default)]
pub struct Counterexamples {
    all: Vec<Counterexample>,
}

/// An execution, and the number of candidates in which it violates a promise.
struct Counterexample {
    trace: Box<dyn AnyTrace>,
    refuted: usize,
}

/// A promise that an execution violates in a candidate.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Refuted {
    /// The place of the counterexample.
    pub by: usize,
    /// The place of the promise.
    pub promise: usize,
    /// The number of steps of the execution.
    pub steps: usize,
}

impl Counterexamples {
    /// Adds one, if there is room, and none like it.
    pub fn add(&mut self, trace: Box<dyn AnyTrace>) {
        let has_room = self.all.len() < KEPT_MAX + NEW_MAX;
        if has_room && !self.all.iter().any(|known| known.trace.script() == trace.script()) {
            self.all.push(Counterexample { trace, refuted: 0 });
        }
    }

    /// Counts candidates that were refuted.
    pub fn count(&mut self, refuted: impl Iterator<Item = Refuted>) {
        refuted.for_each(|refuted| self.all[refuted.by].refuted += 1);
    }

    /// Sorts them by their use, and keeps the best.
    pub fn settle(&mut self) {
        self.all.sort_by_key(|one| usize::MAX - one.refuted);
        self.all.truncate(KEPT_MAX);
    }

    /// A counterexample that violates one of the promises in the candidate, too: each of its steps is possible there.
    pub fn refute(&self, candidate: &dyn AnyScenario, promises: &[Promise]) -> Option<Refuted> {
        self.all.iter().enumerate().find_map(|(by, known)| {
            let (violated, steps) = in_scenario(&*known.trace, candidate)?;
            let promise = promises.iter().position(|promise| violated.contains(&promise.property))?;
            Some(Refuted { by, promise, steps })
        })
    }
}

/// The promises that the steps of a trace violate in another scenario, with the number of steps; steps that are impossible there are
/// left out.
fn in_scenario(trace: &dyn AnyTrace, candidate: &dyn AnyScenario) -> Option<(Vec<Property>, usize)> {
    with_trace!(trace, trace => {
        let mut other: Trace<_> = trace.clone();
        other.header.scenario = candidate.as_any().downcast_ref().cloned()?;
        // A candidate can be beyond what the model represents: then the search says so.
        let now = catch_unwind(AssertUnwindSafe(|| realign(&other))).ok()?.ok()?.trace;
        let violations = now.steps.iter().flat_map(|step| step.violations.iter());
        Some((violations.map(|violation| violation.property).collect(), now.steps.len()))
    })
}

#[cfg(test)]
mod tests {
    use fencepost::catalogue;
    use fencepost::checker::Options;

    use super::*;

    /// The lease that is a tick too short, with another grace.
    fn with_grace(grace: &str) -> Box<dyn AnyScenario> {
        let found = catalogue::named("lease-one-tick-less").map(|one| one.to_toml());
        let text = found.expect("it is in the catalogue").replace("grace = 1", grace);
        catalogue::read(&text, "a.toml").unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_counterexample_refutes_what_it_breaks_and_not_what_is_repaired() {
        let broken = with_grace("grace = 1");
        let outcome = broken.check(&Options::default()).expect("no internal error").remove(0);
        let mut known = Counterexamples::default();
        known.add(outcome.trace.clone().expect("it is violated"));
        known.add(outcome.trace.expect("it is violated"));
        assert_eq!(known.all.len(), 1, "the same is known once");
        let promises = broken.promises().to_vec();
        let refuted = known.refute(&*with_grace("grace = 0"), &promises).expect("less grace is no better");
        assert_eq!((refuted.by, refuted.promise), (0, 0));
        assert_eq!(known.refute(&*with_grace("grace = 2"), &promises), None);
        let other = catalogue::named("b01-no-fencing").expect("it is there");
        assert_eq!(known.refute(&*other, other.promises()), None, "it is an execution of another service");
    }
}
