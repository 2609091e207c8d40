//! A scenario's promises → findings: which explorations are needed.

use fencepost_model::finding::Verdict;
use fencepost_model::mutation::CheckerMutation;
use fencepost_model::scenario::{Expect, Promise, Scenario};
use fencepost_model::service::Service;
use fencepost_model::trace::{Trace, leave_out_steps};

use crate::engine::{Paths, StoreError};
use crate::limits::Limits;
use crate::liveness::{Judgement, Liveness};
use crate::options::{Engine, Options};
use crate::outcome::{CheckOutcome, Exploration, InternalError, TimedExploration};
use crate::reduction::{Form, LateFaults, PartialOrder, Subsumption, Unheard};
use crate::worlds::{Elsewhere, Worlds, identity};

/// Checks every promise of a scenario, in its order.
///
/// The promises that are expected to hold share one run. If that run breaks one of them, each gets a run of its own, so
/// that no violation hides what lies behind it; so does each promise that is expected to be broken. Such a run finds a shortest violation.
///
/// # Errors
/// An internal error; a search that a limit stopped is a finding.
///
/// # Panics
/// The scenario is impossible: [`Scenario::validate`] says why.
pub fn check<P: Service>(scenario: &Scenario<P>, options: &Options) -> Result<Vec<CheckOutcome<P>>, InternalError> {
    if let Err(mistake) = scenario.validate() {
        panic!("the scenario `{}` is impossible: {mistake}", scenario.name);
    }
    refuse(options)?;
    let wanted: Vec<Promise> = scenario
        .promises
        .iter()
        .copied()
        .filter(|promise| options.only.is_none_or(|only| only == promise.property))
        .collect();
    let is_endless = |promise: &&Promise| promise.property.is_about_endless_runs(promise.bound);
    let (endless, stepwise): (Vec<&Promise>, Vec<&Promise>) = wanted.iter().partition(is_endless);
    let (together, alone): (Vec<Promise>, Vec<Promise>) =
        stepwise.into_iter().partition(|promise| promise.expect == Expect::Proven);
    let is_first = options.peers.as_ref().is_none_or(|peers| peers.process() == 0);
    let endless = if is_first { endless } else { Vec::new() };
    let mut outcomes = in_the_end(scenario, &endless, options)?;
    if !together.is_empty() {
        let shared = run(scenario, &together, Sought::Proof, options)?;
        if shared.exploration.is_violated && is_again(scenario, &together, options) {
            let found = together.iter().map(|promise| by_itself(scenario, promise, options));
            let found = found.collect::<Result<Vec<_>, InternalError>>()?;
            let is_denied = |outcome: &CheckOutcome<P>| {
                matches!(outcome.finding.verdict, Verdict::Proven(_) | Verdict::Vacuous { .. })
            };
            if found.iter().all(is_denied) {
                return Err(InternalError::Contradiction);
            }
            outcomes.extend(found);
        } else {
            outcomes.extend(together.iter().map(|promise| shared.outcome(scenario, promise)));
        }
    }
    for promise in &alone {
        outcomes.push(by_itself(scenario, promise, options)?);
    }
    outcomes.sort_by_key(|outcome| wanted.iter().position(|promise| promise.property == outcome.finding.property));
    Ok(outcomes)
}

/// Judges the promises about endless runs, on one state graph.
fn in_the_end<P: Service>(
    scenario: &Scenario<P>,
    promises: &[&Promise],
    options: &Options,
) -> Result<Vec<CheckOutcome<P>>, InternalError> {
    if promises.is_empty() {
        return Ok(Vec::new());
    }
    let start = options.supervisor.microseconds();
    let judged = scenario.judging(|promise| promises.contains(&promise));
    let liveness = Liveness::build(judged, options)?;
    let (states, transitions) = liveness.counts();
    let mut outcomes = Vec::new();
    for promise in promises {
        let (violation, cut) = match liveness.judge(promise.property)? {
            Judgement::Kept => (None, liveness.cut.clone()),
            Judgement::Broken(trace) => (Some(*trace), liveness.cut.clone()),
            Judgement::CalledOff(by) => (None, Some(by)),
        };
        let (depth, marks) = (liveness.depth, liveness.marks);
        let reductions = Form::new(scenario, false).reductions();
        let is_violated = violation.is_some();
        let exploration = Exploration {
            states,
            transitions,
            depth,
            cut,
            marks,
            reductions,
            in_partial_order: false,
            takes_faults_late: false,
            is_without_covered: false,
            is_exact: options.exact,
            is_violated,
            violation,
            is_shortest: true,
        };
        let microseconds = options.supervisor.microseconds() - start;
        outcomes.push(TimedExploration { exploration, engine: "graph", microseconds }.outcome(scenario, promise));
    }
    Ok(outcomes)
}

