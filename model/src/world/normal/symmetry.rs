//! Interchangeable clients: worlds that differ only in who is who become equal.
//!
//! Clients that start alike, and that the service treats alike, can change places in any world: what may happen then is the
//! same but for the names (Ip and Dill, "Better verification through symmetry", 1996). So of all worlds that come of each
//! other by changing places, the search keeps one: that in which clients stand in the order of what can be seen of them.
//! Where two look alike and are not, there may be more than one such world; that costs states, and nothing else.

use std::hash::{Hash, Hasher};

use super::World;
use super::parts::{fingerprint, hash_of};
use super::piece::{Layout, Piece};
use super::visitor::Normal;
use crate::hash::Packer;
use crate::ids::ClientId;
use crate::list::List;
use crate::mutation::CheckerMutation;
use crate::protocol::Protocol;
use crate::scenario::Scenario;
use crate::service::Settings as _;
use crate::world::Seat;
use crate::world::shape::Rename;

/// Which clients are interchangeable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Symmetry {
    /// Places of clients that may change places with each other; at least two in each group.
    groups: Vec<Vec<usize>>,
}

/// For each place, the client that stands there afterwards.
pub(super) type Order = List<u16, 4>;

/// What can be seen of a client: hashes, most telling first.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Looks {
    outside: u64,
    /// What others have of it; looked at where that from outside does not tell.
    traces: u64,
    /// Its place.
    client: u16,
}

impl Symmetry {
    /// No two clients are interchangeable, or nobody makes use of it.
    pub fn none() -> Self {
        Symmetry::default()
    }

    /// Whether there is any.
    pub fn is_none(&self) -> bool {
        self.groups.is_empty()
    }

    /// The groups, as clients.
    pub fn groups(&self) -> impl Iterator<Item = Vec<ClientId>> + '_ {
        self.groups.iter().map(|group| group.iter().map(|place| ClientId::of(*place)).collect())
    }

    /// The order in which the clients of each group stand in the world that stands for all that come of it by changing places:
    /// that of what can be seen of them, from outside first; whoever looks alike is told apart by what others have of him. None
    /// if they stand so already.
    pub(super) fn order(
        &self,
        clients: usize,
        outside: impl Fn(usize) -> u64,
        mut traces: impl FnMut(usize) -> u64,
    ) -> Option<Order> {
        let mut order: Order = (0u16..).take(clients).collect();
        let mut is_other = false;
        for group in &self.groups {
            let look = |place: &usize| Looks { outside: outside(*place), traces: 0, client: place_of(*place) };
            let mut looks: List<Looks, 4> = group.iter().map(look).collect();
            looks.sort_unstable();
            let is_like = |one: Option<&Looks>, other: &Looks| one.is_some_and(|one| one.outside == other.outside);
            for place in 0..looks.len() {
                let look = looks[place];
                let before = place.checked_sub(1).and_then(|place| looks.get(place));
                if is_like(before, &look) || is_like(looks.get(place + 1), &look) {
                    looks[place].traces = traces(look.client.into());
                }
            }
            looks.sort_unstable();
            for (place, look) in group.iter().zip(&looks) {
                is_other |= *place != usize::from(look.client);
                order[*place] = look.client;
            }
        }
        is_other.then_some(order)
    }

    /// Every way in which clients can change places.
    pub(crate) fn orders(&self, clients: usize) -> Vec<Vec<usize>> {
        let mut orders = vec![(0..clients).collect::<Vec<usize>>()];
        for group in &self.groups {
            orders = orders.iter().flat_map(|order| arranged(order, group, 0)).collect();
        }
        orders
    }
}

/// Every arrangement of what stands at these places, from the given one of them on.
fn arranged(order: &[usize], places: &[usize], from: usize) -> Vec<Vec<usize>> {
    if from + 1 >= places.len() {
        return vec![order.to_vec()];
    }
    (from..places.len())
        .flat_map(|other| {
            let mut swapped = order.to_vec();
            swapped.swap(places[from], places[other]);
            arranged(&swapped, places, from + 1)
        })
        .collect()
}

