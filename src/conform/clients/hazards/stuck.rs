//! Hazards that cost nobody the lock's protection: a client waits, or a slot stays taken, and nothing in the log will end that. Each row finds
//! by itself where that is so, for there is no other finding that it could be the cause of.

use super::super::super::log::{Episode, EventKind, LogRecord};
use super::super::asks::{Ask, asks, holder, is_done};
use super::super::beliefs::{BeliefInterval, is_by};
use super::super::findings::{Finding, Kind};
use super::super::seconds;
use super::super::tenures::{Ending, Tenure, are_distinct, creates};
use super::Omission;
use super::stuck_slots::{never_told, release_in_vain};

/// How long a holder that nothing was heard of has kept others waiting before it is named: the longest lock-delay (C-LD-3).
const PATIENCE: i64 = 60_000_000_000;

/// What a row looks at.
pub(super) struct Overview<'a> {
    pub episode: &'a Episode,
    tenures: &'a [Tenure],
    beliefs: &'a [BeliefInterval],
}

/// Something that does not end.
pub(super) struct Sight {
    pub during: (i64, i64),
    /// The line that begins it.
    pub line: usize,
    pub what: String,
    pub cause: String,
}

/// A row of the table.
pub(super) struct StuckRow {
    pub hazard: &'static str,
    pub scenario: &'static str,
    pub mended: &'static str,
    look: fn(&Overview<'_>) -> Vec<Sight>,
}

const fn row(
    hazard: &'static str,
    [scenario, mended]: [&'static str; 2],
    look: fn(&Overview<'_>) -> Vec<Sight>,
) -> StuckRow {
    StuckRow { hazard, scenario, mended, look }
}

pub(super) const STUCK: [StuckRow; 6] = [
    row("B-14", ["b14-renew-after-loss", "b14-destroy-on-loss"], waits_for_itself),
    row("B-15", ["b15-reuse-session", "b15-recreate-session"], session_is_gone),
    row("B-20", ["b20-no-ttl", "b20-ttl"], never_released),
    row("B-21", ["b21-reset-on-election", "b21-elections-stop"], timer_began_anew),
    row("B-30", ["b30-no-retry", "b30-retry"], release_in_vain),
    row("B-31", ["b31-no-reread", "b31-reread"], never_told),
];

/// Everything in a log that does not end, with its cause.
pub(in super::super) fn stuck(episode: &Episode, tenures: &[Tenure], beliefs: &[BeliefInterval]) -> Vec<Finding> {
    let overview = Overview { episode, tenures, beliefs };
    let found = STUCK.iter().flat_map(|row| {
        (row.look)(&overview).into_iter().map(|sight| Finding {
            during: sight.during,
            kind: Kind::Stuck(sight.line),
            sentence: sight.what,
            omissions: vec![Omission {
                sentence: sight.cause,
                hazard: row.hazard,
                scenario: row.scenario,
                mended: row.mended,
            }],
        })
    });
    found.collect()
}

impl<'a> Overview<'a> {
    /// Requests for a lock that were refused, with the session that they name.
    fn refused(&self, key: &'a str) -> impl Iterator<Item = (&'a LogRecord, String)> {
        self.episode.lines.iter().filter(|line| line.reply.is_some() && !is_done(line)).flat_map(move |line| {
            asks(line).into_iter().filter_map(move |asked| match asked.ask {
                Ask::Acquire(session) if asked.key == *key => Some((line, session)),
                _ => None,
            })
        })
    }

    fn locks(&self) -> impl Iterator<Item = &'a Tenure> {
        self.tenures.iter().filter(|tenure| tenure.limit.is_none())
    }

    pub fn slots(&self) -> impl Iterator<Item = (&'a Tenure, &'a BeliefInterval)> {
        self.tenures.iter().zip(self.beliefs).filter(|(tenure, _)| tenure.limit.is_some())
    }

    pub fn line(&self, number: usize) -> Option<&'a LogRecord> {
        self.episode.lines.iter().find(|line| line.number == number)
    }
}

/// A client asks for a lock that it holds with another session, which it goes on renewing.
fn waits_for_itself(overview: &Overview<'_>) -> Vec<Sight> {
    let of = |tenure: &Tenure| {
        let is_own = |(line, session): &(&LogRecord, String)| {
            *session != tenure.session
                && line.client.is_some()
                && line.client == tenure.client
                && line.sent >= tenure.began.1
                && tenure.ended.1.is_none_or(|ended| line.received < ended)
        };
        let (line, session) = overview.refused(&tenure.key).find(is_own)?;
        let renewed = tenure.renewals.iter().copied().filter(|at| *at > line.received).max()?;
        let (who, key, at, number, last) =
            (tenure.who(), &tenure.key, seconds(line.sent), line.number, seconds(renewed));
        Some(Sight {
            during: (line.sent, renewed),
            line: number,
            what: format!(
                "{who} asked for `{key}` at {at} (line {number}) for session {session}, and held it itself, with session {}",
                tenure.session
            ),
            cause: format!("it went on renewing the session that holds the lock, last at {last}, and waits for itself"),
        })
    };
    overview.locks().filter_map(of).collect()
}

/// C-KV-10: an acquire for a session that is gone is an error, however often it is tried.
fn session_is_gone(overview: &Overview<'_>) -> Vec<Sight> {
    let failed = |line: &LogRecord| {
        let reply = line.reply.as_ref().filter(|reply| reply.status == 500)?;
        String::from_utf8_lossy(&reply.body).contains("invalid session").then_some(())?;
        let mut asked = asks(line).into_iter();
        asked.find_map(|asked| if let Ask::Acquire(id) = asked.ask { Some((id, asked.key)) } else { None })
    };
    let tries: Vec<(&LogRecord, (String, String))> =
        overview.episode.lines.iter().filter_map(|line| Some((line, failed(line)?))).collect();
    let of = |(place, (first, asked)): (usize, &(&LogRecord, (String, String)))| {
        let is_first = !tries[..place].iter().any(|(_, other)| other == asked);
        let again: Vec<&LogRecord> =
            tries[place..].iter().filter(|(_, other)| other == asked).map(|(line, _)| *line).collect();
        let renews = |line: &LogRecord| {
            line.sent > first.received
                && line.question.url.starts_with("/v1/session/create")
                && !are_distinct(line.client.as_ref(), first.client.as_ref())
        };
        let is_repaired = overview.episode.lines.iter().any(renews);
        let last = again.last().filter(|_| is_first && !is_repaired && again.len() > 1)?;
        let who = first.client.as_deref().unwrap_or("a client");
        let (session, key) = asked;
        let (from, to, count) = (seconds(first.sent), seconds(last.sent), again.len());
        Some(Sight {
            during: (first.sent, last.received),
            line: first.number,
            what: format!(
                "{who} asked for `{key}` {count} times from {from} (line {}) to {to} for session {session}, which was gone",
                first.number
            ),
            cause: "it was told that the session is invalid, and did not create another one".to_owned(),
        })
    };
    tries.iter().enumerate().filter_map(of).collect()
}

/// C-SES-1: without a TTL, a session lives until its node does not.
fn never_released(overview: &Overview<'_>) -> Vec<Sight> {
    let of = |tenure: &Tenure| {
        let is_known = overview.episode.lines.iter().any(|line| creates(line, &tenure.session));
        let is_open = tenure.ending == Ending::Open && tenure.ttl.is_none() && is_known;
        let own = overview.episode.lines.iter().filter(|line| is_open && is_by(line, tenure));
        let heard = own.map(|line| line.sent).max()?;
        let refused: Vec<&LogRecord> = overview
            .refused(&tenure.key)
            .filter(|(line, _)| !is_by(line, tenure) && line.sent > heard)
            .map(|(line, _)| line)
            .collect();
        let (first, last) = (refused.first()?, refused.last().filter(|last| last.sent - heard > PATIENCE)?);
        let who = first.client.as_deref().unwrap_or("a client");
        let (key, count, until) = (&tenure.key, refused.len(), seconds(last.sent));
        Some(Sight {
            during: (first.sent, last.received),
            line: first.number,
            what: format!(
                "{who} asked for `{key}` in vain until {until} (line {}; {count} requests), and nothing was heard of {}, which holds it, since {}",
                last.number,
                tenure.who(),
                seconds(heard)
            ),
            cause: "its session has no TTL: if its client is gone, nothing ends it".to_owned(),
        })
    };
    overview.locks().filter_map(of).collect()
}

/// C-TTL-6: another leader starts every timer at its full length.
fn timer_began_anew(overview: &Overview<'_>) -> Vec<Sight> {
    let of = |tenure: &Tenure| {
        let renewed = tenure.renewals.iter().copied().max()?;
        let over = renewed.saturating_add(tenure.ttl?.saturating_mul(2));
        let shows = |line: &&LogRecord| {
            line.sent > over
                && asks(line).iter().any(|asked| asked.ask == Ask::Read && asked.is_about(&tenure.key))
                && holder(line, &tenure.key).is_some_and(|holder| holder.as_ref() == Some(&tenure.session))
        };
        let last = overview.episode.lines.iter().rfind(shows)?;
        let is_change = |kind: &EventKind| matches!(kind, EventKind::Failover | EventKind::Restart);
        let changes = overview
            .episode
            .events
            .iter()
            .filter(|event| is_change(&event.kind) && event.received > renewed && event.sent < last.received);
        let count = changes.count();
        let (who, key, at, line) = (tenure.who(), &tenure.key, seconds(last.sent), last.number);
        (count > 0).then(|| Sight {
            during: (over, last.received),
            line,
            what: format!(
                "{who} still held `{key}` at {at} (line {line}), and its session was renewed at {} for the last time",
                seconds(renewed)
            ),
            cause: format!("servers restarted or failed over {count} times since, and each time its timer began anew"),
        })
    };
    overview.locks().filter_map(of).collect()
}