/// What a search is expected to come to.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Sought {
    Proof,
    /// A shortest one.
    Violation,
}

/// Which messages a search leaves out. A message without a reaction may be due, and then its arrival is a step of a shortest violation; so it
/// is not left out where a violation is sought and the delay of messages is bounded.
fn unheard<P: Service>(scenario: &Scenario<P>, sought: Sought, options: &Options) -> Unheard {
    let is_never_due = scenario.synchrony.message_delay.is_none();
    let is_careless = scenario.is_mutated(CheckerMutation::ShortestIgnoresUnheard);
    match sought {
        _ if !options.leaves_out_unheard => Unheard::none(),
        Sought::Violation if !is_never_due && !is_careless => Unheard::none(),
        _ => Unheard::of(scenario),
    }
}

/// Whether a violation that a search for a proof finds is sought again, for each promise by itself: where several promises share the
/// search, or where it leaves messages out, so that its execution cannot be repeated step by step, or where it may not be a shortest.
fn is_again<P: Service>(scenario: &Scenario<P>, together: &[Promise], options: &Options) -> bool {
    let judged = scenario.judging(|promise| together.contains(promise));
    together.len() > 1
        || options.partial_order
        || unheard(&judged, Sought::Proof, options) != unheard(&judged, Sought::Violation, options)
}

/// Judges one promise in a search of its own, which finds a shortest violation.
fn by_itself<P: Service>(
    scenario: &Scenario<P>,
    promise: &Promise,
    options: &Options,
) -> Result<CheckOutcome<P>, InternalError> {
    let mut found = run(scenario, &[*promise], Sought::Violation, options)?;
    if let Some(trace) = found.exploration.violation.take() {
        let is_certain = !found.exploration.in_partial_order;
        let shown = if is_certain { (trace, true) } else { shortest(scenario, promise, trace, options)? };
        (found.exploration.violation, found.exploration.is_shortest) = (Some(shown.0), shown.1);
    }
    Ok(found.outcome(scenario, promise))
}

/// How many states a search for a shorter violation may expand for each state of an execution that is known, unless an option says so.
const STATES_FOR_A_STEP: u64 = 10_000;

/// A shortest violation, if a search of all actions up to the length of the one that is known finds one within its limits; or else the one that is
/// known, without steps that it does not need. And whether it is a shortest.
fn shortest<P: Service>(
    scenario: &Scenario<P>,
    promise: &Promise,
    known: Trace<P>,
    options: &Options,
) -> Result<(Trace<P>, bool), InternalError> {
    let steps = known.steps.len() as u64;
    let states = options.states_for_shortest.or(options.limits.states).unwrap_or(steps * STATES_FOR_A_STEP);
    let limits = Limits { states: Some(states), depth: Some(steps) };
    let store = options.store.as_ref().map(|store| store.below("_shortest"));
    let all = Options { limits, partial_order: false, store, peers: None, ..options.clone() };
    let searched = run(scenario, &[*promise], Sought::Violation, &all)?.exploration;
    if let Some(trace) = searched.violation {
        return Ok((trace, true));
    }
    let is_within = |by: &String| by.starts_with("--max-depth");
    if searched.cut.is_none_or(|by| is_within(&by)) {
        return Err(InternalError::Contradiction);
    }
    let least = leave_out_steps(&known, promise.property).map_err(|_| InternalError::NoViolation)?;
    Ok((least, scenario.is_mutated(CheckerMutation::LongCalledShortest)))
}

