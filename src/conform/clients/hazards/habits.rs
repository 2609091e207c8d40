//! Hazards that show in what a client did, and left out.

use serde_json::Value;

use super::super::super::consul::part;
use super::super::super::log::LogRecord;
use super::super::asks::{Ask, asks, holder};
use super::super::beliefs::Stopped;
use super::super::seconds;
use super::super::slots::entry_writes;
use super::super::tenures::{Ending, Tenure, are_distinct};
use super::Evidence;

/// C-KV-11: a session that holds a key acquires it again.
pub(super) fn shared_session(evidence: &Evidence<'_>) -> Option<String> {
    let mine = evidence.tenure;
    let is_shared = |other: &&&Tenure| {
        other.key == mine.key
            && other.session == mine.session
            && are_distinct(other.client.as_ref(), mine.client.as_ref())
    };
    let other = evidence.others.iter().find(is_shared)?;
    Some(format!("{} and {} use the same session, and Consul cannot tell them apart", mine.who(), other.who()))
}

/// C-SEM-4: the limit is part of the entry, and a client that finds another one refuses.
pub(super) fn other_limit(evidence: &Evidence<'_>) -> Option<String> {
    let mut slots: Vec<&Tenure> = [evidence.tenure].into_iter().chain(evidence.others.iter().copied()).collect();
    slots.sort_by_key(|slot| slot.began);
    let first = *slots.first()?;
    let limit = first.limit?;
    let other = slots.into_iter().find(|slot| slot.limit.is_some_and(|other| other != limit))?;
    let (one, two, line, changed) = (first.who(), other.who(), other.line, other.limit?);
    Some(format!("the limit was {limit} when {one} came in, and {two} wrote {changed} into the entry, in line {line}"))
}

/// The holders were counted in one request and written in another, which does not look whether the entry has changed.
pub(super) fn counted_first(evidence: &Evidence<'_>) -> Option<String> {
    evidence.tenure.limit?;
    let of = |number: usize| evidence.line(number);
    let lines = evidence.others.iter().filter_map(|other| of(other.line)).chain(of(evidence.tenure.line));
    let is_plain = |line: &&LogRecord| !entry_writes(&[line]).is_empty() && !is_conditional(line);
    let line = lines.filter(is_plain).map(|line| line.number).max()?;
    Some(format!("the entry was written in line {line} without a look whether it had changed: no `cas`"))
}

/// Whether the server compares before it carries a write out.
fn is_conditional(line: &LogRecord) -> bool {
    let (path, query) = line.question.url.split_once('?').unwrap_or((&line.question.url, ""));
    if path != "/v1/txn" {
        return query.split('&').any(|part| part.starts_with("cas="));
    }
    let operations: Vec<Value> = serde_json::from_slice(&line.question.body).unwrap_or_default();
    operations.iter().any(|operation| {
        let verb = part(operation, "KV").and_then(|kv| part(kv, "Verb")).and_then(Value::as_str);
        matches!(verb, Some("cas" | "delete-cas" | "check-index" | "check-session"))
    })
}

/// Whether the TTL may have ended the session, and what it is.
fn expired(evidence: &Evidence<'_>) -> Option<i64> {
    let is_over = matches!(evidence.tenure.ending, Ending::Expired(_) | Ending::Pruned(_) | Ending::Open);
    evidence.tenure.ttl.filter(|_| is_over)
}

/// The last renewal that the server answered before the end, and how long there was none, if that was longer than the TTL.
fn silence(evidence: &Evidence<'_>) -> Option<(i64, i64)> {
    let (ttl, ended) = (expired(evidence)?, evidence.tenure.ended.0);
    if ended > evidence.acted() {
        return None;
    }
    let renewed = evidence.tenure.renewals.iter().copied().filter(|at| *at <= ended).max();
    let last = renewed.unwrap_or(evidence.tenure.began.0);
    Some((last, ended - last)).filter(|(_, silent)| *silent > ttl)
}

fn failed_renewal<'a>(evidence: &Evidence<'a>) -> Option<&'a LogRecord> {
    let (last, _) = silence(evidence)?;
    let renew = format!("/v1/session/renew/{}", evidence.tenure.session);
    let is_try = |line: &&LogRecord| line.question.url == renew && line.sent > last;
    let mut tries = evidence.own().filter(is_try);
    let failed = tries.next().filter(|line| line.reply.as_ref().is_none_or(|reply| reply.status >= 500))?;
    // It did not try again in time.
    tries.all(|line| line.sent > evidence.tenure.ended.0).then_some(failed)
}

/// A renewal fails, and there is no other one.
pub(super) fn gave_up_renewing(evidence: &Evidence<'_>) -> Option<String> {
    let failed = failed_renewal(evidence)?;
    let (line, at) = (failed.number, seconds(failed.sent));
    Some(format!("its renewal at {at} (line {line}) failed, and it did not try again before its session ended"))
}

