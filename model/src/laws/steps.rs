//! Laws of steps: `enabled` and `is_enabled` agree, budgets are kept, and faults have the effect that their names
//! state.

use super::walk::{after, pick, walk};
use super::{LawViolation, require};
use crate::action_kind::ActionKind;
use crate::ids::ProcessId;
use crate::process::Process;
use crate::scenario::{Budget, Cutting, Drift, Replies, Scenario, UNLIMITED};
use crate::service::{Service, Settings as _};
use crate::service_fault::ServiceFault;
use crate::time::Ticks;
use crate::world::{Action, Condition, Envelope, Fault, Link, Step, World};

/// `is_enabled` agrees with `enabled` on every action of every step of the walk.
///
/// # Errors
/// An action on which the two differ.
pub fn enabled_and_is_enabled_agree<P: Service>(scenario: &Scenario<P>, choices: &[u16]) -> Result<(), LawViolation> {
    let mut anywhere = Vec::new();
    walk(scenario, choices, |_, enabled| {
        anywhere.extend(enabled.iter().copied());
        Ok(())
    })?;
    anywhere.sort_unstable();
    anywhere.dedup();
    walk(scenario, choices, |world, enabled| {
        let under_way = world.network.iter().map(|envelope| Action::Deliver(*envelope));
        for action in anywhere.iter().copied().chain(under_way) {
            require(scenario.is_enabled(world, &action) == enabled.contains(&action), || {
                format!("`enabled` and `is_enabled` differ: {action}")
            })?;
        }
        Ok(())
    })
}

/// No kind of fault happens more often than its budget allows.
///
/// # Errors
/// A kind of fault that has exceeded its budget.
pub fn budgets_are_kept<P: Service>(scenario: &Scenario<P>, choices: &[u16]) -> Result<(), LawViolation> {
    let budgets = budgets(&scenario.budget);
    let mut taken = vec![0_usize; ActionKind::ALL.len()];
    let mut service_faults = Vec::new();
    let mut world = scenario.observed();
    let mut enabled = Vec::new();
    for choice in choices {
        scenario.enabled(&world, &mut enabled);
        let Some(action) = pick(&enabled, *choice) else { break };
        taken[action.kind() as usize] += match action {
            Action::Operator(operator_action) => usize::from(scenario.service.operator_cost(*operator_action)),
            _ => 1,
        };
        service_faults.extend(service_fault(action));
        for cap in scenario.budget.caps().filter(|cap| cap.at_most != UNLIMITED) {
            let count = service_faults.iter().filter(|kind| cap.counts(**kind)).count();
            require(count <= usize::from(cap.at_most), || format!("{count} faults of {cap:?}"))?;
        }
        let budget = budgets.iter().find(|(kind, _)| *kind == action.kind()).map(|(_, budget)| usize::from(*budget));
        let count = taken[action.kind() as usize];
        require(budget.is_none_or(|budget| count <= budget), || {
            format!("{count} × {}, and the budget is {}", action.kind(), budget.unwrap_or_default())
        })?;
        // The step comes last: a step beyond the budget panics where arithmetic is checked.
        world.step(scenario, action);
    }
    Ok(())
}

/// How often each kind of fault of the kernel may happen.
fn budgets(budget: &Budget) -> [(ActionKind, u8); 9] {
    let Budget { losses, duplicates, crashes, restarts, pauses, cuts, slips, operator, resource_restarts, .. } =
        *budget;
    [
        (ActionKind::Lose, losses),
        (ActionKind::Duplicate, duplicates),
        (ActionKind::Crash, crashes),
        (ActionKind::Restart, restarts),
        (ActionKind::Pause, pauses),
        (ActionKind::Cut, cuts),
        (ActionKind::Slip, slips),
        (ActionKind::Operator, operator),
        (ActionKind::ResourceRestart, resource_restarts),
    ]
}

/// The index of a service's fault among its kinds.
fn service_fault<P: Service>(action: &Action<P>) -> Option<usize> {
    match action {
        Action::Fault(Fault::Service(fault)) => fault.kind(),
        _ => None,
    }
}

/// Each fault has the effect that its name states, and a process that is down or paused does nothing.
///
/// # Errors
/// A fault without its effect, or an action of a process that is down or paused.
pub fn faults_have_their_effect<P: Service>(scenario: &Scenario<P>, choices: &[u16]) -> Result<(), LawViolation> {
    walk(scenario, choices, |world, enabled| {
        let ends = |fault| enabled.contains(&Action::Fault(fault));
        for process in world.processes().filter(|process| world.condition(*process) == Condition::Paused) {
            require(ends(Fault::Resume(process)), || format!("{process} is paused for ever"))?;
        }
        for link in &world.cuts {
            require(ends(Fault::Heal(*link)), || "a link is cut for ever".to_owned())?;
        }
        slips_stay_within_bounds(scenario, world, enabled)?;
        time_waits_for_what_presses(scenario, world, enabled)?;
        for action in enabled {
            takes_part(scenario, world, action)?;
            let (next, step) = after(scenario, world, action);
            has_its_effect(scenario, world, action, &next)?;
            answers_take_no_time(scenario, &next, action, &step)?;
        }
        Ok(())
    })
}

