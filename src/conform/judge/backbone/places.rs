//! The places of the requests that a walk comes to.

use super::draft::{Draft, SESSIONS};
use super::entry::{Effect, Entry};
use super::requests::Verb;
use super::walk::{Here, Walk, WalkStep};

/// Where a change comes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Whereabouts {
    /// At a log position that only an index tells of.
    Blank,
    /// Between events, as late as that takes no time from others.
    Late,
    /// Between events, as early as possible.
    Early,
}

impl Draft<'_> {
    /// Takes a step, and all that follow. False: that leads nowhere, and nothing has been done.
    pub(super) fn take(&mut self, walk: &mut Walk, here: &Here, step: &WalkStep) -> bool {
        let journal = self.journal.len();
        match step {
            WalkStep::Pass => {
                let last = Some(walk.stops[here.stop]);
                return self.go(walk, &Here { stop: here.stop + 1, last, ..here.clone() });
            }
            WalkStep::Stop(item, new) => {
                let stop = walk.stops[here.stop];
                for is_eager in [true, false] {
                    if let Some(item) = item {
                        self.fill(stop, *item);
                    }
                    if self.change(walk, here, stop, new.as_ref(), is_eager) {
                        return true;
                    }
                    self.unwind(journal);
                }
            }
            WalkStep::Hidden(item, new) => {
                for (is_eager, whereabouts) in self.ways(*item) {
                    let Some(event) = self.place_change(walk, here, *item, whereabouts) else {
                        // What stands before it stands too late.
                        let before = here.since.and_then(|since| self.sequence.events[since].request);
                        if let Some(before) = before.filter(|before| walk.items.contains(before)) {
                            *walk.lost.entry(before).or_default() += 1;
                        }
                        continue;
                    };
                    if self.change(walk, here, event, new.as_ref(), is_eager) {
                        return true;
                    }
                    self.unwind(journal);
                }
            }
        }
        false
    }

    /// How a change is placed: whether what leaves no trace is placed with it, and where. The likely ways come first. What had no place
    /// any more in another walk comes as early as it may.
    fn ways(&self, item: usize) -> Vec<(bool, Whereabouts)> {
        let takes_away = !self.request(item).operations().iter().any(|operation| operation.verb != Verb::Delete);
        let first = match self.policy % 3 {
            0 => true,
            1 => false,
            _ => takes_away,
        };
        let mut places = if first {
            vec![Whereabouts::Blank, Whereabouts::Late]
        } else {
            vec![Whereabouts::Late, Whereabouts::Blank]
        };
        let early = if self.urgency[item] > 0 { usize::from(self.urgency[item].is_multiple_of(2)) } else { 2 };
        places.insert(early, Whereabouts::Early);
        [true, false].into_iter().flat_map(|is_eager| places.iter().map(move |place| (is_eager, *place))).collect()
    }

    /// The entry changes at an event, which has its place.
    fn change(&mut self, walk: &mut Walk, here: &Here, event: usize, new: Option<&Entry>, is_eager: bool) -> bool {
        if !self.may_hold_until(here.entry.as_ref(), event) {
            return false;
        }
        let mut before = here.clone();
        if is_eager {
            self.hide(walk, &mut before, event, new);
        }
        let is_stop = walk.stops.get(here.stop) == Some(&event);
        let (since, last, stop) = (Some(event), Some(event), here.stop + usize::from(is_stop));
        self.absorb(walk, &before, Some(event), is_eager, new)
            && self.go(walk, &Here { stop, entry: new.cloned(), since, last })
    }

    /// What is replaced at once leaves no trace: writes that may as well come right before the one at an event.
    fn hide(&mut self, walk: &mut Walk, here: &mut Here, until: usize, new: Option<&Entry>) {
        let Some(writer) = self.sequence.events[until].request else { return };
        let next = here.stop + usize::from(walk.stops.get(here.stop) == Some(&until));
        let kept = self.kept(walk, next, new.is_some());
        for item in self.by_answer(walk) {
            let request = self.request(item);
            if self.placed[item].is_some() || kept.contains(&item) || !request.is_done || self.is_end(item) {
                continue;
            }
            let Effect::Change(between) = self.effect(item, walk.key, here.entry.as_ref()) else { continue };
            let is_kept = new.is_none() || here.entry.is_some() == between.is_some();
            let after = self.effect(writer, walk.key, between.as_ref());
            if !is_kept || after != Effect::Change(new.cloned()) {
                continue;
            }
            let journal = self.journal.len();
            let Some(at) = self.best_place(walk, here, self.sequence.place[until], item, 0) else { continue };
            let event = self.insert(item, at);
            if self.absorb(walk, here, Some(event), true, between.as_ref()) {
                *here = Here { entry: between, since: Some(event), last: Some(event), ..here.clone() };
            } else {
                self.unwind(journal);
            }
        }
    }

    /// Requests without a place, by when they were answered.
    fn by_answer(&self, walk: &Walk) -> Vec<usize> {
        let mut open = self.open(walk);
        open.sort_by_key(|item| (self.request(*item).received, *item));
        open
    }

    /// Places a change before the next stop: at a log position that only an index tells of, or between events.
    fn place_change(&mut self, walk: &Walk, here: &Here, item: usize, whereabouts: Whereabouts) -> Option<usize> {
        let limit = walk.stops.get(here.stop).map_or(self.sequence.order.len(), |stop| self.sequence.place[*stop]);
        let at = match whereabouts {
            Whereabouts::Early => self.first_place(walk, here, limit, item)?,
            Whereabouts::Late => self.best_place(walk, here, limit, item, i64::MAX)?,
            Whereabouts::Blank => return self.fill_next_blank(walk, here, limit, item),
        };
        Some(self.insert(item, at))
    }

    /// Lets a change come at a log position that only an index tells of, before another event.
    fn fill_next_blank(&mut self, walk: &Walk, here: &Here, limit: usize, item: usize) -> Option<usize> {
        let (from, limit) = self.range(here, limit, item);
        let (sent, received) = self.times(walk, here, item)?;
        let held = self.held(item, Some(walk.key));
        let fits = |event: &usize| {
            let place = self.sequence.place[*event];
            let is_blank = self.is_blank(*event)
                || self.is_end(item)
                    && self.is_session_blank(*event)
                    && self.sequence.is_free(place, &self.scopes[walk.key]);
            is_blank
                && !held.iter().any(|held| held.contains(&place))
                && self.sequence.fits(*event, sent, received)
                && self.lives_at(item, *event)
        };
        let mut events = self.sequence.order.get(from..limit)?.iter().copied();
        let event = if self.policy < 3 { events.find(fits)? } else { events.rfind(fits)? };
        self.fill(event, item);
        Some(event)
    }

    /// Where a change comes at the earliest, and at the latest. C-KV-10: a session that takes a lock has not ended.
    fn range(&self, here: &Here, limit: usize, item: usize) -> (usize, usize) {
        let (from, to) = self.within_lifetimes(item);
        (here.last.map_or(from, |last| from.max(self.sequence.place[last] + 1)), limit.min(to))
    }

    /// Between which instants a change comes: the reads that show what it replaces come before it.
    fn times(&self, walk: &Walk, here: &Here, item: usize) -> Option<(i64, i64)> {
        let request = self.request(item);
        let replaced = here.entry.as_ref().and_then(|entry| self.labels[entry.modify]);
        let shows = |read: &usize| {
            let shown = self.request(*read).shown.first().map(|seen| seen.modify);
            replaced.is_some() && shown == replaced
        };
        let reads = self.open(walk).into_iter().filter(shows).map(|read| self.request(read).sent);
        let sent = reads.fold(request.sent, i64::max);
        (sent <= request.received).then_some((sent, request.received))
    }

    /// The first place for a change before another one. None: it has none.
    fn first_place(&self, walk: &Walk, here: &Here, limit: usize, item: usize) -> Option<usize> {
        let (from, limit) = self.range(here, limit, item);
        let (sent, received) = self.times(walk, here, item)?;
        let held = self.held(item, Some(walk.key));
        let fits = |at: &usize| {
            let is_free = self.sequence.is_free(*at, &self.scopes[walk.key]);
            let is_end = self.is_end(item);
            let may_end = !is_end || self.may_change_sessions(*at) && self.sequence.is_free(*at, &[SESSIONS]);
            let is_held = held.iter().any(|held| held.contains(at));
            sent <= self.sequence.ceiling(*at) && is_free && may_end && !is_held
        };
        (from..=limit).find(fits).filter(|at| self.sequence.floor(*at) <= received)
    }

    /// The best place for a change before another one. None: it has none, or costs more time.
    fn best_place(&self, walk: &Walk, here: &Here, limit: usize, item: usize, most: i64) -> Option<usize> {
        let (from, limit) = self.range(here, limit, item);
        let times = self.times(walk, here, item)?;
        let best = if self.is_end(item) {
            let scopes: Vec<usize> = self.scopes[walk.key].iter().copied().chain([SESSIONS]).collect();
            let held = self.held(item, Some(walk.key));
            let is_held = |at: usize| held.iter().any(|held| held.contains(&at));
            let places = (from..=limit).rev().filter(|at| !is_held(*at) && self.may_change_sessions(*at));
            places.filter_map(|at| self.sequence.best(at..=at, times, &scopes)).min_by_key(|fit| fit.cost())
        } else {
            self.sequence.best(from..=limit, times, &self.scopes[walk.key])
        };
        best.filter(|fit| fit.cost() <= most).map(|fit| fit.place)
    }

    /// Whether reads that show an earlier position of the sessions may come before a place.
    pub(super) fn may_change_sessions(&self, at: usize) -> bool {
        let before = self.sequence.order[..at].iter().rev().filter_map(|event| self.sequence.events[*event].label);
        let last = before.into_iter().find(|label| self.positions[SESSIONS].contains(label));
        let asked = last.and_then(|last| self.asked.get(&last));
        asked.is_none_or(|sent| *sent <= self.sequence.ceiling(at))
    }

    /// Places what changes nothing between the last change and an event: where it costs no time, and where it has to be. False:
    /// something has no place any more; the walk notes what.
    pub(super) fn absorb(
        &mut self,
        walk: &mut Walk,
        here: &Here,
        until: Option<usize>,
        is_eager: bool,
        after: Option<&Entry>,
    ) -> bool {
        let next = here.stop + usize::from(until.is_some() && walk.stops.get(here.stop).copied() == until);
        let kept = if is_eager { Some(self.kept(walk, next, true)) } else { None };
        for item in self.by_answer(walk) {
            let request = self.request(item);
            if self.is_end(item) || self.effect(item, walk.key, here.entry.as_ref()) != Effect::Nothing {
                continue;
            }
            let (from, end) = self.within_lifetimes(item);
            let from = here.since.map_or(from, |since| from.max(self.sequence.place[since] + 1));
            let to = until.map_or(self.sequence.order.len(), |event| self.sequence.place[event]);
            let is_read = request.is_done && request.operations().iter().any(|operation| operation.verb == Verb::Get);
            let is_late = until.is_none() || request.received < self.sequence.since(to);
            let goes = self.policy < 3 && self.effect(item, walk.key, after) != Effect::Nothing;
            // What may change something elsewhere comes as late as it may.
            let is_idle = is_read || !request.is_done || kept.as_ref().is_some_and(|kept| !kept.contains(&item));
            let has_to = is_read || is_late || is_eager && self.urgency[item] > 0 || !request.is_done && goes;
            let times = (request.sent, request.received);
            let best = self.sequence.best(from..=to.min(end), times, &[]);
            // What the end of a session comes after leaves room for that.
            let is_first = self.is_before_an_end(item);
            let best = best.and_then(|best| {
                let free = |at: usize| self.sequence.best(at..=at, times, &[]).filter(|fit| fit.cost() == 0);
                if is_first { (from..=best.place).find_map(free) } else { None }.or(Some(best))
            });
            // What takes time from what stands before takes even more later on.
            if let Some(fit) = best.filter(|fit| has_to || is_idle && (fit.raise == 0 || fit.cut > 0)) {
                self.insert(item, fit.place);
            }
        }
        let since = until.map_or(i64::MIN, |event| self.sequence.since(self.sequence.place[event]));
        let is_lost = |item: usize| !self.is_end(item) && self.request(item).received < since;
        let lost = self.open(walk).into_iter().find(|item| is_lost(*item));
        lost.into_iter().for_each(|lost| *walk.lost.entry(lost).or_default() += 1);
        lost.is_none()
    }
}