/// Renewals fail for longer than the TTL, and the client works on meanwhile.
pub(super) fn worked_on_in_jeopardy(evidence: &Evidence<'_>) -> Option<String> {
    let (last, _) = silence(evidence)?;
    let over = last.saturating_add(expired(evidence)?);
    let renew = format!("/v1/session/renew/{}", evidence.tenure.session);
    let is_failed = |line: &&LogRecord| {
        let is_error = line.reply.as_ref().is_none_or(|reply| reply.status >= 500);
        line.question.url == renew && line.sent > last && line.sent < evidence.acted() && is_error
    };
    let failed: Vec<&LogRecord> = evidence.own().filter(is_failed).collect();
    let first = failed.first().filter(|_| failed.len() > 1 && evidence.acted() > over)?;
    Some(format!(
        "its renewals failed from {} on (line {}; {} of them), its TTL was over at {} by its own count, and it worked on",
        seconds(first.sent),
        first.number,
        failed.len(),
        seconds(over)
    ))
}

/// It gave the lock back, and the answer to its write was still to come.
pub(super) fn left_a_write_open(evidence: &Evidence<'_>) -> Option<String> {
    let (write, Stopped::GaveBack(line)) = (evidence.write?.number, &evidence.belief.stopped) else { return None };
    Some(format!(
        "it did not await the answer to its write in line {write} before it gave the lock back, in line {line}: no lock-delay follows a release"
    ))
}

pub(super) fn did_not_renew(evidence: &Evidence<'_>) -> Option<String> {
    let (_, silent) = silence(evidence).filter(|_| failed_renewal(evidence).is_none())?;
    Some(format!(
        "it did not renew its session for {}, and the TTL is {}: the server may end it after twice that",
        seconds(silent),
        seconds(expired(evidence)?)
    ))
}

/// A client that does nothing at all for longer than its TTL is paused, or cut off.
pub(super) fn was_silent(evidence: &Evidence<'_>) -> Option<String> {
    let ttl = expired(evidence)?;
    let ended = evidence.tenure.ended.0;
    let acts: Vec<i64> =
        evidence.own().flat_map(|line| [line.sent, line.received]).filter(|at| *at < i64::MAX).collect();
    let last = acts.iter().copied().filter(|at| *at <= ended).max()?;
    let next = acts.iter().copied().filter(|at| *at > ended).min()?;
    (next - last > ttl).then(|| {
        format!(
            "it sent nothing between {} and {}: it was paused, or cut off, for longer than its TTL",
            seconds(last),
            seconds(next)
        )
    })
}

/// It gave the lock back, and acted nevertheless.
pub(super) fn released_first(evidence: &Evidence<'_>) -> Option<String> {
    let Stopped::GaveBack(line) = evidence.belief.stopped else { return None };
    let what = if evidence.tenure.limit.is_some() { "slot" } else { "lock" };
    Some(format!("it gave the {what} back, in line {line}, before it had stopped"))
}

/// What the client did before it acted.
fn before<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = &'a LogRecord> {
    let until = evidence.acted();
    evidence.own().filter(move |line| line.sent < until)
}

/// Whether a request asks whether the client still holds the lock.
fn looks(evidence: &Evidence<'_>, line: &LogRecord) -> bool {
    let url = &line.question.url;
    let is_read = asks(line).iter().any(|asked| asked.is_about(&evidence.tenure.key) && asked.ask == Ask::Read);
    is_read
        || url.contains(&format!("/v1/session/info/{}", evidence.tenure.session))
        || url.contains("/v1/session/renew/")
}

/// The look right before the write, by which the client still held the lock.
fn look_before_write<'a>(evidence: &Evidence<'a>) -> Option<&'a LogRecord> {
    let write = evidence.write?;
    let last = before(evidence).filter(|line| line.received <= write.sent).max_by_key(|line| line.received)?;
    let shows =
        holder(last, &evidence.tenure.key).is_some_and(|holder| holder.as_ref() == Some(&evidence.tenure.session));
    let lives =
        last.question.url.starts_with("/v1/session/") && last.reply.as_ref().is_some_and(|reply| reply.status == 200);
    (looks(evidence, last) && (shows || lives)).then_some(last)
}

/// The last thing before the write was a look, and it was too old when the write was sent.
pub(super) fn looked_then_wrote(evidence: &Evidence<'_>) -> Option<String> {
    let (look, write) = (look_before_write(evidence)?, evidence.write?);
    let (at, line, since) = (seconds(look.sent), look.number, seconds(write.sent - look.received));
    Some(format!(
        "it looked at {at} (line {line}) that it held the lock, and wrote {since} later: a look does not protect the write behind it"
    ))
}

pub(super) fn did_not_look(evidence: &Evidence<'_>) -> Option<String> {
    if look_before_write(evidence).is_some() || evidence.tenure.ended.1.is_none() {
        return None;
    }
    let last = before(evidence).filter(|line| looks(evidence, line)).map(|line| line.sent).max();
    let is_early = last.is_none_or(|last| last < evidence.tenure.ended.0);
    let since = last.map_or("never".to_owned(), |last| format!("last at {}", seconds(last)));
    (is_early || evidence.belief.stopped == Stopped::Never)
        .then(|| format!("it did not look whether it still held the lock ({since}) before it acted"))
}

pub(super) fn not_fenced(evidence: &Evidence<'_>) -> Option<String> {
    let line = evidence.write.filter(|line| !is_conditional(line) && entry_writes(&[*line]).is_empty())?.number;
    Some(format!("its write in line {line} was not fenced: no `cas`, and no transaction that checks the session"))
}
