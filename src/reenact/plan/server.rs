//! What an action means for the server, and what it answers.

use fencepost_consul::{
    CheckKind, Consul, ConsulFault, ConsulMessage, Key, LOCK, Operation, OperatorAction, Request, Timer,
};
use fencepost_model::ids::{Index, ProcessId};
use fencepost_model::process::{Context, Input, Message, Outbox, Process};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, Envelope, Fault, World};

use super::event::{AtServer, Expected};

/// What the server sees.
pub(super) fn server_context<'a>(scenario: &'a Scenario<Consul>, world: &World<Consul>) -> Context<'a, Consul> {
    Context { scenario, now: world.clock(ProcessId::Server), me: ProcessId::Server }
}

/// What an action means for the server.
pub(super) fn at_server(action: &Action<Consul>) -> AtServer {
    match *action {
        Action::Deliver(Envelope {
            from: ProcessId::Client(client),
            to: ProcessId::Server,
            message: Message::Service(ConsulMessage::Request(call, request)),
            ..
        }) => AtServer::Request(client, call, request),
        Action::Operator(action) => AtServer::Operator(action),
        Action::Fault(Fault::Service(ConsulFault::FalseAlarm(node, kind))) => AtServer::Critical(node, kind),
        Action::Fault(Fault::Service(ConsulFault::Restart)) => AtServer::Restart,
        Action::Wake { process: ProcessId::Server, timer } => match timer {
            Timer::Suspect(node) => AtServer::Critical(node, CheckKind::SerfHealth),
            Timer::CheckFails(node) => AtServer::Critical(node, CheckKind::ServiceCheck),
            Timer::Reap(node) => AtServer::Reap(node),
            Timer::Sync(node) => AtServer::Sync(node),
            Timer::Expire(session) => AtServer::Expire(session),
            _ => AtServer::Itself,
        },
        _ => AtServer::Nothing,
    }
}

/// What the server answers to an action, to whomever.
pub(super) fn answers(scenario: &Scenario<Consul>, world: &World<Consul>, action: &Action<Consul>) -> Vec<Expected> {
    let context = server_context(scenario, world);
    let mut server = world.server.process.clone();
    let mut out = Outbox::new();
    match *action {
        Action::Deliver(Envelope { from, to: ProcessId::Server, message, .. }) => {
            server.on(Input::Message { from, message }, &context, &mut out);
        }
        Action::Wake { process: ProcessId::Server, timer } => server.on(Input::Wake(timer), &context, &mut out),
        Action::Operator(action) => Consul::operate(&mut server, action, &context, &mut out),
        Action::Fault(Fault::Service(fault)) => Consul::apply_fault(&mut world.clone(), fault, &context, &mut out),
        _ => {}
    }
    let answer = |(to, message): &(ProcessId, Message<Consul>)| match (to.client(), message) {
        (Some(client), Message::Service(ConsulMessage::Response(call, answer))) => {
            Some(Expected { client, call: *call, answer: *answer })
        }
        _ => None,
    };
    out.messages().iter().filter_map(answer).collect()
}

/// The keys that a request acquires.
pub(super) fn acquired(action: &Action<Consul>) -> Vec<Key> {
    match at_server(action) {
        AtServer::Request(_, _, Request::Acquire(claim)) => vec![claim.key],
        AtServer::Request(_, _, Request::Commit(transaction)) => {
            let key = |operation: &Operation| match operation {
                Operation::Lock(claim) => Some(claim.key),
                _ => None,
            };
            transaction.operations.iter().filter_map(key).collect()
        }
        AtServer::Operator(OperatorAction::Acquire(_) | OperatorAction::TakeOver(..)) => vec![LOCK],
        _ => Vec::new(),
    }
}

/// Where an operator has looked up the log positions of its request.
pub(super) fn looks(action: &Action<Consul>) -> Vec<(Index, Key)> {
    match at_server(action) {
        AtServer::Operator(OperatorAction::Cas(index) | OperatorAction::DeleteCas(index)) => vec![(index, LOCK)],
        AtServer::Operator(OperatorAction::DeleteSlots(Some(index))) => vec![(index, Key::Slots)],
        _ => Vec::new(),
    }
}
