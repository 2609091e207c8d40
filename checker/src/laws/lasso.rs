//! A counterexample without end, looked at step by step: its cycle leaves the promise open, and is fair. And state graphs that several
//! threads build, in memory or on disk.

use std::sync::Arc;

use fencepost_model::ids::ClientId;
use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::trace::{Trace, replay};
use fencepost_model::world::{Action, World};

use super::{LawViolation, expect, require};
use crate::check::check;
use crate::engine::SearchStore;
use crate::engine::disk::memory::MemoryFolder;
use crate::limits::Limits;
use crate::options::Options;

/// Larger state graphs take too long here.
const STATES_MAX: u64 = 6_000;

/// What can be seen on the cycle of a lasso: each world, and what is enabled in it.
struct Cycle<P: Service> {
    worlds: Vec<World<P>>,
    /// By shape, which is what fairness is about.
    enabled: Vec<Vec<Action<P>>>,
    taken: Vec<Action<P>>,
    /// The clients that enter on it.
    entered: Vec<ClientId>,
}

/// More threads than a small graph has states of a level, and fewer.
const WORKERS: [usize; 2] = [2, 5];

/// Limits of states.
const PARTS: [u64; 3] = [20, 100, 500];

/// Each lasso that a scenario's promises are broken by closes, leaves its promise open, and is fair. With more threads it is the same one, and
/// the state graph has as many states, transitions and levels; also if its edges are on disk. And a part
/// of the graph breaks no promise that the whole keeps.
pub(super) fn lassos_close<P: Service>(scenario: &Scenario<P>) -> Result<(), LawViolation> {
    let is_endless = |property: Property| {
        scenario
            .promises
            .iter()
            .any(|promise| promise.property == property && property.is_about_endless_runs(promise.bound))
    };
    if !Property::ALL.iter().any(|property| is_endless(*property)) {
        return Ok(());
    }
    let limits = Limits { states: Some(STATES_MAX), depth: None };
    let only_endless = scenario.judging(|promise| is_endless(promise.property));
    let found = |options: Options| expect(check(&only_endless, &Options { limits, ..options }));
    let outcomes = found(Options::default())?;
    for workers in WORKERS {
        let store = Some(SearchStore::of(Arc::new(MemoryFolder::default()), "a law".to_owned(), 0));
        for store in [None, store] {
            for (one, other) in outcomes.iter().zip(&found(Options { workers, store, ..Options::default() })?) {
                require(one.finding == other.finding && one.trace == other.trace, || {
                    format!("{}: {workers} threads come to something else than one", one.finding.property)
                })?;
            }
        }
    }
    for states in PARTS {
        let limits = Limits { states: Some(states), depth: None };
        let in_part = expect(check(&only_endless, &Options { limits, ..Options::default() }))?;
        for (part, whole) in in_part.iter().zip(&outcomes) {
            let (part, whole) = (part.finding.verdict.word(), whole.finding.verdict.word());
            require(part != "violated" || part == whole || whole == "bounded", || {
                format!("{part} in a part of {states} states, and {whole} in the whole graph")
            })?;
        }
    }
    for outcome in &outcomes {
        let Some(trace) = &outcome.trace else { continue };
        let trace = replay(trace).map_err(|mismatch| LawViolation(mismatch.to_string()))?;
        let property = outcome.finding.property;
        let cycle = Cycle::of(scenario, &trace);
        require(cycle.is_open(scenario, property), || format!("{property} does not stay open on the cycle"))?;
        cycle
            .is_fair(scenario)
            .map_err(|action| LawViolation(format!("{property}: the cycle is not fair: {action}")))?;
    }
    Ok(())
}

impl<P: Service> Cycle<P> {
    fn of(scenario: &Scenario<P>, trace: &Trace<P>) -> Self {
        let from = trace.header.lasso.as_ref().map_or(0, |lasso| lasso.from);
        let mut cycle = Cycle { worlds: Vec::new(), enabled: Vec::new(), taken: Vec::new(), entered: Vec::new() };
        let mut world = scenario.observed();
        let mut enabled = Vec::new();
        for (place, line) in trace.steps.iter().enumerate() {
            if place >= from {
                cycle.look(scenario, &world, &mut enabled);
                cycle.taken.push(line.action.shape());
            }
            let step = world.step(scenario, &line.action);
            for fact in step.facts.iter().filter(|_| place >= from) {
                if let fencepost_model::fact::Fact::Entered { client, .. } = fact {
                    cycle.entered.push(*client);
                }
            }
        }
        if from == trace.steps.len() {
            cycle.look(scenario, &world, &mut enabled);
        }
        cycle
    }

    fn look(&mut self, scenario: &Scenario<P>, world: &World<P>, enabled: &mut Vec<Action<P>>) {
        scenario.enabled(world, enabled);
        self.enabled.push(enabled.iter().map(Action::shape).collect());
        self.worlds.push(world.clone());
    }

    /// Whether some client waits all the time, and for `eventually-acquired` there is room all the time.
    fn is_open(&self, scenario: &Scenario<P>, property: Property) -> bool {
        if property == Property::EventuallyAcquired {
            let waits = |world: &World<P>| world.waiting().next().is_some() && world.has_room(scenario);
            return self.entered.is_empty() && self.worlds.iter().all(waits);
        }
        if property == Property::EveryItemHandled {
            return self.worlds.iter().all(|world| !world.unhandled(scenario).is_empty());
        }
        let waits = |client: &ClientId| self.worlds.iter().all(|world| world.waiting().any(|other| other == *client));
        let mut clients = (0..usize::from(scenario.clients)).map(ClientId::of);
        clients.any(|client| waits(&client) && !self.entered.contains(&client))
    }

    /// The error is an action that is put off for ever and must not be.
    fn is_fair(&self, scenario: &Scenario<P>) -> Result<(), Action<P>> {
        let fairness = &scenario.fairness;
        let is_weak = |action: &Action<P>| fairness.weak.contains(&action.kind());
        let is_strong = |action: &Action<P>| fairness.strong.contains(&action.kind());
        // Where nothing is enabled at all the execution ends.
        let ends = self.taken.is_empty() && self.enabled.iter().all(Vec::is_empty);
        let mut ever: Vec<Action<P>> = self.enabled.iter().flatten().copied().collect();
        ever.sort_unstable();
        ever.dedup();
        for action in ever.iter().filter(|action| !self.taken.contains(action)) {
            let always = self.enabled.iter().all(|enabled| enabled.contains(action));
            if is_strong(action) || is_weak(action) && always {
                return Err(*action);
            }
        }
        let advance = Action::Advance(fencepost_model::time::Ticks::ZERO);
        let passes = ends || self.taken.contains(&advance) || !(is_weak(&advance) || is_strong(&advance));
        if passes { Ok(()) } else { Err(advance) }
    }
}
