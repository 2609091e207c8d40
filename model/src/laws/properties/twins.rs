//! A second implementation of the properties: each says whether the last step of an execution violates it.

use super::history::History;
use crate::fact::{Ending, Fact, Refusal};
use crate::ids::{ClientId, Tenure, Token};
use crate::process::Client as _;
use crate::properties::Property;
use crate::service::{Administered, Event as _, Service, ServiceCommand as _, Settings as _};
use crate::time::Ticks;
use crate::world::{Action, Condition};

pub(super) fn is_violated<P: Service>(history: &History<'_, P>, property: Property, bound: Option<Ticks>) -> bool {
    // A step without facts is judged if a clock jumps, or if time passes while the lock is idle and a promise bounds
    // the idle time.
    let is_judged = match history.action() {
        Some(Action::Slip { .. }) => true,
        Some(Action::Advance(_)) => history.bounds_idleness() && history.idle_for().is_some(),
        _ => !history.news().is_empty(),
    };
    if !is_judged {
        return false;
    }
    let (idle_bound, bound) = (bound, bound.unwrap_or_default());
    match property {
        Property::SingleOwner => has_two_owners(history),
        Property::LockDelay => is_granted_too_soon(history, bound),
        Property::TtlLowerBound => expires_too_soon(history, bound),
        Property::SlotLimit => has_too_many_holders(history),
        Property::SlotConservation => {
            let record = history.record();
            let sum = record.free.map(|free| usize::from(free) + record.owners.len());
            sum.zip(record.slots).is_some_and(|(sum, slots)| sum != usize::from(slots))
        }
        Property::Contiguity => {
            let is_changed = administered(history).contains(&Administered::Changed);
            is_changed && numbers(history).iter().enumerate().any(|(place, number)| usize::from(*number) != place + 1)
        }
        Property::CountExact => administered(history)
            .iter()
            .any(|fact| matches!(fact, Administered::Counted(count) if usize::from(*count) != numbers(history).len())),
        Property::SizeAsAsked => administered(history).iter().any(
            |fact| matches!(fact, Administered::Finished { size, .. } if usize::from(*size) != numbers(history).len()),
        ),
        Property::SessionConsistency => has_broken_records(history),
        Property::MutualExclusion => history.inside().len() > 1,
        Property::LeaseExclusion => {
            let inside = history.inside();
            let covered =
                inside.iter().filter(|(_, belief, clock)| belief.until.is_none_or(|until| until.covers(*clock)));
            let slots: Vec<Option<u8>> = covered.map(|(_, belief, _)| belief.slot).collect();
            slots.iter().enumerate().any(|(place, slot)| slots[..place].contains(slot))
        }
        Property::SlotLimitBelief => has_too_many_inside(history),
        Property::SlotExclusion => {
            let slots: Vec<u8> = history.inside().iter().filter_map(|(_, belief, _)| belief.slot).collect();
            slots.iter().enumerate().any(|(place, slot)| slots[..place].contains(slot))
        }
        Property::VerifyTruthful => reads_end(history).into_iter().any(|(client, owner)| {
            owner.is_some() && !owners_since_question(history, client).is_some_and(|owners| owners.contains(&owner))
        }),
        Property::Linearizable => reads_end(history).into_iter().any(|(client, owner)| {
            owners_since_question(history, client).is_some_and(|owners| !owners.contains(&owner))
        }),
        Property::SingleAdministrator => {
            let at_work = history.last().clients.iter();
            at_work.filter(|host| host.condition != Condition::Down && host.process.is_at_work()).count() > 1
        }
        Property::NoPanic => history.news().iter().any(|fact| matches!(fact, Fact::Panicked { .. })),
        Property::TokenOrder => {
            let before = history.past().filter_map(|(_, fact)| match fact {
                Fact::Granted { token, .. } => Some(*token),
                _ => None,
            });
            let highest = before.max().unwrap_or(Token::NONE);
            let is_low = |fact: &Fact<P>| matches!(fact, Fact::Granted { token, fresh: true, .. } if *token <= highest);
            history.news().iter().any(is_low)
        }
        Property::SequencerSound => {
            let present = present_tenure(history);
            history.news().iter().any(|fact| matches!(fact, Fact::Written { tenure, .. } if Some(*tenure) != present))
        }
        Property::SequencerComplete => {
            let present = present_tenure(history);
            let is_wrong =
                |fact: &Fact<P>| matches!(fact, Fact::WriteRefused { tenure, .. } if Some(*tenure) == present);
            history.news().iter().any(is_wrong)
        }
        Property::NoLostUpdate => {
            let newest = |part: Option<u8>| {
                let tenures = history.past().filter_map(move |(_, fact)| match fact {
                    Fact::Written { tenure, key, .. } if *key == part => Some(*tenure),
                    _ => None,
                });
                tenures.max().unwrap_or_default()
            };
            let is_late = |fact: &Fact<P>| matches!(fact, Fact::Written { tenure, key, .. } if *tenure < newest(*key));
            history.news().iter().any(is_late)
        }
        Property::EventuallyAcquired => {
            let is_late = matches!(history.action(), Some(Action::Advance(_)));
            is_late && idle_bound.zip(history.idle_for()).is_some_and(|(bound, age)| age > bound)
        }
        Property::HandledOnce => {
            let handled = |fact: &Fact<P>| if let Fact::Handled { item, .. } = fact { Some(*item) } else { None };
            let before: Vec<_> = history.past().filter_map(|(_, fact)| handled(fact)).collect();
            history.news().iter().filter_map(handled).any(|item| before.contains(&item))
        }
        Property::Progress | Property::EveryItemHandled => false,
        Property::Own(_) => unreachable!("a property that a scenario defines has no twin"),
    }
}

