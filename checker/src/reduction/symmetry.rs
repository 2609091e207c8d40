//! Interchangeable clients: worlds that differ only in who is who become equal.
//!
//! Clients that start alike, and that the service treats alike, can change places in any world: what may happen then is the
//! same but for the names (Ip and Dill, "Better verification through symmetry", 1996). So of all worlds that come of each
//! other by changing places, the search keeps one: that in which clients stand in the order of what can be seen of them.
//! Where two look alike and are not, there may be more than one such world; that costs states, and nothing else.

use fencepost_model::ids::ClientId;
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::monitor::Observed;
use fencepost_model::mutation::CheckerMutation;
use fencepost_model::normal::Normal;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Service, Settings as _};
use fencepost_model::world::{Host, Rename};

use super::hash::{fingerprint, hash_of};
use super::order::{Order, place_of, seen_by};
use super::piece::{Layout, Piece};

/// Which clients are interchangeable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Symmetry {
    /// Places of clients that may change places with each other; at least two in each group.
    groups: Vec<Vec<usize>>,
}

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
    /// That of a scenario: clients are interchangeable that start alike, up to names, run the same program, and are treated alike by the service
    /// and by the clocks.
    pub(crate) fn of<P: Service>(scenario: &Scenario<P>) -> Self {
        if scenario.has_own_promises() {
            // A property that the scenario defines may name clients.
            return Symmetry::none();
        }
        let start = scenario.representative(&scenario.observed());
        let clients = start.clients.len();
        let are_alike = |one: usize, other: usize| {
            let (first, second) = (ClientId::of(one), ClientId::of(other));
            let mut order: Vec<usize> = (0..clients).collect();
            order.swap(one, other);
            (scenario.service.are_alike(first, second) || scenario.is_mutated(CheckerMutation::AllClientsAlike))
                && (scenario.clocks.offset(first.into()) == scenario.clocks.offset(second.into())
                    || scenario.is_mutated(CheckerMutation::OffsetsUncompared))
                && scenario.runs_alike(first, second)
                && (start.arranged(&order) == start || scenario.is_mutated(CheckerMutation::StartsUncompared))
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

    /// No two clients are interchangeable, or symmetry is off.
    pub(crate) fn none() -> Self {
        Symmetry::default()
    }

    /// Whether no two clients are interchangeable.
    pub(crate) fn is_none(&self) -> bool {
        self.groups.is_empty()
    }

    /// The groups, as clients.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Vec<ClientId>> + '_ {
        self.groups.iter().map(|group| group.iter().map(|place| ClientId::of(*place)).collect())
    }

    /// The order in which the clients of each group stand in the world that stands for all that come of it by changing places:
    /// that of what can be seen of them, from outside first; clients with equal hashes are distinguished by the parts of others that name them. None
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
            let mut looks: InlineVec<Looks, 4> = group.iter().map(look).collect();
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

    /// The same for a world in normal form, of which nothing is known.
    pub(crate) fn order_of<P: Service>(&self, state: &Observed<P>) -> Option<Vec<usize>> {
        let held = |place: usize| state.monitor.ghosts.held.get(place).map_or(0, |held| u64::from(held.0));
        let outside = |place: usize| outside::<P>(place, &state.clients[place]) ^ held(place);
        let order = self.order(state.clients.len(), outside, |place| traces_in(state, place))?;
        Some(order.iter().map(|place| usize::from(*place)).collect())
    }

    /// Every way in which clients can change places.
    pub(crate) fn orders(&self, clients: usize) -> Vec<Vec<usize>> {
        let mut orders = vec![(0..clients).collect::<Vec<usize>>()];
        for group in &self.groups {
            orders = orders.iter().flat_map(|order| arrangements(order, group, 0)).collect();
        }
        orders
    }

    /// How many worlds a canonical one stands for; `orders` are [all ways](Self::orders) in which its clients can change places.
    pub(crate) fn orbit<P: Service>(state: &Observed<P>, orders: &[Vec<usize>]) -> usize {
        let mut seen: Vec<u64> = orders.iter().map(|order| hash_of(state.arranged(order))).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    }
}

/// Every arrangement of what stands at these places, from the given one of them on.
fn arrangements(order: &[usize], places: &[usize], from: usize) -> Vec<Vec<usize>> {
    if from + 1 >= places.len() {
        return vec![order.to_vec()];
    }
    (from..places.len())
        .flat_map(|other| {
            let mut swapped = order.to_vec();
            swapped.swap(places[from], places[other]);
            arrangements(&swapped, places, from + 1)
        })
        .collect()
}

/// What a client at this place is like, whatever its name: a hash.
pub(super) fn outside<P: Service>(place: usize, host: &Host<P::Client>) -> u64 {
    let mut host = *host;
    host.process.visit(&mut Rename::merging(&seen_by(place)));
    hash_of(host)
}

/// What others have of a client, of what each part of a world has.
pub(super) fn traces(layout: &Layout, count: usize, mut trace: impl FnMut(usize) -> u64) -> u64 {
    let messages = (layout.messages..count).fold(0, |sum: u64, place| sum.wrapping_add(trace(place)));
    fingerprint(messages, [layout.server, layout.memory, layout.rest].into_iter().map(trace))
}

/// What messages under way and the server have of a client: a hash.
pub(super) fn traces_in<P: Service>(state: &Observed<P>, place: usize) -> u64 {
    let layout = Layout::of(state.clients.len());
    traces(&layout, layout.messages + state.network.places().len(), |part| Piece::at(state, part).trace(place).get())
}

/// Puts at each place the client that `order` names for it, and gives each client the name of its new place. The order of
/// messages has to be restored afterwards.
pub(super) fn arrange<P: Service>(state: &mut Observed<P>, order: &Order) {
    let layout = Layout::of(state.clients.len());
    let arranged = |place| {
        let mut piece = Piece::at(state, place);
        piece.arrange(order);
        piece
    };
    let inner: Vec<Piece<P>> = (0..layout.messages).map(arranged).collect();
    inner.iter().for_each(|piece| piece.put(state));
    for envelope in state.world.network.slots() {
        let mut piece = Piece::Message(*envelope);
        piece.arrange(order);
        piece.message().into_iter().for_each(|arranged| *envelope = *arranged);
    }
}
