//! The same execution at a finer resolution: actions of a trace as they are there.

use fencepost_model::process::Message;
use fencepost_model::world::{Action, Envelope, World};

use crate::driven::Driven;

/// The action in a world whose ticks have a number of parts.
pub(super) fn refined<S: Driven>(action: &Action<S>, world: &World<S>, parts: i64) -> Action<S> {
    let message = |message| match message {
        Message::Service(message) => Message::Service(S::refined(message, parts)),
        other => other,
    };
    let there = |envelope: Envelope<S>| {
        let envelope = Envelope { message: message(envelope.message), ..envelope };
        world.network.first_like(&envelope).unwrap_or(envelope)
    };
    match *action {
        Action::Deliver(envelope) => Action::Deliver(there(envelope)),
        Action::Lose(envelope) => Action::Lose(there(envelope)),
        Action::Duplicate(envelope) => Action::Duplicate(there(envelope)),
        Action::Advance(ticks) => Action::Advance(ticks.times(parts)),
        Action::Slip { process, by } => Action::Slip { process, by: by.times(parts) },
        other => other,
    }
}
