//! Where a verdict changes if one setting does: away from its value in steps that double, and back by bisection.

use std::collections::BTreeMap;

use fencepost_checker::{InternalError, Options};
use fencepost_model::finding::Verdict;
use fencepost_registry::{AnyOutcome, AnyScenario};

use super::settings::{ExactScenario, ExactSetting, ExactValue};
use crate::quantity::Direction;

/// How many times its value a setting is tried at, at most.
const TIMES_MAX: i64 = 4;

/// Up to where the settings with small values are tried.
const LEAST_TRIED: i64 = 8;

/// What is found about a promise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExactVerdict {
    /// It is proven.
    Kept {
        /// How many states were searched.
        states: u64,
    },
    /// There is an execution that breaks it.
    Broken {
        /// How long it is.
        steps: usize,
    },
    /// The whole space was searched, and a goal was not reached.
    Vacuous {
        /// The goals that were not reached.
        missing: Vec<String>,
    },
    /// The search was stopped.
    Unknown {
        /// By what.
        by: String,
    },
}

/// Where a verdict changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExactBoundary {
    /// Of which setting.
    pub setting: ExactSetting,
    /// In which direction.
    pub direction: Direction,
    /// The farthest value that was searched with the same verdict.
    pub same: i64,
    /// The nearest one that is different; none: there is none as far as values were tried.
    pub end: Option<(i64, ExactEnd)>,
}

/// What is different beyond a boundary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExactEnd {
    /// The verdict is another one.
    Verdict(ExactVerdict),
    /// The scenario is impossible, or its program is wrong: why.
    Refused(String),
}

impl ExactVerdict {
    fn of(outcome: &AnyOutcome) -> Self {
        match &outcome.finding.verdict {
            Verdict::Proven(_) => ExactVerdict::Kept { states: outcome.finding.states },
            Verdict::Violated(story) => ExactVerdict::Broken { steps: story.steps.len() },
            Verdict::Bounded { by } => ExactVerdict::Unknown { by: by.clone() },
            Verdict::Vacuous { missing } => ExactVerdict::Vacuous { missing: missing.clone() },
        }
    }

    /// Whether both say the same, each with its own evidence.
    pub fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// The verdicts on all promises of a scenario, in their order; an error: the scenario is impossible, or its program is wrong.
type Judged = Result<Vec<ExactVerdict>, String>;

/// Judges a scenario with one setting after the other changed, and remembers every verdict.
pub struct ExactDoctor<'a> {
    base: &'a ExactScenario<'a>,
    options: Options,
    known: BTreeMap<(String, i64), Judged>,
    searches: u64,
    states: u64,
}

impl<'a> ExactDoctor<'a> {
    /// A doctor that searches with these options.
    pub fn new(base: &'a ExactScenario<'a>, options: Options) -> Self {
        ExactDoctor { base, options, known: BTreeMap::new(), searches: 0, states: 0 }
    }

    /// How many scenarios were searched, and how many states that were.
    pub fn effort(&self) -> (u64, u64) {
        (self.searches, self.states)
    }

    /// The verdicts on the scenario as it stands.
    ///
    /// # Errors
    /// An internal error.
    pub fn as_it_stands(&mut self) -> Result<Vec<ExactVerdict>, InternalError> {
        self.judge(self.base.scenario())
    }

    fn judge(&mut self, scenario: &dyn AnyScenario) -> Result<Vec<ExactVerdict>, InternalError> {
        let outcomes = scenario.check(&self.options)?;
        self.searches += 1;
        // Promises of one search share its states.
        self.states += outcomes.iter().map(|outcome| outcome.finding.states).max().unwrap_or_default();
        let of_promise = |promise: &fencepost_model::scenario::Promise| {
            let is_its = |outcome: &&AnyOutcome| {
                let finding = &outcome.finding;
                (finding.property, finding.bound) == (promise.property, promise.bound.map(|bound| bound.count()))
            };
            let none = ExactVerdict::Unknown { by: "a search of another promise".to_owned() };
            outcomes.iter().find(is_its).map_or(none, ExactVerdict::of)
        };
        Ok(scenario.description().promises.iter().map(of_promise).collect())
    }

    /// The verdicts with another value of a setting.
    fn judge_with(&mut self, setting: &ExactSetting, value: i64) -> Result<Judged, InternalError> {
        let key = (setting.name.clone(), value);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let judged = match self.base.with(setting, setting.value.with_count(value)) {
            Ok(scenario) => match self.judge(&*scenario) {
                Ok(verdicts) => Ok(verdicts),
                // With this value its program is wrong: it never waits, say.
                Err(InternalError::Program(why)) => Err(why.to_string()),
                Err(error) => return Err(error),
            },
            Err(why) => Err(why),
        };
        self.known.insert(key, judged.clone());
        Ok(judged)
    }

    /// Where the verdict on a promise, by its place, changes with one setting.
    ///
    /// # Errors
    /// An internal error.
    pub fn boundaries(
        &mut self,
        setting: &ExactSetting,
        promise: usize,
        verdict: &ExactVerdict,
    ) -> Result<Vec<ExactBoundary>, InternalError> {
        let value = setting.value.count();
        let most = match setting.value {
            ExactValue::Ticks(_) | ExactValue::Number(_) => value.saturating_mul(TIMES_MAX).max(LEAST_TRIED),
            ExactValue::Flag(_) => 1,
        };
        let ways = [(Direction::Down, value.min(0)), (Direction::Up, most)];
        let mut found = Vec::new();
        for (direction, limit) in ways {
            if limit == value || !setting.concerns(promise) {
                continue;
            }
            let (same, end) = self.search(setting, promise, verdict, (value, limit))?;
            found.push(ExactBoundary { setting: setting.clone(), direction, same, end });
        }
        Ok(found)
    }

    /// The farthest value with the same verdict, and the nearest one without it.
    fn search(
        &mut self,
        setting: &ExactSetting,
        promise: usize,
        verdict: &ExactVerdict,
        (value, limit): (i64, i64),
    ) -> Result<(i64, Option<(i64, ExactEnd)>), InternalError> {
        let (mut same, mut end, mut step) = (value, None, 1);
        while same != limit {
            let next = if limit > value { (value + step).min(limit) } else { (value - step).max(limit) };
            end = self.end_at(setting, promise, verdict, next)?.map(|end| (next, end));
            if end.is_some() {
                break;
            }
            (same, step) = (next, 2 * step);
        }
        while let Some(far) = end.as_ref().map(|(far, _)| *far).filter(|far| far.abs_diff(same) > 1) {
            let middle = same + (far - same) / 2;
            match self.end_at(setting, promise, verdict, middle)? {
                Some(other) => end = Some((middle, other)),
                None => same = middle,
            }
        }
        Ok((same, end))
    }

    /// What is different with this value; none: nothing.
    fn end_at(
        &mut self,
        setting: &ExactSetting,
        promise: usize,
        verdict: &ExactVerdict,
        value: i64,
    ) -> Result<Option<ExactEnd>, InternalError> {
        Ok(match self.judge_with(setting, value)? {
            Err(why) => Some(ExactEnd::Refused(why)),
            Ok(verdicts) => {
                let other = verdicts.into_iter().nth(promise).filter(|other| !other.is_like(verdict));
                other.map(ExactEnd::Verdict)
            }
        })
    }
}
