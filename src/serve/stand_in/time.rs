//! Deadlines, in their order: timers of sessions and of checks, blocking queries whose time is up, messages that were delayed, and
//! clients that have said how long they sleep.

use std::collections::BTreeMap;

use fencepost_model::ids::SessionId;
use fencepost_model::time::Instant;
use serde_json::json;

use super::waiting::{Fate, Journey, Waiting};
use super::{Answer, StandIn, Ticket};
use crate::clock::{Clock, seconds};
use crate::settings::Seed;

/// What is due next.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Due {
    /// The timer of a session fires, and its end is applied at an instant.
    Fires(SessionId, i64),
    /// The end of a session is applied.
    Ends(SessionId),
    /// The time of an agent's check is up.
    Check(String),
    /// Gossip hears of the agent's node again.
    Heard,
    /// A blocking query has waited long enough.
    Waiting(Ticket),
    /// A client has waited for a lock for as long as it said that it may.
    Patience,
}

impl StandIn {
    /// Everything that comes by itself, as far as it is known now.
    fn agenda(&self) -> impl Iterator<Item = (i64, Due)> {
        let sessions = self.agent.expirable(Instant::at(i64::MAX)).into_iter().map(|(session, since)| match since {
            Some(since) => {
                let of = [u64::from(session.creator.0), u64::from(session.number), since.unsigned_abs()];
                let draw = |what: u64| self.draw(&[of[0], of[1], of[2], what]);
                let (fires, applied) = self.settings.timers.fires(since, draw);
                (fires, if fires == applied { Due::Ends(session) } else { Due::Fires(session, applied) })
            }
            None => (self.expiring.get(&session).copied().unwrap_or(self.now), Due::Ends(session)),
        });
        let waiting =
            self.waiting.iter().filter_map(|(ticket, waiting)| Some((waiting.until()?, Due::Waiting(*ticket))));
        let checks = self.agent_checks.deadlines().map(|(at, id)| (at, Due::Check(id.to_owned())));
        let heard = self.heard_again.map(|at| (at, Due::Heard));
        let patience = self.judge.patience().map(|at| (at, Due::Patience));
        sessions.chain(waiting).chain(checks).chain(heard).chain(patience)
    }

    /// When something comes by itself next, and what that is.
    pub(crate) fn next_due(&self) -> Option<(i64, Due)> {
        self.agenda().min()
    }

    /// When something comes by itself next, in nanoseconds since the start.
    pub fn next_deadline(&self) -> Option<i64> {
        self.next_due().map(|(at, _)| at)
    }

    /// When the next session ends by itself.
    pub(crate) fn next_expiry(&self) -> Option<i64> {
        let ends = self.agenda().filter_map(|(at, due)| match due {
            Due::Ends(_) => Some(at),
            Due::Fires(_, applied) => Some(applied),
            _ => None,
        });
        ends.min()
    }

    /// The stand-in's time, in nanoseconds since the start.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Time passes until an instant, and what is due comes.
    pub fn pass(&mut self, until: i64) {
        while let Some((at, due)) = self.next_due().filter(|(at, _)| *at <= until) {
            self.now = self.now.max(at);
            self.come(due);
            self.observe();
        }
        self.now = self.now.max(until);
    }

    /// With a clock that is `auto`: jumps to what is due next, if every known client waits. Says whether it did.
    pub fn jump(&mut self) -> bool {
        let Some((at, _)) = self.next_due().filter(|_| self.settings.clock == Clock::Auto && self.all_wait()) else {
            return false;
        };
        self.clients.jumped(self.now, at);
        self.pass(at);
        true
    }

    /// Whether every known client waits.
    pub fn all_wait(&self) -> bool {
        let mut counts = BTreeMap::new();
        self.waiting.values().for_each(|waiting| *counts.entry(waiting.client()).or_insert(0) += 1);
        self.clients.all_wait(&counts)
    }

    fn come(&mut self, due: Due) {
        match due {
            Due::Fires(session, applied) => {
                self.agent.decide_expiry(session);
                self.expiring.insert(session, applied);
                let text = self.agent.session_text(session).to_owned();
                self.judge.timer(self.now, &text, "time is up; its end is on its way through the log");
            }
            Due::Ends(session) => {
                let text = self.agent.session_text(session).to_owned();
                self.expiring.remove(&session);
                self.agent.expire(session, Instant::at(self.now));
                self.judge.timer(self.now, &text, "time is up: it ends");
                self.wake();
            }
            Due::Heard => self.hear_again(),
            Due::Patience => self.judge.runs_out(self.now),
            Due::Check(id) => self.check_runs_out(&id),
            Due::Waiting(ticket) => {
                if let Some(waiting) = self.waiting.remove(&ticket) {
                    self.wait_is_over(waiting);
                }
            }
        }
    }

    fn wait_is_over(&mut self, waiting: Waiting) {
        match waiting {
            Waiting::Parked { journey, last, .. } => self.finish(journey, last),
            Waiting::OnItsWay { journey, .. } => self.carry_out(journey),
            Waiting::OnItsWayBack { journey, answer, .. } => self.deliver(&journey, answer),
            Waiting::Asleep { journey, .. } => {
                self.clients.is_told(&journey.client);
                let now = seconds(self.now);
                self.reply(&journey, Answer::json(&json!({ "now": now })));
            }
            Waiting::Silent { .. } => {}
        }
    }

    /// A client says that it sleeps.
    pub(crate) fn sleep(&mut self, journey: Journey, nanoseconds: i64) {
        self.clients.acts(&journey.client, self.now);
        let until = self.now.saturating_add(nanoseconds);
        self.waiting
            .insert(journey.ticket, Waiting::Asleep { until, journey: Journey { fate: Fate::Answered, ..journey } });
    }

    pub(crate) fn seed(&self) -> Seed {
        Seed(self.settings.seed)
    }

    pub(crate) fn draw(&self, what: &[u64]) -> u64 {
        self.seed().draw(what)
    }
}
