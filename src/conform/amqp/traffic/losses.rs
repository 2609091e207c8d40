//! When the broker may end a connection that its client has not closed: after a silence, if there are heartbeats (R-Q-43, R-Q-44), and when
//! the broker is stopped (R-Q-58).

use super::log::{Happening, Log};
use super::method::{Method, Reply};
use crate::amqp::pair::LINES;

/// An end of a connection that the broker brought about.
#[derive(Copy, Clone, Debug)]
pub(super) struct Cut {
    /// Its line; for one that the client has not seen, the one behind its last.
    pub place: usize,
    /// The earliest instant, in microseconds.
    pub earliest: u64,
    pub kind: CutKind,
}

/// A kind of such ends.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum CutKind {
    /// The client has seen it.
    Seen,
    /// It may have come before the client hung up, or before the end of the log.
    Unseen,
    /// The broker was restarted.
    Restart,
}

/// A silence that is so long that the broker ends the connection.
#[derive(Copy, Clone, Debug)]
struct Silence {
    connection: u16,
    /// Which of the client's connections it is, from 1.
    life: u16,
    /// The instant at which the connection is gone at the latest.
    over: u64,
    /// The instant at which the queues know of that at the latest.
    known: u64,
}

/// What the log says of such ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    cuts: [Vec<Cut>; LINES],
    silences: Vec<Silence>,
    /// The methods that may have been lost with their connection.
    lost: Vec<usize>,
    /// How late timers may be, in microseconds.
    lateness: Option<u64>,
}

/// A connection of a client, while the log is read.
#[derive(Clone, Debug)]
struct Life {
    number: u16,
    /// The heartbeat interval, in microseconds; 0: none.
    interval: u64,
    opened: u64,
    /// When the client sent something.
    bytes: Vec<u64>,
    /// The methods that it sent.
    sent: Vec<usize>,
}

impl Life {
    fn new(number: u16) -> Self {
        Life { number, interval: 0, opened: 0, bytes: Vec::new(), sent: Vec::new() }
    }

    /// Each instant at which something was sent, with the next one.
    fn gaps(&self) -> impl Iterator<Item = (u64, Option<u64>)> {
        self.bytes.iter().enumerate().map(|(at, byte)| (*byte, self.bytes.get(at + 1).copied()))
    }

    /// R-Q-43, R-Q-44: not before two intervals after a byte, and not before three after the connection was opened.
    fn earliest_loss(&self) -> u64 {
        let earliest = |byte: u64| (byte + 2 * self.interval).max(self.opened + 3 * self.interval);
        let mut gaps = self.gaps().map(|(byte, next)| (earliest(byte), next));
        let found = gaps.find(|(earliest, next)| next.is_none_or(|next| next > *earliest));
        found.filter(|_| self.interval > 0).map_or(u64::MAX, |(earliest, _)| earliest)
    }

    /// R-Q-44: no later than three intervals after a byte, and as late as timers are.
    fn latest_loss(&self, lateness: u64) -> Option<u64> {
        let latest = |byte: u64| byte + 3 * self.interval + lateness;
        let mut gaps = self.gaps().map(|(byte, next)| (latest(byte), next));
        let found = gaps.find(|(latest, next)| next.is_none_or(|next| next > *latest));
        found.filter(|_| self.interval > 0).map(|(latest, _)| latest)
    }
}

