//! Each property against a naive twin: a second implementation without ghosts that reads the whole execution. The two
//! must find the first violation of an execution at the same step.

mod history;
mod twins;

use super::walk::{after, pick};
use super::{LawViolation, require};
use crate::process::Message;
use crate::properties::Property;
use crate::scenario::Scenario;
use crate::service::Service;
use crate::world::{Action, Step};
use history::{History, Moment};

/// At each step of the walk, for each enabled action, the step and the twins find the same properties violated. A
/// property that is already violated is not compared again.
///
/// # Errors
/// A property that differs from its twin.
pub fn properties_agree_with_their_twins<P: Service>(
    scenario: &Scenario<P>,
    choices: &[u16],
) -> Result<(), LawViolation> {
    let (mut history, mut violated) = History::begin(scenario);
    let mut enabled = Vec::new();
    for choice in choices {
        scenario.enabled(history.last(), &mut enabled);
        for action in &enabled {
            let (next, step) = after(scenario, history.last(), action);
            stamps_are_own(&history, action, &step)?;
            let is_found = |property| step.violations.iter().any(|violation| violation.property == property);
            history.push(Moment { action: *action, facts: step.facts.to_vec(), after: next });
            for promise in scenario.promises.iter().filter(|promise| is_asked(promise.property, &violated)) {
                let property = promise.property;
                let expected = twins::is_violated(&history, property, promise.bound);
                require(is_found(property) == expected, || {
                    let (says, twin) = if expected { ("kept", "violated") } else { ("violated", "kept") };
                    format!("{action}: {property} is {says}, and its naive twin says {twin}")
                })?;
            }
            history.pop();
        }
        let Some(action) = pick(&enabled, *choice) else { break };
        let (next, step) = after(scenario, history.last(), action);
        violated.extend(step.violations.iter().map(|violation| violation.property));
        history.push(Moment { action: *action, facts: step.facts.to_vec(), after: next });
    }
    Ok(())
}

/// A property that a scenario defines has no twin.
fn is_asked(property: Property, violated: &[Property]) -> bool {
    !violated.contains(&property) && !matches!(property, Property::Own(_))
}

/// A client's write is stamped with the tenure that the client was granted last. A third party is granted no tenure and
/// writes for others.
fn stamps_are_own<P: Service>(
    history: &History<'_, P>,
    action: &Action<P>,
    step: &Step<P>,
) -> Result<(), LawViolation> {
    let tenures = [Property::NoLostUpdate, Property::SequencerSound, Property::SequencerComplete];
    if matches!(action, Action::Duplicate(_)) || !tenures.iter().any(|property| history.scenario.watches(*property)) {
        return Ok(());
    }
    for envelope in &step.sent {
        let (Message::Write(write), Some(writer)) = (envelope.message, envelope.from.client()) else { continue };
        let Some(own) = history.granted_last(writer) else { continue };
        require(write.tenure == own, || {
            format!("{action}: a write of {writer} is stamped {}, not {own}", write.tenure)
        })?;
    }
    Ok(())
}
