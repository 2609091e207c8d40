//! Compares the effects of a step with what later answers show. A refusal here is certain, except in the passes that follow likely orders.

use super::super::consul::Told;
use super::search::Search;
use super::state::State;
use super::subject::{Changes, Subject};

impl Search<'_> {
    /// Whether log positions that have been told just now may be those of a state: all writes whose position is known to be
    /// lower have been carried out, and it is not the position of another one.
    pub(super) fn may_be_told(&self, state: &State, before: &Told, own: Option<u64>) -> bool {
        let next = self.ahead().ranked.get(state.next_rank).map_or(u64::MAX, |(index, _)| *index);
        let since = state.agent.told_since(before);
        let is_free = |index: u64| Some(index) == own || index < next && !self.ahead().is_ranked(index);
        since.into_iter().all(is_free) && self.is_complete(before.last(), state)
    }

    /// Whether no entry has been missed that answers show, and that has no known writer.
    fn is_complete(&self, from: u64, state: &State) -> bool {
        self.ahead().orphans(from, state.agent.last_told()).all(|(key, modify)| {
            let shown = state.agent.shown(key);
            shown.is_some_and(|shown| match shown.modify {
                Some(told) => told == modify,
                None => self.ahead().may_be(key, modify, &shown),
            })
        })
    }

    /// Whether later answers leave room for what a step has changed.
    pub(super) fn is_plausible(&self, before: &State, after: &State, by: Option<usize>) -> bool {
        if self.ahead().is_empty() {
            return true;
        }
        let (from, to) = (before.agent.last_told(), after.agent.last_told());
        let is_done = |reader: usize| Some(reader) == by || after.is_done(reader) || self.arrival[reader] < before.at;
        let keys = after.agent.changed_keys(&before.agent);
        for key in &keys {
            let (old, new) = (before.agent.shown(key), after.agent.shown(key));
            let replaced = old.as_ref().and_then(|old| old.modify);
            if replaced.is_some_and(|modify| self.ahead().is_wanted(key, modify, is_done)) {
                return false;
            }
            let coming = self.ahead().next(key, to);
            match new {
                Some(new) if !self.ahead().fits(key, &new) => return false,
                Some(new) => {
                    let is_known = old.is_none() || new.create.is_some();
                    let is_other = |create: u64| create <= to && new.create != Some(create);
                    if is_known && coming.is_some_and(|coming| is_other(coming.create)) {
                        return false;
                    }
                }
                None if coming.is_some_and(|coming| coming.create <= to) => return false,
                None => {}
            }
        }
        let sessions = after.agent.has_other_sessions(&before.agent);
        let others = Changes { keys, sessions, others: false };
        // A step whose position has not been told comes after all that have been.
        let index = if to > from { to } else { to.saturating_add(1) };
        !self.loses_reads(after, by, index, &others) && self.is_complete(from, after)
    }

    /// Whether a read has not been carried out that shows a lower position of what has been changed at one.
    fn loses_reads(&self, state: &State, by: Option<usize>, index: u64, changes: &Changes) -> bool {
        let Some(answer) = self.answers.get(state.at) else { return false };
        let mut open = answer.others.iter().copied().chain([answer.place]);
        open.any(|read| {
            let is_older = self.exact[read].is_some_and(|shown| shown < index) && Some(read) != by;
            is_older && self.subjects[read].is_changed(changes) && !state.is_done(read)
        })
    }

    /// The likely position of what a request has created: an answer shows that the entry was created there, and changed
    /// afterwards. None where that cannot be so yet.
    pub(super) fn likely_creation(&self, before: &State, after: &State, by: usize) -> Result<Option<u64>, ()> {
        let created = |key: &String| before.agent.shown(key).is_none() && after.agent.shown(key).is_some();
        let [key] = &after.agent.changed_keys(&before.agent)[..] else { return Ok(None) };
        let Some(shown) = after.agent.shown(key).filter(|_| created(key)) else { return Ok(None) };
        let Some(coming) = self.ahead().next(key, after.agent.last_told()).filter(|_| shown.modify.is_none()) else {
            return Ok(None);
        };
        let next = self.ahead().ranked.get(after.next_rank).map_or(u64::MAX, |(index, _)| *index);
        match coming.create {
            create if create == coming.modify => Ok(None),
            create if create > next => Err(()),
            // It is deleted before that is created.
            create if !self.may_be_created(after.reached, by, create) => Ok(None),
            create => Ok(Some(create)),
        }
    }

    /// What reads are about that show what is not there yet, and must before the next write whose position is known.
    pub(super) fn missing(&self, state: &State) -> Vec<Subject> {
        let Some((next, _)) = self.ahead().ranked.get(state.next_rank) else { return Vec::new() };
        let told = state.agent.last_told();
        let orphans = self.ahead().orphans(told, *next).map(|(key, _)| Subject::Keys(vec![key.to_owned()]));
        let answer = &self.answers[state.at];
        let is_between = |read: &usize| self.exact[*read].is_some_and(|shown| told < shown && shown < *next);
        let open = answer.others.iter().copied().filter(is_between).filter(|read| !state.is_done(*read));
        // A key that is to be absent, and is not.
        let subject = |read: usize| match Subject::of(&self.lines[read].question) {
            Subject::Keys(keys) if keys.iter().all(|key| state.agent.shown(key).is_none()) => Subject::Store,
            other => other,
        };
        orphans.chain(open.map(subject)).collect()
    }
}
