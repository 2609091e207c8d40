//! What a scenario comes to while nothing is wrong, and what a mutant changes of that.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost_model::finding::Finding;
use fencepost_model::mutation::Mutation;

use super::{Noticed, Subject};
use crate::limits::Limits;
use crate::options::{Engine, Options};
use crate::outcome::InternalError;

/// A scenario with what it comes to while nothing is wrong.
#[derive(Debug)]
pub struct Baseline {
    /// The scenario.
    pub subject: Box<dyn Subject>,
    /// Its findings.
    pub findings: Vec<Finding>,
}

impl Baseline {
    /// Explores a scenario; `None` if it has more than `states_max` states, or another verdict than it expects.
    ///
    /// # Errors
    /// See [`check`](crate::check).
    pub fn of(subject: Box<dyn Subject>, states_max: u64) -> Result<Option<Self>, InternalError> {
        // A search that is cut may still see a violation, with counts that mean nothing: so leave room, and look after.
        let options = Options { limits: Limits { states: Some(2 * states_max), depth: None }, ..Options::default() };
        let findings = subject.search(None, &options)?;
        let is_sound = findings.iter().all(|finding| finding.is_as_expected() && finding.states <= states_max);
        Ok(is_sound.then(|| Baseline { subject, findings }))
    }

    /// The most states that any of its promises needed.
    pub fn states(&self) -> u64 {
        self.findings.iter().map(|finding| finding.states).max().unwrap_or_default()
    }

    /// Whether the mutation can make a difference in it.
    pub(super) fn is_concerned_by(&self, mutation: Mutation) -> bool {
        self.subject.is_concerned_by(mutation)
    }

    /// What the mutant comes to, in a search that is cut at ten times the states of the baseline.
    /// None: something panics.
    fn with(&self, mutation: Mutation, engine: Engine) -> Option<Vec<Finding>> {
        let search = || self.search(mutation, engine).ok();
        catch_unwind(AssertUnwindSafe(search)).ok().flatten()
    }

    fn search(&self, mutation: Mutation, engine: Engine) -> Result<Vec<Finding>, InternalError> {
        let limits = Limits { states: Some(10 * self.states() + 10_000), depth: None };
        let options = Options { limits, engine, ..Options::default() };
        self.subject.search(Some(mutation), &options)
    }

    /// What the mutant changes: a verdict, else a count.
    pub(super) fn changed_by(&self, mutation: Mutation) -> Noticed {
        let Some(findings) = self.with(mutation, Engine::Dataflow) else {
            return Noticed::Panic { scenario: self.subject.name().to_owned() };
        };
        let pairs = || findings.iter().zip(&self.findings);
        let verdict = pairs()
            .find(|(now, before)| now.verdict.word() != before.verdict.word() && now.verdict.word() != "bounded");
        let counts = |finding: &Finding| {
            let steps = finding.verdict.story().map(|story| story.steps.len());
            (finding.states, finding.transitions, finding.depth, steps)
        };
        let count = || pairs().find(|(now, before)| counts(now) != counts(before));
        if let Some((now, _)) = verdict {
            let (scenario, property, verdict) = (now.scenario.clone(), now.property, now.verdict.word());
            return Noticed::Verdict { scenario, property, verdict };
        }
        count().map_or(Noticed::Nothing, |(now, _)| Noticed::Count {
            scenario: now.scenario.clone(),
            property: now.property,
        })
    }

    /// Whether the engines have different verdicts while the mutant is switched on.
    pub(super) fn splits_engines(&self, mutation: Mutation) -> Option<Noticed> {
        let own = self.with(mutation, Engine::Dataflow)?;
        let other = self.with(mutation, Engine::Stateright)?;
        let word = |finding: &Finding| finding.verdict.word();
        let mut pairs = own.iter().zip(&other);
        let differ =
            pairs.find(|(own, other)| word(own) != word(other) && word(own) != "bounded" && word(other) != "bounded");
        differ.map(|(own, _)| Noticed::Engines { scenario: own.scenario.clone(), property: own.property })
    }
}
