//! What the workers of one search tell each other beside the states: how many were found on each level, whether a promise
//! broke, and whether the search is called off. Those of one process share them; processes tell each other at the end of a level.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};

use fencepost_model::mutation::{CheckerMutation, Mutation};
use serde::{Deserialize, Serialize};

use super::cluster::Totals;
use super::{Marks, SearchResult};
use crate::limits::{Limits, Progress, Supervisor};

/// The counters of one search.
pub(super) struct Counters {
    counts: Mutex<Counts>,
    /// The level on which the first violation was found; no level beyond it is begun.
    violated_at: AtomicU64,
    is_cut: AtomicBool,
    mutation: Option<Mutation>,
}

#[derive(Default)]
struct Counts {
    now: Totals,
    /// What other processes know of it.
    told: Totals,
}

/// What a worker has done, since it last reported or in all.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) expanded: u64,
    pub(super) transitions: u64,
    pub(super) marks: Marks,
}

impl Report {
    /// Adds what was done besides.
    pub(super) fn add(&mut self, other: Report) {
        self.expanded += other.expanded;
        self.transitions += other.transitions;
        self.marks.add(other.marks);
    }
}

impl Counters {
    pub(super) fn new(mutation: Option<Mutation>) -> Self {
        Counters {
            counts: Mutex::default(),
            violated_at: AtomicU64::new(u64::MAX),
            is_cut: AtomicBool::new(false),
            mutation,
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().expect("no worker panics while it holds this")
    }

    /// Notes states found on a level.
    pub(super) fn found(&self, level: u64, states: u64) {
        let counts = &mut self.counts().now;
        let place = usize::try_from(level).expect("levels fit into memory");
        if counts.levels.len() <= place {
            counts.levels.resize(place + 1, 0);
        }
        counts.levels[place] += states;
    }

    /// Notes that states found on a level are covered by others of it.
    pub(super) fn covered(&self, level: u64, states: u64) {
        let place = usize::try_from(level).expect("levels fit into memory");
        self.counts().now.levels[place] -= states;
    }

    /// Adds what a worker has done.
    pub(super) fn add(&self, done: Report) {
        let counts = &mut self.counts().now;
        counts.expanded += done.expanded;
        counts.transitions += done.transitions;
        counts.marks.add(done.marks);
    }

    /// Whether all states of a level are known, once all that are under way have arrived, and no promise is broken up to there.
    pub(super) fn is_complete(&self, level: u64) -> bool {
        !self.is_cut() && self.violated_at.load(SeqCst) > level
    }

    /// Calls the search off; by what it is cut.
    pub(super) fn stop(&self, by: String) {
        self.counts().now.cut.get_or_insert(by);
        self.is_cut.store(true, SeqCst);
    }

    /// Notes work done, and asks the supervisor whether there should be more.
    pub(super) fn report(&self, report: Report, level: u64, supervisor: &dyn Supervisor) {
        self.add(report);
        let counts = &mut self.counts().now;
        let states: u64 = counts.levels.iter().sum();
        let progress =
            Progress { states, transitions: counts.transitions, frontier: states - counts.expanded, depth: level + 1 };
        if counts.cut.is_none()
            && let Some(by) = supervisor.stop(&progress)
        {
            counts.cut = Some(by).filter(|_| self.mutation != Some(CheckerMutation::CallOffUntold.into()));
            self.is_cut.store(true, SeqCst);
        }
    }

    /// Whether a level may be begun. Asked when nothing of it is under way any more, so every worker hears the same.
    pub(super) fn may_begin(&self, level: u64, limits: Limits) -> bool {
        if self.is_cut() || self.violated_at.load(SeqCst) <= level {
            return false;
        }
        let counts = &mut self.counts().now;
        let place = usize::try_from(level).expect("levels fit into memory");
        if counts.levels.get(place).is_none_or(|states| *states == 0) {
            return false;
        }
        let so_far: u64 = counts.levels.iter().take(usize::try_from(level).unwrap_or(usize::MAX) + 1).sum();
        let by = match limits {
            Limits { depth: Some(depth), .. } if level >= depth => format!("--max-depth {depth}"),
            Limits { states: Some(states), .. } if so_far > states + self.tolerance() => {
                format!("--max-states {states}")
            }
            _ => return true,
        };
        let is = |mutation: CheckerMutation| self.mutation.is_some_and(|own| own.is(mutation));
        let is_depth = limits.depth.is_some_and(|depth| level >= depth);
        let is_untold = is(CheckerMutation::CutUntold) || is(CheckerMutation::DepthUntold) && is_depth;
        if !is_untold {
            counts.cut.get_or_insert(by);
        }
        self.is_cut.store(true, SeqCst);
        false
    }

    /// A mutant: one state more than the limit is no cut.
    fn tolerance(&self) -> u64 {
        u64::from(self.mutation == Some(CheckerMutation::LimitOffByOne.into()))
    }

    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.load(SeqCst)
    }

    /// Notes that a step to this level breaks a promise.
    pub(super) fn violation(&self, level: u64) {
        self.violated_at.fetch_min(level, SeqCst);
    }

    pub(super) fn is_violated(&self) -> bool {
        self.violated_at.load(SeqCst) != u64::MAX
    }

    /// Notes that the model panicked, and calls the search off.
    pub(super) fn fail(&self, failure: String) {
        self.counts().now.failure.get_or_insert(failure);
        self.is_cut.store(true, SeqCst);
    }

    /// What other processes do not know yet, with what the space has counted; none if that is nothing.
    pub(super) fn news(&self, counted: impl FnOnce() -> Vec<u64>) -> Option<Totals> {
        let Counts { now, told } = &mut *self.counts();
        now.violated_at = Some(self.violated_at.load(SeqCst)).filter(|level| *level != u64::MAX);
        now.is_cut = self.is_cut();
        now.counters = counted();
        let news = (now != told).then(|| now.since(told));
        *told = now.clone();
        news
    }

    /// Takes in what another process has counted.
    pub(super) fn hear(&self, totals: &Totals, count: impl FnOnce(&[u64])) {
        let Counts { now, told } = &mut *self.counts();
        if self.mutation != Some(CheckerMutation::TotalsUnheard.into()) {
            let mut totals = totals.clone();
            if self.mutation == Some(CheckerMutation::SamplesUnheard.into()) {
                totals.counters.clear();
            }
            now.add(&totals);
            told.add(&totals);
            count(&totals.counters);
        }
        let is_unheard = self.mutation == Some(CheckerMutation::OtherViolationUnheard.into());
        if let Some(level) = totals.violated_at.filter(|_| !is_unheard) {
            self.violation(level);
        }
        self.is_cut.fetch_or(totals.is_cut, SeqCst);
    }

    /// The sums.
    pub(super) fn result(&self, limits: Limits) -> Result<SearchResult, String> {
        let counts = &self.counts().now;
        if let Some(failure) = &counts.failure {
            return Err(failure.clone());
        }
        let levels = counts.levels.iter().take_while(|states| **states > 0).count() as u64;
        Ok(SearchResult {
            states: counts.levels.iter().sum(),
            transitions: counts.transitions,
            depth: limits.depth.map_or(levels, |depth| levels.min(depth)),
            cut: counts.cut.clone(),
            marks: counts.marks,
            is_violated: false,
            violation: None,
        })
    }
}
