//! What the server answers.

use fencepost_model::ids::ProcessId;
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::world::{Action, Envelope, Fault, World};

use super::event::Expected;
use crate::driven::Driven;

/// What the server sees.
pub(crate) fn server_context<'a, S: Driven>(scenario: &'a Scenario<S>, world: &World<S>) -> Context<'a, S> {
    Context { scenario, now: world.clock(ProcessId::Server), me: ProcessId::Server }
}

/// What the server answers to an action, to whomever.
pub(super) fn answers<S: Driven>(scenario: &Scenario<S>, world: &World<S>, action: &Action<S>) -> Vec<Expected<S>> {
    let context = server_context(scenario, world);
    let mut server = world.server.process.clone();
    let mut out = Outbox::new();
    match *action {
        Action::Deliver(Envelope { from, to: ProcessId::Server, message, .. }) => {
            server.on(Input::Message { from, message }, &context, &mut out);
        }
        Action::Wake { process: ProcessId::Server, timer } => server.on(Input::Wake(timer), &context, &mut out),
        Action::Operator(action) => S::operate(&mut server, action, &context, &mut out),
        Action::Fault(Fault::Service(fault)) => S::apply_fault(&mut world.clone(), fault, &context, &mut out),
        _ => {}
    }
    let answer = |(to, message): &(ProcessId, Message<S>)| match (to.client(), message) {
        (Some(client), Message::Service(message)) => {
            S::answer(message).map(|(call, answer)| Expected { client, call, answer })
        }
        _ => None,
    };
    out.messages().iter().filter_map(answer).collect()
}
