//! Who wrote the log positions that answers show, when each part of a log has an order: as certain as these orders, or a guess.

use std::collections::{BTreeMap, BTreeSet};

use super::clock::Clock;
use super::path::PathStep;
use super::search::Search;
use super::subject::Subject;
use super::writes::created;

/// By request: the entries that its answer shows, with the positions of their last change and of their creation.
pub(super) type Entries = BTreeMap<usize, Vec<(String, u64, u64)>>;

impl Search<'_> {
    /// By request: the entries that its answer shows.
    pub(super) fn shown(&self) -> Entries {
        let mut shown = Entries::new();
        for (key, version) in self.certain.all() {
            for reader in &version.readers {
                shown.entry(*reader).or_default().push((key.clone(), version.modify, version.create));
            }
        }
        shown
    }

    /// Who wrote the log positions that answers show, as far as the clock allows it; but for guesses that are banned. Earlier orders
    /// come first where two do not go together.
    pub(super) fn positions(
        &self,
        orders: &[&[PathStep]],
        shown: &Entries,
        banned: &BTreeSet<(u64, usize)>,
        clock: &mut Clock,
    ) -> BTreeMap<u64, usize> {
        let known: BTreeMap<u64, usize> = self.certain.ranked.iter().copied().collect();
        let mut pinned = Pinned { search: self, taken: known.values().copied().collect(), known, clock };
        let found: Vec<_> = orders.iter().map(|steps| self.writers(steps, shown)).collect();
        for (index, writer) in found.iter().flat_map(|(writers, _)| writers) {
            pinned.pin(*index, *writer);
        }
        for pair in
            found.iter().flat_map(|(_, creators)| creators).filter(|(index, by)| !banned.contains(&(**index, **by)))
        {
            pinned.pin(*pair.0, *pair.1);
        }
        let mut hidden: Vec<Hidden> = orders.iter().flat_map(|steps| self.hidden(steps, &pinned.known)).collect();
        hidden.sort_by_key(|hidden| (self.lines[hidden.request].received, hidden.request));
        let may_be = |change: &&Hidden, index: u64| {
            change.after < index && index <= change.until && !banned.contains(&(index, change.request))
        };
        for (key, version) in self.certain.all() {
            let is_put = |change: &&Hidden| self.lines[change.request].question.method == "PUT";
            let of_key = hidden.iter().filter(|change| change.key.as_ref() == Some(key)).filter(is_put);
            for change in of_key.filter(|change| may_be(change, version.create)) {
                pinned.pin(version.create, change.request);
            }
        }
        orders.iter().for_each(|steps| pinned.keep_order(steps));
        pinned.keep_quiet(&hidden);
        for index in self.store_positions() {
            for change in hidden.iter().filter(|change| may_be(change, index)) {
                pinned.pin(index, change.request);
            }
            // It was written before the log began.
            let first = pinned.known.keys().next().copied();
            if !pinned.known.contains_key(&index) && first.is_none_or(|first| index < first) {
                pinned.clock.end(index, self.lines[0].sent);
            }
        }
        pinned.known
    }

    /// The log positions that are shown as the index of the whole store.
    pub(super) fn store_positions(&self) -> BTreeSet<u64> {
        let is_store = |place: &usize| self.subjects[*place] == Subject::Store;
        (0..self.lines.len()).filter(is_store).filter_map(|place| self.exact[place]).collect()
    }

    /// Who wrote and who created the entries that the answers in a part show, by position.
    pub(super) fn writers(&self, steps: &[PathStep], shown: &Entries) -> (BTreeMap<u64, usize>, BTreeMap<u64, usize>) {
        let (mut writes, mut creations) = (BTreeMap::new(), BTreeMap::new());
        let mut writers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut creators: BTreeMap<&str, usize> = BTreeMap::new();
        for step in steps {
            let line = &self.lines[step.request];
            let is_put = line.question.method == "PUT" && line.question.url.starts_with("/v1/kv/");
            for key in &step.changed {
                writers.insert(key, step.request);
                if is_put {
                    creators.entry(key).or_insert(step.request);
                } else {
                    creators.remove(key.as_str());
                }
            }
            for (key, modify, create) in shown.get(&step.request).into_iter().flatten() {
                writes.extend(writers.get(key.as_str()).map(|writer| (*modify, *writer)));
                creations.extend(creators.get(key.as_str()).map(|creator| (*create, *creator)));
            }
        }
        (writes, creations)
    }

    /// The changes in a part whose positions no answer shows.
    fn hidden(&self, steps: &[PathStep], positions: &BTreeMap<u64, usize>) -> Vec<Hidden> {
        let ranked: BTreeMap<usize, u64> = positions.iter().map(|(index, place)| (*place, *index)).collect();
        let index_of = |step: &PathStep| {
            let is_store = self.subjects[step.request] == Subject::Store;
            ranked.get(&step.request).copied().or(self.exact[step.request].filter(|_| is_store))
        };
        let mut hidden = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            if !step.changed.is_empty() && !ranked.contains_key(&step.request) {
                let after = steps[..at].iter().filter_map(index_of).max().unwrap_or(0);
                let until = steps[at..].iter().filter_map(index_of).min().unwrap_or(u64::MAX);
                hidden.push(Hidden { request: step.request, key: step.changed.first().cloned(), after, until });
            }
        }
        hidden
    }
}

