//! The clients' connections: each is opened by its first request or when that is planned, and sends heartbeats while its client speaks.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fencepost_amqp::ConnectionEnd;
use fencepost_model::ids::{ClientId, RawId, SessionId};

use super::broker::RabbitmqBroker;
use crate::error::ServerError;

/// A connection.
struct Line {
    /// None: its socket is closed.
    end: Option<ConnectionEnd>,
    is_silent: bool,
    next_beat: Instant,
    quiet_from: Option<Instant>,
}

/// The connections of one execution.
pub(super) struct Connections<'a> {
    broker: &'a RabbitmqBroker,
    prefix: String,
    /// In seconds; 0: none.
    heartbeat: u16,
    lines: BTreeMap<SessionId, Line>,
    /// When connections are opened before their first request, and from when on they are quiet.
    planned: BTreeMap<SessionId, (Instant, Option<Instant>)>,
}

impl<'a> Connections<'a> {
    pub(super) fn new(
        broker: &'a RabbitmqBroker,
        prefix: &str,
        heartbeat: u16,
        planned: BTreeMap<SessionId, (Instant, Option<Instant>)>,
    ) -> Self {
        Connections { broker, prefix: prefix.to_owned(), heartbeat, lines: BTreeMap::new(), planned }
    }

    /// The client's end of a connection, which is opened if it never was; none: its socket is closed.
    pub(super) fn end(&mut self, id: SessionId) -> Result<Option<&mut ConnectionEnd>, ServerError> {
        if !self.lines.contains_key(&id) {
            self.open(id)?;
        }
        Ok(self.lines.get_mut(&id).and_then(|line| line.end.as_mut()))
    }

    fn open(&mut self, id: SessionId) -> Result<(), ServerError> {
        let quiet_from = self.planned.remove(&id).and_then(|(_, quiet_from)| quiet_from);
        let end = Some(self.broker.line(&self.prefix, self.heartbeat)?);
        let next_beat = Instant::now() + self.pause();
        self.lines.insert(id, Line { end, is_silent: false, next_beat, quiet_from });
        Ok(())
    }

    /// R-Q-43: a client sends a heartbeat every T/2.
    fn pause(&self) -> Duration {
        Duration::from_secs(self.heartbeat.into()) / 2
    }

    /// Closes the socket without a method.
    pub(super) fn close(&mut self, id: SessionId) {
        if let Some(line) = self.lines.get_mut(&id) {
            line.end = None;
        }
    }

    /// The connections that are open.
    pub(super) fn open_ones(&self) -> Vec<SessionId> {
        self.lines.iter().filter(|(_, line)| line.end.is_some()).map(|(id, _)| *id).collect()
    }

    /// A client falls silent: what it has just sent is the last byte. Or it speaks again.
    pub(super) fn set_silent(&mut self, client: ClientId, is_silent: bool) -> Result<(), ServerError> {
        let pause = self.pause();
        for (_, line) in self.lines.iter_mut().filter(|(id, _)| id.raw().creator == client) {
            if line.quiet_from.is_none() {
                line.beat(pause)?;
            }
            line.is_silent = is_silent;
        }
        Ok(())
    }

    /// Opens and beats what is due, and returns when something is due next.
    pub(super) fn keep_alive(&mut self) -> Result<Option<Instant>, ServerError> {
        let now = Instant::now();
        let due: Vec<SessionId> = self.planned.iter().filter(|(_, (at, _))| *at <= now).map(|(id, _)| *id).collect();
        for id in due {
            self.open(id)?;
        }
        let mut next = self.planned.values().map(|(at, _)| *at).min();
        if self.heartbeat == 0 {
            return Ok(next);
        }
        let pause = self.pause();
        for line in self.lines.values_mut().filter(|line| line.end.is_some() && !line.is_silent) {
            if line.quiet_from.is_some_and(|quiet_from| line.next_beat > quiet_from) {
                continue;
            }
            if line.next_beat <= now {
                line.beat(pause)?;
            }
            next = Some(next.map_or(line.next_beat, |next| next.min(line.next_beat)));
        }
        Ok(next)
    }
}

impl Line {
    fn beat(&mut self, pause: Duration) -> Result<(), ServerError> {
        if let Some(end) = self.end.as_mut().filter(|_| !pause.is_zero()) {
            end.beat()?;
        }
        self.next_beat = Instant::now() + pause;
        Ok(())
    }
}
