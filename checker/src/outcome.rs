//! What an exploration found, and what that means for a promise.

use fencepost_model::action_kind::ActionKind;
use fencepost_model::assumption::AssumptionValue;
use fencepost_model::finding::{Assumption, AssumptionClass, Certificate, Finding, Story, Verdict};
use fencepost_model::goal::{Goal, Reached};
use fencepost_model::mutation::CheckerMutation;
use fencepost_model::program::{ProgramError, TOLD_MAX, cut_place};
use fencepost_model::scenario::{Promise, Scenario};
use fencepost_model::service::Service;
use fencepost_model::trace::{ReplayError, Trace, tell};
use thiserror::Error;

use crate::engine::{Marks, StoreError};

/// A finding, and the counterexample that shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckOutcome<P: Service> {
    /// The verdict with its evidence.
    pub finding: Finding,
    /// The counterexample.
    pub trace: Option<Trace<P>>,
}

/// A mistake of ours or of a client's program, or a store that is refused: no verdict can be given.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InternalError {
    /// A client's program is wrong: what is wrong with it, and where.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The model panicked, or a worker of the search did: where, and with which message.
    #[error("internal error: {0}")]
    Panic(String),
    /// An action of the search has no counterpart in the concrete world; which one.
    #[error("internal error: {0} has no counterpart in the concrete world")]
    NoCounterpart(String),
    /// The counterexample breaks no promise when it is repeated.
    #[error("internal error: the counterexample breaks no promise when it is repeated")]
    NoViolation,
    /// A search that leaves messages or actions out finds a violation, and the one that keeps them finds none.
    #[error("internal error: a violation is found where messages or actions are left out, and not where they are kept")]
    Contradiction,
    /// The store of a search is refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The search of several processes cannot begin, or go on; why.
    #[error("the search with other processes: {0}")]
    Peers(String),
    /// Only fencepost's own search in the memory of one process compares all of its states in full; which search does not.
    #[error("states are not compared in full by {0}")]
    Inexact(&'static str),
    /// The counterexample cannot be repeated.
    #[error("internal error: the counterexample cannot be repeated: {0}")]
    NotRepeatable(#[from] ReplayError),
}

impl InternalError {
    /// That of a panic with this message.
    pub(crate) fn of_panic(message: String) -> Self {
        ProgramError::behind(&message).map_or(InternalError::Panic(message), InternalError::Program)
    }
}

/// What one exploration found.
pub(crate) struct Exploration<P: Service> {
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
    /// Whether some execution breaks a promise of the scenario.
    pub is_violated: bool,
    /// Such an execution, if it was asked for.
    pub violation: Option<Trace<P>>,
    /// Whether some actions wait for others ([partial orders](crate::reduction::PartialOrder)).
    pub in_partial_order: bool,
    /// Whether losses and pauses are explored only [where they let time pass](crate::reduction::LateFaults).
    pub takes_faults_late: bool,
    /// Whether states were left out that others cover ([subsumption](crate::reduction::Subsumption)).
    pub is_without_covered: bool,
    /// Whether states were compared in full.
    pub is_exact: bool,
    /// Whether it is known to be a shortest.
    pub is_shortest: bool,
}

/// An exploration, and who took how long for it.
pub(crate) struct TimedExploration<P: Service> {
    pub(crate) exploration: Exploration<P>,
    pub(crate) engine: &'static str,
    pub(crate) microseconds: u64,
}

impl<P: Service> TimedExploration<P> {
    /// What it says about a promise.
    pub(crate) fn outcome(&self, scenario: &Scenario<P>, promise: &Promise) -> CheckOutcome<P> {
        let Exploration { states, transitions, depth, ref violation, .. } = self.exploration;
        let verdict = self.verdict(scenario, promise);
        let mut assumptions = scenario.assumptions_of(promise);
        if self.exploration.in_partial_order && violation.is_none() {
            assumptions.push(partial_order());
        }
        if self.exploration.takes_faults_late && violation.is_none() {
            assumptions.push(late_faults());
        }
        if self.exploration.is_without_covered && violation.is_none() {
            assumptions.push(subsumption());
        }
        let finding = Finding {
            scenario: scenario.name.clone(),
            system: scenario.system.clone(),
            hazard: scenario.hazard.clone(),
            variant: scenario.variant.clone(),
            about: scenario.about.clone(),
            property: promise.property,
            bound: promise.bound.map(|bound| bound.count()),
            tick: scenario.tick,
            expect: promise.expect,
            verdict,
            states,
            transitions,
            depth,
            assumptions,
            engine: self.engine.to_owned(),
            microseconds: self.microseconds,
            trace: None,
        };
        CheckOutcome { finding, trace: violation.clone() }
    }

    fn verdict(&self, scenario: &Scenario<P>, promise: &Promise) -> Verdict {
        let Exploration { marks, ref cut, ref violation, .. } = self.exploration;
        let reached = Reached(marks.reached | scenario.reached_by_prefix().0);
        if let Some(trace) = violation {
            let is_not_known_shortest = !self.exploration.is_shortest;
            return Verdict::Violated(Box::new(Story { is_not_known_shortest, ..tell(trace) }));
        }
        if let Some(by) = cut.as_ref().filter(|_| !scenario.is_mutated(CheckerMutation::CutIsProof)) {
            return Verdict::Bounded { by: by.clone() };
        }
        if scenario.has_reached(reached, Goal::LAP_CUT) {
            let mut names: Vec<&str> = scenario.programs.iter().map(|program| program.name.as_str()).collect();
            names.dedup();
            let place = cut_place(scenario).unwrap_or_else(|| format!("`{}`", names.join("`, `")));
            let by = format!("a lap of a program that is told more than {TOLD_MAX} things ({place})");
            return Verdict::Bounded { by };
        }
        let missing: Vec<String> = goals(scenario, promise)
            .filter(|goal| !scenario.has_reached(reached, *goal))
            .filter(|_| !scenario.is_mutated(CheckerMutation::GoalsUnasked))
            .map(|goal| goal.name().to_owned())
            .collect();
        if !missing.is_empty() {
            return Verdict::Vacuous { missing };
        }
        Verdict::Proven(self.certificate(scenario, promise))
    }

    fn certificate(&self, scenario: &Scenario<P>, promise: &Promise) -> Certificate {
        let kinds = self.exploration.marks.kinds;
        let never = |kind: &ActionKind| kinds & kind.bit() == 0;
        Certificate {
            goals: goals(scenario, promise).map(|goal| goal.name().to_owned()).collect(),
            never_taken: ActionKind::ALL.iter().copied().filter(never).map(|kind| kind.name().to_owned()).collect(),
            reductions: self.exploration.reductions.clone(),
            // 64, and hashed twice: first each part of a world, then all of them.
            fingerprint_bits: (!self.exploration.is_exact).then_some(63),
        }
    }
}

/// What a verdict rests on where some actions wait for others.
fn partial_order() -> Assumption {
    Assumption {
        kind: "partial-order".into(),
        class: AssumptionClass::Limit,
        value: AssumptionValue::None,
        source: "model".into(),
        sentence: "partial order: where a client can act unseen and unhindered, all other actions wait for it; \
                   only answers to its own calls reach a client"
            .to_owned(),
    }
}

/// What a verdict rests on where some losses or pauses are not explored.
fn late_faults() -> Assumption {
    Assumption {
        kind: "late-faults".into(),
        class: AssumptionClass::Limit,
        value: AssumptionValue::None,
        source: "model".into(),
        sentence: "late faults: a loss or a pause is explored only where time cannot pass without it".to_owned(),
    }
}

/// What a verdict rests on where states are left out that others cover.
fn subsumption() -> Assumption {
    Assumption {
        kind: "subsumption".into(),
        class: AssumptionClass::Limit,
        value: AssumptionValue::None,
        source: "model".into(),
        sentence: "subsumption: a state is left out where another one differs only in more that is left of budgets, \
                   or in longer times that are left for messages"
            .to_owned(),
    }
}

/// What must be reachable before a proof of this promise says something.
fn goals<P: Service>(scenario: &Scenario<P>, promise: &Promise) -> impl Iterator<Item = Goal> {
    let own = scenario.own_goals.iter().map(|own| own.goal);
    let mut goals: Vec<Goal> = scenario.goals.iter().chain(promise.property.needs()).copied().chain(own).collect();
    goals.sort_by_key(|goal| scenario.place_of(*goal));
    goals.dedup();
    goals.into_iter()
}