impl Losses {
    pub(super) fn new(log: &Log) -> Self {
        let lateness = log.lateness.map(|lateness| u64::from(lateness) * 1_000);
        let mut losses = Losses { lateness, ..Losses::default() };
        let mut lives: [Life; LINES] = [(); LINES].map(|()| Life::new(1));
        let restarts: Vec<(usize, u64)> = (0..)
            .zip(&log.events)
            .filter_map(|(place, event)| match event.happened {
                Happening::Restarted { since } => Some((place, since)),
                _ => None,
            })
            .collect();
        for (place, event) in log.events.iter().enumerate() {
            if let Happening::Restarted { since } = event.happened {
                for (line, life) in lives.iter_mut().enumerate() {
                    losses.cuts[line].push(Cut { place, earliest: since, kind: CutKind::Restart });
                    losses.end(line, life, Some(event.at), true);
                }
                continue;
            }
            let line = usize::from(event.connection) - 1;
            let life = &mut lives[line];
            match event.happened {
                Happening::Sent(method) => {
                    if let Method::Connect { heartbeat } = method {
                        (life.interval, life.opened) = (u64::from(heartbeat) * 1_000_000, event.at);
                    }
                    life.bytes.push(event.at);
                    life.sent.push(place);
                    if method == Method::HangUp {
                        losses.may_be_lost(line, life, place + 1);
                        losses.end(line, life, None, false);
                    }
                }
                // The handshake ends with it.
                Happening::Answered { reply: Reply::Connected, .. } => life.bytes.push(event.at),
                Happening::Answered { to, reply } => {
                    life.sent.retain(|sent| sent + 1 != to);
                    if reply.ends_connection() {
                        losses.end(line, life, None, false);
                    }
                }
                Happening::Lost(_) => {
                    let restart = restarts.iter().find(|(at, since)| *at > place && *since <= event.at);
                    let earliest = restart.map_or_else(|| life.earliest_loss(), |(_, since)| *since);
                    losses.cuts[line].push(Cut { place, earliest, kind: CutKind::Seen });
                    losses.end(line, life, Some(event.at), true);
                }
                Happening::Delivered { .. } | Happening::Cancelled { .. } | Happening::Restarted { .. } => {}
            }
        }
        for (line, life) in lives.iter_mut().enumerate() {
            losses.may_be_lost(line, life, log.events.len());
            losses.end(line, life, None, false);
        }
        losses
    }

    /// The client has not seen the end of a connection, if there was one.
    fn may_be_lost(&mut self, line: usize, life: &Life, place: usize) {
        let earliest = life.earliest_loss();
        if earliest < u64::MAX {
            self.cuts[line].push(Cut { place, earliest, kind: CutKind::Unseen });
        }
    }

    /// A connection is over, and the next one begins.
    fn end(&mut self, line: usize, life: &mut Life, seen: Option<u64>, is_lost: bool) {
        if let Some(lateness) = self.lateness
            && let Some(latest) = life.latest_loss(lateness)
        {
            let over = seen.map_or(latest, |seen| seen.min(latest));
            let connection = u16::try_from(line + 1).expect("few");
            self.silences.push(Silence { connection, life: life.number, over, known: over + lateness });
        }
        let next = Life::new(life.number + 1);
        let Life { sent, .. } = std::mem::replace(life, next);
        if is_lost {
            self.lost.extend(sent);
        }
    }

    /// The end of a connection that comes next, after some of them.
    pub(super) fn next(&self, line: usize, done: usize) -> Option<Cut> {
        self.cuts[line].get(done).copied()
    }

    /// Whether the end on a line of the log is among the first ones.
    pub(super) fn is_done(&self, place: usize, done: &[usize; LINES]) -> bool {
        let is_open = |cut: &Cut| cut.place == place && cut.kind != CutKind::Unseen;
        (0..LINES).all(|line| !self.cuts[line].iter().skip(done[line]).any(is_open))
    }

    /// Whether the broker may have carried out the method at a place, without an answer that arrived (R-Q-41).
    pub(super) fn may_lack(&self, place: usize) -> bool {
        self.lost.contains(&place)
    }

    /// A connection, with its number among those of its client, of which something is still there that must be over at an instant.
    pub(super) fn overdue(
        &self,
        at: u64,
        is_alive: impl Fn(u16, u16) -> bool,
        is_unknown: impl Fn(u16, u16) -> bool,
    ) -> Option<u16> {
        let is_overdue = |silence: &&Silence| {
            let Silence { connection, life, over, known } = **silence;
            over < at && is_alive(connection, life) || known < at && is_unknown(connection, life)
        };
        self.silences.iter().find(is_overdue).map(|silence| silence.connection)
    }
}
