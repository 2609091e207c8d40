//! Writes that do the same: of those that are open, only the one whose answer arrives first is tried.
//!
//! This loses no order. Let an order carry out one such write now, and another one, whose answer arrives first, later: both are
//! open now and then. With the two exchanged, each is still between its instants, and all states are the same but for a value
//! that is written once and that no answer shows: no answer depends on it. (C-KV-10 compares a value with the one before, which
//! is another one.)

use std::collections::{BTreeMap, BTreeSet};

use super::super::log::LogRecord;
use super::ahead::Ahead;
use super::parts::sessions;
use super::search::Search;
use super::state::State;
use super::subject::Subject;
use super::takes_locks;
use super::writes::{created, ttl, writes};

/// Writes, by what they do.
pub(super) struct Twins {
    /// By request: the group that it is in, if there is another one in it.
    group: Vec<Option<usize>>,
    /// The requests of each group, by when they are answered.
    groups: Vec<Vec<usize>>,
}

impl Twins {
    pub(super) fn of(lines: &[LogRecord], ahead: &Ahead, arrival: &[usize]) -> Twins {
        let is_raw = |line: &&LogRecord| line.question.method == "GET";
        let raw = lines.iter().filter(is_raw).filter_map(|line| line.reply.as_ref()).map(|reply| &reply.body[..]);
        let shown: BTreeSet<&[u8]> =
            ahead.all().filter_map(|(_, version)| version.value.as_deref()).chain(raw).collect();
        let mut alike: BTreeMap<Doing<'_>, Vec<usize>> = BTreeMap::new();
        for writes in writes(lines).values() {
            let mut times: BTreeMap<&[u8], usize> = BTreeMap::new();
            writes.iter().for_each(|write| *times.entry(&write.value).or_default() += 1);
            for write in writes.iter().filter(|write| is_plain(&lines[write.place])) {
                let is_traceless = times[&write.value[..]] == 1 && !shown.contains(&write.value[..]);
                let value = Some(&lines[write.place].question.body[..]).filter(|_| !is_traceless);
                alike.entry(Doing::of(&lines[write.place], value)).or_default().push(write.place);
            }
        }
        for (place, line) in lines.iter().enumerate() {
            if line.question.method == "DELETE" && is_plain(line) {
                alike.entry(Doing::of(line, None)).or_default().push(place);
            }
        }
        for place in untouched(lines) {
            let doing = Doing { answer: None, ..Doing::of(&lines[place], Some(&lines[place].question.body)) };
            alike.entry(doing).or_default().push(place);
        }
        let mut groups: Vec<Vec<usize>> = alike.into_values().filter(|group| group.len() > 1).collect();
        let mut group = vec![None; lines.len()];
        for (number, places) in groups.iter_mut().enumerate() {
            places.sort_by_key(|place| arrival[*place]);
            places.iter().for_each(|place| group[*place] = Some(number));
        }
        Twins { group, groups }
    }

    /// Where the order is known anyway.
    pub(super) fn none(lines: usize) -> Twins {
        Twins { group: vec![None; lines], groups: Vec::new() }
    }
}

/// What a write does: the same as another one that compares equal.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Doing<'a> {
    method: &'a str,
    url: &'a str,
    agent: Option<&'a str>,
    /// None: that makes no difference.
    value: Option<&'a [u8]>,
    /// None: it was lost.
    answer: Option<&'a [u8]>,
}

impl<'a> Doing<'a> {
    fn of(line: &'a LogRecord, value: Option<&'a [u8]>) -> Doing<'a> {
        Doing {
            method: &line.question.method,
            url: &line.question.url,
            agent: line.details.agent.as_deref(),
            value,
            answer: line.reply.as_ref().map(|reply| &reply.body[..]),
        }
    }
}

/// A change of one key that was answered as such changes are, and that no lock-delay holds up.
fn is_plain(line: &LogRecord) -> bool {
    let is_answered = line.reply.as_ref().is_none_or(|reply| reply.status == 200 && reply.index.is_none());
    is_answered && line.question.url.starts_with("/v1/kv/") && !takes_locks(&line.question)
}

/// Sessions that were created, that nothing but their keys and their creation tell of, and that last: their ids are all that
/// tells them apart, and each is named only after it was answered, so that no request with a name lies between two exchanged ones.
fn untouched(lines: &[LogRecord]) -> Vec<usize> {
    let end = lines.iter().map(|line| line.received).filter(|at| *at < i64::MAX).max().unwrap_or(0);
    let mut touched: BTreeSet<String> = BTreeSet::new();
    let mut named: BTreeMap<String, i64> = BTreeMap::new();
    for line in lines {
        let about = ["info", "renew", "destroy"].map(|what| format!("/v1/session/{what}/"));
        let id = about.iter().find_map(|start| line.question.url.strip_prefix(start.as_str()));
        if let Some(id) = id {
            touched.insert(id.split('?').next().unwrap_or_default().to_ascii_lowercase());
        } else if created(line).is_none() {
            if !matches!(Subject::of(&line.question), Subject::Keys(_) | Subject::Prefix(_)) {
                return Vec::new();
            }
            for id in sessions(line) {
                let first = named.entry(id).or_insert(line.sent);
                *first = line.sent.min(*first);
            }
        }
    }
    let is_untouched = |place: &usize| {
        let line = &lines[*place];
        let is_later = |id: &String| named.get(id).is_none_or(|first| line.received < *first);
        created(line).is_some_and(|id| !touched.contains(&id) && is_later(&id))
            && ttl(line).is_none_or(|ttl| line.sent.saturating_add(ttl) > end)
    };
    (0..lines.len()).filter(is_untouched).collect()
}

impl Search<'_> {
    /// Whether another request does the same, is open, too, and is answered before.
    pub(super) fn has_elder_twin(&self, state: &State, request: usize) -> bool {
        let Some(group) = self.twins.group[request] else { return false };
        let sent = self.answers[state.at].sent;
        let is_open = |twin: &usize| {
            self.arrival[*twin] >= state.at
                && *twin < sent
                && !state.is_done(*twin)
                && self.ahead().rank[*twin].is_none()
        };
        self.ahead().rank[request].is_none()
            && self.twins.groups[group].iter().copied().find(is_open).is_some_and(|first| first != request)
    }
}
