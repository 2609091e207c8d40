//! Repeating a run although the model has changed since: each step by its label, as far as it can still happen.

use super::script::find;
use super::{Mismatch, Recorder, Trace};
use crate::protocol::Protocol;

/// A run as it happens now.
#[derive(Clone, PartialEq, Debug)]
pub struct Realigned<P: Protocol> {
    /// What happens now.
    pub trace: Trace<P>,
    /// Where it first happens otherwise than it was written down, and how.
    pub diverges: Option<Mismatch>,
    /// The numbers of the steps that cannot happen any more, and were left out.
    pub skipped: Vec<usize>,
}

/// Repeats a run: where a step's action is not possible, another one with the same label is as good, and where there is
/// none the step is left out.
///
/// # Errors
/// The scenario is impossible by now.
pub fn realign<P: Protocol>(trace: &Trace<P>) -> Result<Realigned<P>, Mismatch> {
    let scenario = &trace.header.scenario;
    scenario
        .validate()
        .map_err(|mistake| Mismatch { step: 0, message: format!("its scenario is impossible: {mistake}") })?;
    let mut world = scenario.start();
    let mut recorder = Recorder::default();
    let (mut diverges, mut skipped) = (None, Vec::new());
    for line in &trace.steps {
        let mut note = |message: String| {
            diverges.get_or_insert(Mismatch { step: line.step, message });
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
        if now.at != line.at || now.facts != line.facts || now.breaches != line.breaches {
            note(format!("“{}” happens otherwise than it was written down", line.label));
        }
    }
    let trace = recorder.finish(scenario, &trace.header.origin, trace.header.seed);
    Ok(Realigned { trace, diverges, skipped })
}
