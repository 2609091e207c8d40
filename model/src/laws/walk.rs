//! A walk through a scenario: each choice picks one of the enabled actions.

use crate::laws::LawViolation;
use crate::monitor::{Observed, ObservedStep};
use crate::scenario::Scenario;
use crate::service::Service;
use crate::world::Action;

/// The action that a choice picks.
pub fn pick<P: Service>(enabled: &[Action<P>], choice: u16) -> Option<&Action<P>> {
    enabled.get(usize::from(choice) % enabled.len().max(1))
}

/// Walks through a scenario and shows each world with what is enabled in it.
///
/// # Errors
/// The first that `look` returns.
pub fn walk<P: Service>(
    scenario: &Scenario<P>,
    choices: &[u16],
    mut look: impl FnMut(&Observed<P>, &[Action<P>]) -> Result<(), LawViolation>,
) -> Result<(), LawViolation> {
    let mut world = scenario.observed();
    let mut enabled = Vec::new();
    for choice in choices {
        scenario.enabled(&world, &mut enabled);
        look(&world, &enabled)?;
        let Some(action) = pick(&enabled, *choice) else { break };
        world.step(scenario, action);
    }
    Ok(())
}

/// The world after an action, and what the step did.
pub fn after<P: Service>(
    scenario: &Scenario<P>,
    world: &Observed<P>,
    action: &Action<P>,
) -> (Observed<P>, ObservedStep<P>) {
    let mut next = world.clone();
    let step = next.step(scenario, action);
    (next, step)
}
