//! One candidate: the scenario with some edits, and what the checker says of it.

use std::sync::Arc;

use fencepost::checker::{Limits, Options};
use fencepost::model::assumption::Class;
use fencepost::model::finding::{Finding, Verdict};
use fencepost::{AnyOutcome, AnyScenario, AnyTrace, Promise};

use super::counterexamples::{Counterexamples, Refuted};
use super::edits::{Edit, with};
use crate::exit::CommandError;
use crate::supervisor::Watch;

/// What is not decided is searched once more, with this multiple of the states.
pub const DEEPER: u64 = 10;

/// What is known of the scenario before any edit.
pub struct Base {
    pub scenario: Box<dyn AnyScenario>,
    /// The promises that are violated, and shall hold.
    pub broken: Vec<Promise>,
    /// The promises that hold, and shall go on holding.
    pub kept: Vec<Promise>,
    pub states_max: u64,
    pub watch: Arc<Watch>,
}

/// The judgement about a candidate.
pub enum Judgement {
    /// These settings are impossible together.
    Invalid,
    /// Its verdicts would rest on assumptions about the environment that the scenario does not make.
    AssumesMore,
    /// A promise that shall hold is still violated: the number of broken promises from there on, and the length of the counterexample.
    Violated { left: usize, steps: usize },
    /// It keeps the broken promises and violates another one.
    Breaks,
    /// A search stopped early, or a proof is vacuous.
    Undecided,
    /// Every promise is proven.
    Repairs(Box<Repair>),
}

/// A candidate that keeps every promise, proven.
pub struct Repair {
    pub edits: Vec<Edit>,
    pub scenario: Box<dyn AnyScenario>,
    pub findings: Vec<Finding>,
}

/// A candidate with its judgement, and what others can learn from it.
pub struct Trial {
    pub judgement: Judgement,
    /// An execution that violates a promise; none: no search has found one.
    pub counterexample: Option<Box<dyn AnyTrace>>,
    /// The known counterexample that made a search unnecessary.
    pub refuted: Option<Refuted>,
}

impl From<Judgement> for Trial {
    fn from(judgement: Judgement) -> Self {
        Trial { judgement, counterexample: None, refuted: None }
    }
}

impl Base {
    /// Judges the scenario with these edits: first by counterexamples that are known, then the broken promises one by one, which most
    /// candidates leave broken, then the others.
    pub fn judge(&self, edits: &[&Edit], known: &Counterexamples, states_max: u64) -> Result<Trial, CommandError> {
        let Ok(candidate) = with(&*self.scenario, edits) else { return Ok(Judgement::Invalid.into()) };
        if !self.is_covered(&*candidate) {
            return Ok(Judgement::AssumesMore.into());
        }
        if let Some(refuted) = known.refute(&*candidate, &self.broken) {
            let judgement = Judgement::Violated { left: self.broken.len() - refuted.promise, steps: refuted.steps };
            return Ok(Trial { refuted: Some(refuted), ..judgement.into() });
        }
        let mut findings = Vec::new();
        // One by one: a search ends with the first violation.
        for (place, promise) in self.broken.iter().enumerate() {
            let mut outcomes = self.check(&*candidate, std::slice::from_ref(promise), states_max)?;
            let counterexample = outcomes.iter_mut().find_map(|outcome| outcome.trace.take());
            findings.extend(outcomes.into_iter().map(|outcome| outcome.finding));
            if let Some(judgement) = remaining(&findings, self.broken.len() - place) {
                return Ok(Trial { counterexample, ..judgement.into() });
            }
        }
        findings.extend(self.check(&*candidate, &self.kept, states_max)?.into_iter().map(|outcome| outcome.finding));
        Ok(Trial::from(match remaining(&findings, 0) {
            Some(Judgement::Violated { .. }) => Judgement::Breaks,
            Some(other) => other,
            None => Judgement::Repairs(Box::new(Repair {
                edits: edits.iter().map(|edit| (*edit).clone()).collect(),
                scenario: candidate,
                findings,
            })),
        }))
    }

    /// Searches for these promises, within a number of states.
    pub fn check(
        &self,
        scenario: &dyn AnyScenario,
        promises: &[Promise],
        states_max: u64,
    ) -> Result<Vec<AnyOutcome>, CommandError> {
        if promises.is_empty() {
            return Ok(Vec::new());
        }
        let is_asked = |promise: &Promise| {
            promises.iter().any(|other| (other.property, other.bound) == (promise.property, promise.bound))
        };
        let limits = Limits { states: Some(states_max), depth: None };
        let options = Options { limits, supervisor: Arc::<Watch>::clone(&self.watch), ..Options::default() };
        Ok(scenario.judging(&is_asked).check(&options)?)
    }

    /// Whether every assumption of the candidate about its environment (delays, clocks, fairness, faults, limits) is one of the
    /// scenario, too. Otherwise an edit would repair the world and not the lock.
    fn is_covered(&self, candidate: &dyn AnyScenario) -> bool {
        let own = self.scenario.assumptions();
        let is_environment = |class: Class| class != Class::Setting;
        candidate.assumptions().iter().filter(|assumption| is_environment(assumption.class)).all(|assumption| {
            own.iter().any(|other| (&other.kind, &other.value) == (&assumption.kind, &assumption.value))
        })
    }
}

/// The judgement about findings that are not all proofs.
fn remaining(findings: &[Finding], left: usize) -> Option<Judgement> {
    let violated = findings.iter().find_map(|finding| match &finding.verdict {
        Verdict::Violated(story) => Some(story.steps.len()),
        _ => None,
    });
    if let Some(steps) = violated {
        return Some(Judgement::Violated { left, steps });
    }
    findings.iter().any(|finding| !matches!(finding.verdict, Verdict::Proven(_))).then_some(Judgement::Undecided)
}
