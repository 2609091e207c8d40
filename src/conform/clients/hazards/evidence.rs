//! What a row of the table looks at: the log, the tenure of the client that acted as the holder, and what it did.

use serde_json::Value;

use super::super::super::consul::{nanoseconds, part};
use super::super::super::log::{Episode, LogRecord};
use super::super::beliefs::{BeliefInterval, is_by};
use super::super::tenures::{Tenure, are_distinct, creates};
use super::Act;

/// What a log shows about one client that acted as the holder.
#[derive(Copy, Clone)]
pub(in super::super) struct Evidence<'a> {
    pub episode: &'a Episode,
    /// Every tenure of the log.
    pub tenures: &'a [Tenure],
    /// The client's.
    pub tenure: &'a Tenure,
    pub belief: &'a BeliefInterval,
    /// The tenures that the client's belief overlaps with in the finding.
    pub others: &'a [&'a Tenure],
    /// The late write, if the finding is one; of an entry with too many holders the request that wrote it.
    pub write: Option<&'a LogRecord>,
    /// What the client did.
    pub act: Act,
}

impl<'a> Evidence<'a> {
    /// The line with a number.
    pub fn line(&self, number: usize) -> Option<&'a LogRecord> {
        self.episode.lines.iter().find(|line| line.number == number)
    }

    /// The client's requests.
    pub fn own(&self) -> impl Iterator<Item = &'a LogRecord> {
        let tenure = self.tenure;
        self.episode.lines.iter().filter(move |line| is_by(line, tenure))
    }

    /// Whether a line is certainly one of another client.
    pub fn is_foreign(&self, line: &LogRecord) -> bool {
        are_distinct(line.client.as_ref(), self.tenure.client.as_ref())
    }

    /// The request that created the session, with what was asked for.
    pub fn creation(&self) -> Option<(&'a LogRecord, Value)> {
        let line = self.episode.lines.iter().find(|line| creates(line, &self.tenure.session))?;
        Some((line, serde_json::from_slice(&line.question.body).unwrap_or_default()))
    }

    /// C-SES-1: the node of the session.
    pub fn node(&self) -> Option<String> {
        let (line, requested) = self.creation()?;
        let named = part(&requested, "Node").and_then(Value::as_str).filter(|node| !node.is_empty());
        let agent = line.details.agent.as_deref().unwrap_or(&self.episode.node);
        Some(named.unwrap_or(agent).to_owned()).filter(|node| !node.is_empty())
    }

    /// Whether the timer of the session may have run out when its end was seen. C-TTL-2: the timer is twice the TTL.
    pub fn may_have_expired(&self) -> bool {
        let seen = self.tenure.ended.1.unwrap_or(i64::MAX);
        let renewed = self.tenure.renewals.iter().copied().filter(|at| *at <= seen).max();
        let timer = |ttl: i64| renewed.is_none_or(|at| at.saturating_add(ttl.saturating_mul(2)) <= seen);
        self.tenure.ttl.is_some_and(timer)
    }

    /// How long the lock-delay is that the session asked for, in nanoseconds; none: the log does not have its creation. C-SES-1: it is 15 s
    /// unless something else is asked for. C-SES-8: what is less than 1000 nanoseconds is taken for seconds.
    pub fn lock_delay(&self) -> Option<i64> {
        self.creation()?;
        let Some(written) = self.tenure.lock_delay.as_deref() else { return Some(15_000_000_000) };
        let asked = written.parse::<i64>().ok().or_else(|| nanoseconds(written).ok())?;
        Some(if asked < 1000 { asked.saturating_mul(1_000_000_000) } else { asked })
    }

    /// When the client acted as the holder for the last time.
    pub fn acted(&self) -> i64 {
        self.write.map_or(self.belief.until, |line| line.sent)
    }

    /// How long after the end of the tenure the client still acted at least.
    pub fn lateness(&self) -> Option<i64> {
        self.tenure.ended.1.map(|ended| self.acted() - ended).filter(|late| *late >= 0)
    }
}
