//! Operator actions: changes through the HTTP API by an operator, or by another application that uses the same key.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::server::Status;
use super::settings::CheckKind;
use super::{
    Claim, Consul, Key, LOCK, Opaque, Operation, OperatorActionKind, Plain, Prefix, Request, Server, Settings, Slots,
};
use fencepost_model::ids::{ClientId, Index, RawId, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::world::{Condition, World};

/// One action.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorAction {
    /// Destroys a session. C-SES-19: any client may do this.
    Destroy(SessionId),
    /// Puts another value into the lock's key. C-KV-8.
    Put,
    /// Deletes the lock's key. C-KV-14.
    Delete,
    /// Puts another value by compare-and-set. C-KV-9.
    Cas(Index),
    /// Deletes the key if it is at this index. C-KV-15.
    DeleteCas(Index),
    /// Deletes every key. C-KV-17.
    DeleteTree,
    /// Deletes the coordination entry of the semaphore; if at this index.
    DeleteSlots(Option<Index>),
    /// Releases the lock in the name of its session. C-KV-13.
    Release(SessionId),
    /// Acquires the lock in the name of a session. C-KV-10.
    Acquire(SessionId),
    /// Renews a session. C-SES-18.
    Renew(SessionId),
    /// Sets a check of the node of a client. C-INV-9.
    SetCheck(ClientId, CheckKind, Status),
    /// Deregisters a check. C-INV-7.
    DropCheck(ClientId, CheckKind),
    /// Deregisters the service, and with it its check. C-INV-8.
    DropService(ClientId),
    /// Deregisters a node. C-INV-6.
    DropNode(ClientId),
    /// Makes a check of a node critical and acquires the lock in the name of a session, in one transaction. C-LD-10.
    TakeOver(ClientId, CheckKind, SessionId),
}

pub(super) fn offers(world: &World<Consul>, scenario: &Scenario<Consul>, offer: &mut dyn FnMut(OperatorAction)) {
    let server = &world.server.process;
    if !server.has_leader() {
        return;
    }
    for priced in &scenario.service.operator {
        offer_kind(priced.kind(), world, offer);
    }
}

fn offer_kind(kind: OperatorActionKind, world: &World<Consul>, offer: &mut dyn FnMut(OperatorAction)) {
    let server = &world.server.process;
    let entry = server.entry(LOCK);
    match kind {
        OperatorActionKind::DestroySession => {
            server.sessions().for_each(|session| offer(OperatorAction::Destroy(session)))
        }
        OperatorActionKind::DestroyCrashed => {
            let is_down = |client: ClientId| world.clients[client.place()].condition == Condition::Down;
            server
                .sessions()
                .filter(|session| is_down(session.raw().creator))
                .for_each(|session| offer(OperatorAction::Destroy(session)));
        }
        OperatorActionKind::DestroyWaiting => {
            let waiting = |client: ClientId| world.waiting().any(|other| other == client);
            server
                .sessions()
                .filter(|session| waiting(session.raw().creator))
                .for_each(|session| offer(OperatorAction::Destroy(session)));
        }
        OperatorActionKind::Put => offer(OperatorAction::Put),
        OperatorActionKind::Delete => entry.iter().for_each(|_| offer(OperatorAction::Delete)),
        OperatorActionKind::Cas => entry.iter().for_each(|entry| offer(OperatorAction::Cas(entry.modify))),
        OperatorActionKind::DeleteTree => {
            if server.keys().next().is_some() {
                offer(OperatorAction::DeleteTree);
            }
        }
        OperatorActionKind::DeleteSlots => {
            if server.slots().is_some() {
                offer(OperatorAction::DeleteSlots(None));
            }
        }
        OperatorActionKind::DestroySlots => {
            let is_held =
                |slots: Slots| slots.holders.iter().any(|holder| server.contenders().any(|other| other == *holder));
            if let (Some(slots), Some(entry)) = (server.slots(), server.entry(Key::Slots))
                && !is_held(slots)
            {
                offer(OperatorAction::DeleteSlots(Some(entry.modify)));
            }
        }
        OperatorActionKind::DeleteCas => entry.iter().for_each(|entry| offer(OperatorAction::DeleteCas(entry.modify))),
        OperatorActionKind::Release => {
            entry
                .and_then(|entry| entry.session)
                .into_iter()
                .for_each(|session| offer(OperatorAction::Release(session)));
        }
        OperatorActionKind::Acquire => server.sessions().for_each(|session| offer(OperatorAction::Acquire(session))),
        OperatorActionKind::RenewSession => server.sessions().for_each(|session| offer(OperatorAction::Renew(session))),
        OperatorActionKind::WarnCheck => offer_status(server, Status::Warning, offer),
        OperatorActionKind::FailCheck => offer_status(server, Status::Critical, offer),
        OperatorActionKind::PassCheck => offer_status(server, Status::Passing, offer),
        OperatorActionKind::DeregisterCheck => {
            registered(server, |node, kind, _| offer(OperatorAction::DropCheck(node, kind)));
        }
        OperatorActionKind::DeregisterService => registered(server, |node, kind, _| {
            if kind == CheckKind::ServiceCheck {
                offer(OperatorAction::DropService(node));
            }
        }),
        OperatorActionKind::DeregisterNode => server.nodes().for_each(|node| offer(OperatorAction::DropNode(node.id))),
        OperatorActionKind::TakeOver => {
            let Some(holder) = entry.and_then(|entry| entry.session) else { return };
            let others = || server.sessions().filter(|session| session.raw().creator != holder.raw().creator);
            registered(server, |node, kind, _| {
                if node == holder.raw().creator {
                    others().for_each(|session| offer(OperatorAction::TakeOver(node, kind, session)));
                }
            });
        }
    }
}

