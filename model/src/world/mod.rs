//! The state: the processes, the messages in flight, the clocks, and the rest of the budgets.

mod action;
mod clocks;
mod enabled;
mod horizon;
mod network;
mod place;

mod shape;
mod step;

use serde::{Deserialize, Serialize};

pub use action::{Action, Fault};
pub use horizon::Horizon;
pub use network::{Envelope, Link, Network};
pub use shape::Rename;
pub use step::{Stamps, Step};

use crate::ids::{ClientId, ProcessId};
use crate::inline_vec::InlineVec;
use crate::process::Client;
use crate::resource::Resource;
use crate::scenario::{Budget, Scenario};
use crate::service::{Service, Settings as _};
use crate::time::{Instant, Ticks};
use crate::work_queue::QueueItems;

/// The global state.
#[derive(PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct World<P: Service> {
    /// True time.
    pub now: Instant,
    /// The lock service.
    pub server: Host<P::Server>,
    /// The clients, by [`ClientId::place`].
    pub clients: InlineVec<Host<P::Client>, 3>,
    /// The protected resource.
    pub resource: Resource,
    /// Messages in flight.
    pub network: Network<P>,
    /// Links that are cut.
    pub cuts: InlineVec<Link, 2>,
    /// The rest of the budgets.
    #[serde(
        deserialize_with = "crate::scenario::budget_text::read_left::<P, _>",
        serialize_with = "crate::scenario::budget_text::write_left::<P, _>"
    )]
    pub left: Budget,
}

impl<P: Service> Clone for World<P> {
    fn clone(&self) -> Self {
        World {
            now: self.now,
            server: self.server.clone(),
            clients: self.clients.clone(),
            resource: self.resource,
            network: self.network.clone(),
            cuts: self.cuts.clone(),
            left: self.left,
        }
    }

    /// Copies a world into one that is no longer needed. A search does this at every step.
    fn clone_from(&mut self, other: &Self) {
        let World { now, server, clients, resource, network, cuts, left } = other;
        (self.now, self.resource, self.left) = (*now, *resource, *left);
        self.server.clone_from(server);
        self.clients.clone_from(clients);
        self.network.clone_from(network);
        self.cuts.clone_from(cuts);
    }
}

/// A process with its environment.
#[derive(Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Host<T> {
    /// The process.
    pub process: T,
    /// Its condition.
    pub condition: Condition,
    /// The offset of its clock from true time.
    #[serde(with = "crate::time::signed")]
    pub skew: Ticks,
}

impl<T: Clone> Clone for Host<T> {
    fn clone(&self) -> Self {
        Host { process: self.process.clone(), ..*self }
    }

    fn clone_from(&mut self, other: &Self) {
        (self.condition, self.skew) = (other.condition, other.skew);
        self.process.clone_from(&other.process);
    }
}

/// The condition of a process.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// It is up and reacts.
    Up,
    /// It has crashed. Messages to it are lost.
    Down,
    /// It is paused. No bound on delays applies to it.
    Paused,
}

impl<T> Host<T> {
    fn new(process: T, skew: Ticks) -> Self {
        Host { process, condition: Condition::Up, skew }
    }
}

impl<P: Service> Scenario<P> {
    /// The world of the processes' start, before the prefix.
    pub fn initial(&self) -> World<P> {
        let (server, clients) = P::start(self);
        World {
            now: Instant::START,
            server: Host::new(server, Ticks::ZERO),
            clients: clients
                .into_iter()
                .enumerate()
                .map(|(place, client)| Host::new(client, self.clocks.offset(ClientId::of(place).into())))
                .collect(),
            resource: Resource::default(),
            network: Network::default(),
            cuts: InlineVec::new(),
            left: self.budget,
        }
    }
}

impl<P: Service> World<P> {
    /// The condition of a process.
    pub fn condition(&self, process: ProcessId) -> Condition {
        match process {
            ProcessId::Client(client) => self.clients[client.place()].condition,
            ProcessId::Server => self.server.condition,
            ProcessId::Resource => Condition::Up,
        }
    }

    /// The clients that believe to be inside the critical section, in order.
    pub fn inside(&self) -> impl Iterator<Item = ClientId> + '_ {
        self.clients
            .iter()
            .enumerate()
            .filter(|(_, host)| host.condition != Condition::Down && host.process.belief().is_inside)
            .map(|(place, _)| ClientId::of(place))
    }

    /// The waiting clients, in order.
    pub fn waiting(&self) -> impl Iterator<Item = ClientId> + '_ {
        self.clients
            .iter()
            .enumerate()
            .filter(|(_, host)| host.condition == Condition::Up && host.process.belief().is_waiting)
            .map(|(place, _)| ClientId::of(place))
    }

    /// Whether a slot is free by the beliefs of all clients while a client is waiting.
    pub fn is_idle(&self, scenario: &Scenario<P>) -> bool {
        self.has_room(scenario) && self.waiting().next().is_some()
    }

    /// Whether fewer clients believe to be inside than the limit allows.
    pub fn has_room(&self, scenario: &Scenario<P>) -> bool {
        self.inside().count() < scenario.service.capacity()
    }

    /// Like [`World::inside`], but only clients whose lease still covers the time of their own clock.
    pub fn inside_lease(&self) -> impl Iterator<Item = ClientId> + '_ {
        self.inside().filter(|client| {
            let host = &self.clients[client.place()];
            host.process.belief().until.is_none_or(|until| until.covers(self.now + host.skew))
        })
    }

    /// The items of the work queue that were not handled.
    pub fn unhandled(&self, scenario: &Scenario<P>) -> QueueItems {
        self.resource.queue.unhandled(scenario.work_items)
    }

    /// Whether the link is cut.
    pub fn is_cut(&self, link: Link, scenario: &Scenario<P>) -> bool {
        scenario.network.is_among(&self.cuts, link)
    }

    /// Every process that can be delayed, crash or pause: the clients, then the server.
    pub fn processes(&self) -> impl Iterator<Item = ProcessId> + use<P> {
        let clients = self.clients.len();
        (0..clients).map(|place| ProcessId::Client(ClientId::of(place))).chain([ProcessId::Server])
    }
}
