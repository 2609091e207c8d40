//! The instants of a part of a log: the requests in it are carried out in their order, each as early as it may be, and what is
//! created at a log position that answers show is created when the log gets there.

use std::collections::BTreeMap;

use super::ahead::Ahead;
use super::clock::Clock;
use super::path::PathStep;
use super::positions::Entries;
use super::search::Search;
use super::state::State;
use super::steps::attempt;
use super::subject::Subject;
use super::writes::created;

/// When the log has got to the positions that all answers show, and when nothing is changed.
#[derive(Clone)]
pub(super) struct Instants {
    pub(super) clock: Clock,
    /// From these instants on, and until those: between a position and a read that shows it as the index of the whole store.
    pub(super) quiet: BTreeMap<i64, i64>,
}

impl Instants {
    /// From an instant on, when something may be changed.
    fn not_quiet(&self, at: i64) -> i64 {
        let last = self.quiet.range(..=at).next_back();
        last.filter(|(_, until)| **until >= at).map_or(at, |(_, until)| until.saturating_add(1))
    }
}

impl Search<'_> {
    /// When a request is carried out in a state, as early as possible. None: it was answered before.
    pub(super) fn instant(&self, state: &State, request: usize) -> Option<i64> {
        if self.instants.is_none() {
            return Some(state.reached);
        }
        let line = &self.lines[request];
        // Creations of sessions are in several parts, and their order is that of the sessions.
        if created(line).is_some() {
            return Some(state.reached);
        }
        Some(self.not_quiet(request, state.reached.max(line.sent))).filter(|at| *at <= line.received)
    }

    /// From an instant on, when a request may change what it does.
    fn not_quiet(&self, request: usize, at: i64) -> i64 {
        let known = self.instants.as_ref().filter(|_| self.is_hidden(request, self.ahead()));
        known.map_or(at, |known| known.not_quiet(at))
    }

    /// A request has been carried out that changed nothing: at the first instant that is not before the last step, or later, as long as
    /// its answer fits.
    pub(super) fn float(&self, state: &mut State, request: usize) {
        let Some(paths) = &self.paths else { return };
        let at = self.instant(state, request).unwrap_or(state.reached);
        paths.note(state, Some(request), at, Vec::new());
        if at > state.reached {
            state.floating.push((request, at));
        }
    }

    /// Puts a step that has just been taken after the requests that do not fit after it. False: it cannot be that late.
    pub(super) fn settle(&self, state: &mut State, by: usize, is_bound: bool) -> bool {
        if state.floating.is_empty() {
            return true;
        }
        let mut floating = std::mem::take(&mut state.floating);
        floating.sort_by_key(|(request, at)| (*at, *request));
        for (request, at) in floating {
            if at <= state.reached {
                continue;
            }
            let line = &self.lines[request];
            let mut after = state.clone();
            let fits = attempt(&mut after, line, line.sent, false).is_ok();
            if fits && after.agent.told() == state.agent.told() && !after.agent.has_other_traces(&state.agent) {
                state.floating.push((request, at));
            } else if is_bound {
                return false;
            } else {
                state.reached = self.not_quiet(by, at);
                state.floating.clear();
            }
        }
        state.reached <= self.lines[by].received
    }

    /// Whether what has been created was created when the log got to the position that is told of it; `by` has just been carried out.
    pub(super) fn keeps_instants(&self, before: &State, after: &mut State, by: usize) -> bool {
        if self.instants.is_none() {
            return true;
        }
        for key in after.agent.changed_keys(&before.agent) {
            let (old, new) = (before.agent.shown(&key), after.agent.shown(&key));
            if new.is_none() {
                after.creators.retain(|(other, ..)| *other != key);
            } else if old.is_none() {
                after.creators.push((key, by, after.reached));
            }
        }
        let fits = self.are_created_in_time(after);
        let State { agent, creators, .. } = after;
        creators.retain(|(key, ..)| agent.shown(key).is_none_or(|shown| shown.create.is_none()));
        fits
    }

    /// Whether what is there may have been created at the log positions that have been told of it.
    pub(super) fn are_created_in_time(&self, state: &State) -> bool {
        state.creators.iter().all(|(key, by, at)| {
            let told = state.agent.shown(key).and_then(|shown| shown.create);
            told.is_none_or(|index| self.may_be_created(*at, *by, index))
        })
    }

    /// Whether what a request has created, at an instant or later, may have been created at a log position.
    pub(super) fn may_be_created(&self, at: i64, by: usize, index: u64) -> bool {
        let Some(Instants { clock, .. }) = &self.instants else { return true };
        at <= clock.not_after(index) && clock.allows(index, &self.lines[by])
    }

    /// What answers show to be created at a log position is created when the log gets there, and all that follows comes later. None: that
    /// leaves some request no time.
    pub(super) fn create_in_time(
        &self,
        mut steps: Vec<PathStep>,
        shown: &Entries,
        ahead: &Ahead,
        windows: &[(i64, i64)],
        instants: &Instants,
    ) -> Option<Vec<PathStep>> {
        let (_, creators) = self.writers(&steps, shown);
        let created_at: BTreeMap<usize, u64> = creators.into_iter().map(|(index, by)| (by, index)).collect();
        let mut now = i64::MIN;
        for step in &mut steps {
            if created(&self.lines[step.request]).is_some() {
                continue;
            }
            let mut at = now.max(step.at);
            if at > step.at && self.is_hidden(step.request, ahead) {
                at = instants.not_quiet(at);
            }
            if let Some(index) = created_at.get(&step.request) {
                if at > instants.clock.not_after(*index) {
                    return None;
                }
                at = at.max(instants.clock.not_before(*index));
            }
            if at > windows[step.request].1 {
                return None;
            }
            (step.at, now) = (at, at);
        }
        Some(steps)
    }

    /// Whether a request may change a key at a position that is not known.
    pub(super) fn is_hidden(&self, place: usize, ahead: &Ahead) -> bool {
        !self.is_idle[place] && matches!(self.subjects[place], Subject::Keys(_)) && ahead.rank[place].is_none()
    }
}
