//! Deadlines, in their order: what the server does by itself, blocking queries whose time is up, messages that were delayed, and
//! clients that have said how long they sleep.

use std::collections::BTreeMap;

use serde_json::json;

use super::waiting::{Fate, Journey, Waiting};
use super::{Answer, Backend, StandIn, Ticket};
use crate::clock::{Clock, seconds};
use crate::settings::Seed;

/// What is due next.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Due<D> {
    /// The server does something.
    Server(D),
    /// A blocking query, a message or a client has waited long enough.
    Waiting(Ticket),
    /// A client has waited for a lock for as long as it said that it may.
    Patience,
}

impl<B: Backend> StandIn<B> {
    /// When something comes by itself next, and what that is.
    pub(crate) fn next_due(&self) -> Option<(i64, Due<B::Due>)> {
        let server = B::agenda(self).into_iter().map(|(at, due)| (at, Due::Server(due)));
        let waiting =
            self.waiting.iter().filter_map(|(ticket, waiting)| Some((waiting.until()?, Due::Waiting(*ticket))));
        let patience = self.judge.patience().map(|at| (at, Due::Patience));
        server.chain(waiting).chain(patience).min()
    }

    /// When something comes by itself next, in nanoseconds since the start.
    pub fn next_deadline(&self) -> Option<i64> {
        self.next_due().map(|(at, _)| at)
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

    fn come(&mut self, due: Due<B::Due>) {
        match due {
            Due::Server(due) => B::come(self, due),
            Due::Patience => self.judge.runs_out(self.now),
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
            Waiting::OnItsWay { journey, .. } => B::carry_out(self, journey),
            Waiting::OnItsWayBack { journey, answer, .. } => self.deliver(&journey, answer),
            Waiting::Asleep { journey, .. } => {
                self.clients.is_told(&journey.client);
                let now = seconds(self.now);
                self.reply(&journey, Answer::json(&json!({ "now": now })));
            }
            Waiting::Streams { journey, delay, messages } => self.message_arrives(journey, delay, messages),
            Waiting::Held { .. } | Waiting::Silent { .. } => {}
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