/// A change whose position no answer shows, and between which it lies.
struct Hidden {
    request: usize,
    key: Option<String>,
    after: u64,
    until: u64,
}

/// Positions with their writers, and what the clock says then.
struct Pinned<'a> {
    search: &'a Search<'a>,
    known: BTreeMap<u64, usize>,
    taken: BTreeSet<usize>,
    clock: &'a mut Clock,
}

impl Pinned<'_> {
    /// Takes a request for the writer of a position, if both are free and the clock allows it.
    fn pin(&mut self, index: u64, request: usize) {
        let is_new = !self.known.contains_key(&index) && !self.taken.contains(&request);
        if is_new && self.clock.pin(index, &self.search.lines[request]) {
            self.taken.insert(request);
            self.known.insert(index, request);
        }
    }

    /// Positions come when the order of a part leaves room for them, as far as that goes together.
    fn keep_order(&mut self, steps: &[PathStep]) {
        let Search { lines, exact, subjects, .. } = self.search;
        let ranked: BTreeMap<usize, u64> = self.known.iter().map(|(index, place)| (*place, *index)).collect();
        let steps: Vec<&PathStep> = steps.iter().filter(|step| created(&lines[step.request]).is_none()).collect();
        let (mut sent, mut changed) = (i64::MIN, i64::MIN);
        for (at, step) in steps.iter().enumerate() {
            sent = sent.max(lines[step.request].sent);
            if !step.changed.is_empty() {
                changed = sent;
            }
            if let Some(index) = ranked.get(&step.request) {
                self.clock.begin(*index, sent);
                if let Some(received) = steps[at..].iter().map(|step| lines[step.request].received).min() {
                    self.clock.end(*index, received);
                }
            } else if let (Some(index), Subject::Store) = (exact[step.request], &subjects[step.request]) {
                self.clock.begin(index, changed);
            }
        }
    }

    /// Nothing is changed between a position and a read that shows it as the index of the whole store: what was answered before
    /// the read was changed before the position.
    fn keep_quiet(&mut self, hidden: &[Hidden]) {
        let lines = &self.search.lines;
        for (place, index) in self.search.exact.iter().enumerate() {
            if let (Some(index), Subject::Store) = (index, &self.search.subjects[place]) {
                let changes = hidden.iter().map(|change| &lines[change.request]);
                let before = changes.filter(|line| line.received < lines[place].sent);
                if let Some(sent) = before.map(|line| line.sent).max() {
                    self.clock.begin(*index, sent);
                }
            }
        }
    }
}
