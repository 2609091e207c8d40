//! Hand-written executions: a story on top, an action's label on each line, and the recorded facts below it, indented.
//!
//! ```text
//! # Client 2 is refused while client 1 is inside.
//! scenario lease-just-enough
//! client 1 is asked to take the lock
//! the server receives from client 1: lend me the lock
//!     client 1 acquires the lock (token 1)
//! 3 ticks pass
//! ```

use std::fmt;

use super::wording::Wording;
use super::{Trace, TraceStep};
use crate::finding::Violation;
use crate::monitor::ObservedStep;
use crate::scenario::{Scenario, ticks_in};
use crate::service::Service;
use crate::world::{Action, World};

/// The reason why a script cannot be performed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The mistake.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ScriptError {}

/// Performs a script and returns its text with fresh recordings. The caller has already read the `scenario` line.
///
/// # Errors
/// The first line that names no enabled action, with the labels of all enabled actions.
pub fn perform<P: Service>(script: &str, scenario: &Scenario<P>) -> Result<String, ScriptError> {
    let mut world = scenario.observed();
    let wording = Wording::new(scenario, world.clients.len());
    let mut text = String::new();
    for (place, line) in script.lines().enumerate() {
        if line.starts_with("    ") {
            continue;
        }
        if line.is_empty() || line.starts_with('#') || line.starts_with("scenario ") {
            text += &format!("{line}\n");
            continue;
        }
        let action = find(scenario, &world, line).map_err(|message| ScriptError { line: place + 1, message })?;
        recount(&mut text, &wording, &action, &world.step(scenario, &action));
    }
    Ok(text)
}

/// A recorded execution as a script: the output of [`perform`] in the same scenario.
pub fn script<P: Service>(trace: &Trace<P>) -> String {
    let scenario = &trace.header.scenario;
    let mut world = scenario.observed();
    let wording = Wording::new(scenario, world.clients.len());
    let mut text = format!("scenario {}\n", scenario.name);
    for TraceStep { action, .. } in &trace.steps {
        recount(&mut text, &wording, action, &world.step(scenario, action));
    }
    text
}

/// Adds a step: its label, its facts, and what it violates.
fn recount<P: Service>(text: &mut String, wording: &Wording<'_, P>, action: &Action<P>, step: &ObservedStep<P>) {
    *text += &format!("{}\n", wording.action(action));
    step.facts.iter().for_each(|fact| *text += &format!("    {}\n", wording.fact(fact)));
    for Violation { property, message } in &step.violations {
        *text += &format!("    ✗ {property}: {}\n", wording.sentence(message));
    }
}

/// The enabled action with this label, as a trace or as a story words it.
pub(super) fn find<P: Service>(scenario: &Scenario<P>, world: &World<P>, label: &str) -> Result<Action<P>, String> {
    if let Some(ticks) = ticks_in(label, scenario.tick) {
        let action = Action::Advance(ticks);
        let is_possible = scenario.is_enabled(world, &action);
        return if is_possible { Ok(action) } else { Err(format!("“{label}” would exceed a bound on delays")) };
    }
    let mut enabled = Vec::new();
    scenario.enabled(world, &mut enabled);
    let wording = Wording::new(scenario, world.clients.len());
    let is_meant = |action: &&Action<P>| action.to_string() == label || wording.action(action) == label;
    enabled.iter().find(is_meant).copied().ok_or_else(|| {
        let offers: Vec<String> = enabled.iter().map(|action| format!("\n    {}", wording.action(action))).collect();
        format!("“{label}” is not possible here; possible actions:{}", offers.concat())
    })
}
