//! Partial orders: on random walks, what the argument for persistent sets needs of one step; and the same verdicts with and without.

use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::monitor::Observed;
use fencepost_model::process::{Belief, Client as _, Context, Process as _};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, World};

use super::{LawViolation, require, violated};
use crate::reduction::{Form, Formed, LateFaults, PartialOrder, Unheard};

/// Where a client is chosen, each of its actions is unseen and comes nearer to an end; and with any other action it commutes: in both orders
/// there are the same world, the same facts and the same violations. After the other action the client has the same actions and would be chosen, too.
/// By induction over an execution without these actions, each of them commutes with all of it.
///
/// # Errors
/// A choice that makes a difference.
pub(super) fn choices_make_no_difference<S: Service>(
    scenario: &Scenario<S>,
    choices: &[u16],
) -> Result<(), LawViolation> {
    let order = PartialOrder::of(scenario);
    if order.is_none() {
        return Ok(());
    }
    let form = Form::new(scenario, false);
    let mut world = form.start(scenario);
    let mut enabled = Vec::new();
    for choice in choices {
        scenario.enabled(&world, &mut enabled);
        enabled.retain(|action| is_explored(scenario, action));
        for place in 0..world.clients.len() {
            look(scenario, order, &form, &world, &enabled, place)?;
        }
        let Some(action) = fencepost_model::laws::pick(&enabled, *choice) else { break };
        let mut next = Observed::clone(&world);
        next.step(scenario, action);
        world = form.of(next);
    }
    Ok(())
}

/// Whether an action is explored somewhere: losses may never be.
fn is_explored<S: Service>(scenario: &Scenario<S>, action: &Action<S>) -> bool {
    !matches!(action, Action::Lose(_)) || LateFaults::of(scenario).has_losses()
}

/// The same of one client.
fn look<S: Service>(
    scenario: &Scenario<S>,
    order: PartialOrder,
    form: &Form,
    world: &Formed<S>,
    enabled: &[Action<S>],
    place: usize,
) -> Result<(), LawViolation> {
    let Some(set) = order.of_client(scenario, world, enabled, place) else { return Ok(()) };
    let client = ClientId::of(place);
    let step = |world: &Observed<S>, action: &Action<S>| {
        let mut next = world.clone();
        let step = next.step(scenario, action);
        (next, step)
    };
    let members: Vec<Action<S>> = set.iter().map(|at| enabled[usize::from(*at)]).collect();
    let others = || enabled.iter().filter(|action| !members.contains(action));
    for member in &members {
        let (after, own) = step(world, member);
        require(own.facts.is_empty() && own.violations.is_empty(), || format!("{member}: it is seen"))?;
        let seen = |world: &World<S>| {
            let process = &world.clients[place].process;
            (Belief { is_waiting: false, ..process.belief() }, process.is_at_work())
        };
        require(seen(&after) == seen(world), || format!("{member}: what promises look at changes"))?;
        let mut stamped = Observed::clone(world);
        stamped.monitor.ghosts.held[place] = stamped.monitor.ghosts.held[place].next();
        require(step(&stamped, member).1.sent == own.sent, || format!("{member}: it is stamped with a ghost"))?;
        require(at_hand(scenario, &after) < at_hand(scenario, world), || format!("{member}: it comes to no end"))?;
        for other in others() {
            let (elsewhere, then) = step(world, other);
            require(scenario.is_enabled(&elsewhere, member), || format!("{other}: it prevents that {member}"))?;
            require(scenario.is_enabled(&after, other), || format!("{member}: it prevents that {other}"))?;
            let (one, later) = step(&after, other);
            let (two, _) = step(&elsewhere, member);
            require(*form.of(one) == *form.of(two), || format!("{member}, and {other}: their order counts"))?;
            require(later.facts == then.facts, || format!("{member}: it changes the facts of {other}"))?;
            require(violated(&later) == violated(&then), || format!("{member}: it changes what {other} violates"))?;
        }
    }
    for other in others() {
        let (elsewhere, _) = step(world, other);
        let there = form.of(elsewhere);
        let mut actions = Vec::new();
        scenario.enabled(&there, &mut actions);
        actions.retain(|action| is_explored(scenario, action));
        let again = order.of_client(scenario, &there, &actions, place);
        // An answer that it ignores commutes with everything, by the law `unheard`.
        let heard = |world: &Formed<S>, set: usize| set.wrapping_sub(ignored(scenario, world, client));
        let is_same = again.is_some_and(|again| heard(&there, again.len()) == heard(world, set.len()));
        require(is_same, || format!("{other}: afterwards {client} would not be chosen as before"))?;
    }
    Ok(())
}

/// How many messages to the client it ignores.
fn ignored<S: Service>(scenario: &Scenario<S>, world: &Observed<S>, client: ClientId) -> usize {
    let mut messages = Unheard::of(scenario).in_world(scenario, world);
    messages.retain(|envelope| envelope.to == ProcessId::Client(client));
    messages.dedup_by(|one, other| one.is_like(other));
    messages.len()
}

/// The work at hand: messages in flight to clients, then the other actions of their own that clients can take.
fn at_hand<S: Service>(scenario: &Scenario<S>, world: &World<S>) -> (usize, usize) {
    let messages = world.network.iter().filter(|envelope| envelope.to.client().is_some()).count();
    let own = (0..world.clients.len()).map(ClientId::of).map(|client| {
        let (me, process) = (ProcessId::Client(client), &world.clients[client.place()].process);
        let context = Context { scenario, now: world.clock(me), me };
        let mut count = usize::from(process.choices());
        process.commands(&context, &mut |_| count += 1);
        process.wakes(scenario, &mut |_, due| count += usize::from(due <= context.now));
        count
    });
    (messages, own.sum())
}
