//! Losses and pauses as late as possible: on random walks, what is left out commutes with whatever can follow it, and time does not need it to pass;
//! and in whole searches, violations are as short.

use fencepost_model::laws::{after, pick};
use fencepost_model::monitor::Observed;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::Ticks;
use fencepost_model::world::{Action, Fault};

use super::subsumption::like;
use super::{LawViolation, expect, require, violated};
use crate::engine::Paths;
use crate::limits::Limits;
use crate::options::Options;
use crate::outcome::Exploration;
use crate::reduction::{Form, LateFaults, PartialOrder};
use crate::worlds::Worlds;

/// Larger scenarios take too long here.
const STATES_MAX: u64 = 6_000;

/// A loss or a pause that is left out states nothing. Whatever can follow it can be taken before it, with the same facts and the same violations, and
/// both orders lead to the same world; where time can pass after it and other losses and pauses, it can pass after those others alone.
///
/// # Errors
/// One that makes a difference.
pub(super) fn late_faults_are_not_needed_before<S: Service>(
    scenario: &Scenario<S>,
    choices: &[u16],
) -> Result<(), LawViolation> {
    let late = LateFaults::of(scenario);
    if late.is_none() {
        return Ok(());
    }
    let form = Form::new(scenario, false);
    let mut world = form.start(scenario);
    let (mut enabled, mut explored) = (Vec::new(), Vec::new());
    for choice in choices {
        scenario.enabled(&world, &mut enabled);
        explored.clone_from(&enabled);
        late.leave_out(scenario, &world, &mut explored);
        for fault in enabled.iter().filter(|action| !explored.contains(action)) {
            look(scenario, &form, &world, fault)?;
        }
        let Some(action) = pick(&enabled, *choice) else { break };
        world = form.of(after(scenario, &world, action).0);
    }
    Ok(())
}

/// The same of one loss or pause.
fn look<S: Service>(
    scenario: &Scenario<S>,
    form: &Form,
    world: &Observed<S>,
    fault: &Action<S>,
) -> Result<(), LawViolation> {
    let (struck, step) = after(scenario, world, fault);
    require(step.facts.is_empty() && step.violations.is_empty(), || format!("{fault}: it is seen"))?;
    if lets_time_pass(scenario, world, &struck) {
        return Err(LawViolation(format!("{fault}: it lets time pass")));
    }
    let mut enabled = Vec::new();
    scenario.enabled(&struck, &mut enabled);
    for action in &enabled {
        if is_end_of(action, fault) {
            continue;
        }
        let same = like(action, world).filter(|same| scenario.is_enabled(world, same));
        let Some(same) = same else {
            return Err(LawViolation(format!("{fault}: it lets {action} happen")));
        };
        let ((one, then), (other, now)) = (after(scenario, &struck, action), after(scenario, world, &same));
        require(then.facts == now.facts, || format!("{fault}: it changes the facts of {action}"))?;
        require(violated(&then) == violated(&now), || format!("{fault}: it changes what {action} violates"))?;
        let later = like(fault, &other).filter(|later| scenario.is_enabled(&other, later));
        let other = match (later, fault) {
            (Some(later), _) => after(scenario, &other, &later).0,
            (None, Action::Lose(_)) => {
                // The message was lost at a cut: more is left of the budget.
                let mut other = other;
                other.world.left = one.left;
                other
            }
            (None, _) => return Err(LawViolation(format!("{action}: it prevents {fault}"))),
        };
        require(*form.of(one) == *form.of(other), || format!("{fault}, and {action}: their order counts"))?;
    }
    Ok(())
}

/// Whether time can pass after a fault and some other losses and pauses, but not after those others alone.
fn lets_time_pass<S: Service>(scenario: &Scenario<S>, world: &Observed<S>, struck: &Observed<S>) -> bool {
    let passes = |world: &Observed<S>| scenario.is_enabled(world, &Action::Advance(Ticks::new(1)));
    if passes(world) {
        return false;
    }
    if passes(struck) {
        return true;
    }
    let mut enabled = Vec::new();
    scenario.enabled(struck, &mut enabled);
    enabled.iter().filter(|action| is_late(action)).any(|action| {
        let same = like(action, world).filter(|same| scenario.is_enabled(world, same));
        same.is_some_and(|same| {
            lets_time_pass(scenario, &after(scenario, world, &same).0, &after(scenario, struck, action).0)
        })
    })
}

/// Whether it is a loss or a pause.
fn is_late<S: Service>(action: &Action<S>) -> bool {
    matches!(action, Action::Lose(_) | Action::Fault(Fault::Pause(_)))
}

/// Whether an action ends the pause: the two together are no steps at all.
fn is_end_of<S: Service>(action: &Action<S>, fault: &Action<S>) -> bool {
    matches!((action, fault), (Action::Fault(Fault::Resume(one)), Action::Fault(Fault::Pause(other))) if one == other)
}

/// A shortest violation is as long where losses and pauses are left out, and the same goals and kinds of actions are seen.
pub(super) fn violations_are_as_short<S: Service>(scenario: &Scenario<S>) -> Result<(), LawViolation> {
    for promise in scenario.promises.iter().filter(|promise| !promise.property.is_about_endless_runs(promise.bound)) {
        let judged = scenario.judging(|other| other == promise);
        let late = LateFaults::of(&judged);
        let by = |late_faults| {
            let limits = Limits { states: Some(STATES_MAX), depth: None };
            let worlds = Worlds::new(judged.clone(), false).with(PartialOrder::none(), late_faults);
            expect(worlds.explore(&Options { limits, ..Options::default() }, Paths::Noted))
        };
        if late.is_none() {
            continue;
        }
        let (all, some) = (by(LateFaults::none())?, by(late)?);
        if all.cut.is_some() {
            continue;
        }
        let length = |found: &Exploration<S>| found.violation.as_ref().map(|trace| trace.steps.len());
        require(length(&some) == length(&all), || {
            format!("{}: {:?} steps to a violation, and {:?}", promise.property, length(&some), length(&all))
        })?;
        require(all.is_violated || some.marks == all.marks, || format!("{}: other goals", promise.property))?;
    }
    Ok(())
}
