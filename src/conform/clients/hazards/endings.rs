//! Hazards that how a tenure ended tells of: who or what ended it, and what the lock-delay was worth.

use serde_json::Value;

use super::super::super::consul::part;
use super::super::super::log::{EventKind, LogRecord};
use super::super::asks::is_done;
use super::super::seconds;
use super::super::tenures::Ending;
use super::Evidence;

/// C-LD-3: the longest lock-delay, in nanoseconds.
const DELAY_MAX: i64 = 60_000_000_000;

pub(super) fn entry_deleted(evidence: &Evidence<'_>) -> Option<String> {
    let Ending::Deleted(line) = evidence.tenure.ending else { return None };
    evidence.tenure.limit?;
    Some(format!("the entry of the semaphore was deleted under its holders, in line {line}"))
}

/// A client that had lost the key deletes it, and another one holds it now.
pub(super) fn deleted_by_late_client(evidence: &Evidence<'_>) -> Option<String> {
    let (line, by) = deletion(evidence)?;
    let had_lost = evidence.tenures.iter().any(|other| {
        other.key == evidence.tenure.key
            && other.client.as_ref() == Some(by)
            && other.ended.1.is_some_and(|ended| ended <= line.sent)
    });
    let number = line.number;
    had_lost.then(|| format!("{by} deleted the key under it, in line {number}, after it had lost the lock itself"))
}

/// The line that deleted the key of a lock, and the other client that sent it.
fn deletion<'a>(evidence: &Evidence<'a>) -> Option<(&'a LogRecord, &'a String)> {
    let Ending::Deleted(number) = evidence.tenure.ending else { return None };
    let line = evidence.line(number).filter(|line| evidence.tenure.limit.is_none() && evidence.is_foreign(line))?;
    Some((line, line.client.as_ref()?))
}

/// C-KV-13: any client that knows the id can release.
pub(super) fn released_by_another(evidence: &Evidence<'_>) -> Option<String> {
    let Ending::Released(number) = evidence.tenure.ending else { return None };
    let line = evidence.line(number).filter(|line| evidence.is_foreign(line))?;
    let by = line.client.as_ref()?;
    Some(format!("{by} released it in the name of its session, in line {number}"))
}

pub(super) fn key_deleted(evidence: &Evidence<'_>) -> Option<String> {
    let Ending::Deleted(line) = evidence.tenure.ending else { return None };
    let is_told = evidence.tenure.limit.is_some() || deleted_by_late_client(evidence).is_some();
    (!is_told).then(|| format!("the key was deleted under it, in line {line}"))
}

/// Whether something else than the TTL has ended the session.
fn ended_early(evidence: &Evidence<'_>) -> bool {
    matches!(evidence.tenure.ending, Ending::Expired(_) | Ending::Pruned(_)) && !evidence.may_have_expired()
}

/// Whether something happened at a time when it may have ended the tenure.
fn is_during(evidence: &Evidence<'_>, sent: i64, received: i64) -> bool {
    evidence.tenure.began.0 <= received && evidence.tenure.ended.1.is_none_or(|ended| sent <= ended)
}

/// C-INV-4: gossip makes `serfHealth` of a node critical, and the sessions that hang on it end.
pub(super) fn node_failed(evidence: &Evidence<'_>) -> Option<String> {
    let node = evidence.node().filter(|_| ended_early(evidence))?;
    let (_, requested) = evidence.creation()?;
    let failed = evidence.episode.events.iter().find(|event| {
        event.kind == EventKind::NodeFailed(node.clone()) && is_during(evidence, event.sent, event.received)
    });
    let at = seconds(failed.filter(|_| hangs_on_serf(&requested))?.sent);
    Some(format!("gossip gave its node `{node}` up, after {at}, and its session hangs on `serfHealth`"))
}

