//! Who held a lock by the server's record: for certain, and possibly.

use std::net::SocketAddr;

use serde_json::Value;

use super::super::consul::{nanoseconds, part};
use super::super::log::{Episode, LogRecord};
use super::asks::{Ask, Asked, asks, holder, is_done};
use super::slots;

/// A session holds a key, or a slot of a semaphore. It held it for certain between the answer to the acquire and the earliest end, and possibly between
/// the request and the latest end.
#[derive(Clone, PartialEq, Debug)]
pub struct Tenure {
    /// The key; of a slot, the one of the semaphore's coordination entry.
    pub key: String,
    /// How many slots the semaphore has, by the entry that gave this one; none: it is a lock.
    pub limit: Option<usize>,
    /// The session.
    pub session: String,
    /// Who acquired it, if the log tells.
    pub client: Option<String>,
    /// The line of the acquire.
    pub line: usize,
    /// When the acquire was sent, and when it was answered, in nanoseconds.
    pub began: (i64, i64),
    /// When it ended at the earliest, and at the latest; none: the log does not tell that it ended.
    pub ended: (i64, Option<i64>),
    /// How it ended.
    pub ending: Ending,
    /// The TTL of the session, if it has one.
    pub ttl: Option<i64>,
    /// The lock-delay that the session was created with, as it was written.
    pub lock_delay: Option<String>,
    /// When the session was renewed, as far as the server said so, from its creation on.
    pub renewals: Vec<i64>,
}

/// How a tenure ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The log does not tell that it ended.
    Open,
    /// The session released the key, in this line.
    Released(usize),
    /// The session was destroyed, in this line.
    Destroyed(usize),
    /// The key was deleted, in this line.
    Deleted(usize),
    /// Another client took the session out of the semaphore's coordination entry, in this line.
    Pruned(usize),
    /// The session had ended when this line was answered, and nothing in the log has ended it: its TTL ran out.
    Expired(usize),
}

impl Tenure {
    /// When it certainly lasted; none: there may have been no such instant.
    pub fn certain(&self) -> Option<(i64, i64)> {
        (self.began.1 < self.ended.0).then_some((self.began.1, self.ended.0))
    }

    /// Who it is, for people.
    pub fn who(&self) -> String {
        let short = self.session.get(..8).unwrap_or(&self.session);
        self.client.as_ref().map_or_else(|| format!("session {short}"), Clone::clone)
    }
}

/// Every tenure that the log tells of.
pub(super) fn tenures(episode: &Episode) -> Vec<Tenure> {
    let mut lines: Vec<&LogRecord> = episode.lines.iter().collect();
    lines.sort_by_key(|line| line.received);
    let mut tenures: Vec<Tenure> = Vec::new();
    let acquired = lines.iter().filter(|line| is_done(line)).flat_map(|line| {
        asks(line).into_iter().filter_map(move |asked| match asked.ask {
            Ask::Acquire(session) => Some((line, asked.key, session)),
            _ => None,
        })
    });
    let writes = slots::entry_writes(&lines);
    for (line, key, session) in acquired {
        // C-KV-11: the server cannot tell two clients with the same session apart.
        let is_other = |tenure: &Tenure| are_distinct(tenure.client.as_ref(), line.client.as_ref());
        let is_again = tenures.iter().any(|tenure| tenure.is_again(&key, &session, line) && !is_other(tenure));
        if is_again || slots::is_contender(&key, &session, &writes) {
            continue;
        }
        let mut tenure = Tenure::begin(&lines, line, key, session);
        tenure.end(&lines);
        tenures.push(tenure);
    }
    tenures.extend(slots::slots(&lines, &writes, episode.begins_later));
    tenures.sort_by_key(|tenure| tenure.began.0);
    tenures
}

/// Whether two names are certainly those of two clients. A client without a name has the address of its connection for one, and may have
/// several connections.
pub(super) fn are_distinct(one: Option<&String>, other: Option<&String>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    let host = |name: &String| name.parse::<SocketAddr>().map(|address| address.ip()).ok();
    one != other && (host(one).is_none() || host(one) != host(other))
}

pub(super) fn creates(line: &LogRecord, session: &str) -> bool {
    let is_create = line.question.url.starts_with("/v1/session/create");
    let answer = || String::from_utf8_lossy(line.reply.as_ref().map_or(&[][..], |reply| &reply.body)).into_owned();
    is_create && answer().contains(session)
}

impl Tenure {
    /// A tenure that a request begins, by its client.
    pub(super) fn begin(lines: &[&LogRecord], line: &LogRecord, key: String, session: String) -> Tenure {
        let created = lines.iter().find(|line| creates(line, &session));
        let requested: Value =
            created.and_then(|line| serde_json::from_slice(&line.question.body).ok()).unwrap_or_default();
        let ttl = part(&requested, "TTL")
            .and_then(Value::as_str)
            .and_then(|ttl| nanoseconds(ttl).ok())
            .filter(|ttl| *ttl > 0);
        let renew = format!("/v1/session/renew/{session}");
        let is_renewed = |line: &&&LogRecord| {
            line.question.url == renew && line.reply.as_ref().is_some_and(|reply| reply.status == 200)
        };
        Tenure {
            key,
            limit: None,
            session,
            client: line.client.clone(),
            line: line.number,
            began: (line.sent, line.received),
            ended: (i64::MAX, None),
            ending: Ending::Open,
            ttl,
            lock_delay: part(&requested, "LockDelay")
                .filter(|delay| !delay.is_null())
                .map(|delay| delay.as_str().map_or_else(|| delay.to_string(), str::to_owned)),
            renewals: created.iter().copied().chain(lines.iter().filter(is_renewed)).map(|line| line.sent).collect(),
        }
    }

