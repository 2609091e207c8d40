//! Deadlines, leases and bounds on delays: what they say about the times of steps.

use fencepost_consul::{Consul, Timer};
use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::process::{Context, Input, Outbox, Process};
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::{Action, Condition, Envelope, World};

use super::build::Builder;
use super::delays::Bound;
use super::event::{AtServer, PlannedStep};
use super::origin::{Leases, Origin, with_leases};
use super::solve::Margin;

impl Builder<'_> {
    /// The bound of a deadline: at the earliest, at the latest.
    fn bounds(&self, origin: Origin) -> (Bound, Bound) {
        let PlannedStep { start, end, .. } = self.draft.steps[origin.step];
        let ticks = origin.tick - self.times[origin.step];
        (Bound { instant: start, ticks }, Bound { instant: end, ticks })
    }

    /// What must not have happened yet by itself, and what must have happened in time.
    pub(super) fn keep_bounds(&mut self, action: &Action<Consul>, event: AtServer, start: usize) {
        let mut bounds = Vec::new();
        let synchrony = self.scenario.synchrony;
        for process in self.twin.processes() {
            let is_server = process == ProcessId::Server;
            let late = if is_server { Some(0) } else { synchrony.wake_delay.map(|late| late.count()) };
            let margin = if is_server { Margin::Server } else { of_delay(late) };
            let Some(late) = late.filter(|_| self.twin.condition(process) == Condition::Up) else { continue };
            self.twin.wakes(&self.fine, process, &mut |timer, due| {
                let is_fired = *action == Action::Wake { process, timer };
                let is_real = event.is_at_server() && matches!(timer, Timer::Expire(_) | Timer::Deadline(..));
                let Some(origin) = Origin::of(due) else { return };
                // Of two sessions that end in the same tick, either may end first.
                let is_along = matches!(event, AtServer::Expire(_)) && origin.tick == self.now;
                let is_kept =
                    if is_server { is_real && !is_fired && !is_along } else { origin.tick + late >= self.now };
                if is_kept {
                    bounds.push((origin, late, margin));
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
        for (origin, late, margin) in bounds {
            let (early, _) = self.bounds(origin);
            self.at_most((early.instant, early.ticks + late), start, margin);
        }
    }

    /// A deadline fires: not before its time.
    pub(super) fn fire(&mut self, action: &Action<Consul>, start: usize) {
        let Action::Wake { process, timer: fired } = *action else { return };
        let mut origin = None;
        self.twin.wakes(&self.fine, process, &mut |timer, due| {
            if timer == fired {
                origin = Origin::of(due);
            }
        });
        let bounds = origin.map(|origin| self.bounds(origin));
        match (fired, bounds) {
            (Timer::Expire(session), Some((early, late))) => {
                self.ending.insert(session, (early, late));
                self.at_least((late.instant, late.ticks), start, 0, Margin::None);
                self.unsettled.push(late);
            }
            (Timer::Destroy(session), _) => {
                if let Some((_, late)) = self.ending.get(&session).copied() {
                    self.unsettled.push(late);
                }
            }
            // C-BLK-2: up to a sixteenth longer.
            (Timer::Deadline(..), Some((_, Bound { instant, ticks }))) => {
                self.at_least((instant, ticks), start, 0, Margin::None);
                self.unsettled.push(Bound { instant, ticks: ticks + (ticks + 15) / 16 });
            }
            (_, Some((_, late))) => {
                let margin = if process == ProcessId::Server { Margin::None } else { Margin::Client };
                self.at_least((late.instant, late.ticks), start, 0, margin);
            }
            (_, None) => {}
        }
    }

    /// Whether a client does something else if its leases were over, or covered the instant after all.
    pub(super) fn looks_at_lease(&self, before: &World<Consul>, client: ClientId, action: &Action<Consul>) -> bool {
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
    pub(super) fn keep_leases(&mut self, before: &World<Consul>, client: ClientId, start: usize) {
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
