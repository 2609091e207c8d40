//! From a path of normal forms to a run of the concrete world, in which client 1 stays client 1 and time goes on.

use fencepost_model::monitor::Observed;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::trace::{Lasso, Recorder, Trace, replay};
use fencepost_model::world::{Action, World};

use crate::outcome::InternalError;
use crate::reduction::{Form, Formed};

/// Rebuilds the run that comes by these worlds in normal form, each with whether the step to it broke a promise, and
/// replays it before it is shown. The steps before the start of the search come first.
pub(crate) fn concretise<P: Service>(
    scenario: &Scenario<P>,
    form: &Form,
    past: &[Action<P>],
    enabled: impl Fn(&World<P>, &mut Vec<Action<P>>),
    path: impl Iterator<Item = (Formed<P>, bool)>,
) -> Result<Trace<P>, InternalError> {
    let mut world = scenario.observed();
    let mut recorder = Recorder::default();
    for action in past {
        recorder.step(scenario, &mut world, action);
    }
    let mut last_breaks = false;
    let mut options = Vec::new();
    for (next, is_violation) in path {
        enabled(&world, &mut options);
        let action = action_to(scenario, form, &world, &options, &next, is_violation)
            .ok_or_else(|| InternalError::NoCounterpart("a step of the counterexample".to_owned()))?;
        last_breaks = !recorder.step(scenario, &mut world, &action).violations.is_empty();
    }
    if !last_breaks {
        return Err(InternalError::NoViolation);
    }
    let trace = recorder.finish(scenario, "checker", None);
    Ok(replay(&trace)?)
}

/// The same for an endless run: each step with its action, up to what the normal form forgets.
pub(crate) fn concretise_lasso<P: Service>(
    scenario: &Scenario<P>,
    form: &Form,
    path: Vec<(Action<P>, Formed<P>)>,
    endless: Lasso,
) -> Result<Trace<P>, InternalError> {
    let mut world = scenario.observed();
    let mut recorder = Recorder::default();
    let mut enabled = Vec::new();
    for (action, wanted) in path {
        scenario.enabled(&world, &mut enabled);
        let leads_there = |like: &Action<P>| {
            let mut next = world.clone();
            next.step(scenario, like);
            *form.of(next) == *wanted
        };
        let like = enabled.iter().find(|other| other.shape() == action.shape() && leads_there(other));
        let like = like.ok_or_else(|| InternalError::NoCounterpart("a step of the endless execution".to_owned()))?;
        recorder.step(scenario, &mut world, like);
    }
    let mut trace = recorder.finish(scenario, "checker", None);
    trace.header.lasso = Some(endless);
    Ok(replay(&trace)?)
}

/// The first of these actions that leads to the given normal form.
fn action_to<P: Service>(
    scenario: &Scenario<P>,
    form: &Form,
    world: &Observed<P>,
    options: &[Action<P>],
    wanted: &Formed<P>,
    is_violation: bool,
) -> Option<Action<P>> {
    options.iter().copied().find(|action| {
        let mut next = world.clone();
        let step = next.step(scenario, action);
        *form.of(next) == **wanted && step.violations.is_empty() != is_violation
    })
}
