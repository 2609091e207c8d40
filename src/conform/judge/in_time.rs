//! Reads that wait: whether they were answered neither too early nor too late.

use std::collections::BTreeMap;

use super::super::consul::Sleep;
use super::super::log::LogRecord;
use super::super::verdict::{Impossible, Objection};
use super::ahead::Ahead;
use super::subject::Subject;

/// Looks at when each of these requests was answered.
pub(super) fn must_be_in_time(
    lines: &[LogRecord],
    answered: impl Iterator<Item = usize>,
    ahead: &Ahead,
    lateness: Option<i64>,
) -> Result<(), Objection> {
    let changes = changes(lines, ahead);
    for line in answered.map(|place| &lines[place]) {
        let waits = "a read waits until its index is passed, or its time is up";
        let early = answered_too_early(line).map(|why| ("C-BLK-1", waits, why));
        let late = || {
            let why = answered_too_late(line, lateness)?;
            Some(("C-BLK-2", "a read that waits is answered when its time is up", why))
        };
        let slept = || {
            let Subject::Keys(keys) = Subject::of(&line.question) else { return None };
            let why = slept_through(line, changes.get(keys.first()?)?, lateness)?;
            Some(("C-BLK-5", "a read that waits is answered when its key changes", why))
        };
        let Some((rule, says, why)) = early.or_else(late).or_else(slept) else { continue };
        return Err(Objection::Impossible(Impossible { line: line.number, rule: Some((rule, says)), why }));
    }
    Ok(())
}

/// By key: the log positions that writes gave it, with when they were answered.
fn changes(lines: &[LogRecord], ahead: &Ahead) -> BTreeMap<String, Vec<(u64, i64)>> {
    let mut changes: BTreeMap<String, Vec<(u64, i64)>> = BTreeMap::new();
    for (index, place) in &ahead.ranked {
        if let Subject::Keys(keys) = Subject::of(&lines[*place].question) {
            keys.into_iter().for_each(|key| changes.entry(key).or_default().push((*index, lines[*place].received)));
        }
    }
    changes
}

/// C-BLK-1, C-BLK-2: a read with an index that is answered at that index, or a lower one, has waited for its time.
fn answered_too_early(line: &LogRecord) -> Option<String> {
    let Sleep { index, at_least } = Sleep::of(&line.question)?;
    let told = line.reply.as_ref().filter(|reply| line.is_timed && matches!(reply.status, 200 | 404))?.index?;
    // Logs round.
    let waited = line.received - line.sent + 1_000_000;
    (told <= index && waited < at_least).then(|| {
        format!(
            "answered at index {told}, which does not pass {index}, after {} of {} seconds",
            seconds(waited),
            seconds(at_least)
        )
    })
}

/// C-BLK-2: a read that waits is answered when its time is up, a sixteenth of it later at most; none if lateness is not bounded.
fn answered_too_late(line: &LogRecord, lateness: Option<i64>) -> Option<String> {
    let Sleep { at_least, .. } = Sleep::of(&line.question)?;
    let most = at_least.saturating_add(at_least / 16).saturating_add(lateness?);
    let waited = line.received - line.sent;
    (line.is_timed && line.reply.is_some() && waited > most)
        .then(|| format!("answered after {} seconds, and its time was up after {}", seconds(waited), seconds(at_least)))
}

/// C-BLK-1, C-BLK-5: a read that waits for a key is answered when that has changed, a bounded time later.
fn slept_through(line: &LogRecord, changes: &[(u64, i64)], lateness: Option<i64>) -> Option<String> {
    let (Sleep { index, .. }, lateness) = (Sleep::of(&line.question)?, lateness?);
    let is_answered = line.is_timed && line.reply.as_ref().is_some_and(|reply| matches!(reply.status, 200 | 404));
    let missed =
        |(at, known): &&(u64, i64)| *at > index && (*known).max(line.sent).saturating_add(lateness) < line.received;
    let (at, known) = changes.iter().filter(|_| is_answered).find(missed)?;
    let late = line.received - (*known).max(line.sent);
    Some(format!("answered {} ms after the change at index {at} that it waited for", late / 1_000_000))
}

fn seconds(nanoseconds: i64) -> i64 {
    nanoseconds / 1_000_000_000
}
