//! Messages without a reaction make no difference, and verdicts are the same without them.

use fencepost_model::fact::Fact;
use fencepost_model::laws::{after, walk};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, Condition};

use super::{LawViolation, require};
use crate::reduction::Unheard;

/// The arrival of a message without a reaction changes no process, states no fact and sends only messages without a reaction; and after
/// every other step it still has no reaction.
///
/// # Errors
/// A message that makes a difference.
pub(super) fn unheard_makes_no_difference<P: Service>(
    scenario: &Scenario<P>,
    choices: &[u16],
) -> Result<(), LawViolation> {
    let rule = Unheard::of(&Scenario { promises: Vec::new(), ..scenario.clone() });
    walk(scenario, choices, |world, enabled| {
        let unheard = rule.in_world(scenario, world);
        for envelope in &unheard {
            let arrival = Action::Deliver(*envelope);
            if scenario.is_enabled(world, &arrival) {
                let (next, step) = after(scenario, world, &arrival);
                let is_down = world.condition(envelope.to) == Condition::Down;
                let is_silent = step.facts.iter().all(|fact| is_down && *fact == Fact::Unheard);
                require(is_silent, || format!("{arrival}: it should have no reaction, but it states a fact"))?;
                let is_same = next.clients == world.clients
                    && next.server == world.server
                    && next.resource == world.resource
                    && next.monitor == world.monitor;
                require(is_same, || format!("{arrival}: it should have no reaction, but a process changes"))?;
                let then = rule.in_world(scenario, &next);
                require(step.sent.iter().all(|sent| then.contains(sent)), || {
                    format!("{arrival}: it should have no reaction, but its response has one")
                })?;
            }
            for action in enabled {
                let (next, _) = after(scenario, world, action);
                let still = rule.in_world(scenario, &next);
                let is_under_way = next.network.iter().any(|other| other == envelope);
                require(!is_under_way || still.contains(envelope), || {
                    format!("{action}: a message without a reaction has one afterwards: {}", envelope.message)
                })?;
            }
        }
        Ok(())
    })
}
