//! Promises about the beliefs of clients.

use super::View;
use crate::fact::Fact;
use crate::ids::ClientId;
use crate::mutation::KernelMutation;
use crate::process::Client;
use crate::service::{Administered, Event as _, Service};
use crate::time::Ticks;
use crate::world::Condition;

pub(super) fn mutual_exclusion<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    if !view.facts.iter().any(|fact| matches!(fact, Fact::Entered { .. })) {
        return Ok(());
    }
    let is_seen = |client: &ClientId| client.0 <= 2 || !view.is_mutated(KernelMutation::TwoClientsOnly);
    let mut inside = view.after.inside().filter(is_seen);
    match (inside.next(), inside.next()) {
        (Some(first), Some(second)) => Err(format!("{first} and {second} are both inside")),
        _ => Ok(()),
    }
}

/// A clock that moves backwards can make an expired lease valid again, so this property is judged at every step.
pub(super) fn lease_exclusion<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    let slot = |client: ClientId| view.after.clients[client.place()].process.belief().slot;
    let is_seen = |client: &ClientId| {
        let is_ahead = view.after.clients[client.place()].skew > Ticks::ZERO;
        !is_ahead || !view.is_mutated(KernelMutation::FastClocksUnseen)
    };
    for first in view.after.inside_lease().filter(is_seen) {
        let mut others = view.after.inside_lease().filter(is_seen);
        if let Some(second) = others.find(|other| *other > first && slot(*other) == slot(first)) {
            return Err(format!("{first} and {second} are both inside, each within its lease"));
        }
    }
    Ok(())
}

pub(super) fn slot_limit_belief<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    let is_lowered = view.administered().any(|fact| matches!(fact, Administered::Finished { is_complete: true, .. }));
    if !is_lowered && !view.facts.iter().any(|fact| matches!(fact, Fact::Entered { .. })) {
        return Ok(());
    }
    let inside: Vec<ClientId> = view.after.inside().collect();
    let names = || inside.iter().map(ToString::to_string).collect::<Vec<_>>();
    if let Some(limit) = view.limit().filter(|limit| inside.len() > usize::from(*limit)) {
        let are = if inside.len() == 1 { "is" } else { "are" };
        return Err(format!("{} {are} inside, but the limit is {limit}", names().join(" and ")));
    }
    let promised = |client: &ClientId| view.after.clients[client.place()].process.belief().slots;
    let promises = inside.iter().filter_map(promised);
    let slots = if view.is_mutated(KernelMutation::LargestPromiseCounts) { promises.max() } else { promises.min() };
    let Some(slots) = slots else { return Ok(()) };
    if inside.len() <= usize::from(slots) {
        return Ok(());
    }
    let names = names();
    Err(format!("{} are inside, and one of them was given a limit of {slots}", names.join(" and ")))
}

pub(super) fn slot_exclusion<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    let slot = |client: ClientId| view.after.clients[client.place()].process.belief().slot;
    for fact in view.facts {
        let Fact::Entered { client, .. } = fact else { continue };
        let Some(mine) = slot(*client).filter(|slot| *slot > 1 || !view.is_mutated(KernelMutation::FirstSlotUnseen))
        else {
            continue;
        };
        if let Some(other) = view.after.inside().find(|other| other != client && slot(*other) == Some(mine)) {
            return Err(format!("{} and {} are both inside slot {mine}", other.min(*client), other.max(*client)));
        }
    }
    Ok(())
}

pub(super) fn verify_truthful<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    for fact in view.facts {
        let Fact::Service(fact) = fact else { continue };
        let Some((client, Some(owner))) = fact.read_ended() else { continue };
        let reads = &view.ghosts.reads;
        let is_accepted =
            view.is_mutated(KernelMutation::AnyOwnerIsTrue) && reads.iter().any(|(other, _)| *other == client);
        if !is_accepted && !reads.contains(&(client, Some(owner))) {
            return Err(format!(
                "{client} receives a confirmation of its slot, but did not hold it at any instant since its request"
            ));
        }
    }
    Ok(())
}

pub(super) fn no_panic<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    for fact in view.facts {
        let Fact::Panicked { client } = *fact else { continue };
        let message = view.after.clients[client.place()].process.panic().unwrap_or_default();
        return Err(format!("the program of {client} panics: {message}"));
    }
    Ok(())
}

pub(super) fn single_administrator<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    if view.facts.is_empty() {
        return Ok(());
    }
    let is_up = |place: &usize| {
        let condition = view.after.clients[*place].condition;
        condition != Condition::Down
            && (condition == Condition::Up || !view.is_mutated(KernelMutation::PausedIsNotAtWork))
    };
    let mut at_work = (0..view.after.clients.len())
        .filter(is_up)
        .filter(|place| view.after.clients[*place].process.is_at_work())
        .map(ClientId::of);
    match (at_work.next(), at_work.next()) {
        (Some(first), Some(second)) => Err(format!("{first} and {second} are both at work as administrators")),
        _ => Ok(()),
    }
}
