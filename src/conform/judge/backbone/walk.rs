//! Along the log with one key: every request about it gets its place between the events that are known, depth first, with a memory of
//! what led nowhere (Wing and Gong; Lowe). What another key has to do with it stands in the sequence already.

use std::collections::{BTreeMap, BTreeSet};

use super::Effort;
use super::draft::Draft;
use super::entry::{Effect, Entry};
use super::requests::{Verb, What};

/// How much work a walk takes before it is begun anew: a twentieth of a second.
const WORK: usize = 6_000_000;

/// How much it takes where nothing tells what should be done otherwise.
const MORE_WORK: usize = 4 * WORK;

/// How often a walk is begun anew.
const ATTEMPTS: usize = 8;

/// How much work it takes if it is not begun anew: half a second.
const LONG_WORK: usize = 10 * WORK;

/// How many stops and requests a walk has at most that goes depth first: it takes the stack for each.
const LENGTH: usize = 1_000;

/// How many ways are kept side by side.
const BREADTHS: [usize; 3] = [8, 40, 160];

/// A walk along the log.
#[derive(Clone)]
pub(super) struct Walk {
    pub(super) key: usize,
    /// Events that have to do with the key and have their place, in order.
    pub(super) stops: Vec<usize>,
    /// Requests about the key, and ends of sessions that may hold it, without a place at the beginning.
    pub(super) items: Vec<usize>,
    /// How much work it has taken, and at what it is given up.
    work: usize,
    limit: usize,
    known: BTreeMap<(usize, Option<Entry>, Vec<bool>), usize>,
    /// How often a request had no place any more.
    pub(super) lost: BTreeMap<usize, usize>,
}

/// Where a walk has got to.
#[derive(Clone)]
pub(super) struct Here {
    /// How many stops it has passed.
    pub(super) stop: usize,
    pub(super) entry: Option<Entry>,
    /// The event that has made this entry.
    pub(super) since: Option<usize>,
    /// The last event that it has come to.
    pub(super) last: Option<usize>,
}

/// What may come next.
pub(super) enum WalkStep {
    /// The next stop, which changes nothing.
    Pass,
    /// The next stop, where the request that is known, or this one, changes the entry.
    Stop(Option<usize>, Option<Entry>),
    /// A request before the next stop, which changes the entry.
    Hidden(usize, Option<Entry>),
}

