//! Everything that can follow a moment of a recorded run.

use fencepost_model::scenario::{Promise, Scenario};
use fencepost_model::service::Service;
use fencepost_model::trace::Trace;
use fencepost_model::world::Action;

use crate::engine::Paths;
use crate::options::Options;
use crate::outcome::{CheckOutcome, InternalError, TimedExploration};
use crate::worlds::Worlds;

/// Checks the promises of a run's scenario, but only in what can follow its first `after` steps. Those about endless runs are left out.
///
/// Time passes to the next deadline at once, or up to where something would be too late: the clock of a simulated run is too
/// fine to be followed tick by tick. Nothing is proven here: a promise without a violation is bounded.
///
/// # Errors
/// An internal error.
///
/// # Panics
/// The run has fewer steps, or cannot be repeated: [`replay`](fencepost_model::trace::replay()) says so before.
pub fn check_around<P: Service>(
    trace: &Trace<P>,
    after: usize,
    options: &Options,
) -> Result<Vec<CheckOutcome<P>>, InternalError> {
    let scenario = &trace.header.scenario;
    let is_meant = |promise: &&Promise| {
        !promise.property.is_about_endless_runs(promise.bound)
            && options.only.is_none_or(|only| only == promise.property)
    };
    if options.exact {
        return Err(InternalError::Inexact("a search from the middle of an execution"));
    }
    let mut outcomes = Vec::new();
    // Each promise gets a run of its own, so that no violation hides what lies behind it.
    for promise in scenario.promises.iter().filter(is_meant) {
        let start = options.supervisor.microseconds();
        let judged = scenario.judging(|other| other == promise);
        let past = past(&judged, trace.steps[..after].iter().map(|line| &line.action))?;
        let space = Worlds::around(judged, past, options.symmetry);
        let mut exploration = space.explore(options, Paths::Noted)?;
        let by = match (exploration.cut, options.limits.depth) {
            (Some(by), Some(depth)) if by.starts_with("--max-depth") => format!("--steps {}", depth - 1),
            (Some(by), _) => by,
            (None, _) => "--from".to_owned(),
        };
        let how = format!("begun after step {after}, with time passing from deadline to deadline");
        exploration.cut = Some(format!("{by} ({how})"));
        let microseconds = options.supervisor.microseconds() - start;
        outcomes.push(TimedExploration { exploration, engine: "dataflow", microseconds }.outcome(scenario, promise));
    }
    Ok(outcomes)
}

/// What has happened, where fewer promises are judged: less is remembered then, and that shows in messages.
fn past<'a, P: Service>(
    judged: &Scenario<P>,
    actions: impl Iterator<Item = &'a Action<P>>,
) -> Result<Vec<Action<P>>, InternalError> {
    let mut world = judged.observed();
    let mut past = Vec::new();
    for action in actions {
        let like = judged.like(&world, action).ok_or_else(|| InternalError::NoCounterpart(format!("“{action}”")))?;
        world.step(judged, &like);
        past.push(like);
    }
    Ok(past)
}
