//! Subsumption: on random walks, a world that another one covers can do nothing that the other cannot.

use fencepost_model::laws::{after, pick};
use fencepost_model::monitor::Observed;
use fencepost_model::scenario::{Budget, CAPS_MAX, Scenario, UNLIMITED};
use fencepost_model::service::Service;
use fencepost_model::time::{Deadline, Ticks};
use fencepost_model::world::{Action, World};

use super::{LawViolation, require, violated};
use crate::reduction::{Form, Formed, Subsumption};

/// What a world can do, one that covers it can do, too: with the same facts and the same violations; and afterwards it has in nothing less
/// again. Worlds are compared that have one less of some budget or a tick less for some message than one that is on the walk.
///
/// # Errors
/// A world that counts as covered and can do something more.
pub(super) fn covered_worlds_do_nothing_more<S: Service>(
    scenario: &Scenario<S>,
    choices: &[u16],
) -> Result<(), LawViolation> {
    let rule = Subsumption::of(scenario);
    if rule.lanes().is_none() {
        return Ok(());
    }
    let form = Form::new(scenario, false);
    let mut world = form.start(scenario);
    let mut enabled = Vec::new();
    for choice in choices {
        let mut worlds: Vec<Formed<S>> = lessened(&world).into_iter().map(|less| form.of(less)).collect();
        worlds.push(world.clone());
        for one in &worlds {
            for other in worlds.iter().filter(|other| ***other != **one && covers(&rule, one, other)) {
                simulates(scenario, one, other)?;
            }
        }
        scenario.enabled(&world, &mut enabled);
        let Some(action) = pick(&enabled, *choice) else { break };
        world = form.of(after(scenario, &world, action).0);
    }
    Ok(())
}

/// The budgets that steps spend.
const BUDGETS: [fn(&mut Budget) -> &mut u8; 9] = [
    |left| &mut left.losses,
    |left| &mut left.duplicates,
    |left| &mut left.crashes,
    |left| &mut left.restarts,
    |left| &mut left.pauses,
    |left| &mut left.cuts,
    |left| &mut left.slips,
    |left| &mut left.operator,
    |left| &mut left.resource_restarts,
];

/// Whether one world covers the other by the rule.
fn covers<S: Service>(rule: &Subsumption, one: &Observed<S>, other: &Observed<S>) -> bool {
    let (Some(lanes), Some(one), Some(other)) = (rule.lanes(), rule.of_world(one), rule.of_world(other)) else {
        return false;
    };
    one.0 == other.0 && lanes.covers(one.1, other.1)
}

/// The first world can do what the second can.
fn simulates<S: Service>(scenario: &Scenario<S>, one: &Observed<S>, other: &Observed<S>) -> Result<(), LawViolation> {
    let mut enabled = Vec::new();
    scenario.enabled(other, &mut enabled);
    for action in &enabled {
        let same = like(action, one).filter(|same| scenario.is_enabled(one, same));
        let Some(same) = same else {
            return Err(LawViolation(format!("{action}: a world can do this, and the one that covers it cannot")));
        };
        let ((there, then), (here, now)) = (after(scenario, other, action), after(scenario, one, &same));
        require(now.facts == then.facts, || format!("{action}: other facts in the world that covers another"))?;
        require(violated(&now) == violated(&then), || {
            format!("{action}: other violations in the world that covers another")
        })?;
        require(has_as_much(&here, &there), || {
            format!("{action}: afterwards the world that covers the other has less of something")
        })?;
    }
    Ok(())
}

/// Whether the first world differs from the second in nothing but more that is left of budgets and later deadlines of messages. Said without
/// the rule; and worlds are compared as they are, for the normal form may name calls by the order of deadlines.
fn has_as_much<S: Service>(one: &Observed<S>, other: &Observed<S>) -> bool {
    let left = |world: &Observed<S>| {
        let mut left = world.left;
        let caps = left.caps.map(|cap| cap.at_most);
        BUDGETS.map(|budget| *budget(&mut left)).into_iter().chain(caps).collect::<Vec<u8>>()
    };
    let is_poorer = left(one).iter().zip(left(other)).any(|(one, other)| *one < other);
    let mut alike = other.clone();
    alike.world.left = one.left;
    let (mine, slots) = (one.network.places(), alike.world.network.slots());
    let is_hurried = mine.iter().zip(&*slots).any(|(one, other)| one.due < other.due);
    if is_poorer || is_hurried || mine.len() != slots.len() {
        return false;
    }
    mine.iter().zip(slots).for_each(|(one, other)| other.due = one.due);
    alike == *one
}

/// The same action in another world, where the message may have another deadline.
pub(super) fn like<S: Service>(action: &Action<S>, world: &World<S>) -> Option<Action<S>> {
    Some(match action {
        Action::Deliver(envelope) => Action::Deliver(world.network.first_like(envelope)?),
        Action::Lose(envelope) => Action::Lose(world.network.first_like(envelope)?),
        Action::Duplicate(envelope) => Action::Duplicate(world.network.first_like(envelope)?),
        other => *other,
    })
}

/// The world with one less of each budget, and with a tick less for each message that has one.
fn lessened<S: Service>(world: &Observed<S>) -> Vec<Observed<S>> {
    let left = world.left;
    let mut list = Vec::new();
    for budget in BUDGETS {
        let mut less = left;
        *budget(&mut less) = budget(&mut less).saturating_sub(1);
        if less != left {
            let mut poorer = world.clone();
            poorer.world.left = less;
            list.push(poorer);
        }
    }
    for place in 0..CAPS_MAX {
        let mut poorer = world.clone();
        let at_most = &mut poorer.world.left.caps[place].at_most;
        if (1..UNLIMITED).contains(at_most) {
            *at_most -= 1;
            list.push(poorer);
        }
    }
    for (place, envelope) in world.network.places().iter().enumerate() {
        let Some(Deadline(due)) = envelope.due.filter(|due| !due.is_due(world.now)) else { continue };
        let mut hurried = world.clone();
        let slots = hurried.world.network.slots();
        slots[place].due = Some(Deadline(due - Ticks::new(1)));
        slots.sort_unstable();
        list.push(hurried);
    }
    list
}
