//! Whether a way along a key may still come to what was seen: ways that may not are left at once, so that others are kept.

use std::ops::Range;

use super::beam::{Beam, Takers, Trail};
use super::draft::Draft;
use super::entry::Entry;
use super::needs::is_provided;
use super::requests::{Verb, What};
use super::walk::Walk;

impl Draft<'_> {
    /// Who takes the lock for the sessions that end.
    pub(super) fn takers(&self, walk: &Walk) -> Takers {
        let mut takers = Takers::new();
        for end in walk.items.iter().copied() {
            let What::Destroy(session) = self.request(end).what else { continue };
            let takes = |item: &usize| {
                let request = self.request(*item);
                request.is_done && request.operations().iter().any(|one| one.verb == Verb::Acquire(session))
            };
            let items = walk.items.iter().copied().filter(takes).collect();
            let is_stop = |event: &usize| self.sequence.events[*event].request.is_some_and(|by| takes(&by));
            let last = walk.stops.iter().rposition(is_stop).map_or(0, |stop| stop + 1);
            takers.insert(end, (items, last));
        }
        takers
    }
}

impl Beam<'_, '_> {
    /// Whether the next entry that is shown may come of this one, and the key be gone by when it is.
    pub(super) fn is_viable(&self, way: &Trail, stop: usize, at: usize, entry: Option<&Entry>) -> bool {
        let draft = self.draft;
        for (number, event) in self.walk.stops.iter().enumerate().skip(stop) {
            let mark = draft.mark(*event, self.walk.key);
            if draft.is_absent(*event, mark, self.walk.key) {
                return entry.is_none()
                    || self.is_freed(stop..number, None, way)
                    || self.last_free[number] >= at && self.may_go(&Trail { at, ..way.clone() }, number);
            }
            let Some(seen) = mark.and_then(|mark| mark.seen.as_ref()) else { continue };
            let Some(entry) = entry else { return false };
            if self.labels[entry.create] != Some(seen.create) {
                return false;
            }
            return entry.session.is_none()
                || entry.session == seen.session
                || self.is_freed(stop..number + 1, entry.session, way);
        }
        true
    }

    /// Whether something that is still to come may take the entry away before a stop.
    fn may_go(&self, way: &Trail, stop: usize) -> bool {
        let limit = self.draft.sequence.place[self.walk.stops[stop]];
        self.open(way).any(|item| {
            let deletes = match &self.draft.request(item).what {
                What::Destroy(session) => self.draft.requests.deletes[*session],
                _ => self.draft.one(item).is_some_and(|one| one.verb.deletes()),
            };
            let place = || self.first_place(way, limit, item, way.now);
            deletes && place().is_some_and(|(_, since)| since <= self.draft.request(item).received)
        })
    }

    /// Whether a session may end between stops, or free the key: any, or this one, which is still to do so.
    fn is_freed(&self, stops: Range<usize>, session: Option<usize>, way: &Trail) -> bool {
        let frees = |item: usize| match &self.draft.request(item).what {
            What::Destroy(other) => session.is_none_or(|session| session == *other),
            What::Operations(operations) => {
                let frees = |verb: Verb| session.is_some_and(|session| verb == Verb::Release(session));
                self.draft.request(item).is_done && operations.iter().any(|one| frees(one.verb))
            }
            _ => false,
        };
        let mut known = self.walk.stops[stops].iter().filter_map(|event| self.draft.sequence.events[*event].request);
        known.any(frees) || session.is_some() && self.open(way).any(frees)
    }

    /// Who is the only one left for what is needed later on. None: something cannot be had any more.
    pub(super) fn kept(&self, way: &Trail, stop: usize) -> Option<Vec<usize>> {
        let is_open = |item: usize| {
            let may_hold = |end: usize| {
                let What::Destroy(session) = self.draft.request(end).what else { return true };
                let (takers, last) = &self.takers[&end];
                way.entry.as_ref().is_some_and(|entry| entry.session == Some(session))
                    || *last > stop
                    || takers.iter().any(|taker| self.is_open(way, *taker))
            };
            self.is_open(way, item) && may_hold(item)
        };
        is_provided(&self.needs, stop, way.entry.as_ref(), &self.labels, &is_open)
    }
}
