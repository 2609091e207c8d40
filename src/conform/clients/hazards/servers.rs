//! Hazards of servers that come to lead, and of those that led: reads that show what was, and sessions that end before their time.

use super::super::super::log::{EventKind, LogRecord};
use super::super::asks::{Ask, asks, holder};
use super::super::seconds;
use super::super::tenures::{Ending, Tenure};
use super::Evidence;

/// C-CON-2: a read that is not `consistent` may be answered by a former leader.
pub(super) fn shown_by_a_former_leader(evidence: &Evidence<'_>) -> Option<String> {
    let mine = evidence.tenure;
    let is_look = |line: &&LogRecord| {
        let is_read = asks(line).iter().any(|asked| asked.ask == Ask::Read && asked.is_about(&mine.key));
        let shows = || holder(line, &mine.key).is_some_and(|holder| holder.as_ref() == Some(&mine.session));
        is_read && !line.question.url.contains("consistent") && shows()
    };
    evidence.own().filter(is_look).find_map(|line| {
        // The lock does not come back to a session without an acquire.
        let is_back = |since: i64| {
            let is_its = |tenure: &&Tenure| (&tenure.key, &tenure.session) == (&mine.key, &mine.session);
            let mut again = evidence.tenures.iter().filter(is_its);
            again.any(|tenure| since < tenure.began.0 && tenure.began.0 < line.received)
        };
        let is_next = |other: &&Tenure| {
            other.key == mine.key
                && mine.is_of_other(other)
                && mine.began.1 < other.began.0
                && other.began.1 < line.sent
                && !is_back(other.began.0)
        };
        let other = evidence.tenures.iter().find(is_next)?;
        let (at, number, who, acquired) = (seconds(line.sent), line.number, other.who(), other.line);
        Some(format!(
            "a server showed it as the holder at {at} (line {number}), after {who} had acquired the lock in line {acquired}: the read was not `consistent`"
        ))
    })
}

/// The last renewal that the server answered, of a session that then ended before its timer could run out.
fn renewed_and_ended<'a>(evidence: &Evidence<'a>) -> Option<&'a LogRecord> {
    let is_over = matches!(evidence.tenure.ending, Ending::Expired(_) | Ending::Pruned(_));
    evidence.tenure.ttl.filter(|_| is_over && !evidence.may_have_expired())?;
    let ended = evidence.tenure.ended.1?;
    let renew = format!("/v1/session/renew/{}", evidence.tenure.session);
    let is_renewal = |line: &&LogRecord| {
        let is_answered = line.reply.as_ref().is_some_and(|reply| reply.status == 200);
        line.question.url == renew && is_answered && line.received <= ended
    };
    evidence.episode.lines.iter().filter(is_renewal).max_by_key(|line| line.sent)
}

/// The instants between which other servers came to lead.
fn failovers(evidence: &Evidence<'_>) -> Vec<(i64, i64)> {
    let events = evidence.episode.events.iter().filter(|event| event.kind == EventKind::Failover);
    events.map(|event| (event.sent, event.received)).collect()
}

/// C-CON-5: a leader renews from its memory, and one that leads no longer may still do so.
pub(super) fn renewed_by_a_former_leader(evidence: &Evidence<'_>) -> Option<String> {
    let line = renewed_and_ended(evidence)?;
    let during = |(from, to): &(i64, i64)| *from <= line.received && line.sent <= *to;
    failovers(evidence).into_iter().find(during)?;
    let (at, number) = (seconds(line.sent), line.number);
    Some(format!(
        "its renewal at {at} (line {number}) was answered while another server came to lead, by one that led no longer: the new leader did not know of it"
    ))
}

/// A server that led ends a session which was renewed with its successor.
pub(super) fn ended_by_a_former_leader(evidence: &Evidence<'_>) -> Option<String> {
    let (line, ended) = (renewed_and_ended(evidence)?, evidence.tenure.ended.1?);
    failovers(evidence).into_iter().find(|(_, to)| *to < line.sent)?;
    let (at, number, early) = (seconds(line.sent), line.number, seconds(ended));
    Some(format!(
        "it renewed with the new leader at {at} (line {number}), and its session had ended by {early} nevertheless, before its timer: the former leader ended it"
    ))
}
