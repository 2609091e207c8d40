//! Law: the assumptions of a verdict hold for every execution.

use super::walk::pick;
use super::{LawViolation, require};
use crate::assumption::Execution;
use crate::scenario::Scenario;
use crate::service::Service;

/// Each assumption of the scenario holds for the execution that the choices pick. A mutant violates some of them,
/// because the assumptions are those of the scenario without the mutation.
///
/// # Errors
/// An assumption that does not hold.
pub fn assumptions_hold<P: Service>(scenario: &Scenario<P>, choices: &[u16]) -> Result<(), LawViolation> {
    let mut world = scenario.observed();
    let (mut actions, mut enabled) = (Vec::new(), Vec::new());
    for choice in choices {
        scenario.enabled(&world, &mut enabled);
        let Some(action) = pick(&enabled, *choice).copied() else { break };
        world.step(scenario, &action);
        actions.push(action);
    }
    let execution = Execution::of(scenario, &actions);
    let sound = Scenario { mutation: None, ..scenario.clone() };
    sound.declared().iter().try_for_each(|declared| {
        let held = declared.holds(&execution);
        require(held.is_ok(), || format!("{}: {}", declared.assumption.kind, held.err().unwrap_or_default()))
    })
}