impl<P: Protocol> Scenario<P> {
    /// Which clients are interchangeable: those that start alike, up to names, and that the service treats alike.
    pub fn symmetry(&self) -> Symmetry {
        let mut start = self.start();
        self.normalise(&mut start);
        let clients = start.clients.len();
        let are_alike = |one: usize, other: usize| {
            let (first, second) = (ClientId::of(one), ClientId::of(other));
            let mut order: Vec<usize> = (0..clients).collect();
            order.swap(one, other);
            (self.service.are_alike(first, second) || self.is_mutated(CheckerMutation::AllClientsAlike))
                && (self.clocks.offset(first.into()) == self.clocks.offset(second.into())
                    || self.is_mutated(CheckerMutation::OffsetsUncompared))
                && (start.arranged(&order) == start || self.is_mutated(CheckerMutation::StartsUncompared))
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for place in 0..clients {
            match groups.iter_mut().find(|group| are_alike(group[0], place)) {
                Some(group) => group.push(place),
                None => groups.push(vec![place]),
            }
        }
        groups.retain(|group| group.len() > 1);
        Symmetry { groups }
    }

    /// How many worlds a canonical one stands for.
    pub fn orbit(&self, world: &World<P>, symmetry: &Symmetry) -> usize {
        let fingerprint = |world: &World<P>| {
            let mut hash = Packer::default();
            world.hash(&mut hash);
            hash.finish()
        };
        let orders = symmetry.orders(world.clients.len());
        let mut seen: Vec<u64> = orders.iter().map(|order| fingerprint(&world.arranged(order))).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    }
}

/// What a client at this place is like, whatever its name: a hash.
pub(super) fn outside<P: Protocol>(place: usize, seat: &Seat<P::Client>) -> u64 {
    let mut seat = *seat;
    seat.process.visit(&mut Rename(&seen_by(place)));
    hash_of(seat)
}

fn place_of(place: usize) -> u16 {
    u16::try_from(place).expect("scenarios are limited to 65,534 clients")
}

/// Names as one client sees them: itself, and others.
pub(super) fn seen_by(me: usize) -> impl Fn(ClientId) -> ClientId {
    move |client| if client.place() == me { ClientId(1) } else { ClientId(2) }
}

/// What others have of a client, of what each part of a world has.
pub(super) fn traces(layout: &Layout, count: usize, mut trace: impl FnMut(usize) -> u64) -> u64 {
    let messages = (layout.messages..count).fold(0, |sum: u64, place| sum.wrapping_add(trace(place)));
    fingerprint(messages, [layout.server, layout.memory, layout.rest].into_iter().map(trace))
}

impl<P: Protocol> World<P> {
    /// What messages under way and the server have of a client: a hash.
    pub(super) fn traces(&self, place: usize) -> u64 {
        let layout = Layout::of(self.clients.len());
        traces(&layout, layout.messages + self.network.places().len(), |part| Piece::at(self, part).trace(place))
    }

    /// The same world with clients at other places.
    #[must_use]
    pub fn arranged(&self, order: &[usize]) -> Self {
        let mut world = self.clone();
        world.arrange(&order.iter().map(|place| place_of(*place)).collect());
        world.network.sort();
        world
    }

    /// Puts at each place the client that `order` names for it, and gives everybody the name of his new place. The order of
    /// messages has to be restored afterwards.
    pub(super) fn arrange(&mut self, order: &Order) {
        let layout = Layout::of(self.clients.len());
        let arranged = |place| {
            let mut piece = Piece::at(self, place);
            piece.arrange(order);
            piece
        };
        let inner: Vec<Piece<P>> = (0..layout.messages).map(arranged).collect();
        inner.iter().for_each(|piece| piece.put(self));
        for envelope in self.network.slots() {
            let mut piece = Piece::Message(*envelope);
            piece.arrange(order);
            piece.message().into_iter().for_each(|arranged| *envelope = *arranged);
        }
    }
}
