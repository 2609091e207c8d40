//! Mutants: each fault built into the model on purpose must change a verdict or a count somewhere. A mutant that survives
//! is a rule nobody checks.

use fencepost_model::catalogue::AnyScenario;
use fencepost_model::finding::{Finding, Property};
use fencepost_model::mutation::Mutation;
use fencepost_model::scenario::Scenario;
use fencepost_model::with_scenario;

use crate::check::{InternalError, Options, check_any, check_one};
use crate::limits::Limits;

/// A scenario with what it comes to while nothing is wrong with the model.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The scenario.
    pub scenario: AnyScenario,
    /// Its findings.
    pub findings: Vec<Finding>,
}

impl Baseline {
    /// Explores a scenario; `None` if it has more than `states_max` states, or surprises us.
    ///
    /// # Errors
    /// See [`check_any`].
    pub fn of(scenario: &AnyScenario, states_max: u64) -> Result<Option<Self>, InternalError> {
        // A search that is cut may still see a violation, with counts that mean nothing: so leave room, and look after.
        let options = Options { limits: Limits { states: Some(2 * states_max), depth: None }, ..Options::default() };
        let findings: Vec<Finding> =
            check_any(scenario, &options)?.into_iter().map(|outcome| outcome.finding).collect();
        let is_sound = findings.iter().all(|finding| finding.is_as_expected() && finding.states <= states_max);
        Ok(is_sound.then(|| Baseline { scenario: scenario.clone(), findings }))
    }

    /// The most states that any of its promises needed.
    pub fn states(&self) -> u64 {
        self.findings.iter().map(|finding| finding.states).max().unwrap_or_default()
    }
}

/// One promise that a mutant changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The scenario.
    pub scenario: String,
    /// The promise.
    pub property: Property,
    /// The verdict that it has now, if it has another one; else only counts have changed, or grow without end.
    pub verdict: Option<&'static str>,
}

/// What a mutant changes in one scenario, promise by promise. Its search is cut at ten times the states of the baseline.
///
/// # Errors
/// The mutant panics: that proves nothing, and is our fault.
pub fn changes(mutation: Mutation, baseline: &Baseline) -> Result<Vec<Change>, InternalError> {
    let system = with_scenario!(&baseline.scenario, scenario => scenario.system.as_str());
    if !mutation.concerns(system) {
        return Ok(Vec::new());
    }
    let limits = Limits { states: Some(10 * baseline.states() + 10_000), depth: None };
    let options = Options { limits, ..Options::default() };
    let outcomes = with_scenario!(&baseline.scenario, scenario => {
        check_one(&Scenario { mutation: Some(mutation), ..scenario.clone() }, &options)
    })?;
    let counts = |finding: &Finding| {
        let steps = finding.verdict.story().map(|story| story.steps.len());
        (finding.states, finding.transitions, finding.depth, steps)
    };
    Ok(outcomes
        .iter()
        .map(|outcome| &outcome.finding)
        .zip(&baseline.findings)
        .filter(|(now, before)| counts(now) != counts(before) || now.verdict.word() != before.verdict.word())
        .map(|(now, before)| Change {
            scenario: now.scenario.clone(),
            property: now.property,
            verdict: Some(now.verdict.word()).filter(|word| *word != before.verdict.word() && *word != "bounded"),
        })
        .collect())
}

/// Where a mutant has changed counts already, scenarios larger than this are not asked for a verdict.
const PATIENCE: u64 = 8_000;

/// The first change of a verdict, else the first of a count; `None`: the mutant survives. Baselines come by size.
///
/// # Errors
/// See [`changes`].
pub fn killer(mutation: Mutation, baselines: &[Baseline]) -> Result<Option<Change>, InternalError> {
    let mut counted = None;
    for baseline in baselines {
        if counted.is_some() && baseline.states() > PATIENCE {
            break;
        }
        for change in changes(mutation, baseline)? {
            if change.verdict.is_some() {
                return Ok(Some(change));
            }
            counted = counted.or(Some(change));
        }
    }
    Ok(counted)
}
