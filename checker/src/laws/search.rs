//! Laws of a search: limits, fingerprints, counterexamples. Each is checked on scenarios that are small.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fencepost_model::finding::Finding;
use fencepost_model::goal::Goal;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::trace::replay;

use super::{LawViolation, expect, require};
use crate::check::check;
use crate::limits::{Limits, Progress, Supervisor};
use crate::options::{Engine, Options};
use crate::outcome::CheckOutcome;
use crate::reduction::Form;
use crate::worlds::Worlds;

/// Scenarios with more states than this take too long here.
const STATES_MAX: u64 = 3_000;

fn found<P: Service>(scenario: &Scenario<P>, options: &Options) -> Result<Vec<CheckOutcome<P>>, LawViolation> {
    expect(check(scenario, options))
}

/// A search that does not take long.
fn quick() -> Options {
    Options { limits: Limits { states: Some(STATES_MAX), depth: None }, symmetry: false, ..Options::default() }
}

/// Calls a search off at once.
struct Off(AtomicU64);

impl Supervisor for Off {
    fn stop(&self, _: &Progress) -> Option<String> {
        self.0.fetch_add(1, Relaxed);
        Some("the supervisor".to_owned())
    }

    fn microseconds(&self) -> u64 {
        0
    }
}

/// A cut search says neither proven nor vacuous; a limit that is just large enough cuts nothing, and one less cuts. How large
/// that is, is found without the model's help: by the states and levels that stateright counts.
pub(super) fn limits_are_told<P: Service>(scenario: &Scenario<P>) -> Result<(), LawViolation> {
    for promise in &scenario.promises {
        // One promise at a time: several may share a search.
        let only = Some(promise.property);
        let whole = found(scenario, &Options { only, engine: Engine::Stateright, ..quick() })?.remove(0);
        let own = found(scenario, &Options { only, ..quick() })?.remove(0);
        let Finding { property, states, depth, ref verdict, .. } = whole.finding;
        if !matches!(verdict.word(), "proven" | "vacuous") || states < 3 || depth < 3 {
            continue;
        }
        let with = |limits: Limits, workers: usize| {
            let options = Options { only, limits, workers, symmetry: false, ..Options::default() };
            found(scenario, &options).map(|mut outcomes| outcomes.remove(0).finding)
        };
        let limits = |states, depth| Limits { states, depth };
        for workers in [1, 2] {
            for limit in [limits(Some(states - 1), None), limits(Some(1), None), limits(None, Some(depth - 1))] {
                let word = with(limit, workers)?.verdict.word();
                require(word == "bounded", || format!("{property} is {word} although the search was cut: {limit:?}"))?;
            }
            let exact = with(limits(Some(states), Some(depth)), workers)?;
            require(exact.verdict.word() == own.finding.verdict.word(), || {
                format!("{property} is {} within limits that cut nothing", exact.verdict.word())
            })?;
        }
        let supervisor = Arc::new(Off(AtomicU64::new(0)));
        let stopped = Arc::clone(&supervisor) as Arc<dyn Supervisor>;
        let options = Options { only, supervisor: stopped, symmetry: false, ..Options::default() };
        let word = found(scenario, &options)?.remove(0).finding.verdict.word();
        require(word == "bounded" || supervisor.0.load(Relaxed) == 0, || {
            format!("{property} is {word} although the search was called off")
        })?;
    }
    Ok(())
}

/// A proof asks for its goals: no scenario reaches all there are.
pub(super) fn proofs_reach_their_goals<P: Service>(scenario: &Scenario<P>) -> Result<(), LawViolation> {
    let asked = Scenario { goals: Goal::KERNEL.iter().chain(P::GOALS).copied().collect(), ..scenario.clone() };
    for outcome in found(&asked, &quick())? {
        let Finding { property, verdict, .. } = outcome.finding;
        require(verdict.word() != "proven", || {
            format!("{property} is proven although no execution reaches every goal")
        })?;
    }
    Ok(())
}

/// Different states have different fingerprints: every state within reach is compared in full.
pub(super) fn fingerprints_differ<P: Service>(scenario: &Scenario<P>) -> Result<(), LawViolation> {
    let form = Form::new(scenario, false);
    let space = Worlds::new(scenario.clone(), false);
    let start = form.start(scenario);
    // Sorted by fingerprint.
    let mut seen = vec![(space.fingerprint_of(&start), start.clone())];
    let mut open = vec![start];
    let mut actions = Vec::new();
    while let Some(world) = open.pop() {
        scenario.enabled(&world, &mut actions);
        for action in &actions {
            let mut next = fencepost_model::monitor::Observed::clone(&world);
            next.step(scenario, action);
            let next = form.of(next);
            let fingerprint = space.fingerprint_of(&next);
            match seen.binary_search_by_key(&fingerprint, |(known, _)| *known) {
                Ok(place) => {
                    let (_, known) = &seen[place];
                    require(**known == *next, || format!("two states have the fingerprint {fingerprint:x}"))?
                }
                Err(place) => {
                    seen.insert(place, (fingerprint, next.clone()));
                    open.push(next);
                }
            }
        }
        if seen.len() as u64 > STATES_MAX {
            break;
        }
    }
    Ok(())
}

/// Each counterexample replays, breaks the promise with its last step and no sooner, and is as long as stateright's; and a
/// search with two workers finds the same one.
pub(super) fn counterexamples_are_shortest<P: Service>(scenario: &Scenario<P>) -> Result<(), LawViolation> {
    let own = found(scenario, &quick())?;
    let two = found(scenario, &Options { workers: 2, ..quick() })?;
    let other = found(scenario, &Options { engine: Engine::Stateright, ..quick() })?;
    for ((one, two), other) in own.iter().zip(&two).zip(&other) {
        let (finding, property) = (&one.finding, one.finding.property);
        if other.finding.verdict.word() == "bounded" || finding.verdict.word() == "bounded" {
            continue;
        }
        require(one.trace == two.trace, || format!("{property}: two workers find another counterexample"))?;
        let steps = |finding: &Finding| finding.verdict.story().map(|story| story.steps.len());
        require(steps(finding) == steps(&other.finding), || {
            format!("{property}: {:?} steps, and {:?} by stateright", steps(finding), steps(&other.finding))
        })?;
        let Some(trace) = &one.trace else { continue };
        let again = replay(trace).map_err(|mismatch| LawViolation(mismatch.to_string()))?;
        if again.header.lasso.is_some() {
            continue;
        }
        let broken = |line: &fencepost_model::trace::TraceStep<P>| {
            line.violations.iter().any(|violation| violation.property == property)
        };
        let first = again.steps.iter().position(broken);
        require(first.is_some_and(|first| first + 1 == again.steps.len()), || {
            format!("{property}: the counterexample does not end with its first violation")
        })?;
    }
    Ok(())
}
