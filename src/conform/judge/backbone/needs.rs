//! What a way along a key cannot do without later on: a writer for each log position that was seen, a request that takes the lock for each
//! session that was seen to hold it, and one that takes the entry away for each time that the key was gone.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{Draft, Mark};
use super::entry::{Entry, Labels};
use super::kept::may_make;
use super::requests::{Operation, Verb, What};
use super::walk::Walk;

/// What is needed between two stops.
pub(super) struct Need {
    /// The stop before, and the one up to which it is needed.
    from: usize,
    until: usize,
    kind: NeedKind,
    /// The requests that may do it.
    pub(super) candidates: Vec<usize>,
}

/// For what.
enum NeedKind {
    Writer,
    /// The entry that was created at a log position has a value.
    Value(usize, u64),
    /// The lock is held for a session, in the entry that was created at a log position.
    Holder(usize, u64),
    /// The key is gone.
    Gone,
}

impl Draft<'_> {
    /// All that is needed along a walk.
    pub(super) fn needs(&self, walk: &Walk) -> Vec<Need> {
        let mut needs = Vec::new();
        // The last stop where the key was there, and the last one that is known to be a change.
        let (mut there, mut before): (Option<usize>, Option<usize>) = (None, None);
        for (stop, event) in walk.stops.iter().enumerate() {
            let mark = self.mark(*event, walk.key);
            if let Some(from) = there.filter(|_| self.is_absent(*event, mark, walk.key)) {
                let ends = |item: usize| match &self.request(item).what {
                    What::Destroy(session) => self.requests.deletes[*session],
                    _ => self.one(item).is_some_and(|one| one.verb.deletes()),
                };
                // Who ends a session there may take the entry away with it.
                let may_end = |event: &usize| {
                    let by = self.sequence.events[*event].request.map(|place| &self.request(place).what);
                    matches!(by, Some(What::Destroy(session)) if self.requests.deletes[*session])
                };
                if !walk.stops[from..stop].iter().any(may_end) {
                    needs.push(self.need(walk, NeedKind::Gone, (Some(from), stop), &ends));
                }
                there = None;
            }
            let Some(mark) = mark else { continue };
            let writer = self.sequence.events[*event].request;
            if writer.is_none() {
                let makes = |item: usize| self.may_be_writer(item, *event, mark);
                needs.push(self.need(walk, NeedKind::Writer, (None, stop), &makes));
                // The end of a session leaves the value as it is.
                if let Some((value, create)) = mark.seen.as_ref().and_then(|seen| Some((seen.value?, seen.create))) {
                    let writes = |item: usize| {
                        self.one(item)
                            .is_some_and(|one| one.value == value && !one.verb.deletes() && one.verb != Verb::Get)
                    };
                    let was_written = before.is_some_and(|before| {
                        let event = walk.stops[before];
                        let seen = self.mark(event, walk.key).and_then(|mark| mark.seen.as_ref());
                        let by = self.sequence.events[event].request.map(|place| self.request(place));
                        seen.is_some_and(|seen| seen.value == Some(value))
                            || by.is_some_and(|by| by.operations().iter().any(|one| one.value == value))
                    });
                    if !was_written {
                        needs.push(self.need(walk, NeedKind::Value(value, create), (before, stop), &writes));
                    }
                }
            }
            if let Some((session, create)) = mark.seen.as_ref().and_then(|seen| Some((seen.session?, seen.create))) {
                let takes = |one: &Operation| one.verb == Verb::Acquire(session);
                let is_taken = |event: usize| {
                    let known = self.sequence.events[event].request;
                    known.is_some_and(|place| self.request(place).operations().iter().any(takes))
                };
                let last = before.map(|before| walk.stops[before]);
                let was_held = last.is_some_and(|last| {
                    let seen = self.mark(last, walk.key).and_then(|mark| mark.seen.as_ref());
                    is_taken(last) || seen.is_some_and(|seen| seen.session == Some(session) && seen.create == create)
                });
                if !was_held && !is_taken(*event) {
                    let takes = |item: usize| self.one(item).is_some_and(|one| takes(&one));
                    needs.push(self.need(walk, NeedKind::Holder(session, create), (before, stop), &takes));
                }
            }
            (there, before) = (Some(stop), Some(stop));
        }
        needs
    }

    fn need(
        &self,
        walk: &Walk,
        kind: NeedKind,
        (from, until): (Option<usize>, usize),
        may: &dyn Fn(usize) -> bool,
    ) -> Need {
        let since = from.map_or(i64::MIN, |from| self.sequence.since(self.sequence.place[walk.stops[from]]));
        let ceiling = self.sequence.ceiling(self.sequence.place[walk.stops[until]]);
        let is_in_time = |item: &&usize| {
            let request = self.request(**item);
            request.sent <= ceiling && request.received >= since
        };
        let mut candidates: Vec<usize> =
            walk.items.iter().filter(|item| may(**item)).filter(is_in_time).copied().collect();
        candidates.sort_by_key(|item| (self.request(*item).received, *item));
        Need { from: from.unwrap_or(0), until, kind, candidates }
    }

    fn may_be_writer(&self, item: usize, event: usize, mark: &Mark) -> bool {
        let request = self.request(item);
        self.sequence.fits(event, request.sent, request.received)
            && match &request.what {
                What::Destroy(_) => mark.seen.as_ref().is_some_and(|seen| seen.session.is_none()),
                _ => self.one(item).is_some_and(|one| may_make(&one, mark)),
            }
    }
}

