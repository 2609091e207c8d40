//! Recording of executions, and replay of recorded ones step by step.

use std::fmt;

use super::wait::confirm;
use super::{Digest, Header, Lasso, SCHEMA, Trace, TraceStep};
use crate::monitor::{Observed, ObservedStep};
use crate::scenario::Scenario;
use crate::service::Service;
use crate::world::Action;

/// Records an execution while it happens.
pub struct Recorder<P: Service> {
    steps: Vec<TraceStep<P>>,
    digest: Digest,
}

impl<P: Service> Default for Recorder<P> {
    fn default() -> Self {
        Recorder { steps: Vec::new(), digest: Digest::default() }
    }
}

impl<P: Service> Recorder<P> {
    /// Carries out the action and records it.
    pub fn step(&mut self, scenario: &Scenario<P>, state: &mut Observed<P>, action: &Action<P>) -> ObservedStep<P> {
        let step = state.step(scenario, action);
        self.digest.add(state.now, action, &step);
        self.steps.push(TraceStep {
            step: self.steps.len() + 1,
            at: state.now,
            label: action.to_string(),
            facts: step.facts.iter().map(ToString::to_string).collect(),
            violations: step.violations.clone(),
            action: *action,
        });
        step
    }

    /// The last recorded step.
    pub(super) fn last(&self) -> &TraceStep<P> {
        self.steps.last().expect("a step was just recorded")
    }

    /// The trace so far.
    pub fn finish(self, scenario: &Scenario<P>, origin: &str, seed: Option<u64>) -> Trace<P> {
        let header = Header {
            fencepost_trace: SCHEMA,
            system: scenario.system.clone(),
            origin: origin.to_owned(),
            seed,
            digest: self.digest.hex(),
            lasso: None,
            waits: Vec::new(),
            scenario: scenario.clone(),
        };
        Trace { header, steps: self.steps }
    }
}

/// A disagreement between a trace and the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayError {
    /// The number of the step, from 1; 0 for the header.
    pub step: usize,
    /// The disagreement.
    pub message: String,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            0 => write!(f, "the trace's header: {}", self.message),
            step => write!(f, "step {step}: {}", self.message),
        }
    }
}

impl std::error::Error for ReplayError {}

/// The trace's scenario, if it is valid.
pub(super) fn possible<P: Service>(trace: &Trace<P>) -> Result<&Scenario<P>, ReplayError> {
    let scenario = &trace.header.scenario;
    let mistake = |mistake| ReplayError { step: 0, message: format!("its scenario is not valid: {mistake}") };
    scenario.validate().map(|()| scenario).map_err(mistake)
}

/// Replays a trace and returns the execution of the current model.
///
/// # Errors
/// The first step that is not possible, or whose effect differs from the trace.
pub fn replay<P: Service>(trace: &Trace<P>) -> Result<Trace<P>, ReplayError> {
    let scenario = possible(trace)?;
    let mut world = scenario.observed();
    let mut recorder = Recorder::default();
    for (place, line) in trace.steps.iter().enumerate() {
        let at = |message: String| ReplayError { step: place + 1, message };
        if line.step != place + 1 {
            return Err(at(format!("it is numbered {}", line.step)));
        }
        let words_count = trace.header.fencepost_trace == SCHEMA;
        if words_count && line.label != line.action.to_string() {
            return Err(at(format!("the label is “{}”, but the action is “{}”", line.label, line.action)));
        }
        if !scenario.is_enabled(&world, &line.action) {
            return Err(at(format!("“{}” is not possible here", line.label)));
        }
        recorder.step(scenario, &mut world, &line.action);
        let now = recorder.last();
        for (what, is_same) in [
            ("instant", now.at == line.at),
            ("facts", !words_count || now.facts == line.facts),
            ("violations", breaks_the_same(now, line, words_count)),
        ] {
            if !is_same {
                return Err(at(format!("“{}” has other {what} than in the trace", line.label)));
            }
        }
    }
    ends_as_said(scenario, trace, &trace.steps, &world)?;
    let mut now = recorder.finish(scenario, &trace.header.origin, trace.header.seed);
    now.header.lasso.clone_from(&trace.header.lasso);
    now.header.waits.clone_from(&trace.header.waits);
    if trace.header.fencepost_trace == SCHEMA && now.header.digest != trace.header.digest {
        let message = format!(
            "the digest is {}, but the trace has {}: steps are missing or were added",
            now.header.digest, trace.header.digest
        );
        return Err(ReplayError { step: 0, message });
    }
    Ok(now)
}

/// Whether two steps violate the same promises; if `words_count`, also with the same sentences.
fn breaks_the_same<P: Service>(now: &TraceStep<P>, then: &TraceStep<P>, words_count: bool) -> bool {
    let properties =
        |line: &TraceStep<P>| line.violations.iter().map(|violation| violation.property).collect::<Vec<_>>();
    if words_count { now.violations == then.violations } else { properties(now) == properties(then) }
}

/// Whether the header's claims about the end of the execution are true of these steps and of the last world.
pub(super) fn ends_as_said<P: Service>(
    scenario: &Scenario<P>,
    trace: &Trace<P>,
    steps: &[TraceStep<P>],
    last: &Observed<P>,
) -> Result<(), ReplayError> {
    if let Some(lasso) = &trace.header.lasso {
        closes(scenario, steps, lasso, last)?;
    }
    confirm(scenario, steps, &trace.header.waits)
}

/// The world after the last step of an endless execution must be equivalent to the first world of the cycle; or it has
/// no successor.
fn closes<P: Service>(
    scenario: &Scenario<P>,
    steps: &[TraceStep<P>],
    lasso: &Lasso,
    last: &Observed<P>,
) -> Result<(), ReplayError> {
    let wrong = |message: String| Err(ReplayError { step: 0, message });
    let mut enabled = Vec::new();
    scenario.enabled(last, &mut enabled);
    if lasso.from == steps.len() {
        return if enabled.is_empty() {
            Ok(())
        } else {
            wrong("the trace says that the execution ends, but its last state has a successor".to_owned())
        };
    }
    if lasso.from > steps.len() {
        return wrong(format!(
            "the trace says that the cycle begins at step {}, but it has {} steps",
            lasso.from + 1,
            steps.len()
        ));
    }
    let mut before = scenario.observed();
    for line in &steps[..lasso.from] {
        before.step(scenario, &line.action);
    }
    if scenario.representative(&before) != scenario.representative(last) {
        return wrong(format!(
            "the steps from {} on are not a cycle: they do not lead back to their first state",
            lasso.from + 1
        ));
    }
    Ok(())
}