    /// Whether another client holds it, or another session.
    pub(super) fn is_of_other(&self, other: &Tenure) -> bool {
        self.session != other.session || are_distinct(self.client.as_ref(), other.client.as_ref())
    }

    /// Whether a request gives a session what it holds already.
    pub(super) fn is_again(&self, key: &str, session: &str, line: &LogRecord) -> bool {
        self.key == key && self.session == session && self.ended.1.is_none_or(|ended| line.sent < ended)
    }

    /// Finds out when it ended.
    pub(super) fn end(&mut self, lines: &[&LogRecord]) {
        let (began, held) = self.began;
        let destroy = format!("/v1/session/destroy/{}", self.session);
        // What the log itself says ended it, the first first.
        let explicit = lines.iter().filter(|line| line.received > began).find_map(|line| {
            if line.question.url == destroy && line.reply.as_ref().is_none_or(|reply| reply.status == 200) {
                return Some((line, Ending::Destroyed(line.number)));
            }
            if self.limit.is_some() {
                return slots::ending(line, self).map(|ending| (line, ending));
            }
            let mut here = asks(line).into_iter().filter(|asked| is_done(line) && asked.is_about(&self.key));
            here.find_map(|asked| match asked.ask {
                Ask::Release(session) if session == self.session => Some((line, Ending::Released(line.number))),
                Ask::Delete if line.sent >= held => Some((line, Ending::Deleted(line.number))),
                _ => None,
            })
        });
        // The first answer by which it had ended, and the last by which it had not.
        let over = lines.iter().find(|line| line.sent >= held && self.is_over_in(line));
        let until = over.map_or(i64::MAX, |line| line.received);
        let lasting = lines.iter().filter(|line| line.received <= until && self.lasts_in(line)).map(|line| line.sent);
        let alive = lasting.max().unwrap_or(held).max(held);
        match (explicit, over) {
            (Some((line, ending)), over) if over.is_none_or(|over| line.sent <= over.received) => {
                self.ended = (line.sent.max(held), Some(line.received.min(until)));
                self.ending = ending;
            }
            (_, Some(over)) => {
                let renewed = self.renewals.iter().copied().filter(|at| *at <= over.received).max();
                // C-TTL-2: the timer is twice the TTL.
                let earliest = renewed.zip(self.ttl).map_or(alive, |(at, ttl)| at.saturating_add(2 * ttl));
                self.ended = (earliest.max(alive).min(over.received), Some(over.received));
                let is_pruned = self.limit.is_some() && slots::leaves_out(over, self);
                let number = over.number;
                self.ending = if is_pruned { Ending::Pruned(number) } else { Ending::Expired(number) };
            }
            (_, None) => {
                let renewed = self.renewals.iter().copied().max();
                let earliest = renewed.zip(self.ttl).map_or(i64::MAX, |(at, ttl)| at.saturating_add(2 * ttl));
                self.ended = (earliest.max(alive), None);
            }
        }
    }

    /// Whether an answer shows that it is over.
    fn is_over_in(&self, line: &LogRecord) -> bool {
        let Some(reply) = &line.reply else { return false };
        let url = &line.question.url;
        if url.strip_prefix("/v1/session/renew/") == Some(&self.session) {
            return reply.status == 404;
        }
        if url.split('?').next().and_then(|path| path.strip_prefix("/v1/session/info/")) == Some(&self.session) {
            return reply.status == 200 && reply.body.trim_ascii() == b"[]";
        }
        if self.limit.is_some() {
            return slots::is_over_in(line, self);
        }
        self.asked_in(line).any(|asked| match asked.ask {
            Ask::Acquire(session) => session != self.session && is_done(line),
            Ask::Read => holder(line, &self.key).is_some_and(|holder| holder.as_ref() != Some(&self.session)),
            _ => false,
        })
    }

    /// What a request asks of its key.
    fn asked_in(&self, line: &LogRecord) -> impl Iterator<Item = Asked> {
        asks(line).into_iter().filter(|asked| asked.is_about(&self.key))
    }

    /// Whether an answer shows that it lasts.
    fn lasts_in(&self, line: &LogRecord) -> bool {
        if self.limit.is_some() {
            return slots::lasts_in(line, self);
        }
        self.asked_in(line).any(|asked| match asked.ask {
            Ask::Acquire(session) => session == self.session && is_done(line),
            Ask::Read => holder(line, &self.key).is_some_and(|holder| holder.as_ref() == Some(&self.session)),
            _ => false,
        })
    }
}
