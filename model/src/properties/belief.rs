//! Promises about what clients think.

use super::View;
use crate::fact::Fact;
use crate::ids::ClientId;
use crate::process::Client;
use crate::protocol::Protocol;
use crate::time::Ticks;

pub(super) fn mutual_exclusion<P: Protocol>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    if !view.facts.iter().any(|fact| matches!(fact, Fact::Entered { .. })) {
        return Ok(());
    }
    alone(view.after.inside(), "are both inside")
}

/// A clock that falls back can bring a lease back to life, so this looks at every transition it is shown.
pub(super) fn lease_exclusion<P: Protocol>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    alone(view.after.inside_lease(), "are both inside, each within its lease")
}

fn alone(mut inside: impl Iterator<Item = ClientId>, what: &str) -> Result<(), String> {
    match (inside.next(), inside.next()) {
        (Some(first), Some(second)) => Err(format!("{first} and {second} {what}")),
        _ => Ok(()),
    }
}

pub(super) fn slot_limit_belief<P: Protocol>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    if !view.facts.iter().any(|fact| matches!(fact, Fact::Entered { .. })) {
        return Ok(());
    }
    let inside: Vec<ClientId> = view.after.inside().collect();
    let promised = |client: &ClientId| view.after.clients[client.place()].process.belief().slots;
    let Some(slots) = inside.iter().filter_map(promised).min() else { return Ok(()) };
    if inside.len() <= usize::from(slots) {
        return Ok(());
    }
    let names: Vec<String> = inside.iter().map(ToString::to_string).collect();
    Err(format!("{} are inside, and one of them was promised a limit of {slots}", names.join(" and ")))
}
