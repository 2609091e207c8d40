//! What a process tells the others at the end of a level.

use serde::{Deserialize, Serialize};

use crate::engine::Marks;

/// What a process has counted since it last told the others.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(in crate::engine) struct Totals {
    /// States found on each level, from 0.
    pub(in crate::engine) levels: Vec<u64>,
    pub(in crate::engine) transitions: u64,
    pub(in crate::engine) expanded: u64,
    pub(in crate::engine) marks: Marks,
    /// The level of the first violation.
    pub(in crate::engine) violated_at: Option<u64>,
    /// Whether the search is called off.
    pub(in crate::engine) is_cut: bool,
    pub(in crate::engine) cut: Option<String>,
    pub(in crate::engine) failure: Option<String>,
    /// What the space counts beside the search.
    pub(in crate::engine) counters: Vec<u64>,
}

impl Totals {
    /// What has been added since `before`.
    pub(in crate::engine) fn since(&self, before: &Totals) -> Totals {
        let added = |now: &[u64], then: &[u64]| -> Vec<u64> {
            let then = then.iter().copied().chain(std::iter::repeat(0));
            now.iter().zip(then).map(|(now, then)| now - then).collect()
        };
        Totals {
            levels: added(&self.levels, &before.levels),
            transitions: self.transitions - before.transitions,
            expanded: self.expanded - before.expanded,
            counters: added(&self.counters, &before.counters),
            ..self.clone()
        }
    }

    /// Adds what another process has counted.
    pub(in crate::engine) fn add(&mut self, other: &Totals) {
        add_each(&mut self.levels, &other.levels);
        add_each(&mut self.counters, &other.counters);
        self.transitions += other.transitions;
        self.expanded += other.expanded;
        self.marks.add(other.marks);
        self.violated_at = self.violated_at.into_iter().chain(other.violated_at).min();
        self.is_cut |= other.is_cut;
        let first = |own: &Option<String>, other: &Option<String>| own.iter().chain(other).min().cloned();
        self.cut = first(&self.cut, &other.cut);
        self.failure = first(&self.failure, &other.failure);
    }
}

fn add_each(to: &mut Vec<u64>, more: &[u64]) {
    if to.len() < more.len() {
        to.resize(more.len(), 0);
    }
    to.iter_mut().zip(more).for_each(|(to, more)| *to += more);
}