/// Every registered check.
fn registered(server: &Server, mut each: impl FnMut(ClientId, CheckKind, Status)) {
    for node in server.nodes() {
        for kind in CheckKind::ALL {
            if let Some(status) = node.status(kind) {
                each(node.id, kind, status);
            }
        }
    }
}

fn offer_status(server: &Server, status: Status, offer: &mut dyn FnMut(OperatorAction)) {
    registered(server, |node, kind, present| {
        if present != status {
            offer(OperatorAction::SetCheck(node, kind, status));
        }
    });
}

/// What the action costs.
pub(super) fn cost(action: OperatorAction, settings: &Settings) -> u8 {
    price(action, settings).expect("only what is listed is offered")
}

/// Whether `service.operator` lists the action.
pub(super) fn is_listed(action: OperatorAction, settings: &Settings) -> bool {
    price(action, settings).is_some()
}

fn price(action: OperatorAction, settings: &Settings) -> Option<u8> {
    let is_it = |kind: OperatorActionKind| match kind {
        OperatorActionKind::DestroySession
        | OperatorActionKind::DestroyWaiting
        | OperatorActionKind::DestroyCrashed => {
            matches!(action, OperatorAction::Destroy(_))
        }
        OperatorActionKind::Put => matches!(action, OperatorAction::Put),
        OperatorActionKind::Delete => matches!(action, OperatorAction::Delete),
        OperatorActionKind::Cas => matches!(action, OperatorAction::Cas(_)),
        OperatorActionKind::DeleteTree => matches!(action, OperatorAction::DeleteTree),
        OperatorActionKind::DeleteCas => matches!(action, OperatorAction::DeleteCas(_)),
        OperatorActionKind::DeleteSlots => matches!(action, OperatorAction::DeleteSlots(None)),
        OperatorActionKind::DestroySlots => matches!(action, OperatorAction::DeleteSlots(Some(_))),
        OperatorActionKind::Release => matches!(action, OperatorAction::Release(_)),
        OperatorActionKind::Acquire => matches!(action, OperatorAction::Acquire(_)),
        OperatorActionKind::RenewSession => matches!(action, OperatorAction::Renew(_)),
        OperatorActionKind::WarnCheck => matches!(action, OperatorAction::SetCheck(_, _, Status::Warning)),
        OperatorActionKind::FailCheck => matches!(action, OperatorAction::SetCheck(_, _, Status::Critical)),
        OperatorActionKind::PassCheck => matches!(action, OperatorAction::SetCheck(_, _, Status::Passing)),
        OperatorActionKind::DeregisterCheck => matches!(action, OperatorAction::DropCheck(..)),
        OperatorActionKind::DeregisterService => matches!(action, OperatorAction::DropService(_)),
        OperatorActionKind::DeregisterNode => matches!(action, OperatorAction::DropNode(_)),
        OperatorActionKind::TakeOver => matches!(action, OperatorAction::TakeOver(..)),
    };
    let prices = settings.operator.iter().filter(|priced| is_it(priced.kind()));
    prices.map(|priced| priced.cost()).min()
}

