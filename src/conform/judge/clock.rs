//! When the log has got to a position, as far as requests and answers tell.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

use super::super::log::LogRecord;
use super::ahead::Ahead;
use super::is_idle;
use super::subject::Subject;

/// When the log has got to a position: not before the one instant, and not after the other.
#[derive(Clone)]
pub(super) struct Clock {
    positions: Vec<(u64, i64, i64)>,
}

impl Clock {
    /// From when requests were sent whose position is known, and from reads that show what was changed at the next position.
    pub(super) fn of(ahead: &Ahead, lines: &[LogRecord], exact: &[Option<u64>]) -> Clock {
        let mut indexes: BTreeSet<u64> = ahead.positions().collect();
        indexes.extend(exact.iter().flatten());
        indexes.extend(ahead.ranked.iter().map(|(index, _)| *index));
        let mut earliest: BTreeMap<u64, i64> =
            ahead.ranked.iter().map(|(index, place)| (*index, lines[*place].sent)).collect();
        let is_store = |place: usize| Subject::of_line(&lines[place]) == Subject::Store;
        let stores = exact.iter().enumerate().filter(|(place, _)| is_store(*place)).filter_map(|(_, index)| *index);
        let keys: BTreeSet<u64> = ahead.positions().chain(stores).collect();
        let is_session = |place: usize| Subject::of_line(&lines[place]) == Subject::Sessions;
        let created = ahead.ranked.iter().filter(|(_, place)| is_session(*place)).map(|(index, _)| *index);
        let listed = exact.iter().enumerate().filter(|(place, _)| is_session(*place)).filter_map(|(_, index)| *index);
        let sessions: BTreeSet<u64> = created.chain(listed).collect();
        let changes = Sent::of(lines);
        let mut after = |index: Option<u64>, sent: i64| {
            if let Some(index) = index {
                let known = earliest.entry(index).or_insert(sent);
                *known = sent.max(*known);
            }
        };
        for (place, shown) in exact.iter().enumerate() {
            let (Some(shown), sent) = (shown, lines[place].sent) else { continue };
            match Subject::of_line(&lines[place]) {
                Subject::Keys(keys) => {
                    keys.iter().for_each(|key| after(ahead.next(key, *shown).map(|next| next.modify), sent))
                }
                Subject::Store => after(keys.range((Excluded(*shown), Unbounded)).next().copied(), sent),
                Subject::Sessions => after(sessions.range((Excluded(*shown), Unbounded)).next().copied(), sent),
                _ => {}
            }
        }
        // Nothing is changed between a position and a read that shows it as the last one: what was answered before was changed before.
        for (place, shown) in exact.iter().enumerate() {
            let (Some(shown), subject) = (shown, Subject::of_line(&lines[place])) else { continue };
            if let Some(changed) = changes.before(&subject, lines[place].sent) {
                let known = earliest.entry(*shown).or_insert(changed);
                *known = changed.max(*known);
            }
        }
        let mut positions: Vec<(u64, i64, i64)> = indexes
            .iter()
            .map(|index| (*index, earliest.get(index).copied().unwrap_or(i64::MIN), ahead.latest(*index)))
            .collect();
        let mut floor = i64::MIN;
        for (_, from, _) in &mut positions {
            floor = floor.max(*from);
            *from = floor;
        }
        let mut ceiling = i64::MAX;
        for (index, _, to) in positions.iter_mut().rev() {
            let written = ahead.ranked.binary_search_by_key(index, |(index, _)| *index).ok();
            let answered = written.map_or(i64::MAX, |rank| lines[ahead.ranked[rank].1].received);
            ceiling = ceiling.min(*to).min(answered);
            *to = ceiling;
        }
        Clock { positions }
    }

    /// A request was carried out at a position. False, and nothing is changed: that cannot have been.
    pub(super) fn pin(&mut self, index: u64, line: &LogRecord) -> bool {
        self.allows(index, line) && self.begin(index, line.sent) && self.end(index, line.received)
    }

