//! Deadlines, leases and bounds on delays: what they say about the times of steps.

use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::process::{Context, Input, Outbox, Process};
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::{Action, Condition, Envelope, World};

use super::build::{Builder, Span};
use super::event::AtServer;
use super::origin::{Leases, Origin, with_leases};
use super::solve::Margin;
use crate::driven::Driven;

/// A number of ticks after an instant of the schedule.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    pub(crate) instant: usize,
    pub(crate) ticks: i64,
}

impl<S: Driven> Builder<'_, S> {
    /// The bound of a deadline: at the earliest, at the latest.
    fn bounds(&self, origin: Origin) -> (Bound, Bound) {
        let Span { start, end, tick } = self.origins[origin.origin];
        let ticks = origin.tick - tick;
        (Bound { instant: start, ticks }, Bound { instant: end, ticks })
    }

    /// What must not have happened yet by itself, and what must have happened in time. While a client is late no time passes: the step is at the
    /// same instant as the one before.
    pub(super) fn keep_bounds(&mut self, action: &Action<S>, event: AtServer<S>, (before, start): (usize, usize)) {
        let mut bounds = Vec::new();
        let mut is_late = false;
        let synchrony = self.scenario.synchrony;
        for process in self.twin.processes() {
            let is_server = process == ProcessId::Server;
            if self.twin.condition(process) != Condition::Up || (is_server && !event.is_at_server()) {
                continue;
            }
            self.twin.wakes(&self.fine, process, &mut |timer, due| {
                let is_fired = *action == Action::Wake { process, timer };
                let late =
                    if is_server { S::lateness(self.scenario, &self.world, timer) } else { synchrony.wake_delay };
                let (Some(origin), Some(late)) = (Origin::of(due), late.map(|late| late.count())) else { return };
                // Of two timers of the server that fire in the same tick, either may fire first.
                let is_along = matches!(event, AtServer::Fires(_)) && origin.tick == self.now;
                let is_kept = if is_server { !is_fired && !is_along } else { origin.tick + late >= self.now };
                is_late |= !is_server && !is_kept;
                if is_kept {
                    bounds.push((origin, late, if is_server { Margin::Server } else { of_delay(Some(late)) }));
                }
            });
        }
        for envelope in self.twin.network.iter() {
            let is_excused =
                self.twin.condition(envelope.to) == Condition::Paused || self.twin.is_cut(envelope.link(), &self.fine);
            let origin = envelope.due.and_then(|due| Origin::of(due.0));
            if let Some(origin) = origin.filter(|origin| !is_excused && origin.tick >= self.now) {
                bounds.push((origin, 0, of_delay(synchrony.message_delay.map(|delay| delay.count()))));
            }
        }
        if is_late {
            self.at_most((before, 0), start, Margin::None);
        }
        for (origin, late, margin) in bounds {
            let (early, _) = self.bounds(origin);
            self.at_most((early.instant, early.ticks + late), start, margin);
        }
    }

    /// A deadline fires: not before its time.
    pub(super) fn fire(&mut self, action: &Action<S>, start: usize) {
        let Action::Wake { process, timer: fired } = *action else { return };
        let mut origin = None;
        self.twin.wakes(&self.fine, process, &mut |timer, due| {
            if timer == fired {
                origin = Origin::of(due);
            }
        });
        let bounds = origin.map(|origin| self.bounds(origin));
        match bounds {
            _ if process == ProcessId::Server => S::fire(self, fired, bounds, start),
            Some((_, Bound { instant, ticks })) => self.at_least((instant, ticks), start, 0, Margin::Client),
            None => {}
        }
    }

    /// Whether a client does something else if its leases were over, or covered the instant after all.
    pub(super) fn looks_at_lease(&self, before: &World<S>, client: ClientId, action: &Action<S>) -> bool {
        let process = ProcessId::Client(client);
        let input = match *action {
            Action::Deliver(Envelope { from, to, message, .. }) if to == process => Input::Message { from, message },
            Action::Wake { process: whose, timer } if whose == process => Input::Wake(timer),
            Action::Command { client: whose, command } if whose == client => Input::Command(command),
            Action::Choose { process: whose, option } if whose == process => Input::Choice(option),
            // It hears an answer in the step of the server: to keep its leases is not wrong.
            _ => return true,
        };
        let now = before.clock(process);
        let context = Context { scenario: &self.fine, now, me: process };
        let told = |until: Instant| {
            let mut told = with_leases(&before.clients[client.place()].process, until);
            let mut out = Outbox::new();
            told.on(input, &context, &mut out);
            (with_leases(&told, now), out.messages().to_vec(), out.facts().to_vec())
        };
        told(now) != told(now - Ticks::new(1))
    }

    /// A lease covers an instant, or is over, as in the trace.
    pub(super) fn keep_leases(&mut self, before: &World<S>, client: ClientId, start: usize) {
        let skew = before.skew(client.into());
        for lease in Leases::of(&before.clients[client.place()].process) {
            let Some(origin) = Origin::of(lease - skew) else { continue };
            let (_, Bound { instant, ticks }) = self.bounds(origin);
            if origin.tick >= self.now {
                self.at_most((instant, ticks), start, Margin::Client);
            } else {
                self.at_least((instant, ticks), start, 1, Margin::Client);
            }
        }
    }
}

/// What is kept clear of the bound on a delay.
fn of_delay(most: Option<i64>) -> Margin {
    if most == Some(0) { Margin::Prompt } else { Margin::Client }
}
