//! Realigning: replaying a trace after the model has changed. Steps are matched by their labels, as far as they are
//! still possible.

use super::replay::{ends_as_said, possible};
use super::script::find;
use super::{Recorder, ReplayError, Trace};
use crate::service::Service;

/// A realigned trace.
#[derive(Clone, PartialEq, Debug)]
pub struct Realigned<P: Service> {
    /// The execution of the current model.
    pub trace: Trace<P>,
    /// The first step that differs from the trace, and the difference.
    pub diverges: Option<ReplayError>,
    /// The numbers of the steps that are no longer possible and were left out.
    pub skipped: Vec<usize>,
}

/// Replays a trace. If a step's action is not possible, another action with the same label replaces it; if there is
/// none, the step is left out.
///
/// # Errors
/// The scenario is no longer valid.
pub fn realign<P: Service>(trace: &Trace<P>) -> Result<Realigned<P>, ReplayError> {
    let scenario = possible(trace)?;
    let mut world = scenario.observed();
    let mut recorder = Recorder::default();
    let (mut diverges, mut skipped) = (None, Vec::new());
    for line in &trace.steps {
        let mut note = |message: String| {
            diverges.get_or_insert(ReplayError { step: line.step, message });
        };
        let action = match scenario.is_enabled(&world, &line.action) {
            true => Ok(line.action),
            false => find(scenario, &world, &line.label),
        };
        let Ok(action) = action else {
            note(format!("“{}” is no longer possible here", line.label));
            skipped.push(line.step);
            continue;
        };
        recorder.step(scenario, &mut world, &action);
        let now = recorder.last();
        if now.at != line.at || now.facts != line.facts || now.violations != line.violations {
            note(format!("“{}” has a different effect than in the trace", line.label));
        }
    }
    let mut now = recorder.finish(scenario, &trace.header.origin, trace.header.seed);
    // An endless execution is still endless if its steps lead back to the first state of the cycle.
    if diverges.is_none() {
        match ends_as_said(scenario, trace, &now.steps, &world) {
            Ok(()) => {
                now.header.lasso.clone_from(&trace.header.lasso);
                now.header.waits.clone_from(&trace.header.waits);
            }
            Err(ReplayError { message, .. }) => diverges = Some(ReplayError { step: now.steps.len(), message }),
        }
    }
    Ok(Realigned { trace: now, diverges, skipped })
}