/// For how many needs ahead it is looked which request cannot be replaced.
const AHEAD: usize = 24;

/// Whether what a way needs from a stop on may still be had, with an entry and what is open; and which requests cannot be replaced in it. Each request is
/// carried out once: so it is a matching of needs and requests (Kuhn's).
pub(super) fn is_provided(
    needs: &[Need],
    stop: usize,
    entry: Option<&Entry>,
    labels: &Labels,
    is_open: &dyn Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let mut kept = Vec::new();
    let mut matching = Matching { needs, is_open, by: BTreeMap::new() };
    let mut matched: Vec<usize> = Vec::new();
    for (number, need) in needs.iter().enumerate().filter(|(_, need)| need.until >= stop) {
        let has_come = stop > need.from;
        let is_met = has_come
            && match need.kind {
                NeedKind::Writer => false,
                NeedKind::Value(value, create) => {
                    entry.is_some_and(|entry| entry.value == value && labels[entry.create] == Some(create))
                }
                NeedKind::Holder(session, create) => {
                    entry.is_some_and(|entry| entry.session == Some(session) && labels[entry.create] == Some(create))
                }
                NeedKind::Gone => entry.is_none(),
            };
        if is_met {
            continue;
        }
        // The request that writes a value may take the lock, too, and be seen to do so.
        if let NeedKind::Value(..) | NeedKind::Holder(..) = need.kind {
            let mut open = need.candidates.iter().copied().filter(|item| is_open(*item));
            let first = open.next()?;
            if open.next().is_none() {
                kept.push(first);
            }
        } else if matching.find(number, None, &mut BTreeSet::new()) {
            matched.push(number);
        } else {
            return None;
        }
    }
    for number in matched.into_iter().take(AHEAD) {
        kept.extend(matching.only(number));
    }
    Some(kept)
}

/// Which request does what is needed.
struct Matching<'a> {
    needs: &'a [Need],
    is_open: &'a dyn Fn(usize) -> bool,
    /// By request: what it does.
    by: BTreeMap<usize, usize>,
}

impl Matching<'_> {
    /// Finds a request for a need, which may have been that of another need; but for one request.
    fn find(&mut self, number: usize, but: Option<usize>, seen: &mut BTreeSet<usize>) -> bool {
        let needs = self.needs;
        for item in needs[number].candidates.iter().copied() {
            if Some(item) == but || !(self.is_open)(item) || !seen.insert(item) {
                continue;
            }
            let other = self.by.get(&item).copied();
            if other.is_none_or(|other| self.find(other, but, seen)) {
                self.by.insert(item, number);
                return true;
            }
        }
        false
    }

    /// The request that cannot be replaced in a need.
    fn only(&mut self, number: usize) -> Option<usize> {
        let item = self.by.iter().find(|(_, other)| **other == number).map(|(item, _)| *item)?;
        self.by.remove(&item);
        if self.find(number, Some(item), &mut BTreeSet::new()) {
            return None;
        }
        self.by.insert(item, number);
        Some(item)
    }
}
