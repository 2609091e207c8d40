//! Another request at a log position that only an index tells of, where none that has its place may come there instead: the keys that it
//! is about lose their places, and are walked along anew around it (rip up and reroute, as wires are laid).

use std::collections::BTreeSet;

use super::WORK;
use super::draft::Draft;
use super::requests::{Request, Verb, What};

impl Draft<'_> {
    /// Lets another request come at a log position, and walks along its keys anew. False: that was not found.
    pub(super) fn reroute(&mut self, blank: usize) -> bool {
        for place in self.candidates(blank) {
            if self.work > WORK {
                return false;
            }
            let keys = self.keys_of(place);
            let mut other = self.clone();
            keys.iter().for_each(|key| other.clear(*key));
            if let Some(event) = other.placed[place] {
                other.take_away(place, event);
            }
            other.fill(blank, place);
            let is_found = other.sequence.is_possible() && keys.iter().all(|key| other.walk(*key));
            self.work = other.work;
            if is_found {
                *self = other;
                return true;
            }
        }
        false
    }

    /// Who else may have changed something at a log position, the likely first: who leaves no trace, for otherwise an answer
    /// would show it; who has no log position yet; who stands near.
    fn candidates(&self, blank: usize) -> Vec<usize> {
        let at = self.sequence.place[blank];
        let may = |(place, request): (usize, &Request)| {
            let takes_away = match &request.what {
                What::Operations(operations) if operations.len() == 1 && request.is_done => {
                    operations[0].verb.deletes()
                }
                What::Destroy(session) if self.may_change_sessions(at) => self.requests.deletes[*session],
                _ => return None,
            };
            let is_read = request.operations().iter().any(|operation| operation.verb == Verb::Get);
            let is_free = !is_read
                && !self.fixed[place]
                && self.lives_at(place, blank)
                && self.sequence.fits(blank, request.sent, request.received);
            let distance = self.placed[place].map_or(0, |event| at.abs_diff(self.sequence.place[event]));
            is_free.then_some((!takes_away, self.labels[place].is_some(), distance, place))
        };
        let mut candidates: Vec<_> = self.answered().filter_map(may).collect();
        candidates.sort_unstable();
        candidates.into_iter().map(|(.., place)| place).collect()
    }

    /// The keys that a request may change.
    pub(super) fn keys_of(&self, place: usize) -> BTreeSet<usize> {
        let request = self.request(place);
        let What::Destroy(session) = request.what else {
            return request.operations().iter().map(|operation| operation.key).collect();
        };
        let done = self.answered().map(|(_, request)| request).filter(|request| request.is_done);
        let locks = done.flat_map(|request| request.operations());
        locks.filter(|operation| operation.verb == Verb::Acquire(session)).map(|operation| operation.key).collect()
    }

    /// Takes the places of requests about a key, but for those that are certain, or are at log positions that only an index tells of.
    fn clear(&mut self, key: usize) {
        self.is_walked[key] = false;
        for place in self.about[key].clone() {
            let Some(event) = self.placed[place] else { continue };
            if self.fixed[place] || self.must_change(event) || !self.is_about(place, key) {
                continue;
            }
            self.take_away(place, event);
        }
    }

    /// A request has its place no more.
    pub(super) fn take_away(&mut self, place: usize, event: usize) {
        match self.sequence.events[event].label {
            Some(_) => self.sequence.assign(event, None, i64::MIN, i64::MAX),
            None => self.sequence.remove(event),
        }
        (self.labels[place], self.placed[place]) = (None, None);
    }
}
