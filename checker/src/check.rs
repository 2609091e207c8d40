//! A scenario's promises → findings: which runs are needed, and what their results mean.

use std::fmt;
use std::sync::Arc;

use fencepost_model::catalogue::AnyScenario;
use fencepost_model::finding::{Certificate, Finding, Verdict};
use fencepost_model::goal::{Goal, Reached};
use fencepost_model::mutation::Mutation;
use fencepost_model::properties::Property;
use fencepost_model::protocol::Protocol;
use fencepost_model::scenario::{Expect, Promise, Scenario};
use fencepost_model::trace::{Trace, tell};
use fencepost_model::with_scenario;
use fencepost_model::world::Action;

use crate::engine::Marks;
use crate::limits::{Limits, Supervisor, Unsupervised};
use crate::liveness::Liveness;
use crate::reduction::Form;
use crate::stateright::explore;
use crate::worlds::Worlds;

/// How to check.
#[derive(Clone)]
pub struct Options {
    /// What may cut the search.
    pub limits: Limits,
    /// Who may call it off.
    pub supervisor: Arc<dyn Supervisor>,
    /// Only this promise.
    pub only: Option<Property>,
    /// Which search.
    pub engine: Engine,
    /// On so many threads; stateright's search takes one.
    pub workers: usize,
    /// Whether interchangeable clients count as one.
    pub symmetry: bool,
}

/// Which search explores a scenario.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Engine {
    /// Our own.
    #[default]
    Dataflow,
    /// stateright's breadth-first search.
    Stateright,
}

impl Engine {
    /// Both.
    pub const ALL: [Engine; 2] = [Engine::Dataflow, Engine::Stateright];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Dataflow => "dataflow",
            Engine::Stateright => "stateright",
        }
    }
}

/// What one exploration found.
pub(crate) struct Exploration<P: Protocol> {
    /// Distinct states.
    pub states: u64,
    /// Transitions generated; a step that changes nothing is none.
    pub transitions: u64,
    /// Levels.
    pub depth: u64,
    /// Why the search was cut, if it was.
    pub cut: Option<String>,
    /// Goals reached, and kinds of action taken.
    pub marks: Marks,
    /// Why fewer states than worlds were searched, as sentences.
    pub reductions: Vec<String>,
    /// A shortest run that breaks a promise of the scenario.
    pub violation: Option<Trace<P>>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            limits: Limits::default(),
            supervisor: Arc::new(Unsupervised),
            only: None,
            engine: Engine::default(),
            workers: 1,
            symmetry: true,
        }
    }
}

/// A finding, and the text of the trace file that shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// What was found.
    pub finding: Finding,
    /// The counterexample as a trace file.
    pub trace: Option<String>,
}

/// Our own mistake: a panic in the model, or a counterexample that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InternalError(pub String);

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "internal error: {}", self.0)
    }
}

impl std::error::Error for InternalError {}

/// Checks a scenario of any protocol.
///
/// # Errors
/// See [`check`].
pub fn check_any(scenario: &AnyScenario, options: &Options) -> Result<Vec<Outcome>, InternalError> {
    with_scenario!(scenario, scenario => check_one(scenario, options))
}

/// Checks every promise of a scenario, in its order.
///
/// The promises that are expected to hold share one run. If that run breaks one of them, each gets a run of its own, so
/// that no breach hides what lies behind it; so does each promise that is expected to be broken.
///
/// # Errors
/// An internal error; a search that a limit stopped is a finding.
///
/// # Panics
/// The scenario is impossible: [`Scenario::validate`] says why.
pub fn check<P: Protocol>(scenario: &Scenario<P>, options: &Options) -> Result<Vec<Outcome>, InternalError>
where
    Scenario<P>: Into<AnyScenario>,
{
    check_any(&scenario.clone().into(), options)
}

/// The same. Instantiated here for every protocol, so that whoever calls does not compile the whole checker anew.
pub(crate) fn check_one<P: Protocol>(scenario: &Scenario<P>, options: &Options) -> Result<Vec<Outcome>, InternalError> {
    if let Err(mistake) = scenario.validate() {
        panic!("the scenario `{}` is impossible: {mistake}", scenario.name);
    }
    let wanted: Vec<Promise> = scenario
        .promises
        .iter()
        .copied()
        .filter(|promise| options.only.is_none_or(|only| only == promise.property))
        .collect();
    let is_endless = |promise: &&Promise| promise.property.is_about_endless_runs(promise.bound);
    let (endless, stepwise): (Vec<&Promise>, Vec<&Promise>) = wanted.iter().partition(is_endless);
    let (together, mut alone): (Vec<Promise>, Vec<Promise>) =
        stepwise.into_iter().partition(|promise| promise.expect == Expect::Proven);
    let mut outcomes = in_the_end(scenario, &endless, options)?;
    if !together.is_empty() {
        let run = Run::start(scenario, &together, options)?;
        if run.exploration.violation.is_some() && together.len() > 1 {
            alone.extend(together);
        } else {
            outcomes.extend(together.iter().map(|promise| run.outcome(scenario, promise)));
        }
    }
    for promise in &alone {
        outcomes.push(Run::start(scenario, &[*promise], options)?.outcome(scenario, promise));
    }
    outcomes.sort_by_key(|outcome| wanted.iter().position(|promise| promise.property == outcome.finding.property));
    Ok(outcomes)
}

