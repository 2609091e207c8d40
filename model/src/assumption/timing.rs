//! Checks of the assumptions about messages, wake-ups and clocks.

use super::{Execution, Moment};
use crate::ids::ProcessId;
use crate::process::Process;
use crate::scenario::Scenario;
use crate::service::Service;
use crate::time::{Instant, Ticks};
use crate::world::{Action, Condition, Envelope, Link, World};

type Checked = Result<(), String>;

/// Messages in flight, each with the instant at which it was sent. The check counts them itself and does not read them
/// from the world.
struct UnderWay<P: Service>(Vec<(Envelope<P>, Instant)>);

impl<P: Service> UnderWay<P> {
    fn follow(&mut self, moment: &Moment<'_, P>) {
        if let Action::Deliver(envelope) | Action::Lose(envelope) = moment.action {
            self.end(envelope);
        }
        self.0.extend(moment.step.sent.iter().map(|envelope| (*envelope, moment.before.now)));
        moment.step.dropped.iter().for_each(|envelope| self.end(envelope));
    }

    fn end(&mut self, envelope: &Envelope<P>) {
        if let Some(place) = self.0.iter().position(|(other, _)| other == envelope) {
            self.0.remove(place);
        }
    }
}

/// No time passes while a message has been in flight for longer than the bound, unless its receiver is paused or its
/// link is cut.
///
/// # Errors
/// A sentence that names such a message.
pub fn messages_arrive_within<P: Service>(execution: &Execution<P>, bound: Ticks) -> Checked {
    let mut under_way = UnderWay(Vec::new());
    execution.each(|moment| {
        if matches!(moment.action, Action::Advance(_)) {
            for (envelope, sent) in &under_way.0 {
                let is_paused = moment.before.condition(envelope.to) == Condition::Paused;
                let is_excused = is_paused || moment.before.is_cut(envelope.link(), &execution.scenario);
                if !is_excused && moment.after.now - *sent > bound {
                    return Err(format!("a message is under way for {}", moment.after.now - *sent));
                }
            }
        }
        under_way.follow(moment);
        Ok(())
    })
}

/// A client receives the response in the step in which the server sends it.
pub(super) fn answers_are_instant<P: Service>(execution: &Execution<P>) -> Checked {
    execution.each(|moment| {
        let Action::Deliver(Envelope { from: caller, to: peer, .. }) = *moment.action else { return Ok(()) };
        let back = Link { from: peer, to: caller };
        let hears = caller.client().is_some()
            && moment.before.condition(caller) == Condition::Up
            && !moment.before.is_cut(back, &execution.scenario);
        match hears && moment.step.sent.iter().any(|envelope| envelope.link() == back) {
            true => Err("its answer travels".to_owned()),
            false => Ok(()),
        }
    })
}

/// No time passes while a deadline of such a process is overdue by more than the bound.
pub(super) fn wakes_are_late_by<P: Service>(
    execution: &Execution<P>,
    bound: Ticks,
    is_meant: fn(ProcessId) -> bool,
) -> Checked {
    execution.each(|moment| {
        if !matches!(moment.action, Action::Advance(_)) {
            return Ok(());
        }
        let takes_part = |process: &ProcessId| moment.before.condition(*process) == Condition::Up;
        let mut found = Ok(());
        for process in moment.before.processes().filter(|process| is_meant(*process)).filter(takes_part) {
            each_deadline(&execution.scenario, moment.before, process, &mut |name, due| {
                if found.is_ok() && moment.after.now - due > bound {
                    found = Err(format!("{process}, {name}, is late by {}", moment.after.now - due));
                }
            });
        }
        found
    })
}

/// Each deadline of a process, with the true instant from which it may fire.
fn each_deadline<P: Service>(
    scenario: &Scenario<P>,
    world: &World<P>,
    process: ProcessId,
    due: &mut dyn FnMut(String, Instant),
) {
    let skew = world.skew(process);
    let mut name = |timer: P::Timer, at: Instant| due(timer.to_string(), at - skew);
    match process {
        ProcessId::Client(client) => world.clients[client.place()].process.wakes(scenario, &mut name),
        ProcessId::Server => world.server.process.wakes(scenario, &mut name),
        ProcessId::Resource => {}
    }
}

/// No clock is further than the bound from where it started.
pub(super) fn clocks_stay_within<P: Service>(execution: &Execution<P>, start: &Scenario<P>, bound: Ticks) -> Checked {
    for (number, world) in execution.worlds().iter().enumerate() {
        for process in world.processes() {
            let moved = world.skew(process) - start.clocks.offset(process);
            if !(-bound.count()..=bound.count()).contains(&moved.count()) {
                return Err(format!(
                    "after step {number} the clock of {process} is {moved} from where it should start"
                ));
            }
        }
    }
    Ok(())
}

/// Only clients' clocks move, and backwards.
pub(super) fn clocks_fall_behind<P: Service>(execution: &Execution<P>) -> Checked {
    execution.each(|moment| match moment.action {
        Action::Slip { process, by } if process.client().is_none() || *by > Ticks::ZERO => {
            Err("that clock is not slow".to_owned())
        }
        _ => Ok(()),
    })
}
