//! Promises about the record of the service.

use super::View;
use crate::fact::{Ending, Fact, Refusal};
use crate::ids::ClientId;
use crate::mutation::KernelMutation;
use crate::service::{Administered, Conflict, Service};
use crate::time::{Since, Ticks};

pub(super) fn single_owner<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    for fact in view.facts {
        if let Fact::Granted { client, stolen: true, .. } = fact
            && !view.is_mutated(KernelMutation::TheftUnseen)
        {
            return Err(format!("{client} is recorded as owner of a lock that another client still had"));
        }
    }
    let record = P::record(&view.after.server.process, view.scenario);
    if let Some(Conflict { slot, first, second }) = record.conflict
        && !view.is_mutated(KernelMutation::ConflictUnseen)
    {
        return Err(format!("{first} and {second} are both recorded as holders of slot {slot}"));
    }
    if record.numbers.is_some() {
        return Ok(());
    }
    match *record.owners {
        [_, _, ..] if view.is_mutated(KernelMutation::OwnersUncounted) => Ok(()),
        [first, second, ..] => Err(format!("{first} and {second} are both recorded as owners")),
        _ => Ok(()),
    }
}

pub(super) fn lock_delay<P: Service>(view: &View<'_, P>, bound: Option<Ticks>) -> Result<(), String> {
    let bound = bound.unwrap_or_default();
    let mut invalidated = view.ghosts.invalidated;
    let bound = bound - Ticks::new(i64::from(view.is_mutated(KernelMutation::LockDelayBoundTooShort)));
    for fact in view.facts {
        match fact {
            Fact::Freed { .. } if view.is_mutated(KernelMutation::SameStepUnseen) => {}
            // C-LD-10: both may happen in one step.
            Fact::Freed { by: Ending::Invalidated } => invalidated = Some(Since(view.after.now)),
            Fact::Granted { client, .. } => {
                let Some(since) = invalidated else { continue };
                let age = since.age(view.after.now);
                if age < bound {
                    return Err(format!(
                        "{client} gets the lock {age} after an invalidation, before the lock-delay of {bound} has passed"
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn ttl_lower_bound<P: Service>(view: &View<'_, P>, bound: Option<Ticks>) -> Result<(), String> {
    let bound = bound.unwrap_or_default();
    let bound = bound - Ticks::new(i64::from(view.is_mutated(KernelMutation::TtlBoundTooShort)));
    for fact in view.facts {
        let Fact::Expired { session } = fact else { continue };
        let renewed = view.ghosts.renewed.iter().find(|(other, _)| other == session);
        let Some(age) = renewed.map(|(_, at)| at.age(view.after.now)) else { continue };
        if age < bound {
            return Err(format!("{session} expires {age} after its last renewal, before its TTL of {bound}"));
        }
    }
    Ok(())
}

pub(super) fn session_consistency<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    let is_refusal = |fact: &Fact<P>| matches!(fact, Fact::Refused { why: Refusal::Held | Refusal::LockDelay, .. });
    if view.facts.iter().all(is_refusal) || view.is_mutated(KernelMutation::RecordsUninspected) {
        return Ok(());
    }
    P::inspect(&view.after.server.process)
}

pub(super) fn slot_limit<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    let record = P::record(&view.after.server.process, view.scenario);
    let Some(slots) = record.slots.or_else(|| view.limit()) else { return Ok(()) };
    let slots = slots + u16::from(view.is_mutated(KernelMutation::OneHolderMore));
    if record.owners.len() <= usize::from(slots) {
        return Ok(());
    }
    Err(format!("{} are on record as holders, but the limit is {slots}", names(&record.owners)))
}

pub(super) fn slot_conservation<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    let record = P::record(&view.after.server.process, view.scenario);
    let (Some(slots), Some(free)) = (record.slots, record.free) else { return Ok(()) };
    let held = record.owners.len();
    let is_less = usize::from(free) + held < usize::from(slots);
    if usize::from(free) + held == usize::from(slots) || is_less && view.is_mutated(KernelMutation::LossUnseen) {
        return Ok(());
    }
    Err(format!("{free} free and {held} held permits do not add up to {slots}"))
}

pub(super) fn contiguity<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    if !view.administered().any(|fact| fact == Administered::Changed) {
        return Ok(());
    }
    let numbers = view.numbers();
    let first =
        if view.is_mutated(KernelMutation::FirstSlotUnasked) { numbers.first().copied().unwrap_or(1) } else { 1 };
    if numbers.iter().zip(first..).all(|(number, place)| *number == place) {
        return Ok(());
    }
    Err(format!("the slot numbers are {}", list(&numbers)))
}

pub(super) fn count_exact<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    for fact in view.administered() {
        let Administered::Counted(count) = fact else { continue };
        let numbers = view.numbers();
        let is_fewer = usize::from(count) < numbers.len() && view.is_mutated(KernelMutation::FewerCounted);
        if numbers.len() != usize::from(count) && !is_fewer {
            return Err(format!("an administrator counts {count} slots, but the slots are {}", list(&numbers)));
        }
    }
    Ok(())
}

pub(super) fn size_as_asked<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    for fact in view.administered() {
        let Administered::Finished { size, .. } = fact else { continue };
        let numbers = view.numbers();
        let is_fewer = numbers.len() < usize::from(size) && view.is_mutated(KernelMutation::FewerThanAsked);
        if numbers.len() != usize::from(size) && !is_fewer {
            return Err(format!("{size} slots were requested, but the slots are {}", list(&numbers)));
        }
    }
    Ok(())
}

/// A list of slot numbers for people.
fn list(numbers: &[u8]) -> String {
    if numbers.is_empty() {
        return "none".to_owned();
    }
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn names(clients: &[ClientId]) -> String {
    clients.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}