    /// The log has not got to a position before an instant. False, and nothing is changed: that cannot have been.
    pub(super) fn begin(&mut self, index: u64, at: i64) -> bool {
        let place = self.positions.partition_point(|(other, ..)| *other < index);
        let may_be = self.positions.get(place).is_some_and(|(other, _, to)| *other == index && at <= *to);
        if may_be {
            self.positions[place..].iter_mut().for_each(|(_, from, _)| *from = at.max(*from));
        }
        may_be
    }

    /// The log has got to a position by an instant. False, and nothing is changed: that cannot have been.
    pub(super) fn end(&mut self, index: u64, at: i64) -> bool {
        let place = self.positions.partition_point(|(other, ..)| *other < index);
        let may_be = self.positions.get(place).is_some_and(|(other, from, _)| *other == index && *from <= at);
        if may_be {
            self.positions[..=place].iter_mut().for_each(|(.., to)| *to = at.min(*to));
        }
        may_be
    }

    /// The same, with one instant for each position, in order, apart from each other, and after one instant. None: some position has no instant.
    pub(super) fn settled(mut self, since: i64, late: &BTreeSet<u64>) -> Option<Clock> {
        let (mut before, mut room) = (since, 1);
        for number in 0..self.positions.len() {
            let (index, from, to) = self.positions[number];
            let from = from.max(before.saturating_add(room));
            let others = self.positions[number..].iter().take_while(|(.., other)| *other == to).count();
            if from > to {
                return None;
            }
            before = if late.contains(&index) && to < i64::MAX {
                from.max(to - i64::try_from(2 * others).unwrap_or(0))
            } else if to == i64::MAX {
                from
            } else {
                from + (to - from) / i64::try_from(others + 1).unwrap_or(i64::MAX)
            };
            // The reads that show it as the last one come right after it.
            room = if late.contains(&index) { 2 } else { 1 };
            (self.positions[number].1, self.positions[number].2) = (before, before);
        }
        Some(self)
    }

    /// The instant before which the log has not got to a position.
    pub(super) fn not_before(&self, index: u64) -> i64 {
        let place = self.positions.partition_point(|(other, ..)| *other <= index);
        place.checked_sub(1).map_or(i64::MIN, |place| self.positions[place].1)
    }

    /// The instant by which the log has got to a position.
    pub(super) fn not_after(&self, index: u64) -> i64 {
        let place = self.positions.partition_point(|(other, ..)| *other < index);
        self.positions.get(place).map_or(i64::MAX, |(.., to)| *to)
    }

    /// Whether a request may have been carried out at a position.
    pub(super) fn allows(&self, index: u64, line: &LogRecord) -> bool {
        let place = self.positions.partition_point(|(other, ..)| *other < index);
        self.positions.get(place).is_none_or(|(_, from, to)| line.sent <= *to && line.received >= *from)
    }
}

/// Changes of keys and of sessions, by when they were answered: with when the latest of all so far was sent.
struct Sent {
    keys: Vec<(i64, i64)>,
    sessions: Vec<(i64, i64)>,
}

impl Sent {
    fn of(lines: &[LogRecord]) -> Sent {
        let (mut keys, mut sessions) = (Vec::new(), Vec::new());
        for line in lines.iter().filter(|line| line.reply.is_some() && !is_idle(line)) {
            let url = &line.question.url;
            // A deletion of what is not there changes nothing.
            if line.question.method == "PUT" && url.starts_with("/v1/kv/") {
                keys.push((line.received, line.sent));
            } else if url.starts_with("/v1/session/create") {
                sessions.push((line.received, line.sent));
            }
        }
        for changes in [&mut keys, &mut sessions] {
            changes.sort_unstable();
            let mut latest = i64::MIN;
            for (_, sent) in changes.iter_mut() {
                latest = latest.max(*sent);
                *sent = latest;
            }
        }
        Sent { keys, sessions }
    }

    /// When the latest of those was sent that were answered before an instant and that a read of this would show.
    fn before(&self, subject: &Subject, at: i64) -> Option<i64> {
        let changes = match subject {
            Subject::Store => &self.keys,
            Subject::Sessions => &self.sessions,
            _ => return None,
        };
        let answered = changes.partition_point(|(received, _)| *received < at);
        answered.checked_sub(1).map(|last| changes[last].1)
    }
}