/// C-SES-10: whether the check of gossip is among those of a session.
fn hangs_on_serf(requested: &Value) -> bool {
    let has = |checks: &Value| checks.as_array().is_some_and(|checks| checks.iter().any(|check| check == "serfHealth"));
    let is_empty = |checks: &Value| checks.as_array().is_none_or(Vec::is_empty);
    let (checks, node_checks) = (part(requested, "Checks"), part(requested, "NodeChecks"));
    if checks.is_some_and(is_empty) || node_checks.is_some_and(is_empty) {
        return false;
    }
    node_checks.is_none_or(has) || checks.is_some_and(has)
}

/// C-INV-6: the sessions of a node end with it.
pub(super) fn node_removed(evidence: &Evidence<'_>) -> Option<String> {
    let node = evidence.node().filter(|_| ended_early(evidence))?;
    let removes = |line: &&LogRecord| {
        let body: Value = serde_json::from_slice(&line.question.body).unwrap_or_default();
        let names = |name: &str| part(&body, name).and_then(Value::as_str).filter(|text| !text.is_empty());
        line.question.url.split('?').next() == Some("/v1/catalog/deregister")
            && is_done(line)
            && names("Node").is_some_and(|named| named.eq_ignore_ascii_case(&node))
            && names("CheckID").is_none()
            && names("ServiceID").is_none()
            && is_during(evidence, line.sent, line.received)
    };
    let line = evidence.episode.lines.iter().find(removes)?.number;
    Some(format!("its node `{node}` was taken out of the catalogue, in line {line}, and its session with it"))
}

/// Whether the session was ended, so that a lock-delay followed (C-LD-1).
fn is_invalidated(evidence: &Evidence<'_>) -> bool {
    matches!(evidence.tenure.ending, Ending::Expired(_) | Ending::Pruned(_) | Ending::Destroyed(_))
}

/// C-SEM-11: there is no lock-delay for slots.
pub(super) fn slot_without_delay(evidence: &Evidence<'_>) -> Option<String> {
    let is_slot = evidence.tenure.limit.is_some() && is_invalidated(evidence);
    is_slot.then(|| {
        "its slot could be given on as soon as its session had ended: no lock-delay protects a slot".to_owned()
    })
}

/// C-SES-8: a number from 1000 on is one of nanoseconds.
pub(super) fn delay_in_nanoseconds(evidence: &Evidence<'_>) -> Option<String> {
    let written = evidence.tenure.lock_delay.as_deref().filter(|_| is_of_lock(evidence))?;
    let number = written.parse::<i64>().ok().filter(|number| (1000..1_000_000_000).contains(number))?;
    Some(format!(
        "its session asks for a lock-delay of {number}, which is {number} nanoseconds: write \"5s\" for five seconds"
    ))
}

/// C-LD-3.
pub(super) fn delay_above_limit(evidence: &Evidence<'_>) -> Option<String> {
    let delay = evidence.lock_delay().filter(|delay| is_of_lock(evidence) && *delay > DELAY_MAX)?;
    let late = evidence.lateness().filter(|late| *late >= DELAY_MAX)?;
    Some(format!(
        "its session asks for a lock-delay of {}, and Consul keeps 60 s of it; it acted {} after its session had ended",
        seconds(delay),
        seconds(late)
    ))
}

fn is_of_lock(evidence: &Evidence<'_>) -> bool {
    evidence.tenure.limit.is_none() && is_invalidated(evidence)
}

/// A write that was on its way, or a client that was late, for longer than the lock-delay.
pub(super) fn delay_too_short(evidence: &Evidence<'_>) -> Option<String> {
    let delay = evidence.lock_delay().filter(|_| is_of_lock(evidence) && evidence.write.is_some())?.min(DELAY_MAX);
    let late = evidence.lateness().filter(|late| *late >= delay)?;
    Some(format!(
        "its write came {} after its session had ended, and the lock-delay is {}: it protects from what is late for a shorter time",
        seconds(late),
        seconds(delay)
    ))
}
