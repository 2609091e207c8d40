//! The order of requests about sessions, from the log positions that reads show: each read comes after the change at its index,
//! and before the next one.

use std::collections::BTreeMap;

use super::ahead::Ahead;
use super::clock::Clock;
use super::search::Search;

/// A session came or went at a log position; then come the reads that show it.
struct Change {
    at: i64,
    by: Option<usize>,
    reads: Vec<usize>,
    /// When the last of the reads comes.
    last: i64,
    /// Changes at positions that are not known, before the next one that is.
    then: Vec<usize>,
}

impl Search<'_> {
    /// An order of the requests about sessions, with each log position at its instant. None: some request has no place.
    pub(super) fn order_of_sessions(
        &self,
        requests: &[usize],
        ahead: &Ahead,
        clock: &Clock,
    ) -> Option<Vec<(i64, usize)>> {
        let mut changes = self.known_changes(requests, ahead, clock);
        let is_change = |place: &usize| !self.is_idle[*place] && ahead.rank[*place].is_none();
        let mut open: Vec<usize> = requests.iter().copied().filter(is_change).collect();
        open.sort_by_key(|place| (self.lines[*place].received, *place));
        for number in 0..changes.len() {
            let change = &changes[number];
            if number > 0 && change.by.is_none() {
                let may =
                    |place: &usize| self.lines[*place].sent <= change.at && change.at <= self.lines[*place].received;
                let first = open.iter().position(may)?;
                changes[number].by = Some(open.remove(first));
            }
            let next = changes.get(number + 1).map_or(i64::MAX, |next| next.at);
            if changes[number].last > next {
                return None;
            }
        }
        for place in open {
            let line = &self.lines[place];
            let ends: Vec<i64> = changes.iter().skip(1).map(|next| next.at).chain([i64::MAX]).collect();
            let fits = |(change, end): (&Change, &i64)| line.sent.max(change.last) <= line.received.min(*end);
            let slot = changes.iter().zip(&ends).position(fits)?;
            changes[slot].then.push(place);
        }
        for change in &mut changes {
            change.then.sort_by_key(|place| self.lines[*place].sent);
        }
        let mut order = Vec::new();
        for Change { at, by, reads, last, then } in changes {
            order.extend(by.map(|place| (at, place)));
            order.extend(reads.into_iter().map(|place| (self.lines[place].sent.max(at), place)));
            order.extend(then.into_iter().map(|place| (self.lines[place].sent.max(last), place)));
        }
        Some(order)
    }

    /// What happens at the positions that answers show, and before all of them.
    fn known_changes(&self, requests: &[usize], ahead: &Ahead, clock: &Clock) -> Vec<Change> {
        let mut known: BTreeMap<u64, (Option<usize>, Vec<usize>)> = BTreeMap::from([(0, (None, Vec::new()))]);
        for place in requests {
            if let Some(index) = ahead.index_of(*place) {
                known.entry(index).or_default().0 = Some(*place);
            } else if let Some(index) = self.exact[*place] {
                known.entry(index).or_default().1.push(*place);
            }
        }
        let change = |(index, (by, mut reads)): (u64, (Option<usize>, Vec<usize>))| {
            let at = if index == 0 { i64::MIN } else { clock.not_before(index) };
            reads.sort_by_key(|read| (self.lines[*read].sent, *read));
            let last = reads.last().map_or(at, |read| self.lines[*read].sent.max(at));
            Change { at, by, reads, last, then: Vec::new() }
        };
        known.into_iter().map(change).collect()
    }
}
