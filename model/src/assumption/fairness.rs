//! Checks of fairness: an endless execution must not postpone a fair action for ever.

use super::Execution;
use crate::action_kind::ActionKind;
use crate::service::Service;
use crate::world::Action;

fn is_among<P: Service>(kinds: &[ActionKind], action: &Action<P>) -> bool {
    kinds.contains(&action.kind())
}

/// In the cycle, an action of these kinds is taken if it is enabled in every state (weak fairness) or in some state
/// (strong fairness). An execution that ends must end in a state where none of them is enabled.
pub(super) fn is_fair<P: Service>(
    execution: &Execution<P>,
    kinds: &[ActionKind],
    is_strong: bool,
) -> Result<(), String> {
    let Some(from) = execution.repeats_from else { return Ok(()) };
    let scenario = &execution.scenario;
    let enabled_shapes = |world: &crate::monitor::Observed<P>| {
        let mut enabled = Vec::new();
        scenario.enabled(world, &mut enabled);
        enabled.retain(|action| is_among(kinds, action));
        let mut shapes: Vec<Action<P>> = enabled.iter().map(Action::shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        shapes
    };
    let worlds = &execution.worlds()[from..];
    let taken: Vec<Action<P>> = execution.moments().skip(from).map(|moment| moment.action.shape()).collect();
    // The last state of a cycle is its first state again.
    let states = if taken.is_empty() { worlds } else { &worlds[..worlds.len() - 1] };
    let enabled: Vec<Vec<Action<P>>> = states.iter().map(enabled_shapes).collect();
    for action in enabled.iter().flatten().filter(|action| !taken.contains(action)) {
        let is_always = enabled.iter().all(|shapes| shapes.contains(action));
        if is_strong || is_always {
            let how = if is_always { "always" } else { "infinitely often" };
            return Err(format!("“{action}” is enabled {how} from step {} on, and never taken", from + 1));
        }
    }
    Ok(())
}
