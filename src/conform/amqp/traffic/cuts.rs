//! Ends of connections that the broker brings about: it drops a silent client (R-Q-43 to R-Q-45), or is restarted (R-Q-56 to R-Q-59).

use fencepost_model::ids::{RawId, SessionId};
use fencepost_rabbitmq::{BrokerAction, Keeps, Name};

use super::log::CHANNELS;
use super::state::{ChannelId, Judging, State};
use crate::amqp::pair::LINES;

impl State {
    /// The broker has ended a connection. What the client has sent since has not been read (R-Q-41).
    pub(super) fn cut_off(&mut self, line: usize, place: usize, judging: &Judging<'_>) {
        self.skip(line, place, judging);
        let connection = u16::try_from(line + 1).expect("few");
        let session = self.session(connection);
        let opened = self.rest.channels[line].map(|channel| channel.opened);
        self.rest.dropped.push((session, opened));
        self.hang_up(connection);
    }

    fn skip(&mut self, line: usize, place: usize, judging: &Judging<'_>) {
        self.rest.cuts[line] += 1;
        for side in 0..CHANNELS {
            self.rest.next[line][side] = judging.script.position(line, side, place);
        }
    }

    /// The connection that must be over by an instant, or must be known to be, and is not (R-Q-44).
    pub(super) fn overdue(&self, at: u64, judging: &Judging<'_>) -> Option<u16> {
        let is_alive = |connection: u16, life: u16| self.session(connection).raw().number <= life;
        let is_unknown = |connection: u16, life: u16| {
            let is_it = |session: SessionId| (session.raw().creator.0, session.raw().number) == (connection, life);
            let opened = self.rest.dropped.iter().find(|(session, _)| is_it(*session)).map(|(_, opened)| *opened);
            let is_its = |id: ChannelId| {
                id.connection == connection
                    && opened.is_some_and(|opened| opened[usize::from(id.channel) - 1] == id.opened)
            };
            self.rest.unnoticed.iter().any(|(session, _)| is_it(*session))
                || self.rest.downs.iter().any(|(id, _)| is_its(*id))
        };
        judging.script.losses.overdue(at, is_alive, is_unknown)
    }

    /// The broker stops and starts again (R-Q-56, R-Q-111): durable queues are there with their persistent messages, and nothing else is.
    pub(super) fn restart(mut self, place: usize, since: u64, judging: &Judging<'_>) -> State {
        let open: Vec<_> = (1..).take(LINES).map(|connection| self.session(connection)).collect();
        let unnoticed = std::mem::take(&mut self.rest.unnoticed);
        let ending = std::mem::take(&mut self.rest.ending).into_iter().filter(|ending| !ending.is_removing);
        let over = unnoticed.into_iter().map(|(session, _)| session).chain(ending.map(|ending| ending.session));
        for session in open.into_iter().chain(over) {
            self.bench.notice(session);
        }
        let removals = |state: &State| state.bench.doings().find(|action| matches!(action, BrokerAction::Remove(..)));
        while let Some(action) = removals(&self) {
            self.bench.carry_on(action);
        }
        let transient: Vec<Name> =
            self.rest.queues.iter().filter(|content| !content.is_durable).map(|content| content.name).collect();
        transient.into_iter().for_each(|name| self.delete_as_observer(name));
        self.forget_removed();
        for line in 0..LINES {
            self.skip(line, place, judging);
            self.replace(u16::try_from(line + 1).expect("few"));
        }
        let rest = &mut self.rest;
        rest.unacked.clear();
        rest.casts.clear();
        rest.tags.clear();
        rest.cancelled.clear();
        rest.downs.clear();
        rest.dying.clear();
        rest.leaving.clear();
        rest.dropped.clear();
        for content in &mut rest.queues {
            let pending = std::mem::take(&mut content.pending).into_iter();
            if content.keeps != Keeps::Nothing {
                content.ready.extend(pending);
            }
            content.ready.retain(|message| message.is_persistent);
            content.ready.sort_unstable();
            content.delivered.clear();
            content.consumers.clear();
            content.used = since;
        }
        self
    }
}
