//! The set is closed: the initial world is in it, and each action of each world of it leads to one of it and violates no promise.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use fencepost_model::goal::{Goal, Reached};
use fencepost_model::monitor::Observed;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, Horizon};

use crate::AuditOptions;
use crate::certificate::{Certified, CertifiedWitness};
use crate::endless::EdgesOf;
use crate::witness::{apply, may_change_places};

/// How many worlds each thread checks before the caller is told.
const ROUND: usize = 4096;

/// Checks all of it, each thread a part, without the worlds that have been checked before. Returns, for each world, what proofs about
/// endless executions need.
pub(crate) fn check<S: Service>(
    certified: &Certified<S>,
    scenario: &Scenario<S>,
    options: &AuditOptions<'_>,
) -> Result<Vec<EdgesOf>, String> {
    let horizon = Horizon::of(scenario);
    let start = || leads_to(certified, horizon, scenario.observed(), certified.start);
    let orders = || {
        let start = certified.world(certified.start.0 as usize).expect("it is what the initial world leads to");
        let is_wrong = |witness: &CertifiedWitness| !may_change_places(scenario, &start, &witness.order);
        let wrong = certified.witnesses.iter().position(is_wrong);
        wrong.map_or(Ok(()), |number| Err(format!("by witness {number} clients change places that are not alike")))
    };
    guarded(start).and_then(|()| guarded(orders)).map_err(|why| format!("the initial world: {why}"))?;
    let of_world = |number: usize| {
        let check = || successors(certified, scenario, horizon, number);
        guarded(check).map_err(|why| format!("world {number}: {why}"))
    };
    let numbers: Vec<usize> = (options.from..certified.members.len()).collect();
    let mut edges = Vec::with_capacity(numbers.len());
    for round in numbers.chunks(ROUND * options.workers.max(1)) {
        let done: Vec<Result<Vec<EdgesOf>, String>> = thread::scope(|scope| {
            let check = |part: &[usize]| part.iter().map(|number| of_world(*number)).collect();
            let started: Vec<_> = round.chunks(ROUND).map(|part| scope.spawn(move || check(part))).collect();
            started.into_iter().map(|thread| thread.join().expect("panics are caught in it")).collect()
        });
        done.into_iter().try_for_each(|part| part.map(|part| edges.extend(part)))?;
        if edges.len() < numbers.len() {
            (options.tell)(options.from + edges.len());
        }
    }
    Ok(edges)
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
    let is_known = !scenario.has_reached(reached, Goal::LAP_CUT);
    is_known.then_some(reached).ok_or("a lap of a program is cut: what follows is not known".to_owned())
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
    let is_it = certified.world(member as usize).is_some_and(|world| world == state);
    is_it.then_some(()).ok_or_else(|| format!("under witness {witness} it is not world {member}"))
}
