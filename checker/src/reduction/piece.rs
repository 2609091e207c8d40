//! A part of a world, by itself.

use std::cell::Cell;
use std::num::NonZeroU64;

use fencepost_model::ids::{ClientId, ProcessId, Tenure};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::monitor::{Monitor, Observed};
use fencepost_model::normal::{Normal, Visitor};
use fencepost_model::resource::Resource;
use fencepost_model::scenario::Budget;
use fencepost_model::service::Service;
use fencepost_model::time::Ticks;
use fencepost_model::world::{Envelope, Host, Link, Rename};
use serde::{Deserialize, Serialize};

use super::hash::hash_of;
use super::order::{Order, seen_by};
use super::parts::{visit_host, visit_memory};

/// A part of a world.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) enum Piece<P: Service> {
    /// A client, with its name.
    Client(ClientId, Host<P::Client>),
    /// The server; boxed, for it is the largest by far.
    Server(Box<Host<P::Server>>),
    /// What is remembered.
    Memory(Resource, Monitor),
    /// Cut links, and what is left of the budgets.
    Rest(
        InlineVec<Link, 2>,
        #[serde(
            deserialize_with = "fencepost_model::scenario::read_left::<P, _>",
            serialize_with = "fencepost_model::scenario::write_left::<P, _>"
        )]
        Budget,
    ),
    /// A message under way.
    Message(Envelope<P>),
}

/// The places of parts: clients come first, then these, then the messages.
#[derive(Copy, Clone)]
pub(super) struct Layout {
    pub(super) server: usize,
    pub(super) memory: usize,
    pub(super) rest: usize,
    pub(super) messages: usize,
}

impl Layout {
    #[inline]
    pub(super) fn of(clients: usize) -> Self {
        Layout { server: clients, memory: clients + 1, rest: clients + 2, messages: clients + 3 }
    }

    /// Where a process stands; what the lock protects stands with what is remembered.
    #[inline]
    pub(super) fn place(&self, process: ProcessId) -> usize {
        match process {
            ProcessId::Client(client) => client.place(),
            ProcessId::Server => self.server,
            ProcessId::Resource => self.memory,
        }
    }

    /// By this the part at a place is told from others with the same hash: its kind, and a client's name.
    #[inline]
    pub(super) fn kind(&self, place: usize) -> u32 {
        let behind_clients = place.checked_sub(self.server).map(|kind| (1 + kind.min(3) as u32) << 16);
        behind_clients.unwrap_or_else(|| ClientId::of(place).0.into())
    }
}

impl<P: Service> Piece<P> {
    /// What stands at this place in a world.
    pub(super) fn at(state: &Observed<P>, place: usize) -> Self {
        let places = Layout::of(state.clients.len());
        if let Some(host) = state.clients.get(place) {
            Piece::Client(ClientId::of(place), *host)
        } else if place == places.server {
            Piece::Server(Box::new(state.server.clone()))
        } else if place == places.memory {
            Piece::Memory(state.resource, state.monitor.clone())
        } else if place == places.rest {
            Piece::Rest(state.cuts.clone(), state.left)
        } else {
            Piece::Message(state.network.places()[place - places.messages])
        }
    }

    /// Puts it into a world, to its place; messages are put there together.
    pub(super) fn put(&self, state: &mut Observed<P>) {
        match self {
            Piece::Client(client, host) => state.world.clients[client.place()] = *host,
            Piece::Server(host) => state.world.server.clone_from(host),
            Piece::Memory(resource, monitor) => {
                state.world.resource = *resource;
                state.monitor.clone_from(monitor);
            }
            Piece::Rest(cuts, left) => {
                state.world.cuts.clone_from(cuts);
                state.world.left = *left;
            }
            Piece::Message(_) => {}
        }
    }

    /// The message that it is, if it is one.
    #[inline]
    pub(super) fn message(&self) -> Option<&Envelope<P>> {
        if let Piece::Message(envelope) = self { Some(envelope) } else { None }
    }

    /// For each client the newest tenure that it was granted, where that is remembered.
    #[inline]
    pub(super) fn held(&self) -> InlineVec<Tenure, 3> {
        if let Piece::Memory(_, monitor) = self { monitor.ghosts.held.clone() } else { InlineVec::new() }
    }

