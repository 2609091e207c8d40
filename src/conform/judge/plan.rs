//! An order for a log with many open requests. Its parts have nothing to do with each other but for instants and log positions
//! (see `parts`), so each is explained alone. Orders that respect the instants have a common one (Herlihy and Wing 1990, §3.3:
//! linearizability is local); positions get instants, too, so that all parts respect them.
//! A plan is a guess, and there may be none: the search follows it, and judges every answer as in any other order.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

use super::super::log::{Episode, LogRecord};
use super::Limits;
use super::ahead::Ahead;
use super::clock::Clock;
use super::instants::Instants;
use super::parts::{Parts, parts};
use super::path::PathStep;
use super::positions::Entries;
use super::search::Search;
use super::state::State;
use super::subject::Subject;
use super::writes::created;

/// From how many open requests on a log is planned.
pub(super) const MANY: usize = 16;

/// How often parts are explained again that do not go together.
const ROUNDS: usize = 12;

/// A request at its instant, with its part.
type Placed = (i64, usize, usize);

/// A part that is to be explained again, with another order if there is one.
type Again = (usize, Option<Vec<PathStep>>);

/// What a plan is made from.
struct Draft<'a> {
    episode: &'a Episode,
    parts: Parts,
    shown: Entries,
    limits: Limits,
}

