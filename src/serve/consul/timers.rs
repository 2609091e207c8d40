//! What a Consul agent does by itself: timers of sessions and of checks, and a node that gossip hears of again.

use fencepost_model::ids::{RawId, SessionId};
use fencepost_model::time::Instant;

use crate::stand_in::StandIn;

/// What is due next.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ConsulDue {
    /// The timer of a session fires, and its end is applied at an instant.
    Fires(SessionId, i64),
    /// The end of a session is applied.
    Ends(SessionId),
    /// The time of an agent's check is up.
    Check(String),
    /// Gossip hears of the agent's node again.
    Heard,
}

impl StandIn {
    pub(super) fn agenda(&self) -> impl Iterator<Item = (i64, ConsulDue)> {
        let expirable = self.backend.agent.expirable(Instant::at(i64::MAX)).into_iter();
        let sessions = expirable.map(|(session, since)| match since {
            Some(since) => {
                let of = [u64::from(session.raw().creator.0), u64::from(session.raw().number), since.unsigned_abs()];
                let draw = |what: u64| self.draw(&[of[0], of[1], of[2], what]);
                let (fires, applied) = self.settings.timers.fires(since, draw);
                (fires, if fires == applied { ConsulDue::Ends(session) } else { ConsulDue::Fires(session, applied) })
            }
            None => (self.backend.expiring.get(&session).copied().unwrap_or(self.now), ConsulDue::Ends(session)),
        });
        let checks = self.backend.agent_checks.deadlines().map(|(at, id)| (at, ConsulDue::Check(id.to_owned())));
        let heard = self.backend.heard_again.map(|at| (at, ConsulDue::Heard));
        sessions.chain(checks).chain(heard)
    }

    /// When the next session ends by itself.
    pub(super) fn next_expiry(&self) -> Option<i64> {
        let ends = self.agenda().filter_map(|(at, due)| match due {
            ConsulDue::Ends(_) => Some(at),
            ConsulDue::Fires(_, applied) => Some(applied),
            ConsulDue::Check(_) | ConsulDue::Heard => None,
        });
        ends.min()
    }

    pub(super) fn fire(&mut self, due: ConsulDue) {
        match due {
            ConsulDue::Fires(session, applied) => {
                self.backend.agent.decide_expiry(session);
                self.backend.expiring.insert(session, applied);
                let text = self.backend.agent.session_text(session).to_owned();
                self.judge.timer(self.now, &text, "time is up; its end is on its way through the log");
            }
            ConsulDue::Ends(session) => {
                let text = self.backend.agent.session_text(session).to_owned();
                self.backend.expiring.remove(&session);
                self.backend.agent.expire(session, Instant::at(self.now));
                self.judge.timer(self.now, &text, "time is up: it ends");
                self.wake();
            }
            ConsulDue::Heard => self.hear_again(),
            ConsulDue::Check(id) => self.check_runs_out(&id),
        }
    }
}