fn has_two_owners<P: Service>(history: &History<'_, P>) -> bool {
    let record = history.record();
    let is_stolen = history.news().iter().any(|fact| matches!(fact, Fact::Granted { stolen: true, .. }));
    is_stolen || record.conflict.is_some() || record.numbers.is_none() && record.owners.len() > 1
}

/// The newest invalidation that is not followed by a grant, including one in the last step.
fn is_granted_too_soon<P: Service>(history: &History<'_, P>, bound: Ticks) -> bool {
    let now = history.last().now;
    let all = history.past().chain(history.news().iter().map(|fact| (now, fact)));
    let mut invalidated = None;
    let mut last = false;
    let before = history.past().count();
    for (place, (at, fact)) in all.enumerate() {
        match fact {
            Fact::Freed { by: Ending::Invalidated } => invalidated = Some(at),
            Fact::Granted { .. } => {
                last |= place >= before && invalidated.is_some_and(|since| at - since < bound);
                invalidated = None;
            }
            _ => {}
        }
    }
    last
}

fn expires_too_soon<P: Service>(history: &History<'_, P>, bound: Ticks) -> bool {
    let now = history.last().now;
    history.news().iter().any(|fact| {
        let Fact::Expired { session } = fact else { return false };
        let newest = history.past().rev().find_map(|(at, fact)| match fact {
            Fact::Renewed { session: other } if other == session => Some(Some(at)),
            Fact::Expired { session: other } | Fact::Destroyed { session: other } | Fact::Ended { session: other }
                if other == session =>
            {
                Some(None)
            }
            _ => None,
        });
        newest.flatten().is_some_and(|at| now - at < bound)
    })
}

/// The slot counts in the facts of the last step.
fn administered<P: Service>(history: &History<'_, P>) -> Vec<Administered> {
    let reported = |fact: &Fact<P>| if let Fact::Service(fact) = fact { fact.administered() } else { None };
    history.news().iter().filter_map(reported).collect()
}

fn numbers<P: Service>(history: &History<'_, P>) -> Vec<u8> {
    history.record().numbers.map(|numbers| numbers.to_vec()).unwrap_or_default()
}

/// The newest limit that an administrator has set, if one has.
fn limit<P: Service>(history: &History<'_, P>) -> Option<u16> {
    let limit = |fact: &Fact<P>| match fact {
        Fact::Service(fact) => match fact.administered()? {
            Administered::Began { limit } => Some(limit),
            Administered::Finished { size, is_complete: true } => Some(size),
            _ => None,
        },
        _ => None,
    };
    let newest = history.news().iter().rev().find_map(limit);
    let before = || history.past().rev().find_map(|(_, fact)| limit(fact));
    newest.or_else(before).or_else(|| history.scenario.service.capacity_at_start())
}

fn has_too_many_holders<P: Service>(history: &History<'_, P>) -> bool {
    let record = history.record();
    record.slots.or_else(|| limit(history)).is_some_and(|slots| record.owners.len() > usize::from(slots))
}

/// Judged when a client enters, or when a smaller number of slots takes effect.
fn has_too_many_inside<P: Service>(history: &History<'_, P>) -> bool {
    let is_in_force = |fact: &Administered| matches!(fact, Administered::Finished { is_complete: true, .. });
    let enters = history.news().iter().any(|fact| matches!(fact, Fact::Entered { .. }));
    if !enters && !administered(history).iter().any(is_in_force) {
        return false;
    }
    let inside = history.inside();
    let promised = inside.iter().filter_map(|(_, belief, _)| belief.slots).min();
    [limit(history), promised].into_iter().flatten().any(|slots| inside.len() > usize::from(slots))
}

fn has_broken_records<P: Service>(history: &History<'_, P>) -> bool {
    let changes_nothing =
        |fact: &Fact<P>| matches!(fact, Fact::Refused { why: Refusal::Held | Refusal::LockDelay, .. });
    !history.news().iter().all(changes_nothing) && P::inspect(&history.last().server.process).is_err()
}

/// The reads that end in the last step.
fn reads_end<P: Service>(history: &History<'_, P>) -> Vec<(ClientId, Option<ClientId>)> {
    let answered = |fact: &Fact<P>| if let Fact::Service(fact) = fact { fact.read_ended() } else { None };
    history.news().iter().filter_map(answered).collect()
}

/// The owners of the lock between the client's request and the last step; none if the client has sent no request.
fn owners_since_question<P: Service>(history: &History<'_, P>, client: ClientId) -> Option<Vec<Option<ClientId>>> {
    let before = &history.moments[..history.moments.len().saturating_sub(1)];
    let mut owners = None;
    for moment in before {
        let is_answered = moment.facts.iter().any(
            |fact| matches!(fact, Fact::Service(fact) if fact.read_ended().is_some_and(|(other, _)| other == client)),
        );
        if is_answered {
            owners = None;
        }
        if matches!(moment.action, Action::Command { client: other, command } if other == client && command.begins_read())
        {
            owners = Some(Vec::new());
        }
        if let Some(owners) = &mut owners {
            let record = P::record(&moment.after.server.process, history.scenario);
            owners.extend(record.owners.iter().copied().map(Some));
            if record.owners.is_empty() {
                owners.push(None);
            }
        }
    }
    owners
}

/// The tenure on record before the last step, if there is one. Tenures are numbered in the order in which they begin.
fn present_tenure<P: Service>(history: &History<'_, P>) -> Option<Tenure> {
    let (mut count, mut is_running) = (Tenure::default(), false);
    for (_, fact) in history.past() {
        match fact {
            Fact::Granted { fresh: true, .. } => (count, is_running) = (count.next(), true),
            Fact::Freed { .. } => is_running = false,
            _ => {}
        }
    }
    is_running.then_some(count)
}
