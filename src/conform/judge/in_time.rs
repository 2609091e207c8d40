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
    let changes = Changes::of(lines, ahead);
    for line in answered.map(|place| &lines[place]) {
        let waits = "a read waits until its index is passed, or its time is up";
        let early = answered_too_early(line).map(|why| ("C-BLK-1", waits, why));
        let late = || {
            let why = answered_too_late(line, lateness)?;
            Some(("C-BLK-2", "a read that waits is answered when its time is up", why))
        };
        let slept = || {
            let says = match Subject::of(&line.question) {
                Subject::Keys(_) => "a read that waits is answered when its key changes",
                _ => "a list that waits is answered when a key below its prefix changes",
            };
            Some(("C-BLK-5", says, slept_through(line, &changes, lateness)?))
        };
        let Some((rule, says, why)) = early.or_else(late).or_else(slept) else { continue };
        return Err(Objection::Impossible(Impossible { line: line.number, rule: Some((rule, says)), why }));
    }
    Ok(())
}

/// A write that is at a known log position.
#[derive(Copy, Clone)]
struct Change {
    index: u64,
    sent: i64,
    received: i64,
}

/// What changed, as far as log positions tell.
struct Changes {
    by_key: BTreeMap<String, Vec<Change>>,
    /// Deletions of all that begins with a text: the text, when they were sent, and when they were answered.
    trees: Vec<(String, i64, i64)>,
}

impl Changes {
    fn of(lines: &[LogRecord], ahead: &Ahead) -> Changes {
        let mut by_key: BTreeMap<String, Vec<Change>> = BTreeMap::new();
        for (index, place) in &ahead.ranked {
            let LogRecord { sent, received, .. } = lines[*place];
            if let Subject::Keys(keys) = Subject::of(&lines[*place].question) {
                let change = Change { index: *index, sent, received };
                keys.into_iter().for_each(|key| by_key.entry(key).or_default().push(change));
            }
        }
        let tree = |line: &LogRecord| {
            let prefix = match (line.question.method.as_str(), Subject::of(&line.question)) {
                ("DELETE", Subject::Prefix(start)) => start,
                // A transaction may have deleted anything.
                ("DELETE", Subject::Store) | ("PUT", Subject::Much) => String::new(),
                _ => return None,
            };
            Some((prefix, line.sent, line.received))
        };
        Changes { by_key, trees: lines.iter().filter_map(tree).collect() }
    }

    /// The changes that a read waits for.
    fn awaited(&self, line: &LogRecord) -> Vec<Change> {
        let below = |start: String| {
            let from = self.by_key.range(start.clone()..);
            from.take_while(|(key, _)| key.starts_with(&start)).flat_map(|(_, changes)| changes).copied().collect()
        };
        match Subject::of(&line.question) {
            Subject::Keys(keys) => keys.iter().filter_map(|key| self.by_key.get(key)).flatten().copied().collect(),
            Subject::Prefix(start) => {
                let mut changes: Vec<Change> = below(start.clone());
                changes.retain(|change| !self.is_hidden(&start, change, line));
                changes
            }
            Subject::Store => below(String::new()),
            Subject::Session(_) | Subject::Sessions | Subject::Much => Vec::new(),
        }
    }

    /// C-BLK-7: whether all that begins with less than a prefix may have been deleted after a change, so that the index of the list is as it was.
    fn is_hidden(&self, start: &str, change: &Change, line: &LogRecord) -> bool {
        let hides = |(tree, sent, received): &(String, i64, i64)| {
            start.len() > tree.len()
                && start.starts_with(tree.as_str())
                && *sent < line.received
                && change.sent < *received
        };
        self.trees.iter().any(hides)
    }
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

/// C-BLK-1, C-BLK-5: a read that waits for a key, or for what is below a prefix, is answered when that has changed, a bounded time later.
fn slept_through(line: &LogRecord, changes: &Changes, lateness: Option<i64>) -> Option<String> {
    let (Sleep { index, .. }, lateness) = (Sleep::of(&line.question)?, lateness?);
    let is_answered = line.is_timed && line.reply.as_ref().is_some_and(|reply| matches!(reply.status, 200 | 404));
    let since = |change: &Change| change.received.max(line.sent);
    let missed = |change: &Change| change.index > index && since(change).saturating_add(lateness) < line.received;
    let change = is_answered.then(|| changes.awaited(line).into_iter().find(missed))??;
    let late = (line.received - since(&change)) / 1_000_000;
    Some(format!("answered {late} ms after the change at index {} that it waited for", change.index))
}

fn seconds(nanoseconds: i64) -> i64 {
    nanoseconds / 1_000_000_000
}
