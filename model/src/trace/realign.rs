//! Repeating a run although the model has changed since: each step by its label, as far as it can still happen.

use super::replay::{ends_as_said, possible};
use super::script::find;
use super::{Recorder, ReplayError, Trace};
use crate::service::Service;

/// A run as it happens now.
#[derive(Clone, PartialEq, Debug)]
pub struct Realigned<P: Service> {
    /// What happens now.
    pub trace: Trace<P>,
    /// Where it first happens otherwise than it was written down, and how.
    pub diverges: Option<ReplayError>,
    /// The numbers of the steps that cannot happen any more, and were left out.
    pub skipped: Vec<usize>,
}

/// Repeats a run: where a step's action is not possible, another one with the same label is as good, and where there is
/// none the step is left out.
///
/// # Errors
/// The scenario is impossible by now.
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
            note(format!("“{}” cannot happen here any more", line.label));
            skipped.push(line.step);
            continue;
        };
        recorder.step(scenario, &mut world, &action);
        let now = recorder.last();
        if now.at != line.at || now.facts != line.facts || now.violations != line.violations {
            note(format!("“{}” happens otherwise than it was written down", line.label));
        }
    }
    let mut now = recorder.finish(scenario, &trace.header.origin, trace.header.seed);
    // An endless run is one as long as its steps lead back to where they set out.
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