pub(super) fn perform(
    server: &mut Server,
    action: OperatorAction,
    context: &Context<'_, Consul>,
    out: &mut Outbox<Consul>,
) {
    let claim = |session| Claim::new(LOCK, session, Opaque::Foreign, 0);
    let value = Opaque::Foreign;
    let request = match action {
        OperatorAction::Destroy(session) => Request::DestroySession(session),
        OperatorAction::Put => Request::Put { key: LOCK, value, flags: 0 },
        OperatorAction::Delete => Request::Delete(LOCK),
        OperatorAction::Cas(index) => Request::Cas { key: LOCK, index, value, flags: 0 },
        OperatorAction::DeleteCas(index) => Request::DeleteCas { key: LOCK, index },
        OperatorAction::DeleteSlots(None) => Request::Delete(Key::Slots),
        OperatorAction::DeleteSlots(Some(index)) => Request::DeleteCas { key: Key::Slots, index },
        OperatorAction::Release(session) => Request::Release(claim(session)),
        OperatorAction::Acquire(session) => Request::Acquire(claim(session)),
        OperatorAction::Renew(session) => Request::RenewSession(session),
        OperatorAction::DeleteTree => {
            server.begin_entry();
            server.delete_tree(Prefix::All, context, out);
            return;
        }
        OperatorAction::SetCheck(node, kind, status) => return server.set_check(node, kind, status, context, out),
        OperatorAction::DropCheck(node, kind) => return server.deregister_check(node, kind, context, out),
        OperatorAction::DropService(node) => {
            return server.deregister_check(node, CheckKind::ServiceCheck, context, out);
        }
        OperatorAction::DropNode(node) => return server.deregister_node(node, context, out),
        OperatorAction::TakeOver(node, kind, session) => {
            let claim = Claim::new(LOCK, session, Plain::Foreign, 0);
            let operations = [Operation::SetCheck(node, kind, Status::Critical), Operation::Lock(claim)];
            if server.delayed(&operations, context).next().is_none() {
                server.transact(session.raw().creator, &operations, context, out, &mut |_, _| {});
            }
            return;
        }
    };
    server.serve(None, request, context, out);
}

impl fmt::Display for OperatorAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OperatorAction::Destroy(session) => write!(f, "destroys {session}"),
            OperatorAction::Put => f.write_str("puts another value into the key"),
            OperatorAction::Delete => f.write_str("deletes the key"),
            OperatorAction::DeleteTree => f.write_str("deletes every key"),
            OperatorAction::DeleteSlots(None) => f.write_str("deletes the semaphore's entry"),
            OperatorAction::DeleteSlots(Some(index)) => {
                write!(f, "removes the semaphore without holders, at {index}")
            }
            OperatorAction::Cas(index) => write!(f, "puts another value into the key if it is at {index}"),
            OperatorAction::DeleteCas(index) => write!(f, "deletes the key if it is at {index}"),
            OperatorAction::Release(session) => write!(f, "releases the key in the name of {session}"),
            OperatorAction::Acquire(session) => write!(f, "acquires the key in the name of {session}"),
            OperatorAction::Renew(session) => write!(f, "renews {session}"),
            OperatorAction::SetCheck(node, kind, status) => write!(f, "sets {kind} of {node}'s node to {status}"),
            OperatorAction::DropCheck(node, kind) => write!(f, "deregisters {kind} of {node}'s node"),
            OperatorAction::DropService(node) => write!(f, "deregisters the service on {node}'s node"),
            OperatorAction::DropNode(node) => write!(f, "deregisters {node}'s node"),
            OperatorAction::TakeOver(node, kind, session) => {
                write!(f, "fails {kind} of {node}'s node and acquires the key in the name of {session}, at once")
            }
        }
    }
}
