//! The log positions that answers show, in order, and the reads that tell the most: those of the whole store, of prefixes, and of
//! several keys.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

use super::draft::{Draft, SESSIONS, STORE};
use super::requests::{Request, Verb, What};
use super::sequence::Event;

/// Between which places a read comes, by the log positions alone.
struct Range {
    read: usize,
    /// The position that it shows.
    shown: usize,
    from: usize,
    to: usize,
    /// What is not changed between that position and the read. None: the keys that it shows.
    scope: Option<usize>,
}

impl Draft<'_> {
    /// The log positions in order, with their writers as far as they are known.
    pub(super) fn lay_out(&mut self) {
        for (place, request) in self.answered() {
            let What::Create(session) = request.what else { continue };
            if let Some(index) = self.requests.created.get(&session) {
                self.labels[place] = Some(*index);
                self.positions[SESSIONS].insert(*index);
            }
        }
        let labels = self.labels.iter().enumerate();
        let writers: BTreeMap<u64, usize> = labels.filter_map(|(place, label)| Some(((*label)?, place))).collect();
        let all: BTreeSet<u64> = self.positions.iter().flatten().copied().collect();
        for label in all {
            let writer = writers.get(&label).copied();
            let times = writer.map(|place| (self.request(place).sent, self.request(place).received));
            let event = Event::new(writer, times.unwrap_or((i64::MIN, i64::MAX)), Some(label));
            let number = self.sequence.insert(self.sequence.order.len(), event);
            if let Some(place) = writer {
                self.placed[place] = Some(number);
            }
        }
    }

    /// Reads about sessions come between the position that they show and the next one.
    pub(super) fn bound_sessions(&mut self) {
        for (_, request) in self.answered() {
            let (What::Sessions, Some(index)) = (&request.what, request.index) else { continue };
            let event = |label: u64| self.sequence.events.iter().position(|event| event.label == Some(label));
            let next = self.positions[SESSIONS].range((Excluded(index), Unbounded)).next();
            let (before, after) = (event(index), next.and_then(|next| event(*next)));
            if let Some(before) = before {
                self.sequence.bound(before, i64::MIN, request.received);
            }
            if let Some(after) = after {
                self.sequence.bound(after, request.sent, i64::MAX);
            }
        }
    }

    /// The reads about sessions that show a log position, with that.
    pub(super) fn session_reads(&self) -> Vec<(u64, usize)> {
        let reads = self.answered().filter(|(_, request)| request.what == What::Sessions);
        reads.filter_map(|(place, request)| Some((request.index?, place))).collect()
    }

    /// Places reads between the position that they show and the next change of what they are about; reads of one entry bound these
    /// positions only. None: some read has no place.
    pub(super) fn place_reads(&mut self) -> Option<()> {
        let absent = self.absent();
        let reads: Vec<usize> =
            self.answered().map(|(place, _)| place).filter(|place| self.is_known_read(*place)).collect();
        let ranges: Vec<Range> = reads.into_iter().map(|read| self.range_of(read, &absent)).collect::<Option<_>>()?;
        let (single, ranges): (Vec<Range>, Vec<Range>) = ranges
            .into_iter()
            .partition(|range| range.scope.is_none() && self.request(range.read).operations().len() == 1);
        for range in single {
            let Request { sent, received, .. } = *self.request(range.read);
            self.sequence.bound(range.shown, i64::MIN, received);
            if let Some(next) = self.sequence.order.get(range.to).copied() {
                self.sequence.bound(next, sent, i64::MAX);
            }
        }
        self.bound_by_writers();
        for (number, (at, _, read)) in self.choose(&ranges).into_iter().enumerate() {
            let Request { sent, received, .. } = *self.request(read);
            let event = Event::new(Some(read), (sent, received), None);
            self.placed[read] = Some(self.sequence.insert(at + number, event));
        }
        for range in &ranges {
            let (Some(scope), Some(read)) = (range.scope, self.placed[range.read]) else { continue };
            self.sequence.glue(range.shown, read, scope);
        }
        self.sequence.is_possible().then_some(())
    }

    /// Whether a read shows a log position, and is not about sessions.
    fn is_known_read(&self, place: usize) -> bool {
        let request = self.request(place);
        match &request.what {
            What::List(_) => request.index.is_some(),
            What::Operations(operations) => {
                let is_read = operations.len() > 1 || operations.iter().any(|operation| operation.verb == Verb::Get);
                is_read && request.is_done && self.placed[place].is_none()
            }
            _ => false,
        }
    }

    fn range_of(&self, read: usize, absent: &[BTreeSet<u64>]) -> Option<Range> {
        let request = self.request(read);
        let shown = request.shown.iter().map(|seen| seen.modify).max();
        let (after, scope) = match &request.what {
            What::List(prefix) => (request.index, Some(self.scope_of(prefix))),
            _ if shown.is_some() => (shown, None),
            _ => (request.index, Some(STORE)),
        };
        let from = self.place_of_label(after?)? + 1;
        let is_marked = |label: u64, is_about: &dyn Fn(usize) -> bool| {
            self.marks.get(&label).into_iter().flatten().any(|mark| is_about(mark.key))
        };
        let changes = |event: &&usize| {
            let Some(label) = self.sequence.events[**event].label else { return false };
            match scope {
                Some(scope) => {
                    self.positions[scope].contains(&label) || is_marked(label, &|key| self.scopes[key].contains(&scope))
                }
                None => {
                    let shows = |key: usize| request.shown.iter().any(|seen| seen.key == key);
                    request.shown.iter().any(|seen| absent[seen.key].contains(&label)) || is_marked(label, &shows)
                }
            }
        };
        let to = from + self.sequence.order[from..].iter().take_while(|event| !changes(event)).count();
        Some(Range { read, shown: self.sequence.order[from - 1], from, to, scope })
    }

    /// The place of each read, in order. Those that leave no room for changes come as early as they may, others as late as they take no time
    /// from what stands before. With the first answers from each place on as `until`: a read never comes where that is before it was sent, so
    /// that any two reads fit each other.
    fn choose(&self, ranges: &[Range]) -> Vec<(usize, i64, usize)> {
        let count = self.sequence.order.len();
        let mut until: Vec<i64> = (0..=count).map(|at| self.sequence.ceiling(at)).collect();
        for range in ranges {
            if let Some(before) = range.from.checked_sub(1) {
                until[before] = until[before].min(self.request(range.read).received);
            }
        }
        for at in (0..count).rev() {
            until[at] = until[at].min(until[at + 1]);
        }
        let place = |range: &Range| {
            let Range { read, from, to, .. } = *range;
            let Request { sent, received, .. } = *self.request(read);
            if range.scope.is_some() {
                let at = (from..=to).find(|at| until[*at] >= sent).unwrap_or(to);
                return (at, sent, read);
            }
            let last = from + until[from..=to].iter().take_while(|until| **until <= received).count();
            let at = last.saturating_sub(1).max(from);
            (if until[at] < sent { (at + 1).min(to) } else { at }, received, read)
        };
        let mut chosen: Vec<(usize, i64, usize)> = ranges.iter().map(place).collect();
        chosen.sort_unstable();
        chosen
    }

    /// By key: log positions at which it was not there.
    fn absent(&self) -> Vec<BTreeSet<u64>> {
        let mut absent = vec![BTreeSet::new(); self.requests.keys.len()];
        for (_, request) in self.answered() {
            let Some(index) = request.index else { continue };
            if let (true, [operation]) = (request.is_read_of_nothing(), request.operations()) {
                absent[operation.key].insert(index);
            }
            if let What::List(prefix) = &request.what {
                for (key, name) in self.requests.keys.iter().enumerate() {
                    if name.starts_with(prefix.as_str()) && request.shown.iter().all(|seen| seen.key != key) {
                        absent[key].insert(index);
                    }
                }
            }
        }
        absent
    }
}