impl Draft<'_> {
    /// Gives every request about a key its place. False: none was found, and none has got one.
    pub(super) fn walk(&mut self, key: usize) -> bool {
        let sessions = self.holders(key);
        let order = self.sequence.order.iter().copied();
        let stops: Vec<usize> = order.filter(|event| self.is_stop(*event, key, &sessions)).collect();
        let ends = sessions.iter().filter_map(|session| self.ends.get(session)).copied();
        let about = self.about[key].iter().copied().filter(|place| self.is_about(*place, key));
        let items: Vec<usize> = about.chain(ends).filter(|place| self.placed[*place].is_none()).collect();
        if self.effort != Effort::Wide && stops.len() + items.len() > LENGTH {
            return false;
        }
        let (attempts, limit) = match self.effort {
            Effort::Wide => (0, WORK),
            Effort::Often => (ATTEMPTS, WORK),
            Effort::Long => (1, LONG_WORK),
        };
        let mut begin = Walk { key, stops, items, work: 0, limit, known: BTreeMap::new(), lost: BTreeMap::new() };
        if self.effort == Effort::Wide {
            return self.walk_side_by_side(&begin);
        }
        let mut before = None;
        for _ in 0..attempts {
            let mut walk = begin.clone();
            let found = self.go(&mut walk, &Here { stop: 0, entry: None, since: None, last: None });
            self.work += walk.work;
            if found {
                self.is_walked[key] = true;
                return true;
            }
            // What was in the way most often is treated first the next time (squeaky wheel optimization; Joslin and Clements).
            let lost = walk.lost.into_iter().max_by_key(|(item, times)| (*times, *item));
            match lost {
                Some(_) if lost == before || attempts == 1 => break,
                Some((item, _)) => self.urgency[item] += 1,
                None if walk.work > walk.limit && walk.limit < MORE_WORK => begin.limit = MORE_WORK,
                None => break,
            }
            before = lost;
        }
        false
    }

    /// Lays the best of many ways down.
    fn walk_side_by_side(&mut self, walk: &Walk) -> bool {
        for breadth in BREADTHS {
            let (way, work) = self.beam(walk, breadth);
            self.work += work;
            match way {
                Ok(steps) => self.is_walked[walk.key] = self.lay(walk, &steps),
                Err(Some(lost)) => self.urgency[lost] += 1,
                Err(None) => {}
            }
            if self.is_walked[walk.key] {
                return true;
            }
        }
        false
    }

    /// The sessions that may hold a key.
    pub(super) fn holders(&self, key: usize) -> BTreeSet<usize> {
        let done = self.about[key].iter().map(|place| self.request(*place)).filter(|request| request.is_done);
        let session = |verb: Verb| if let Verb::Acquire(session) = verb { Some(session) } else { None };
        done.flat_map(|request| request.operations()).filter_map(|operation| session(operation.verb)).collect()
    }

    /// A transaction comes last of all, but for one that was refused for this key.
    pub(super) fn is_about(&self, place: usize, key: usize) -> bool {
        let request = self.request(place);
        request.ended.is_none() && (request.operations().len() == 1 || request.refuser() == Some(key))
    }

    fn is_stop(&self, event: usize, key: usize, sessions: &BTreeSet<usize>) -> bool {
        if self.mark(event, key).is_some() {
            return true;
        }
        let Some(place) = self.sequence.events[event].request else { return false };
        match &self.request(place).what {
            What::Operations(operations) => operations.iter().any(|operation| operation.key == key),
            What::List(prefix) => self.requests.keys[key].starts_with(prefix.as_str()),
            What::Destroy(session) => sessions.contains(session),
            What::Create(_) | What::Sessions => false,
        }
    }

    /// Requests of a walk that have no place yet.
    pub(super) fn open(&self, walk: &Walk) -> Vec<usize> {
        walk.items.iter().copied().filter(|item| self.placed[*item].is_none()).collect()
    }

    /// Whether there is a way from here.
    pub(super) fn go(&mut self, walk: &mut Walk, here: &Here) -> bool {
        // Each step looks at what is open and at what is to come.
        walk.work += 1_000 + self.open(walk).len() * (walk.stops.len() - here.stop);
        if walk.work > walk.limit
            || !self.is_viable(walk, here.stop, here.entry.as_ref())
            || here.last.is_some_and(|last| !self.may_hold_until(here.entry.as_ref(), last))
        {
            return false;
        }
        let placed = walk.items.iter().map(|item| self.placed[*item].is_some()).collect();
        let state = (here.stop, here.entry.clone(), placed);
        let last = here.last.map_or(0, |last| self.sequence.place[last]);
        if walk.known.get(&state).is_some_and(|known| *known <= last) {
            return false;
        }
        if here.stop == walk.stops.len() && self.may_end(walk, here) {
            let journal = self.journal.len();
            let is_over = self.absorb(walk, here, None, true, here.entry.as_ref());
            if is_over && self.open(walk).into_iter().all(|item| self.is_end(item)) {
                return true;
            }
            self.unwind(journal);
        }
        for step in self.steps(walk, here) {
            if self.take(walk, here, &step) {
                return true;
            }
            if walk.work > walk.limit {
                return false;
            }
        }
        walk.known.insert(state, last);
        false
    }

    /// Whether a request ends a session. Where that does not hold the key, it may come at any time.
    pub(super) fn is_end(&self, item: usize) -> bool {
        matches!(self.request(item).what, What::Destroy(_))
    }

    /// Whether no session that ends holds the key.
    fn may_end(&self, walk: &Walk, here: &Here) -> bool {
        let holder = here.entry.as_ref().and_then(|entry| entry.session);
        holder.is_none_or(|holder| {
            self.open(walk).into_iter().all(|item| self.request(item).what != What::Destroy(holder))
        })
    }

    /// Whether the next entry that is shown may come of this one.
    fn is_viable(&self, walk: &Walk, stop: usize, entry: Option<&Entry>) -> bool {
        let Some((label, mark)) = walk.stops[stop..]
            .iter()
            .find_map(|event| Some((self.sequence.events[*event].label?, self.mark(*event, walk.key)?)))
        else {
            return true;
        };
        mark.seen.as_ref().is_none_or(|seen| {
            seen.create == label || entry.is_some_and(|entry| self.labels[entry.create] == Some(seen.create))
        })
    }

    /// What may come next, the likely first: what is over before the next stop, then that.
    fn steps(&self, walk: &Walk, here: &Here) -> Vec<WalkStep> {
        let stop = walk.stops.get(here.stop).copied();
        let place = stop.map_or(self.sequence.order.len(), |event| self.sequence.place[event]);
        let (since, until) = (self.sequence.since(place), self.sequence.ceiling(place));
        let direct = stop.map_or(Vec::new(), |event| self.direct(walk, here, event));
        let mut hidden = Vec::new();
        for item in self.open(walk) {
            let request = self.request(item);
            if !request.is_done || request.sent > until {
                continue;
            }
            if let Effect::Change(new) = self.effect(item, walk.key, here.entry.as_ref()) {
                let may_wait = stop.is_some() && request.received >= since;
                let urgency = self.urgency[item];
                hidden.push((may_wait && urgency == 0, std::cmp::Reverse(urgency), request.received, item, new));
            }
        }
        hidden.sort();
        let is_due = hidden.first().is_some_and(|(may_wait, ..)| !may_wait);
        let hidden = hidden.into_iter().map(|(_, _, _, item, new)| WalkStep::Hidden(item, new));
        if is_due { hidden.chain(direct).collect() } else { direct.into_iter().chain(hidden).collect() }
    }

    /// The ways to get past the next stop.
    fn direct(&self, walk: &Walk, here: &Here, stop: usize) -> Vec<WalkStep> {
        let entry = here.entry.as_ref();
        let by = self.sequence.events[stop].request;
        let Some(mark) = self.mark(stop, walk.key) else {
            return match by.map(|request| self.effect(request, walk.key, entry)) {
                Some(Effect::Never) => Vec::new(),
                Some(Effect::Change(new)) => vec![WalkStep::Stop(None, new)],
                Some(Effect::Nothing) if self.must_change(stop) => Vec::new(),
                Some(Effect::Nothing) | None => vec![WalkStep::Pass],
            };
        };
        let fits = |new: &Entry| new.fits(mark.seen.as_ref(), entry, &self.labels);
        if let Some(request) = by {
            return match self.effect(request, walk.key, entry) {
                Effect::Change(Some(new)) if fits(&new) => vec![WalkStep::Stop(None, Some(new))],
                _ => Vec::new(),
            };
        }
        let mut ways = Vec::new();
        for item in self.open(walk) {
            let request = self.request(item);
            if !request.is_done
                || !self.sequence.fits(stop, request.sent, request.received)
                || !self.lives_at(item, stop)
            {
                continue;
            }
            if let Effect::Change(Some(new)) = self.effect(item, walk.key, entry) {
                if self.held(item, Some(walk.key)).iter().any(|held| held.contains(&self.sequence.place[stop])) {
                    continue;
                }
                ways.extend(fits(&new).then_some((std::cmp::Reverse(self.urgency[item]), request.received, item, new)));
            }
        }
        ways.sort();
        ways.into_iter().map(|(_, _, item, new)| WalkStep::Stop(Some(item), Some(new))).collect()
    }
}