impl Search<'_> {
    /// An order of the requests that explains each part. Each log position gets an instant; a part that cannot be explained with
    /// these is explained again, and the positions that it tells come first then.
    pub(super) fn make_plan(&self, episode: &Episode, limits: Limits) -> Option<Plan> {
        if self.answers.iter().all(|answer| answer.others.len() < MANY) {
            return None;
        }
        let draft = Draft { episode, parts: parts(&self.lines)?, shown: self.shown(), limits };
        let open = Clock::of(&self.certain, &self.lines, &self.exact);
        let windows = self.windows(&self.certain, &open);
        let any = Instants { clock: open.clone(), quiet: BTreeMap::new() };
        let explain = |(number, part): (usize, &Vec<usize>)| {
            Some((number, self.explain(&draft, part, &windows, &self.certain, &any)?))
        };
        let mut ways: Vec<(usize, Vec<PathStep>)> =
            draft.parts.keys.iter().enumerate().map(explain).collect::<Option<_>>()?;
        let mut banned: BTreeSet<(u64, usize)> = BTreeSet::new();
        for _ in 0..ROUNDS {
            let mut clock = open.clone();
            let orders: Vec<&[PathStep]> = ways.iter().map(|(_, steps)| &steps[..]).collect();
            let positions = self.positions(&orders, &draft.shown, &banned, &mut clock);
            let ahead = self.certain.with_writers(positions.into_iter().collect());
            let (placed, again) = self.schedule(&draft, &ahead, &clock)?;
            if again.is_empty() {
                return Some(Plan::of(placed, ahead, self.lines.len()));
            }
            let known = Instants { clock, quiet: BTreeMap::new() };
            let narrow = self.windows(&self.certain, &known.clock);
            for (number, steps) in again.into_iter().rev() {
                // Guesses that do not go with the part are others the next time.
                let found = steps.as_ref().map(|steps| self.writers(steps, &draft.shown));
                let is_other = |(index, request): &&(u64, usize)| match &found {
                    Some((writers, creators)) => {
                        let found = writers.get(index).or(creators.get(index));
                        found.is_some_and(|found| found != request)
                    }
                    None => draft.parts.keys[number].contains(request),
                };
                let is_guess = |pair: &&(u64, usize)| !self.certain.ranked.contains(pair);
                banned.extend(ahead.ranked.iter().filter(is_other).filter(is_guess));
                let part = &draft.parts.keys[number];
                let steps = steps
                    .or_else(|| self.explain(&draft, part, &narrow, &self.certain, &known))
                    .or_else(|| self.explain(&draft, part, &windows, &self.certain, &any))?;
                ways.retain(|(other, _)| *other != number);
                ways.insert(0, (number, steps));
            }
        }
        None
    }

    /// Gives each request an instant, with each log position at one. None: that leaves some request no place. Otherwise also the
    /// parts that cannot be explained so, with another order if there is one.
    fn schedule(&self, draft: &Draft<'_>, ahead: &Ahead, clock: &Clock) -> Option<(Vec<Placed>, Vec<Again>)> {
        let since = self.lines.first()?.sent.saturating_sub(i64::try_from(2 * self.lines.len()).ok()?);
        let clock = clock.clone().settled(since, &self.store_positions())?;
        let mut windows = self.windows(ahead, &clock);
        let quiet = self.keep_quiet_times(&mut windows, ahead, &clock)?;
        let instants = Instants { clock, quiet };
        let sessions = self.order_of_sessions(&draft.parts.sessions, ahead, &instants.clock)?;
        let mut placed: Vec<Placed> = sessions.into_iter().map(|(at, request)| (at, 0, request)).collect();
        let mut again = Vec::new();
        for (number, part) in draft.parts.keys.iter().enumerate() {
            let Some(steps) = self.explain(draft, part, &windows, ahead, &instants) else {
                again.push((number, None));
                continue;
            };
            if !self.keeps(&steps, &draft.shown, ahead) {
                again.push((number, Some(steps)));
                continue;
            }
            // Creations of sessions are in several parts, and their order is that of the sessions.
            let own = steps.into_iter().filter(|step| created(&self.lines[step.request]).is_none());
            placed.extend(own.map(|step| (step.at, number + 1, step.request)));
        }
        Some((placed, again))
    }

    /// Whether the writers of the log positions in a part are those that were assumed.
    fn keeps(&self, steps: &[PathStep], shown: &Entries, ahead: &Ahead) -> bool {
        let (writers, creators) = self.writers(steps, shown);
        writers.into_iter().chain(creators).all(|(index, writer)| match ahead.index_of(writer) {
            Some(known) => known == index,
            None => !ahead.is_ranked(index),
        })
    }

    /// Passes what the plan has already got to.
    pub(super) fn keep_to_plan(&self, state: &mut State) {
        let Some(plan) = self.plan() else { return };
        let is_over = |request: usize| state.is_done(request) || self.arrival[request] < state.at;
        let passed = plan.order[state.planned..].iter().take_while(|request| is_over(**request)).count();
        state.planned += passed;
    }

    /// Whether a request has its place in the plan that is followed.
    pub(super) fn is_planned(&self, request: usize) -> bool {
        self.plan().is_some_and(|plan| plan.has_place[request])
    }

    /// What happens next by the plan that is followed. A request about much has no place: it comes where it fits.
    pub(super) fn planned(&self, state: &State) -> Option<Vec<usize>> {
        let plan = self.plan()?;
        let answer = &self.answers[state.at];
        let is_open = |request: &usize| !state.is_done(*request) && self.arrival[*request] >= state.at;
        let next = plan.order[state.planned..].iter().copied().find(is_open).filter(|next| *next < answer.sent);
        let own = Some(answer.place).filter(|own| !plan.has_place[*own] && next != Some(*own));
        Some(own.into_iter().chain(next).collect())
    }

    /// By request: between which instants it was carried out, as far as log positions tell.
    fn windows(&self, ahead: &Ahead, clock: &Clock) -> Vec<(i64, i64)> {
        let mut windows: Vec<(i64, i64)> = self.lines.iter().map(|line| (line.sent, line.received)).collect();
        let mut narrow = |place: usize, from: i64, to: i64| {
            let window = &mut windows[place];
            *window = (window.0.max(from), window.1.min(to));
        };
        for (index, place) in &ahead.ranked {
            narrow(*place, clock.not_before(*index), clock.not_after(*index));
        }
        for (key, version) in ahead.all() {
            let next = ahead.next(key, version.modify);
            let to = next.map_or(i64::MAX, |next| clock.not_after(next.modify));
            version.readers.iter().for_each(|reader| narrow(*reader, clock.not_before(version.modify), to));
        }
        let keys: BTreeSet<u64> = ahead.positions().chain(self.store_positions()).collect();
        for (place, index) in self.exact.iter().enumerate() {
            if let (Some(index), Subject::Store) = (index, &self.subjects[place]) {
                let next = keys.range((Excluded(*index), Unbounded)).next();
                narrow(place, clock.not_before(*index), next.map_or(i64::MAX, |next| clock.not_after(*next)));
            }
        }
        windows
    }

    /// An order that explains a part.
    fn explain(
        &self,
        draft: &Draft<'_>,
        part: &[usize],
        windows: &[(i64, i64)],
        ahead: &Ahead,
        instants: &Instants,
    ) -> Option<Vec<PathStep>> {
        let mut lines: Vec<(usize, LogRecord)> =
            part.iter().map(|place| (*place, self.lines[*place].clone())).collect();
        for (place, line) in &mut lines {
            (line.sent, line.received) = windows[*place];
            // Other parts have it, too: it comes before all that name the session.
            if created(line).is_some() {
                line.received = line.sent;
            }
            if line.sent > line.received {
                return None;
            }
            // The index of a key that is absent is that of the whole store, which other parts have written. C-KV-20.
            if let (Some(reply), Subject::Store) = (&mut line.reply, &self.subjects[*place]) {
                (reply.index, reply.has_headers) = (None, false);
            }
        }
        lines.sort_by_key(|(place, line)| (line.sent, *place));
        let (places, lines): (Vec<usize>, Vec<LogRecord>) = lines.into_iter().unzip();
        let head = Episode { lines: Vec::new(), ..draft.episode.clone() };
        let part = Episode { lines, ..head };
        let mut search = Search::new(&part, self.mutation, draft.limits, self.is_over);
        let here = |(index, place): &(u64, usize)| Some((*index, places.iter().position(|other| other == place)?));
        search.instants = Some(instants.clone());
        if ahead.ranked != self.certain.ranked {
            search.assume(ahead.ranked.iter().filter_map(here).collect());
        }
        let steps = search.order()?;
        let steps = steps.into_iter().map(|step| PathStep { request: places[step.request], ..step }).collect();
        self.create_in_time(steps, &draft.shown, ahead, windows, instants)
    }

    /// Between a log position and the reads that show it as the index of the whole store, nothing is changed. None: something has
    /// to.
    fn keep_quiet_times(&self, windows: &mut [(i64, i64)], ahead: &Ahead, clock: &Clock) -> Option<BTreeMap<i64, i64>> {
        let mut free: BTreeMap<i64, i64> = BTreeMap::new();
        for (place, index) in self.exact.iter().enumerate() {
            if let (Some(index), Subject::Store) = (index, &self.subjects[place]) {
                let from = clock.not_before(*index);
                let at = windows[place].0.max(from.saturating_add(1));
                windows[place] = (at, at);
                let until = free.entry(from).or_insert(at);
                *until = at.max(*until);
            }
        }
        for (place, (from, to)) in windows.iter_mut().enumerate() {
            if !self.is_hidden(place, ahead) {
                continue;
            }
            if let Some((_, until)) = free.range(..=*from).next_back().filter(|(_, until)| *until >= from) {
                *from = until.saturating_add(1);
            }
            if let Some((since, _)) = free.range(..=*to).next_back().filter(|(_, until)| *until >= to) {
                *to = since.saturating_sub(1);
            }
            if from > to {
                return None;
            }
        }
        Some(free)
    }
}

/// An order in which requests may have been carried out.
pub(super) struct Plan {
    order: Vec<usize>,
    /// By request: whether the parts tell its place.
    has_place: Vec<bool>,
    /// With the writers that the parts have found.
    pub(super) ahead: Ahead,
}

impl Plan {
    fn of(mut placed: Vec<Placed>, ahead: Ahead, lines: usize) -> Plan {
        // It keeps the order within each part.
        placed.sort_by_key(|(at, part, _)| (*at, *part));
        let mut has_place = vec![false; lines];
        // The end of a session is in the order of the sessions, too.
        let is_new = |request: &usize| !std::mem::replace(&mut has_place[*request], true);
        let order: Vec<usize> = placed.into_iter().map(|(.., request)| request).filter(is_new).collect();
        Plan { order, has_place, ahead }
    }
}
