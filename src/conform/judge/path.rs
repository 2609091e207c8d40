//! In which order a search has carried requests out. It is kept only for the parts of a log, which are planned by it.

use std::cell::RefCell;

use super::state::State;

/// Something that happened, and what happened before it.
struct Carried {
    /// None: a timer, or a request that the leader has let pass.
    request: Option<usize>,
    at: i64,
    changed: Vec<String>,
    before: Option<usize>,
}

/// All that a search has tried, as a tree.
#[derive(Default)]
pub(super) struct Paths(RefCell<Vec<Carried>>);

/// A request in the order that explains a log, with the keys whose entries it has changed.
pub(super) struct PathStep {
    pub(super) request: usize,
    /// When, in a part whose instants are kept.
    pub(super) at: i64,
    pub(super) changed: Vec<String>,
}

impl Paths {
    /// Something has happened.
    pub(super) fn note(&self, state: &mut State, request: Option<usize>, at: i64, changed: Vec<String>) {
        let mut all = self.0.borrow_mut();
        all.push(Carried { request, at, changed, before: state.path });
        state.path = Some(all.len() - 1);
    }

    /// What led to a state. None: not by requests alone.
    pub(super) fn to(&self, state: &State) -> Option<Vec<PathStep>> {
        let all = self.0.borrow();
        let mut steps = Vec::new();
        let mut at = state.path;
        while let Some(place) = at {
            let Carried { request, at: instant, changed, before } = &all[place];
            steps.push(PathStep { request: (*request)?, at: *instant, changed: changed.clone() });
            at = *before;
        }
        steps.reverse();
        steps.sort_by_key(|step| step.at);
        Some(steps)
    }
}
