//! The only place that names stateright: a scenario as its `Model`, and what its result means.
//!
//! What stateright 0.31 does differently from what one expects, and what is done about it here:
//! a violation found later overwrites the first one (a latch lets only the first through, so that the path is a
//! shortest one); a search that was cut looks like one that ended (we count what was cut); properties see states only
//! (each state carries whether the step into it broke a promise); more than one thread does not search level by level
//! (we use one); a state at its depth bound goes unchecked (we ask for one level more).

mod erased;
mod explore;
mod model;
mod space;

use std::sync::Arc;

use fencepost_model::goal::Reached;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, World};
use stateright::{Checker as _, Model as _};

use self::erased::{FormedTransitions, into_typed};
use self::space::{Space, State};
use crate::engine::Marks;
use crate::explain::concretise;
use crate::limits::{Limits, Supervisor};
use crate::outcome::{Exploration, InternalError};
use crate::reduction::Form;

pub use explore::browse;
pub use model::Searchable;

/// Explores every run, breadth first, until the space is exhausted, a promise breaks or the search is cut. The execution of a
/// violation is rebuilt if `is_told`.
///
/// # Errors
/// The model panicked, or a counterexample could not be repeated: an internal error.
pub(crate) fn explore<P: Service>(
    scenario: &Scenario<P>,
    form: Form,
    limits: Limits,
    supervisor: Arc<dyn Supervisor>,
    is_told: bool,
) -> Result<Exploration<P>, InternalError> {
    let transitions = Arc::new(FormedTransitions { scenario: scenario.clone(), form });
    let searched = search(Space::new(Arc::clone(&transitions) as _, limits, supervisor), limits)?;
    let form = &transitions.form;
    let is_violated = searched.violation.is_some();
    let violation = match searched.violation.filter(|_| is_told) {
        Some(states) => {
            let states = states.into_iter().skip(1).map(|state| (into_typed(state.world), state.is_violated));
            let enabled = |world: &World<P>, actions: &mut Vec<Action<P>>| scenario.enabled(world, actions);
            Some(concretise(scenario, form, &[], enabled, states)?)
        }
        None => None,
    };
    let StaterightResult { states, transitions, depth, cut, marks, .. } = searched;
    Ok(Exploration {
        states,
        transitions,
        depth,
        cut,
        marks: Marks { reached: form.reached(Reached(marks.reached)).0, ..marks },
        reductions: form.reductions(),
        in_partial_order: form.is_in_partial_order(),
        takes_faults_late: form.takes_faults_late(),
        is_without_covered: false,
        is_exact: false,
        is_violated,
        violation,
        is_shortest: true,
    })
}

/// What a search came to.
struct StaterightResult {
    states: u64,
    transitions: u64,
    depth: u64,
    cut: Option<String>,
    marks: Marks,
    /// The states of an execution that breaks a promise.
    violation: Option<Vec<State>>,
}

fn search(space: Space, limits: Limits) -> Result<StaterightResult, InternalError> {
    let mut builder = space.checker().threads(1);
    if let Some(depth) = limits.depth {
        builder = builder.target_max_depth(usize::try_from(depth).unwrap_or(usize::MAX).saturating_add(1));
    }
    let checker = builder.spawn_bfs().join();
    let space = checker.model();
    if let Some(failure) = space.failure() {
        return Err(InternalError::of_panic(failure));
    }
    let deepest = checker.max_depth() as u64;
    let too_deep = limits.depth.filter(|depth| deepest > *depth).map(|depth| format!("--max-depth {depth}"));
    space.stop_counting();
    Ok(StaterightResult {
        states: checker.unique_state_count() as u64,
        transitions: space.transitions(),
        depth: limits.depth.map_or(deepest, |depth| deepest.min(depth)),
        cut: space.cut().or(too_deep),
        marks: space.marks(),
        violation: checker.discovery(space::KEPT).map(|path| path.into_states()),
    })
}
