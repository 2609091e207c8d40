//! What somebody with access to the HTTP API may do from outside: an operator, or a bystander who uses the same key.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::server::Status;
use super::settings::CheckKind;
use super::{
    Claim, Consul, Key, LOCK, Opaque, Operation, OperatorAct, Plain, Prefix, Request, Server, Settings, Slots,
};
use fencepost_model::ids::{ClientId, Index, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::world::{Condition, World};

/// One act.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Destroys a session. C-SES-19: anyone may.
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

pub(super) fn offers(world: &World<Consul>, scenario: &Scenario<Consul>, offer: &mut dyn FnMut(Act)) {
    let server = &world.server.process;
    if !server.has_leader() {
        return;
    }
    for priced in &scenario.service.operator {
        offer_kind(priced.act(), world, offer);
    }
}

fn offer_kind(act: OperatorAct, world: &World<Consul>, offer: &mut dyn FnMut(Act)) {
    let server = &world.server.process;
    let entry = server.entry(LOCK);
    match act {
        OperatorAct::DestroySession => server.sessions().for_each(|session| offer(Act::Destroy(session))),
        OperatorAct::DestroyCrashed => {
            let is_down = |client: ClientId| world.clients[client.place()].condition == Condition::Down;
            server
                .sessions()
                .filter(|session| is_down(session.creator))
                .for_each(|session| offer(Act::Destroy(session)));
        }
        OperatorAct::DestroyWaiting => {
            let waiting = |client: ClientId| world.waiting().any(|other| other == client);
            server
                .sessions()
                .filter(|session| waiting(session.creator))
                .for_each(|session| offer(Act::Destroy(session)));
        }
        OperatorAct::Put => offer(Act::Put),
        OperatorAct::Delete => entry.iter().for_each(|_| offer(Act::Delete)),
        OperatorAct::Cas => entry.iter().for_each(|entry| offer(Act::Cas(entry.modify))),
        OperatorAct::DeleteTree => {
            if server.keys().next().is_some() {
                offer(Act::DeleteTree);
            }
        }
        OperatorAct::DeleteSlots => {
            if server.slots().is_some() {
                offer(Act::DeleteSlots(None));
            }
        }
        OperatorAct::DestroySlots => {
            let is_held =
                |slots: Slots| slots.holders.iter().any(|holder| server.contenders().any(|other| other == *holder));
            if let (Some(slots), Some(entry)) = (server.slots(), server.entry(Key::Slots))
                && !is_held(slots)
            {
                offer(Act::DeleteSlots(Some(entry.modify)));
            }
        }
        OperatorAct::DeleteCas => entry.iter().for_each(|entry| offer(Act::DeleteCas(entry.modify))),
        OperatorAct::Release => {
            entry.and_then(|entry| entry.session).into_iter().for_each(|session| offer(Act::Release(session)));
        }
        OperatorAct::Acquire => server.sessions().for_each(|session| offer(Act::Acquire(session))),
        OperatorAct::RenewSession => server.sessions().for_each(|session| offer(Act::Renew(session))),
        OperatorAct::WarnCheck => offer_status(server, Status::Warning, offer),
        OperatorAct::FailCheck => offer_status(server, Status::Critical, offer),
        OperatorAct::PassCheck => offer_status(server, Status::Passing, offer),
        OperatorAct::DeregisterCheck => {
            registered(server, |node, kind, _| offer(Act::DropCheck(node, kind)));
        }
        OperatorAct::DeregisterService => registered(server, |node, kind, _| {
            if kind == CheckKind::ServiceCheck {
                offer(Act::DropService(node));
            }
        }),
        OperatorAct::DeregisterNode => server.nodes().for_each(|node| offer(Act::DropNode(node.id))),
        OperatorAct::TakeOver => {
            let Some(holder) = entry.and_then(|entry| entry.session) else { return };
            let others = || server.sessions().filter(|session| session.creator != holder.creator);
            registered(server, |node, kind, _| {
                if node == holder.creator {
                    others().for_each(|session| offer(Act::TakeOver(node, kind, session)));
                }
            });
        }
    }
}

/// Every check that is registered.
fn registered(server: &Server, mut each: impl FnMut(ClientId, CheckKind, Status)) {
    for node in server.nodes() {
        for kind in CheckKind::ALL {
            if let Some(status) = node.status(kind) {
                each(node.id, kind, status);
            }
        }
    }
}

fn offer_status(server: &Server, status: Status, offer: &mut dyn FnMut(Act)) {
    registered(server, |node, kind, present| {
        if present != status {
            offer(Act::SetCheck(node, kind, status));
        }
    });
}

/// What the act costs.
pub(super) fn cost(act: Act, settings: &Settings) -> u8 {
    price(act, settings).expect("only what is listed is offered")
}

/// Whether `service.operator` lists the act.
pub(super) fn is_listed(act: Act, settings: &Settings) -> bool {
    price(act, settings).is_some()
}

fn price(act: Act, settings: &Settings) -> Option<u8> {
    let is_it = |kind: OperatorAct| match kind {
        OperatorAct::DestroySession | OperatorAct::DestroyWaiting | OperatorAct::DestroyCrashed => {
            matches!(act, Act::Destroy(_))
        }
        OperatorAct::Put => matches!(act, Act::Put),
        OperatorAct::Delete => matches!(act, Act::Delete),
        OperatorAct::Cas => matches!(act, Act::Cas(_)),
        OperatorAct::DeleteTree => matches!(act, Act::DeleteTree),
        OperatorAct::DeleteCas => matches!(act, Act::DeleteCas(_)),
        OperatorAct::DeleteSlots => matches!(act, Act::DeleteSlots(None)),
        OperatorAct::DestroySlots => matches!(act, Act::DeleteSlots(Some(_))),
        OperatorAct::Release => matches!(act, Act::Release(_)),
        OperatorAct::Acquire => matches!(act, Act::Acquire(_)),
        OperatorAct::RenewSession => matches!(act, Act::Renew(_)),
        OperatorAct::WarnCheck => matches!(act, Act::SetCheck(_, _, Status::Warning)),
        OperatorAct::FailCheck => matches!(act, Act::SetCheck(_, _, Status::Critical)),
        OperatorAct::PassCheck => matches!(act, Act::SetCheck(_, _, Status::Passing)),
        OperatorAct::DeregisterCheck => matches!(act, Act::DropCheck(..)),
        OperatorAct::DeregisterService => matches!(act, Act::DropService(_)),
        OperatorAct::DeregisterNode => matches!(act, Act::DropNode(_)),
        OperatorAct::TakeOver => matches!(act, Act::TakeOver(..)),
    };
    let prices = settings.operator.iter().filter(|priced| is_it(priced.act()));
    prices.map(|priced| priced.cost()).min()
}

pub(super) fn perform(server: &mut Server, act: Act, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
    let claim = |session| Claim::new(LOCK, session, Opaque::Foreign, 0);
    let value = Opaque::Foreign;
    let request = match act {
        Act::Destroy(session) => Request::DestroySession(session),
        Act::Put => Request::Put { key: LOCK, value, flags: 0 },
        Act::Delete => Request::Delete(LOCK),
        Act::Cas(index) => Request::Cas { key: LOCK, index, value, flags: 0 },
        Act::DeleteCas(index) => Request::DeleteCas { key: LOCK, index },
        Act::DeleteSlots(None) => Request::Delete(Key::Slots),
        Act::DeleteSlots(Some(index)) => Request::DeleteCas { key: Key::Slots, index },
        Act::Release(session) => Request::Release(claim(session)),
        Act::Acquire(session) => Request::Acquire(claim(session)),
        Act::Renew(session) => Request::RenewSession(session),
        Act::DeleteTree => {
            server.begin_entry();
            server.delete_tree(Prefix::All, context, out);
            return;
        }
        Act::SetCheck(node, kind, status) => return server.set_check(node, kind, status, context, out),
        Act::DropCheck(node, kind) => return server.deregister_check(node, kind, context, out),
        Act::DropService(node) => return server.deregister_check(node, CheckKind::ServiceCheck, context, out),
        Act::DropNode(node) => return server.deregister_node(node, context, out),
        Act::TakeOver(node, kind, session) => {
            let claim = Claim::new(LOCK, session, Plain::Foreign, 0);
            let operations = [Operation::SetCheck(node, kind, Status::Critical), Operation::Lock(claim)];
            if server.delayed(&operations, context).next().is_none() {
                server.transact(session.creator, &operations, context, out, &mut |_, _| {});
            }
            return;
        }
    };
    server.serve(None, request, context, out);
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Act::Destroy(session) => write!(f, "destroys {session}"),
            Act::Put => f.write_str("puts another value into the key"),
            Act::Delete => f.write_str("deletes the key"),
            Act::DeleteTree => f.write_str("deletes every key"),
            Act::DeleteSlots(None) => f.write_str("deletes the semaphore's entry"),
            Act::DeleteSlots(Some(index)) => write!(f, "removes the semaphore, of which nobody has a slot, at {index}"),
            Act::Cas(index) => write!(f, "puts another value into the key if it is at {index}"),
            Act::DeleteCas(index) => write!(f, "deletes the key if it is at {index}"),
            Act::Release(session) => write!(f, "releases the key in the name of {session}"),
            Act::Acquire(session) => write!(f, "acquires the key in the name of {session}"),
            Act::Renew(session) => write!(f, "renews {session}"),
            Act::SetCheck(node, kind, status) => write!(f, "sets {kind} of {node}'s node to {status}"),
            Act::DropCheck(node, kind) => write!(f, "deregisters {kind} of {node}'s node"),
            Act::DropService(node) => write!(f, "deregisters the service on {node}'s node"),
            Act::DropNode(node) => write!(f, "deregisters {node}'s node"),
            Act::TakeOver(node, kind, session) => {
                write!(f, "fails {kind} of {node}'s node and acquires the key in the name of {session}, at once")
            }
        }
    }
}