/// Where a search keeps its states, if not in the memory of this process: on disk each search of a check has a folder of its own.
fn elsewhere<P: Service>(
    judged: &Scenario<P>,
    promises: &[Promise],
    sought: Sought,
    (options, leaves_out_unheard): (&Options, bool),
) -> Result<Option<Elsewhere>, InternalError> {
    if options.store.is_none() && options.peers.is_none() {
        return Ok(None);
    }
    let name = match (sought, promises) {
        (Sought::Violation, [promise]) => promise.property.to_string(),
        _ => "together".to_owned(),
    };
    let identity = identity(judged, options, leaves_out_unheard);
    let store = options.store.as_ref().map(|store| store.below(&judged.name).below(&name));
    match (store, &options.peers) {
        (Some(store), None) => Ok(Some(Elsewhere::Store(store, identity.map_err(StoreError::Impossible)?))),
        (store, peers) => {
            let mut identity = identity.map_err(InternalError::Peers)?;
            let Limits { states, depth } = options.limits;
            let limit = |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
            let is_kept = if store.is_some() { "given" } else { "not given" }.to_owned();
            let more = [("the search", name), ("--workers", options.workers.to_string()), ("--store", is_kept)];
            identity.extend(more.map(|(question, answer)| (question.to_owned(), answer)));
            let limits = [("--max-states", limit(states)), ("--max-depth", limit(depth))];
            let limits = limits.map(|(question, answer)| (question.to_owned(), answer)).into();
            Ok(peers.clone().map(|peers| Elsewhere::Peers(peers, identity, limits, store)))
        }
    }
}

/// Refuses options that no search has together.
fn refuse(options: &Options) -> Result<(), InternalError> {
    let Options { store, peers, subsumption, exact, .. } = options;
    let (has_store, has_peers, is_ours) = (store.is_some(), peers.is_some(), options.engine == Engine::Dataflow);
    let on_disk = |reason: &str| InternalError::from(StoreError::Impossible(reason.to_owned()));
    let together = |reason: &str| InternalError::Peers(reason.to_owned());
    let covered = "which states cover others is looked up in memory: no search on disk leaves out covered ones";
    let refusals = [
        (!is_ours && has_store, on_disk("the engine of stateright keeps its states in memory")),
        (!is_ours && has_peers, together("the engine of stateright is one of a single process")),
        (*subsumption && has_store, on_disk(covered)),
        (*subsumption && has_peers, together("only a search of a single process leaves out covered states")),
        (*exact && !is_ours, InternalError::Inexact("the search of stateright")),
        (*exact && has_store, InternalError::Inexact("a search on disk")),
        (*exact && has_peers, InternalError::Inexact("a search of several processes")),
        (*exact && *subsumption, InternalError::Inexact("a search that leaves out covered states")),
    ];
    refusals.into_iter().find(|(is_asked, _)| *is_asked).map_or(Ok(()), |(_, refusal)| Err(refusal))
}

/// Explores a scenario in which these promises are judged.
fn run<P: Service>(
    scenario: &Scenario<P>,
    promises: &[Promise],
    sought: Sought,
    options: &Options,
) -> Result<TimedExploration<P>, InternalError> {
    let judged = scenario.judging(|promise| promises.contains(promise));
    let unheard = unheard(&judged, sought, options);
    let paths = match sought {
        Sought::Violation => Paths::Noted,
        Sought::Proof if is_again(scenario, promises, options) => Paths::Unwanted,
        Sought::Proof => Paths::SearchedAgain,
    };
    let start = options.supervisor.microseconds();
    let (order, late_faults) = match options.partial_order {
        true => (PartialOrder::of(&judged), LateFaults::of(&judged)),
        false => (PartialOrder::none(), LateFaults::none()),
    };
    let exploration = match options.engine {
        #[cfg(feature = "stateright")]
        Engine::Stateright => {
            let form = Form::new(&judged, options.symmetry).without(unheard).choosing(order, late_faults);
            crate::stateright::explore(
                &judged,
                form,
                options.limits,
                std::sync::Arc::clone(&options.supervisor),
                paths != Paths::Unwanted,
            )?
        }
        Engine::Dataflow => {
            let elsewhere = elsewhere(&judged, promises, sought, (options, unheard != Unheard::none()))?;
            let subsumption = if options.subsumption { Subsumption::of(&judged) } else { Subsumption::none() };
            let worlds = Worlds::new(judged, options.symmetry).without(unheard).with(order, late_faults);
            worlds.subsuming(subsumption).comparing(options.exact).explore_in(elsewhere, options, paths)?
        }
    };
    let microseconds = options.supervisor.microseconds() - start;
    Ok(TimedExploration { exploration, engine: options.engine.name(), microseconds })
}