/// Only a process that is up acts, and no message arrives over a cut link.
fn takes_part<P: Service>(scenario: &Scenario<P>, world: &World<P>, action: &Action<P>) -> Result<(), LawViolation> {
    let actor = match action {
        Action::Command { client, .. } => Some((*client).into()),
        Action::Wake { process, .. } | Action::Choose { process, .. } => Some(*process),
        _ => None,
    };
    let is_up = actor.is_none_or(|actor| world.condition(actor) == Condition::Up);
    require(is_up, || format!("a process acts while it is down or paused: {action}"))?;
    if let Action::Deliver(envelope) = action {
        require(world.condition(envelope.to) != Condition::Paused, || format!("a paused process hears: {action}"))?;
        require(!world.is_cut(envelope.link(), scenario), || format!("a cut link delivers: {action}"))?;
    }
    Ok(())
}

fn has_its_effect<P: Service>(
    scenario: &Scenario<P>,
    world: &World<P>,
    action: &Action<P>,
    next: &World<P>,
) -> Result<(), LawViolation> {
    let count = |world: &World<P>, wanted: &Envelope<P>| {
        world.network.iter().filter(|envelope| envelope.is_like(wanted)).count()
    };
    let is_lossy = scenario.network.cuts == Cutting::Drop;
    let is_done = match action {
        Action::Lose(envelope) => count(next, envelope) + 1 == count(world, envelope),
        Action::Duplicate(envelope) => {
            let is_lost = is_lossy && world.is_cut(envelope.link(), scenario);
            is_lost || count(next, envelope) == count(world, envelope) + 1
        }
        Action::Slip { process, by } => {
            let moved = (next.skew(*process) - scenario.clocks.offset(*process)).count().abs();
            next.skew(*process) == world.skew(*process) + *by && moved <= scenario.clocks.skew.count()
        }
        Action::Fault(Fault::Crash(client)) => {
            let host = &next.clients[client.place()];
            let before = &world.clients[client.place()].process;
            host.condition == Condition::Down && host.process == before.restarted(scenario)
        }
        Action::Fault(Fault::Restart(client)) => next.condition((*client).into()) == Condition::Up,
        Action::Fault(Fault::Pause(process)) => next.condition(*process) == Condition::Paused,
        Action::Fault(Fault::Resume(process)) => next.condition(*process) == Condition::Up,
        Action::Fault(Fault::Cut(link)) => {
            let leaks = is_lossy && next.network.iter().any(|envelope| next.is_cut(envelope.link(), scenario));
            next.is_cut(*link, scenario) && !leaks
        }
        Action::Fault(Fault::Heal(link)) => !next.cuts.contains(link),
        Action::Fault(Fault::RestartResource) => next.resource == world.resource.restarted(),
        _ => true,
    };
    require(is_done, || format!("a fault without its effect: {action}"))
}

/// Where responses take no time, no response is in flight to a client that has just sent a request and can receive it.
fn answers_take_no_time<P: Service>(
    scenario: &Scenario<P>,
    next: &World<P>,
    action: &Action<P>,
    step: &Step<P>,
) -> Result<(), LawViolation> {
    let Action::Deliver(asked) = action else { return Ok(()) };
    let back = Link { from: asked.to, to: asked.from };
    let can_hear = asked.from.client().is_some() && next.condition(asked.from) == Condition::Up;
    if scenario.network.replies == Replies::Travel || !can_hear || next.is_cut(back, scenario) {
        return Ok(());
    }
    let travels = step.sent.iter().any(|envelope| envelope.link() == back);
    require(!travels, || format!("a response is in flight: {action}"))
}

/// A clock may jump as far as its bound allows, from where it starts, and no further.
fn slips_stay_within_bounds<P: Service>(
    scenario: &Scenario<P>,
    world: &World<P>,
    enabled: &[Action<P>],
) -> Result<(), LawViolation> {
    let clocks = &scenario.clocks;
    for process in world.processes() {
        for by in [clocks.step, clocks.step.times(-1)] {
            let moved = (world.skew(process) + by - clocks.offset(process)).count();
            let may_drift = clocks.drift == Drift::Any || process.client().is_some() && by < Ticks::ZERO;
            let may = world.left.slips > 0 && may_drift && moved.abs() <= clocks.skew.count();
            let slip = Action::Slip { process, by };
            require(enabled.contains(&slip) == may, || format!("a clock jump disagrees with its bound: {slip}"))?;
        }
    }
    Ok(())
}

/// Time passes unless it would make a message or a deadline later than its bound. Bounds do not apply to a paused
/// receiver, a cut link, or a process that is down or paused.
fn time_waits_for_what_presses<P: Service>(
    scenario: &Scenario<P>,
    world: &World<P>,
    enabled: &[Action<P>],
) -> Result<(), LawViolation> {
    let mut presses = P::server_deadline(&world.server.process, &scenario.service)
        .is_some_and(|at| at <= world.clock(ProcessId::Server));
    for envelope in world.network.iter() {
        let is_excused = world.condition(envelope.to) == Condition::Paused || world.is_cut(envelope.link(), scenario);
        presses |= !is_excused && envelope.due.is_some_and(|due| due.is_due(world.now));
    }
    for process in world.processes().filter(|process| world.condition(*process) == Condition::Up) {
        let bounds = &scenario.synchrony;
        let late = if process.client().is_some() { bounds.wake_delay } else { bounds.server_delay };
        world.wakes(scenario, process, &mut |_, due| {
            presses |= late.is_some_and(|late| due + late <= world.now);
        });
    }
    let passes = enabled.iter().any(|action| matches!(action, Action::Advance(_)));
    require(passes != presses, || {
        format!("time {} against the bounds on delays", if passes { "passes" } else { "waits" })
    })
}
