//! What a way along a key does on its way to a change: what changes nothing comes before it, and so do writes that it replaces at once.

use super::beam::{Beam, NextChange, Trail, TrailStep};
use super::entry::Effect;
use super::requests::{Request, Verb, What};

impl Beam<'_, '_> {
    /// Takes a change, with all that comes before it.
    pub(super) fn turn(
        &mut self,
        way: &Trail,
        turn: &NextChange,
        since: i64,
        spare: usize,
        hides: bool,
    ) -> Option<Trail> {
        let draft = self.draft;
        let mut next = way.clone();
        let (place, since) = match turn.item.filter(|_| !turn.is_stop) {
            Some(item) => self.first_place(way, turn.place, item, since)?,
            None => (turn.place, since),
        };
        let is_change = turn.new != way.entry;
        if let Some(item) = turn.item {
            self.close(&mut next, item);
        }
        let hidden = if hides && is_change { self.hidden(&next, turn, place, since) } else { Vec::new() };
        if hides && hidden.is_empty() {
            return None;
        }
        let until = hidden.iter().map(|item| draft.request(*item).received).fold(since, i64::min);
        if since > turn.until {
            return None;
        }
        let after = Trail { entry: turn.new.clone(), ..next.clone() };
        let kept = self.kept(&after, way.stop + usize::from(turn.is_stop))?;
        // What changes nothing here.
        let mut spared: Vec<usize> = Vec::new();
        let mut idle: Vec<usize> = Vec::new();
        for item in self.open(&next).collect::<Vec<_>>() {
            let request = draft.request(item);
            if draft.is_end(item) || request.sent > until || hidden.contains(&item) {
                continue;
            }
            if self.effect(item, None, way.entry.as_ref()) != Effect::Nothing || !self.has_place(item, way.at, place) {
                continue;
            }
            let may_help = request.is_done && !is_read(request);
            if may_help && kept.contains(&item) {
                continue;
            }
            if may_help && request.received >= since {
                spared.push(item);
            } else {
                idle.push(item);
            }
        }
        let count = spared.len().saturating_sub(spare);
        idle.extend(&spared[..if is_change { count } else { 0 }]);
        for item in idle {
            self.close(&mut next, item);
            self.note(&mut next, TrailStep::Idle(item));
        }
        for item in hidden {
            self.close(&mut next, item);
            self.note(&mut next, TrailStep::Hidden(item, since.min(draft.request(item).received)));
        }
        let is_lost = |item: usize| !draft.is_end(item) && draft.request(item).received < since;
        let lost = self.open(&next).find(|item| is_lost(*item));
        if let Some(lost) = lost {
            *self.lost.entry(lost).or_default() += 1;
            return None;
        }
        // A session that holds the key ends in time.
        let holder = way.entry.as_ref().and_then(|entry| entry.session);
        let is_held_on = |item: usize| {
            holder.is_some_and(|holder| draft.request(item).what == What::Destroy(holder))
                && (draft.request(item).received < since
                    || turn.is_stop && draft.within_lifetimes(item).1 <= turn.place)
        };
        if self.open(&next).any(is_held_on) {
            return None;
        }
        if let Some(What::Destroy(session)) = turn.item.map(|item| draft.request(item).what.clone()) {
            let mut living = self.open(&next).filter(|item| draft.request(*item).living().contains(&session));
            if living.next().is_some() {
                return None;
            }
        }
        if turn.is_stop {
            self.note(&mut next, TrailStep::Stop(turn.item));
            (next.stop, next.at) = (way.stop + 1, turn.place + 1);
        } else if let Some(item) = turn.item {
            self.note(&mut next, TrailStep::Hidden(item, since));
            next.at = place;
        }
        next.now = since;
        next.entry.clone_from(&turn.new);
        self.kept(&next, next.stop)?;
        self.is_viable(&next, next.stop, next.at, next.entry.as_ref()).then_some(next)
    }

    /// Writes that are replaced at once by a change.
    fn hidden(&self, way: &Trail, turn: &NextChange, place: usize, since: i64) -> Vec<usize> {
        let draft = self.draft;
        let by = turn.item.or_else(|| draft.sequence.events[*self.walk.stops.get(way.stop)?].request);
        let Some(by) = by else { return Vec::new() };
        let stop = turn.is_stop.then_some(way.stop);
        let next = Trail { entry: turn.new.clone(), ..way.clone() };
        let Some(kept) = self.kept(&next, way.stop + usize::from(turn.is_stop)) else { return Vec::new() };
        let reads = self.open(way).filter(|item| is_read(draft.request(*item)));
        let reads = reads.filter(|item| self.effect(*item, None, way.entry.as_ref()) == Effect::Nothing);
        let mut now = reads.map(|read| draft.request(read).sent).fold(way.now, i64::max);
        let mut entry = way.entry.clone();
        let mut hidden = Vec::new();
        for item in self.open(way) {
            let request = draft.request(item);
            if !request.is_done
                || request.sent > since
                || request.received < now
                || kept.contains(&item)
                || draft.is_end(item)
            {
                continue;
            }
            let Effect::Change(between) = self.effect(item, None, entry.as_ref()) else { continue };
            let is_kept = turn.new.is_none() || entry.is_some() == between.is_some();
            if !is_kept || self.effect(by, stop, between.as_ref()) != Effect::Change(turn.new.clone()) {
                continue;
            }
            let (from, to) = draft.within_lifetimes(item);
            let times = (request.sent, request.received);
            let scopes = &draft.scopes[self.walk.key];
            if draft.sequence.best(from.max(way.at)..=to.min(place), times, scopes).is_none() {
                continue;
            }
            now = now.max(request.sent);
            entry = between;
            hidden.push(item);
        }
        hidden
    }

    /// Whether something that changes nothing may be inserted between two places.
    pub(super) fn has_place(&self, item: usize, from: usize, to: usize) -> bool {
        let (first, last) = self.draft.within_lifetimes(item);
        let request = self.draft.request(item);
        self.draft.sequence.best(from.max(first)..=to.min(last), (request.sent, request.received), &[]).is_some()
    }
}

/// Whether a request only reads.
pub(super) fn is_read(request: &Request) -> bool {
    request.operations().iter().all(|operation| operation.verb == Verb::Get)
}
