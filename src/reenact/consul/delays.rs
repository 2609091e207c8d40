//! Which lock-delays are on, and what an acquire says about the time.

use std::collections::BTreeMap;

use fencepost_consul::{Answer, Consul, Key, Prefix, Request};
use fencepost_model::fact::Fact;
use fencepost_model::ids::SessionId;
use fencepost_model::world::{Action, World};

use super::causes::{Cause, acquired};
use crate::plan::{AtServer, Bound, Builder, Edge, Margin, PlannedStep, server_context};

/// A lock-delay.
#[derive(Copy, Clone, Debug)]
struct Delay {
    key: Key,
    /// When it has begun at the earliest, and at the latest.
    early: Bound,
    late: Bound,
    length: i64,
    /// Its end in ticks of the trace.
    end: i64,
}

/// The lock-delays that were set, and the ends of sessions that set them.
#[derive(Default)]
pub struct Delays {
    on: Vec<Delay>,
    /// The lock-delay that each session asked for.
    asked: BTreeMap<SessionId, i64>,
    /// When the timers of sessions fire that the log has not removed yet: at the earliest, at the latest.
    pub(super) ending: BTreeMap<SessionId, (Bound, Bound)>,
}

impl Delays {
    /// The end of a session begins a delay. C-LD-14: the timer of an earlier one that is still on ends it.
    fn begin(&mut self, key: Key, (early, late): (Bound, Bound), length: i64, now: i64) {
        let delay = Delay { key, early, late, length, end: now + length };
        let is_earlier = |other: &Delay| other.key == key && other.end > now && other.end <= delay.end;
        if length <= 0 || self.on.iter().any(is_earlier) {
            return;
        }
        self.on.retain(|other| other.key != key);
        self.on.push(delay);
    }

    /// C-LD-12: a server that has restarted begins every delay again that it finds in its log.
    fn restart(&mut self, early: Bound, late: Bound, now: i64) {
        self.on.retain(|delay| delay.end > now);
        for delay in &mut self.on {
            (delay.early, delay.late, delay.end) = (early, late, now + delay.length);
        }
    }

    /// An acquire at an instant is refused because of the delay, or finds it over.
    fn acquire(&self, key: Key, is_delayed: bool, at: usize) -> Option<Edge> {
        let delay = self.on.iter().find(|delay| delay.key == key)?;
        Some(if is_delayed {
            let Bound { instant, ticks } = delay.early;
            Edge { from: at, to: instant, ticks: -(ticks + delay.length), room: 0, margin: Margin::Server }
        } else {
            let Bound { instant, ticks } = delay.late;
            Edge { from: instant, to: at, ticks: ticks + delay.length, room: 0, margin: Margin::ServerTimer }
        })
    }
}

impl Builder<'_, Consul> {
    /// What an acquire says about the lock-delay of its key.
    pub(super) fn ask_for_keys(&mut self, action: &Action<Consul>, start: usize) {
        let context = server_context(self.scenario, &self.world);
        for key in acquired(action) {
            let is_delayed = self.world.server.process.is_delayed(key, &context);
            self.draft.edges.extend(self.memory.acquire(key, is_delayed, start));
        }
    }

    /// Ends of sessions begin lock-delays; a restart begins them again.
    pub(super) fn note_ends(&mut self, before: &World<Consul>, facts: &[Fact<Consul>], place: usize) {
        let PlannedStep { start, end, event, answers, .. } = &self.draft.steps[place];
        let now = (Bound { instant: *start, ticks: 0 }, Bound { instant: *end, ticks: 0 });
        for expected in answers {
            if let (Answer::Created(session), AtServer::Caused(Cause::Request(_, _, Request::CreateSession(terms)))) =
                (expected.answer, *event)
            {
                self.memory.asked.insert(session, terms.lock_delay.count());
            }
        }
        if let AtServer::Restart = event {
            self.memory.restart(now.0, now.1, self.now);
        }
        for fact in facts {
            let (session, (early, late)) = match *fact {
                Fact::Expired { session } => {
                    (session, self.memory.ending.remove(&session).map_or(now, |(early, _)| (early, now.1)))
                }
                Fact::Destroyed { session } | Fact::Ended { session } => (session, now),
                _ => continue,
            };
            let asked = self.memory.asked.get(&session).copied().unwrap_or(self.scenario.service.lock_delay.count());
            let length = self.scenario.service.capped(asked.into()).count();
            let held = before.server.process.below(Prefix::All).filter(|(_, entry)| entry.session == Some(session));
            held.for_each(|(key, _)| self.memory.begin(key, (early, late), length, self.now));
        }
    }
}
