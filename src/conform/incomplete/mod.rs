//! Logs that do not say everything: they begin in mid-life, others write, bodies are missing, a snapshot was restored. No search
//! can go through all that may have been. But some of it holds whatever else happened: log positions grow, an entry at a position
//! is one entry, a session that has ended does not live. What contradicts that is impossible for certain; nothing is said of the rest.
//!
//! ```text
//! evidence   what answers show: entries, sessions, writes       versions   entries at log positions
//! spans      what overlaps with what                            sessions   ids, lives, timers
//! holders    two sessions on one key, values without a writer   refusals   answers that no state changes
//! ```

mod evidence;
mod holders;
mod refusals;
mod sessions;
mod spans;
mod versions;

use self::evidence::Evidence;
use self::spans::Span;
use super::judge::{is_in_doubt, is_not_queued};
use super::log::{Episode, Event, EventKind, LogRecord};
use super::uncertain::{is_beside, is_refused, is_restore};
use super::verdict::{Impossible, Objection, Possible};

/// What a log contradicts, while it is collected.
struct Case<'a> {
    episode: &'a Episode,
    /// The lines that are judged together: no snapshot was restored between them.
    lines: Vec<&'a LogRecord>,
    evidence: Evidence,
    /// By line: whether it was held against another one.
    is_compared: Vec<bool>,
    /// When its answer arrived, and what is wrong with it.
    found: Vec<(i64, Impossible)>,
}

/// Judges what is certain of a log.
///
/// # Errors
/// It could not have been.
pub fn judge(episode: &Episode, possible: &mut Possible) -> Result<(), Objection> {
    let mut found: Vec<(i64, Impossible)> = Vec::new();
    for lines in parts(episode) {
        let mut case = Case::new(episode, lines);
        case.refusals();
        case.versions();
        case.sessions();
        if !episode.gaps.others_write {
            case.holders();
        }
        let answers = case.lines.iter().filter(|line| line.reply.is_some()).count();
        (possible.lines, possible.partial) = (possible.lines + answers, possible.partial + answers);
        possible.compared += case.is_compared.iter().filter(|is_compared| **is_compared).count();
        found.append(&mut case.found);
    }
    let first = found.into_iter().min_by_key(|(at, impossible)| (*at, impossible.line));
    first.map_or(Ok(()), |(_, impossible)| Err(Objection::Impossible(impossible)))
}

/// C-LD-13: nothing before a snapshot was restored tells of anything after it. Lines that overlap with that tell nothing.
fn parts(episode: &Episode) -> Vec<Vec<&LogRecord>> {
    let events = episode.events.iter().filter(|event| event.kind == EventKind::Restore);
    let requests = episode.lines.iter().filter(|line| is_restore(&line.question));
    let mut restores: Vec<(i64, i64)> = events
        .map(|event| (event.sent, event.received))
        .chain(requests.map(|line| (line.sent, line.received)))
        .collect();
    restores.sort_unstable();
    let mut parts: Vec<Vec<&LogRecord>> = vec![Vec::new(); restores.len() + 1];
    for line in &episode.lines {
        let is_carried_out = !is_refused(episode, line) && !line.reply.as_ref().is_some_and(is_not_queued);
        let is_told = is_carried_out && !is_beside(line) && !is_restore(&line.question);
        let before = restores.iter().filter(|(_, to)| *to < line.sent).count();
        let is_apart =
            restores.iter().all(|(from, to)| *to < line.sent || line.received < *from || line.reply.is_none());
        if is_told && is_apart {
            parts[before].push(line);
        }
    }
    parts
}

impl<'a> Case<'a> {
    fn new(episode: &'a Episode, lines: Vec<&'a LogRecord>) -> Self {
        let evidence = Evidence::of(&lines, episode);
        let is_compared = vec![false; lines.len()];
        Case { episode, lines, evidence, is_compared, found: Vec::new() }
    }

    /// An answer was held against another one.
    fn compare(&mut self, at: usize) {
        self.is_compared[at] = true;
    }

    /// The answer to a request could not have been.
    fn object(&mut self, at: usize, rule: (&'static str, &'static str), why: String) {
        let line = self.lines[at];
        self.found.push((line.received, Impossible { line: line.number, rule: Some(rule), why }));
    }

    fn number(&self, at: usize) -> usize {
        self.lines[at].number
    }

    fn events(&self, is_so: impl Fn(&EventKind) -> bool) -> impl Iterator<Item = &'a Event> {
        self.episode.events.iter().filter(move |event| is_so(&event.kind))
    }
}

/// When a request was carried out, if it was; one without a certain answer may be at any time after.
fn span_of(line: &LogRecord) -> Span {
    let is_open = line.reply.as_ref().is_none_or(is_in_doubt);
    Span { sent: line.sent, received: if is_open { i64::MAX } else { line.received } }
}
