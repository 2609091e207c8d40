//! The normal form and symmetry change nothing that can be seen.

use std::hash::{Hash, Hasher};

use fencepost_model::fact::Fact;
use fencepost_model::hash::Fingerprinter;
use fencepost_model::ids::ClientId;
use fencepost_model::laws::{after, pick, walk};
use fencepost_model::monitor::Observed;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::Action;

use super::{LawViolation, require};
use crate::reduction::{NormalForm, Symmetry, Unheard};

/// Fingerprint of a normal successor, kinds of facts, violated properties.
type Successor = (u64, Vec<String>, Vec<String>);

/// The world in normal form; no client is interchangeable.
fn normal<P: Service>(scenario: &Scenario<P>, world: &Observed<P>) -> Observed<P> {
    Observed::clone(&NormalForm::new(scenario, Symmetry::none()).form(world.clone()))
}

fn fingerprint(value: &impl Hash) -> u64 {
    let mut hash = Fingerprinter::default();
    value.hash(&mut hash);
    hash.finish()
}

/// The kinds of facts, without the numbers that the normal form changes.
fn kinds<P: Service>(facts: &[Fact<P>]) -> Vec<String> {
    facts.iter().map(|fact| format!("{fact:?}").split([' ', '(']).next().unwrap_or_default().to_owned()).collect()
}

/// What can happen next, sorted.
fn successors<P: Service>(scenario: &Scenario<P>, world: &Observed<P>) -> Vec<Successor> {
    let mut enabled = Vec::new();
    scenario.enabled(world, &mut enabled);
    let mut list: Vec<Successor> = enabled
        .iter()
        .map(|action| {
            let (next, step) = after(scenario, world, action);
            let violated = step.violations.iter().map(|violation| violation.property.to_string()).collect();
            (fingerprint(&normal(scenario, &next)), kinds(&step.facts), violated)
        })
        .collect();
    list.sort();
    list
}

/// A world and its normal form have the same successors, facts and violations; and the normal form is what the model calls the
/// representative.
///
/// # Errors
/// A world that its normal form does not stand for.
pub(super) fn normal_form_is_invisible<P: Service>(
    scenario: &Scenario<P>,
    choices: &[u16],
) -> Result<(), LawViolation> {
    walk(scenario, choices, |world, _| {
        let form = normal(scenario, world);
        require(form == normal(scenario, &form), || format!("the normal form has another normal form: {form:#?}"))?;
        require(form == scenario.representative(world), || {
            format!("the normal form is not the representative: {form:#?}")
        })?;
        require(successors(scenario, world) == successors(scenario, &form), || {
            format!("a world and its normal form have different successors:\n{world:#?}\n{form:#?}")
        })
    })
}

/// Where clients are interchangeable, a world in which they have changed places has the same successors but for names.
///
/// # Errors
/// Two clients that are called interchangeable and are not.
pub(super) fn symmetry_is_invisible<P: Service>(scenario: &Scenario<P>, choices: &[u16]) -> Result<(), LawViolation> {
    let symmetry = Symmetry::of(scenario);
    let Some(group) = symmetry.groups().next() else { return Ok(()) };
    let (one, other) = (group[0], group[group.len() - 1]);
    let swap = |client: ClientId| match client {
        client if client == one => other,
        client if client == other => one,
        client => client,
    };
    let swapped = |world: &Observed<P>| {
        let order: Vec<usize> = (0..world.clients.len()).map(|place| swap(ClientId::of(place)).place()).collect();
        world.arranged(&order)
    };
    let start = scenario.observed();
    require(normal(scenario, &swapped(&start)) == normal(scenario, &start), || {
        format!("{one} and {other} do not start alike")
    })?;
    let mut place = 0_u16;
    let canonical_form = NormalForm::new(scenario, symmetry.clone());
    walk(scenario, choices, |world, enabled| {
        let other_world = swapped(world);
        place = place.wrapping_add(1);
        let mut there = Vec::new();
        scenario.enabled(&other_world, &mut there);
        let mut here: Vec<Action<P>> = enabled.iter().map(|action| action.renamed(&swap)).collect();
        here.sort_unstable();
        there.sort_unstable();
        require(here == there, || format!("other actions are enabled for {one} and {other}"))?;
        for action in enabled {
            let (next, step) = after(scenario, world, action);
            let (there, like) = after(scenario, &other_world, &action.renamed(&swap));
            require(normal(scenario, &swapped(&next)) == normal(scenario, &there), || {
                format!("{action}: {one} and {other} are not treated alike")
            })?;
            require(kinds(&step.facts) == kinds(&like.facts), || format!("{action}: other facts"))?;
            require(step.violations.is_empty() == like.violations.is_empty(), || {
                format!("{action}: other violations")
            })?;
            // The rest costs as much as there are ways to change places: it is asked of one action.
            if Some(action) != pick(enabled, place) {
                continue;
            }
            let canonical = canonical_form.form(next.clone());
            let plain = normal(scenario, &next);
            let orders = symmetry.orders(plain.clients.len());
            require(Symmetry::orbit(&canonical, &orders) == Symmetry::orbit(&plain, &orders), || {
                format!("{action}: the canonical world has another orbit")
            })?;
            let is_among = |order: &Vec<usize>| normal(scenario, &plain.arranged(order)) == *canonical;
            require(orders.iter().any(is_among), || {
                format!("{action}: the canonical world is not one of those that it stands for")
            })?;
        }
        Ok(())
    })
}

/// What is kept of a world over a step is what a second look finds, and a step that is taken back leaves nothing behind.
///
/// # Errors
/// A part of a world that was kept although it changed.
pub(super) fn renewal_is_invisible<P: Service>(scenario: &Scenario<P>, choices: &[u16]) -> Result<(), LawViolation> {
    let unheard = Unheard::of(scenario);
    for (symmetry, unheard) in
        [(Symmetry::none(), Unheard::none()), (Symmetry::none(), unheard), (Symmetry::of(scenario), unheard)]
    {
        let form = NormalForm::new(scenario, symmetry).without(unheard);
        let mut before = form.form(scenario.observed());
        let mut enabled = Vec::new();
        for choice in choices {
            scenario.enabled(&before, &mut enabled);
            let mut next = before.clone();
            for action in &enabled {
                let (after, _) = after(scenario, &before, action);
                let step = next.state_mut().step(scenario, action);
                form.renew(&mut next, &before, &step.touched);
                let again = form.form(after);
                require(*next == *again, || format!("{action}: the renewed form differs from the form"))?;
                require(next.fingerprint() == again.fingerprint(), || format!("{action}: another fingerprint"))?;
                next.undo(&before);
                require(*next == *before, || format!("{action} was not taken back"))?;
            }
            let Some(action) = pick(&enabled, *choice) else { break };
            let step = next.state_mut().step(scenario, action);
            form.renew(&mut next, &before, &step.touched);
            before = next;
        }
    }
    Ok(())
}
