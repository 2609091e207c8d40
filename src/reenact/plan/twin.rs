//! The same execution at a finer resolution: actions of a trace as they are there.

use fencepost_consul::{Consul, ConsulMessage, Request, Terms, Watch};
use fencepost_model::process::Message;
use fencepost_model::world::{Action, Envelope, World};

/// The action in a world whose ticks have a number of parts.
pub(super) fn refined(action: &Action<Consul>, world: &World<Consul>, parts: i64) -> Action<Consul> {
    let there = |envelope: Envelope<Consul>| {
        let envelope = Envelope { message: message(envelope.message, parts), ..envelope };
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

/// The message, with its durations at the finer resolution.
fn message(message: Message<Consul>, parts: i64) -> Message<Consul> {
    let Message::Service(ConsulMessage::Request(call, request)) = message else { return message };
    let request = match request {
        Request::CreateSession(terms) => {
            let ttl = terms.ttl.map(|ttl| ttl.times(parts));
            Request::CreateSession(Terms { ttl, lock_delay: terms.lock_delay.times(parts), ..terms })
        }
        Request::Watch(watch) => Request::Watch(Watch { wait: watch.wait.map(|wait| wait.times(parts)), ..watch }),
        other => other,
    };
    Message::Service(ConsulMessage::Request(call, request))
}
