//! Promises about what clients think.

use super::View;
use crate::fact::Fact;
use crate::ids::ClientId;
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
