//! The writes that must have made what answers show, where just one can have.

use std::collections::BTreeMap;

use super::draft::{Draft, Mark};
use super::requests::{Operation, Seen, Verb};

impl Draft<'_> {
    /// Finds the log positions of writes.
    pub(super) fn find_writers(&mut self) {
        let mut known: BTreeMap<u64, i64> = BTreeMap::new();
        for (_, request) in self.answered() {
            for seen in &request.shown {
                let at = known.entry(seen.modify).or_insert(request.received);
                *at = request.received.min(*at);
            }
        }
        let mut writers = self.transactions(&known);
        for (label, marks) in &self.marks {
            let [Mark { key, seen: Some(seen) }] = &marks[..] else { continue };
            if writers.contains_key(label) {
                continue;
            }
            let may = |place: &&usize| {
                let request = self.request(**place);
                let makes = |operation: &Operation| may_leave(operation, seen);
                request.is_done && request.sent <= known[label] && matches!(request.operations(), [one] if makes(one))
            };
            let candidates: Vec<usize> = self.about[*key].iter().filter(may).copied().collect();
            let may_be_freed = seen.session.is_none() && self.may_be_freed(*key, known[label]);
            if let ([writer], false) = (&candidates[..], may_be_freed) {
                writers.insert(*label, *writer);
            }
        }
        let mut times: BTreeMap<usize, usize> = BTreeMap::new();
        writers.values().for_each(|place| *times.entry(*place).or_default() += 1);
        for (label, place) in writers.into_iter().filter(|(_, place)| times[place] == 1) {
            self.labels[place] = Some(label);
        }
    }

    /// The answer of a transaction shows its own position, if it has changed something: of those that show the same one, the first to
    /// be sent is taken for the writer.
    fn transactions(&self, known: &BTreeMap<u64, i64>) -> BTreeMap<u64, usize> {
        let mut found: Vec<(i64, u64, usize)> = Vec::new();
        for (place, request) in self.answered() {
            let operations = request.operations();
            if operations.len() != request.shown.len() || !request.is_done {
                continue;
            }
            let pairs = operations.iter().zip(&request.shown);
            let own = pairs.filter(|(operation, _)| operation.verb != Verb::Get).map(|(_, seen)| seen.modify).max();
            // What shows a later one has changed nothing: it shows who did before.
            let last = request.shown.iter().map(|seen| seen.modify).max();
            found.extend(own.filter(|own| Some(*own) == last).map(|own| (request.sent, own, place)));
        }
        found.sort_unstable();
        let mut writers = BTreeMap::new();
        for (sent, own, place) in found {
            if sent <= known[&own] {
                writers.entry(own).or_insert(place);
            }
        }
        writers
    }

    /// Whether the end of a session may have freed a key by an instant.
    fn may_be_freed(&self, key: usize, known: i64) -> bool {
        let ends = |operation: &Operation| {
            let Verb::Acquire(session) = operation.verb else { return false };
            self.ends.get(&session).is_some_and(|end| self.request(*end).sent <= known)
        };
        let mut done = self.about[key].iter().map(|place| self.request(*place)).filter(|request| request.is_done);
        done.any(|request| request.operations().iter().any(ends))
    }
}

/// Whether an operation may leave an entry that was shown. C-KV-8 to C-KV-12.
fn may_leave(operation: &Operation, seen: &Seen) -> bool {
    let leaves = match operation.verb {
        Verb::Put | Verb::Cas(_) => seen.lock_index == 0,
        Verb::Acquire(session) => seen.session == Some(session),
        Verb::Release(_) => seen.session.is_none(),
        Verb::Delete | Verb::DeleteCas(_) | Verb::Get => false,
    };
    leaves && seen.flags == operation.flags && seen.value.is_none_or(|value| value == operation.value)
}
