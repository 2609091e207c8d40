//! What a walk should not use up, because it is needed later on.

use std::collections::BTreeSet;

use super::draft::{Draft, Mark};
use super::requests::{Operation, Verb, What};
use super::walk::Walk;

impl Draft<'_> {
    /// Who is needed from a stop on: for each log position without a writer, and for each time that the key goes, the request whose
    /// answer comes first.
    pub(super) fn kept(&self, walk: &Walk, stop: usize, is_there: bool) -> BTreeSet<usize> {
        let open = self.open(walk);
        let mut kept: BTreeSet<usize> = BTreeSet::new();
        let first = |kept: &BTreeSet<usize>, may: &dyn Fn(usize) -> bool| {
            let may = |item: &usize| !kept.contains(item) && may(*item);
            open.iter().copied().filter(may).min_by_key(|item| (self.request(*item).received, *item))
        };
        let (mut is_there, mut since) = (is_there, i64::MIN);
        for stop in &walk.stops[stop..] {
            let place = self.sequence.place[*stop];
            let mark = self.mark(*stop, walk.key);
            if is_there && self.is_absent(*stop, mark, walk.key) {
                let until = self.sequence.ceiling(place);
                let may = |item: usize| {
                    let request = self.request(item);
                    let is_in_time = request.sent <= until && request.received >= since;
                    is_in_time && self.one(item).is_some_and(|operation| operation.verb.deletes())
                };
                kept.extend(first(&kept, &may));
                is_there = false;
            }
            since = self.sequence.since(place);
            let Some(mark) = mark else { continue };
            is_there = true;
            if self.sequence.events[*stop].request.is_none() {
                let may = |item: usize| {
                    let request = self.request(item);
                    let fits = self.sequence.fits(*stop, request.sent, request.received);
                    fits && self.one(item).is_some_and(|operation| may_make(&operation, mark))
                };
                kept.extend(first(&kept, &may));
            }
        }
        kept
    }

    /// What a request does, if it is one operation that was not refused.
    pub(super) fn one(&self, item: usize) -> Option<Operation> {
        let request = self.request(item);
        if let ([operation], true) = (request.operations(), request.is_done) { Some(*operation) } else { None }
    }

    /// Whether the key is not there right before a stop, or at it.
    pub(super) fn is_absent(&self, stop: usize, mark: Option<&Mark>, key: usize) -> bool {
        if let Some(mark) = mark {
            return mark.seen.as_ref().is_none_or(|seen| seen.create == seen.modify);
        }
        let Some(request) = self.sequence.events[stop].request.map(|place| self.request(place)) else { return false };
        match &request.what {
            What::List(_) => request.shown.iter().all(|seen| seen.key != key),
            What::Operations(operations) => operations.len() == 1 && !request.is_found,
            _ => false,
        }
    }
}

/// Whether an operation may have left what is known of a log position. C-KV-8, C-KV-10, C-KV-11: a put forgets how often the lock was taken, who
/// takes the lock holds it then, and a release leaves it free.
pub(super) fn may_make(operation: &Operation, mark: &Mark) -> bool {
    let seen = mark.seen.as_ref();
    let is_put = || seen.is_none_or(|seen| seen.lock_index == 0);
    let is_kind = match operation.verb {
        Verb::Put => is_put(),
        Verb::Acquire(session) => seen.is_none_or(|seen| seen.session == Some(session)),
        Verb::Cas(index) => is_put() && (seen.is_some() || index == 0),
        Verb::Release(_) => seen.is_some_and(|seen| seen.session.is_none()),
        Verb::Delete | Verb::DeleteCas(_) | Verb::Get => false,
    };
    is_kind && mark.seen.as_ref().and_then(|seen| seen.value).is_none_or(|value| value == operation.value)
}