    /// The same as [`Layout::kind`] says of its place.
    pub(super) fn kind(&self) -> u32 {
        match self {
            Piece::Client(client, _) => client.0.into(),
            Piece::Server(_) => 1 << 16,
            Piece::Memory(..) => 2 << 16,
            Piece::Rest(..) => 3 << 16,
            Piece::Message(_) => 4 << 16,
        }
    }

    /// The same as a world's fingerprint is made of.
    pub(super) fn hash(&self) -> u64 {
        match self {
            Piece::Client(_, host) => hash_of(host),
            Piece::Server(host) => hash_of(&**host),
            Piece::Memory(resource, monitor) => hash_of((resource, monitor)),
            Piece::Rest(cuts, left) => hash_of((cuts, left)),
            Piece::Message(envelope) => hash_of(envelope),
        }
    }
}

impl<P: Service> Piece<P> {
    /// Calls clients by other names.
    fn rename<F: Fn(ClientId) -> ClientId>(&mut self, name: &F, names: &mut Rename<'_, F>) {
        let rename = |process: &mut ProcessId| {
            if let ProcessId::Client(client) = process {
                *client = name(*client);
            }
        };
        match self {
            Piece::Client(client, host) => {
                *client = name(*client);
                host.process.visit(names);
            }
            Piece::Server(host) => host.process.visit(names),
            Piece::Memory(_, monitor) => monitor.visit(names),
            Piece::Rest(cuts, _) => {
                for link in cuts.iter_mut() {
                    rename(&mut link.from);
                    rename(&mut link.to);
                }
            }
            Piece::Message(envelope) => {
                rename(&mut envelope.from);
                rename(&mut envelope.to);
                envelope.message.visit(names);
            }
        }
        self.sort();
    }

    /// The same after clients have changed places: each client has its new name.
    pub(super) fn arrange(&mut self, order: &Order) {
        if let Piece::Memory(_, Monitor { ghosts, .. }) = self {
            let held = ghosts.held.clone();
            let before = |other: &u16| held.get(usize::from(*other)).copied();
            ghosts.held.iter_mut().zip(order.iter().filter_map(before)).for_each(|(held, before)| *held = before);
        }
        let name = |client: ClientId| {
            let place = order.iter().position(|other| usize::from(*other) == client.place());
            place.map_or(client, ClientId::of)
        };
        self.rename(&name, &mut Rename::permuting(&name));
    }

    /// The clients of which the new places count where it is [arranged](Self::arrange): four bits for each of the first sixteen. They are those that
    /// it names, as renaming shows; what is remembered has a list of all.
    pub(super) fn named(&self) -> u64 {
        if let Piece::Memory(..) = self {
            return u64::MAX;
        }
        let named = Cell::new(0);
        let name = |client: ClientId| {
            let place = u32::from(client.0).checked_sub(1);
            named.set(named.get() | place.and_then(|place| 0xf_u64.checked_shl(4 * place)).unwrap_or_default());
            client
        };
        self.clone().rename(&name, &mut Rename::permuting(&name));
        named.get()
    }

    /// What others have of a client, in this part: a hash.
    pub(super) fn trace(&self, place: usize) -> NonZeroU64 {
        let mut piece = self.clone();
        if let Piece::Memory(_, Monitor { ghosts, .. }) = &mut piece {
            ghosts.held.clear();
        }
        let name = seen_by(place);
        piece.rename(&name, &mut Rename::merging(&name));
        NonZeroU64::new(piece.hash()).unwrap_or(NonZeroU64::MIN)
    }
}

impl<P: Service> Normal for Piece<P> {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Piece::Client(client, host) => visit_host(Some(*client), host, visitor),
            Piece::Server(host) => visit_host(None, &mut **host, visitor),
            Piece::Memory(resource, monitor) => visit_memory(resource, monitor, visitor),
            Piece::Rest(..) => visitor.scope(None, Ticks::ZERO),
            Piece::Message(envelope) => envelope.visit(visitor),
        }
    }

    fn sort(&mut self) {
        match self {
            Piece::Server(host) => host.process.sort(),
            Piece::Memory(_, monitor) => monitor.sort(),
            Piece::Rest(cuts, _) => cuts.sort_unstable(),
            Piece::Message(envelope) => envelope.message.sort(),
            Piece::Client(..) => {}
        }
    }
}
