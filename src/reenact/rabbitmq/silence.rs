//! When a broker misses the heartbeats of a connection, and how that is made to happen when it is planned.
//!
//! R-Q-43: a broker looks at a connection once in a heartbeat T, from its opening on, and drops it when it finds nothing new for the
//! second time: between 2T and 3T after the last byte. So the instant at which a connection is opened decides when that will be.

use std::collections::BTreeMap;

use fencepost_model::ids::{ProcessId, RawId, SessionId};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_model::world::{Condition, Link, World};
use fencepost_rabbitmq::{RabbitMq, Timer};

use super::causes::Cause;
use crate::plan::{AtServer, Builder, Margin, PlannedStep, ReenactmentPlan};

/// How long before its first request a connection is opened, at least, in milliseconds.
const LEAD: i64 = 150;

/// What a last byte comes later than a look of the broker, in milliseconds, so that the drop is as late as it can be.
const JUST_AFTER: i64 = 20;

/// How the frames of a connection are sent, in milliseconds of the schedule.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Opening {
    /// When it is opened.
    pub(super) at: i64,
    /// From when on no heartbeats are sent on it; none: until its client falls silent.
    pub(super) quiet_from: Option<i64>,
}

/// How much later than two heartbeats after its last byte a connection may be made to be dropped; none: it is not silent.
pub(super) fn lateness(scenario: &Scenario<RabbitMq>, world: &World<RabbitMq>, id: SessionId) -> Option<Ticks> {
    let client = ProcessId::Client(id.raw().creator);
    let link = Link { from: client, to: ProcessId::Server };
    // Where delays are bounded, only silent connections have the timer.
    let is_silent = scenario.synchrony.message_delay.is_some()
        || world.condition(client) != Condition::Up
        || world.is_cut(link, scenario);
    is_silent.then(|| lateness_when_silent(scenario))
}

/// The same for a connection that is silent.
pub(super) fn lateness_when_silent(scenario: &Scenario<RabbitMq>) -> Ticks {
    let beat = scenario.service.heartbeat.unwrap_or(Ticks::ZERO);
    scenario.synchrony.server_delay.map_or(beat, |delay| delay.min(beat))
}

impl Builder<'_, RabbitMq> {
    /// The last byte of a connection that is dropped at an instant came in time for that.
    pub(super) fn keep_silence(&mut self, id: SessionId, dropped: usize) {
        let settings = &self.scenario.service;
        let Some(beat) = settings.heartbeat.map(Ticks::count) else { return };
        let age = settings.beat.count();
        let Talk { last, silence, .. } = Talk::on(id, &self.draft.steps);
        if let Some(silence) = silence {
            self.at_most((silence, 3 * beat - age), dropped, Margin::Server);
        }
        if let Some(last) = last.filter(|_| age > 0) {
            self.at_least((last, 2 * beat), dropped, 0, Margin::Server);
        }
        if let Some(last) = last.filter(|_| silence.is_none()) {
            self.at_most((last, 3 * beat), dropped, Margin::Server);
        }
    }
}

/// The instants of a connection's first and last requests, and of the silence of its client.
#[derive(Copy, Clone, Default)]
struct Talk {
    first: Option<usize>,
    last: Option<usize>,
    silence: Option<usize>,
    dropped: Option<usize>,
}

impl Talk {
    fn on(id: SessionId, steps: &[PlannedStep<RabbitMq>]) -> Talk {
        let mut talk = Talk::default();
        for step in steps {
            match step.event {
                AtServer::Caused(Cause::Ask(_, ask)) if ask.connection == id => {
                    talk.first = talk.first.or(Some(step.start));
                    talk.last = Some(step.start);
                }
                AtServer::Caused(Cause::Silence(client)) if client == id.raw().creator && talk.first.is_some() => {
                    talk.silence = talk.silence.or(Some(step.start));
                }
                AtServer::Caused(Cause::Speech(client)) if client == id.raw().creator => talk.silence = None,
                AtServer::Fires(Timer::Miss(missed)) if missed == id => {
                    talk.dropped = Some(step.start);
                    break;
                }
                _ => {}
            }
        }
        talk
    }
}

/// When the connections of a plan have to be opened, as far as that matters.
pub(super) fn openings(
    plan: &ReenactmentPlan<RabbitMq>,
    scenario: &Scenario<RabbitMq>,
) -> BTreeMap<SessionId, Opening> {
    let Some(beat) = scenario.service.heartbeat else { return BTreeMap::new() };
    let (beat, age) = (beat.count() * plan.schedule.tick, scenario.service.beat.count() * plan.schedule.tick);
    let mut openings = BTreeMap::new();
    for step in &plan.steps {
        let AtServer::Caused(Cause::Ask(_, ask)) = step.event else { continue };
        let talk = Talk::on(ask.connection, &plan.steps);
        let at = |instant: Option<usize>| instant.map(|instant| plan.schedule.at[instant]);
        let (Some(first), silence) = (at(talk.first), at(talk.silence)) else { continue };
        let (look, quiet_from) = match at(talk.dropped) {
            Some(dropped) => (dropped, silence.map(|silence| silence - age).or(at(talk.last))),
            None => match silence {
                Some(silence) => (silence - JUST_AFTER, None),
                None => continue,
            },
        };
        openings.insert(ask.connection, Opening { at: opened(look, first, beat), quiet_from });
    }
    openings
}

/// When a connection is opened, so that the broker looks at it at one instant and its first request comes at another.
fn opened(look: i64, first: i64, beat: i64) -> i64 {
    look - beat * ((look - first + LEAD).max(0) / beat + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEAT: i64 = 1_000;

    /// R-Q-43: when a broker drops a connection.
    fn dropped(opened: i64, last_byte: i64) -> i64 {
        let looks = (last_byte - opened + BEAT - 1) / BEAT;
        opened + (looks + 2) * BEAT
    }

    #[test]
    fn a_connection_is_dropped_when_that_is_planned() {
        for first in (0..3_000).step_by(70) {
            for last_byte in (first..first + 3_000).step_by(90) {
                for drop in (last_byte + 2 * BEAT..last_byte + 3 * BEAT).step_by(50) {
                    let opened = opened(drop, first, BEAT);
                    assert!(opened <= first - LEAD, "{opened} for {first}");
                    assert_eq!(dropped(opened, last_byte), drop, "from {first} to {last_byte}");
                }
            }
        }
    }

    #[test]
    fn a_connection_whose_drop_is_not_planned_is_dropped_as_late_as_it_can_be() {
        for silence in (200..4_000).step_by(70) {
            let opened = opened(silence - JUST_AFTER, 100, BEAT);
            assert_eq!(dropped(opened, silence), silence - JUST_AFTER + 3 * BEAT);
        }
    }
}
