//! The changes that a way along a key may take next: the next stop, or one that nobody saw before it.

use std::collections::BTreeSet;

use super::beam::{Beam, NextChange, Trail};
use super::draft::SESSIONS;
use super::entry::{Effect, Entry};
use super::ways::is_read;

impl Beam<'_, '_> {
    /// What may happen at the next stop.
    pub(super) fn stop_turns(&self, way: &Trail) -> Vec<NextChange> {
        let Some(event) = self.walk.stops.get(way.stop).copied() else { return Vec::new() };
        let draft = self.draft;
        let place = draft.sequence.place[event];
        let (since, until) = (way.now.max(draft.sequence.since(place)), draft.sequence.ceiling(place));
        if since > until {
            return Vec::new();
        }
        let turn = |item, new| NextChange { item, new, is_stop: true, place, since, until };
        let entry = way.entry.as_ref();
        let by = draft.sequence.events[event].request;
        let Some(mark) = draft.mark(event, self.walk.key) else {
            return match by.map(|request| self.effect(request, Some(way.stop), entry)) {
                Some(Effect::Never) => Vec::new(),
                Some(Effect::Change(new)) => vec![turn(None, new)],
                Some(Effect::Nothing) if draft.must_change(event) => Vec::new(),
                Some(Effect::Nothing) | None => vec![turn(None, way.entry.clone())],
            };
        };
        let fits = |new: &Entry| new.fits(mark.seen.as_ref(), entry, &self.labels);
        if let Some(request) = by {
            return match self.effect(request, Some(way.stop), entry) {
                Effect::Change(Some(new)) if fits(&new) => vec![turn(None, Some(new))],
                _ => Vec::new(),
            };
        }
        let mut turns = Vec::new();
        for item in self.open(way) {
            let request = draft.request(item);
            let is_late = request.received < since || request.sent > until || !request.is_done;
            if is_late || !draft.sequence.fits(event, request.sent, request.received) || !draft.lives_at(item, event) {
                continue;
            }
            let Effect::Change(Some(new)) = self.effect(item, Some(way.stop), entry) else { continue };
            if fits(&new) && !self.held[&item].iter().any(|held| held.contains(&place)) {
                let (since, until) = (since.max(request.sent), until.min(request.received));
                turns.push(NextChange { since, until, ..turn(Some(item), Some(new)) });
            }
        }
        turns
    }

    /// What may change the key before the next stop.
    pub(super) fn hidden_turns(&self, way: &Trail) -> Vec<NextChange> {
        let draft = self.draft;
        let limit =
            self.walk.stops.get(way.stop).map_or(draft.sequence.order.len(), |stop| draft.sequence.place[*stop]);
        let ceiling = draft.sequence.ceiling(limit);
        let mut turns: Vec<NextChange> = Vec::new();
        for item in self.open(way) {
            let request = draft.request(item);
            if !request.is_done || request.sent > ceiling {
                continue;
            }
            let Effect::Change(new) = self.effect(item, None, way.entry.as_ref()) else { continue };
            if !self.is_viable(way, way.stop, way.at, new.as_ref()) {
                continue;
            }
            // Of two that take an entry away, the one that is answered first comes first.
            if new.is_none() && turns.iter().any(|turn| turn.new.is_none() && turn.since <= way.now.max(request.sent)) {
                continue;
            }
            let Some((_, since)) = self.first_place(way, limit, item, way.now) else { continue };
            let until = request.received.min(ceiling);
            if since <= until {
                turns.push(NextChange { item: Some(item), new, is_stop: false, place: limit, since, until });
            }
        }
        turns
    }

    /// The first place for a change at an instant or later, and that instant.
    pub(super) fn first_place(&self, way: &Trail, limit: usize, item: usize, since: i64) -> Option<(usize, i64)> {
        let sequence = &self.draft.sequence;
        let (from, to) = self.draft.within_lifetimes(item);
        let since = since.max(self.draft.request(item).sent);
        let fits = |at: &usize| since.max(sequence.floor(*at)) <= sequence.ceiling(*at) && self.may_stand(item, *at);
        let place = (from.max(way.at)..=to.min(limit)).find(fits)?;
        Some((place, since.max(sequence.floor(place))))
    }

    fn may_stand(&self, item: usize, at: usize) -> bool {
        let draft = self.draft;
        draft.sequence.is_free(at, &draft.scopes[self.walk.key])
            && !self.held[&item].iter().any(|held| held.contains(&at))
            && (!draft.is_end(item) || draft.may_change_sessions(at) && draft.sequence.is_free(at, &[SESSIONS]))
    }

    /// The instants at which a change may come: as early as possible, or so late that more comes before it that fits there only.
    pub(super) fn waits(&self, way: &Trail, turn: &NextChange) -> Vec<i64> {
        let mut since = turn.since;
        let mut waits = BTreeSet::new();
        for item in self.open(way).filter(|item| !self.draft.is_end(*item)) {
            let request = self.draft.request(item);
            if self.effect(item, None, way.entry.as_ref()) != Effect::Nothing {
                continue;
            }
            if self.effect(item, None, turn.new.as_ref()) == Effect::Never && is_read(request) {
                since = since.max(request.sent);
            } else if request.sent > turn.since
                && request.sent <= turn.until
                && self.effect(item, None, turn.new.as_ref()) != Effect::Nothing
            {
                waits.insert(request.sent);
            }
        }
        let later: Vec<i64> = waits.into_iter().filter(|wait| *wait > since).collect();
        let mut instants = vec![since];
        instants.extend(later.first().copied());
        if later.len() > 2 {
            instants.push(later[later.len() / 2]);
        }
        instants.extend(later.last().copied());
        instants.dedup();
        instants.retain(|since| *since <= turn.until);
        instants
    }
}