/// Judges the promises about endless runs, on one state graph.
fn in_the_end<P: Protocol>(
    scenario: &Scenario<P>,
    promises: &[&Promise],
    options: &Options,
) -> Result<Vec<Outcome>, InternalError> {
    if promises.is_empty() {
        return Ok(Vec::new());
    }
    let start = options.supervisor.microseconds();
    let judged = scenario.judging(|promise| promises.contains(&promise));
    let liveness = Liveness::build(judged, options)?;
    let (states, transitions) = liveness.counts();
    let mut outcomes = Vec::new();
    for promise in promises {
        let violation = match liveness.cut {
            Some(_) if !scenario.is_mutated(Mutation::CutGraphIsJudged) => None,
            _ => liveness.violation(promise.property)?,
        };
        let (depth, cut, marks) = (liveness.depth, liveness.cut.clone(), liveness.marks);
        let reductions = Form::new(scenario, false).reductions();
        let exploration = Exploration { states, transitions, depth, cut, marks, reductions, violation };
        let microseconds = options.supervisor.microseconds() - start;
        outcomes.push(Run { exploration, engine: "graph", microseconds }.outcome(scenario, promise));
    }
    Ok(outcomes)
}

/// An exploration, and who took how long for it.
pub(crate) struct Run<P: Protocol> {
    pub(crate) exploration: Exploration<P>,
    pub(crate) engine: &'static str,
    pub(crate) microseconds: u64,
}

impl<P: Protocol> Run<P> {
    fn start(scenario: &Scenario<P>, promises: &[Promise], options: &Options) -> Result<Self, InternalError> {
        let judged = scenario.judging(|promise| promises.contains(promise));
        let start = options.supervisor.microseconds();
        let exploration = match options.engine {
            Engine::Stateright => {
                let form = Form::new(&judged, options.symmetry);
                explore(&judged, form, options.limits, Arc::clone(&options.supervisor))?
            }
            Engine::Dataflow => Worlds::new(judged, options.symmetry).explore(options)?,
        };
        let microseconds = options.supervisor.microseconds() - start;
        Ok(Run { exploration, engine: options.engine.name(), microseconds })
    }

    /// What it says about a promise.
    pub(crate) fn outcome(&self, scenario: &Scenario<P>, promise: &Promise) -> Outcome {
        let Exploration { states, transitions, depth, ref violation, .. } = self.exploration;
        let finding = Finding {
            scenario: scenario.name.clone(),
            system: scenario.system.clone(),
            hazard: scenario.hazard.clone(),
            variant: scenario.variant.clone(),
            about: scenario.about.clone(),
            property: promise.property,
            bound: promise.bound.map(|bound| bound.count()),
            expect: promise.expect,
            verdict: self.verdict(scenario, promise),
            states,
            transitions,
            depth,
            assumptions: scenario.assumptions_of(promise),
            engine: self.engine.to_owned(),
            microseconds: self.microseconds,
            trace: None,
        };
        Outcome { finding, trace: violation.as_ref().map(fencepost_model::trace::Trace::to_text) }
    }

    fn verdict(&self, scenario: &Scenario<P>, promise: &Promise) -> Verdict {
        let Exploration { marks, ref cut, ref violation, .. } = self.exploration;
        let reached = Reached(marks.reached);
        if let Some(trace) = violation {
            return Verdict::Violated(Box::new(tell(trace)));
        }
        if let Some(by) = cut.as_ref().filter(|_| !scenario.is_mutated(Mutation::CutIsProof)) {
            return Verdict::Bounded { by: by.clone() };
        }
        let missing: Vec<String> = goals(scenario, promise)
            .filter(|goal| !reached.contains(*goal, scenario.clients))
            .filter(|_| !scenario.is_mutated(Mutation::GoalsUnasked))
            .map(|goal| goal.name().to_owned())
            .collect();
        if !missing.is_empty() {
            return Verdict::Vacuous { missing };
        }
        Verdict::Proven(self.certificate(scenario, promise))
    }

    fn certificate(&self, scenario: &Scenario<P>, promise: &Promise) -> Certificate {
        let kinds = self.exploration.marks.kinds;
        let never = |(place, _): &(usize, &&str)| kinds & (1 << *place) == 0;
        Certificate {
            goals: goals(scenario, promise).map(|goal| goal.name().to_owned()).collect(),
            never_taken: Action::<P>::KINDS
                .iter()
                .enumerate()
                .filter(never)
                .map(|(_, kind)| (*kind).to_owned())
                .collect(),
            reductions: self.exploration.reductions.clone(),
            // 64, and hashed twice: first each part of a world, then all of them.
            fingerprint_bits: 63,
        }
    }
}

/// What must be reachable before a proof of this promise says something.
fn goals<P: Protocol>(scenario: &Scenario<P>, promise: &Promise) -> impl Iterator<Item = Goal> {
    let mut goals: Vec<Goal> = scenario.goals.iter().chain(promise.property.needs()).copied().collect();
    goals.sort_unstable();
    goals.dedup();
    goals.into_iter()
}
