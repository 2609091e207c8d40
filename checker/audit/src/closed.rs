//! The set is closed: the initial world is in it, and each action of each world of it leads to one of it and violates no promise.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use fencepost_model::goal::{Goal, Reached};
use fencepost_model::monitor::Observed;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, Horizon};

use crate::certificate::Certified;
use crate::endless::EdgesOf;
use crate::witness::apply;

/// Checks all of it, each thread a part. Returns, for each world, what the proofs about endless executions need.
pub(crate) fn check<S: Service>(
    certified: &Certified<S>,
    scenario: &Scenario<S>,
    workers: usize,
) -> Result<Vec<EdgesOf>, String> {
    let horizon = Horizon::of(scenario);
    let start = || leads_to(certified, horizon, scenario.observed(), certified.start);
    guarded(start).map_err(|why| format!("the initial world: {why}"))?;
    let of_world = |number: usize| {
        let check = || successors(certified, scenario, horizon, number);
        guarded(check).map_err(|why| format!("world {number}: {why}"))
    };
    let numbers: Vec<usize> = (0..certified.members.len()).collect();
    let parts = numbers.chunks(numbers.len().div_ceil(workers.max(1)).max(1));
    let done: Vec<Result<Vec<EdgesOf>, String>> = thread::scope(|scope| {
        let check = |part: &[usize]| part.iter().map(|number| of_world(*number)).collect();
        let started: Vec<_> = parts.map(|part| scope.spawn(move || check(part))).collect();
        started.into_iter().map(|thread| thread.join().expect("panics are caught in it")).collect()
    });
    Ok(done.into_iter().collect::<Result<Vec<_>, String>>()?.into_iter().flatten().collect())
}

/// A world that is none can make the model panic.
fn guarded<T>(check: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(format!("the model panics: {}", text.unwrap_or("it does not say why")))
    })
}

/// Checks every action of a world.
fn successors<S: Service>(
    certified: &Certified<S>,
    scenario: &Scenario<S>,
    horizon: Horizon,
    number: usize,
) -> Result<EdgesOf, String> {
    let world = certified.world(number).ok_or("it has parts that the certificate does not contain")?;
    let targets = &certified.members[number].targets;
    let mut actions: Vec<Action<S>> = Vec::new();
    scenario.enabled(&world, &mut actions);
    if actions.len() != targets.len() {
        let (actions, targets) = (actions.len(), targets.len());
        return Err(format!("{actions} actions are enabled, and it has {targets} transitions"));
    }
    let mut edges = EdgesOf::new(scenario, &world);
    for (action, target) in actions.iter().zip(targets) {
        let mut next = world.clone();
        let reached = take(scenario, &mut next, action)
            .and_then(|reached| leads_to(certified, horizon, next, *target).map(|()| reached))
            .map_err(|why| format!("“{action}”: {why}"))?;
        if !certified.endless.is_empty() {
            edges.push(certified, action, reached, target.0);
        }
    }
    Ok(edges)
}

/// Takes one step, which must violate no promise. Returns the goals that it reaches, and by that who enters.
fn take<S: Service>(scenario: &Scenario<S>, world: &mut Observed<S>, action: &Action<S>) -> Result<Reached, String> {
    let step = world.step(scenario, action);
    if let Some(violation) = step.violations.first() {
        return Err(format!("it violates `{}`: {}", violation.property, violation.message));
    }
    let reached = scenario.reached(&step.facts);
    match scenario.has_reached(reached, Goal::LAP_CUT) {
        true => Err("a lap of a program is cut: what follows is not known".to_owned()),
        false => Ok(reached),
    }
}

/// Whether a world is the given member, under the given witness.
fn leads_to<S: Service>(
    certified: &Certified<S>,
    horizon: Horizon,
    mut state: Observed<S>,
    (member, witness): (u32, u32),
) -> Result<(), String> {
    let witness_of = certified.witnesses.get(witness as usize).ok_or("its witness is missing")?;
    apply(witness_of, horizon, &mut state)?;
    match certified.world(member as usize).is_some_and(|world| world == state) {
        true => Ok(()),
        false => Err(format!("under witness {witness} it is not world {member}")),
    }
}
