//! A schedule is checked by the model: in real time, counted in milliseconds, the same steps are an execution, with the same facts
//! and the same violations; and no step at the server comes near a deadline of the server.

use fencepost_model::finding::Violation;
use fencepost_model::ids::ProcessId;
use fencepost_model::scenario::{Scenario, Synchrony};
use fencepost_model::time::Ticks;
use fencepost_model::trace::Trace;
use fencepost_model::world::{Action, World};

use super::event::{AtServer, PlannedStep};
use super::solve::{Pace, Schedule};
use super::twin::refined;
use crate::driven::Driven;

/// Repeats the execution by the schedule.
pub(super) fn verify<S: Driven>(trace: &Trace<S>, steps: &[PlannedStep<S>], schedule: &Schedule) -> Result<(), String> {
    let scenario = in_milliseconds(&trace.header.scenario, schedule);
    let mut world = scenario.observed();
    let lines = trace.steps.iter().filter(|line| !matches!(line.action, Action::Advance(_)));
    let mut now = 0;
    // By when what the server has done by itself is done.
    let mut settled = 0;
    for (line, step) in lines.zip(steps) {
        let at = |what: String| format!("step {} ({}) at {now} ms: {what}", step.number, step.label);
        let passes = schedule.at[step.start] - now;
        if passes > 0 {
            let advance = Action::Advance(Ticks::new(passes));
            if !scenario.is_enabled(&world, &advance) {
                return Err(at(format!("{passes} ms may not pass")));
            }
            world.step(&scenario, &advance);
            now = schedule.at[step.start];
        }
        let at = |what: &str| format!("step {} ({}) at {now} ms {what}", step.number, step.label);
        if step.event.is_from_outside() && (now < settled || room(&scenario, &world) < schedule.pace.server) {
            return Err(at("is too near to a deadline of the server"));
        }
        let action = refined(&line.action, &world, schedule.tick);
        if !scenario.is_enabled(&world, &action) {
            return Err(at("is not possible"));
        }
        if let AtServer::Fires(_) = step.event {
            let Pace { server, lateness, .. } = schedule.pace;
            settled = now + room(&scenario, &world).min(0) + server + lateness;
        }
        let happened = world.step(&scenario, &action);
        let facts: Vec<String> = happened.facts.iter().map(ToString::to_string).collect();
        if facts != line.facts {
            return Err(at(&format!("has other facts: {}", facts.join("; "))));
        }
        let broken = |violations: &[Violation]| violations.iter().map(|one| one.property).collect::<Vec<_>>();
        if broken(&happened.violations) != broken(&line.violations) {
            return Err(at("violates other promises"));
        }
    }
    Ok(())
}

/// The scenario with ticks of a millisecond. Nothing takes no time: a delay that is none is a short one.
fn in_milliseconds<S: Driven>(scenario: &Scenario<S>, schedule: &Schedule) -> Scenario<S> {
    let mut scenario = scenario.refined(schedule.tick);
    let Synchrony { message_delay, wake_delay, server_delay } = &mut scenario.synchrony;
    for delay in [message_delay, wake_delay, server_delay].into_iter().flatten() {
        *delay = (*delay).max(Ticks::new(schedule.pace.prompt));
    }
    scenario
}

/// The time until the first timer fires whose time others can tell; negative if it is late.
fn room<S: Driven>(scenario: &Scenario<S>, world: &World<S>) -> i64 {
    let mut room = i64::MAX;
    world.wakes(scenario, ProcessId::Server, &mut |timer, due| {
        let fires = S::at_server(&Action::Wake { process: ProcessId::Server, timer });
        if let (AtServer::Fires(_), Some(late)) = (fires, S::lateness(scenario, world, timer)) {
            room = room.min((due + late - world.now).count());
        }
    });
    room
}
