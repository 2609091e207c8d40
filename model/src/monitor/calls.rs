//! Calls without a waiting client have no order of their own.
//!
//! Where a client counts its calls, only their identity counts. Those that its own state shows are named by the order in which it shows
//! them; a world names the others, its closed calls, by where they occur: in which messages, and where in the state of the server and
//! of others. Two closed calls that occur alike can change places, so it does not matter which of them comes first.

use std::hash::{Hash, Hasher};

use crate::hash::Packer;
use crate::ids::{Call, ClientId, Index, SessionId, Tenure, Token};
use crate::normal::{Normal, Visitor};
use crate::service::Service;
use crate::sort::sort_short;
use crate::time::{Instant, Ticks};
use crate::world::World;

/// Names the closed calls of each client anew, with the numbers that they have. Everything but them has its name already. Returns the
/// client, the old number and the new number of each.
pub fn name_closed_calls<P: Service>(world: &mut World<P>) -> Vec<(ClientId, Call, Call)> {
    let closed = closed_calls(world);
    let mut names: Vec<(ClientId, Call, Call)> = Vec::new();
    for client in (0..world.clients.len()).map(ClientId::of) {
        let own = closed.iter().filter(|(other, _)| *other == client).map(|(_, call)| *call);
        // The only one keeps its number, wherever it occurs.
        let is_only = own.clone().nth(1).is_none();
        let mark = |call| if is_only { 0 } else { occurrences(world, (client, call), &closed) };
        let mut marked: Vec<(u64, Call)> = own.clone().map(|call| (mark(call), call)).collect();
        sort_short(&mut marked);
        names.extend(own.zip(marked).map(|(name, (_, call))| (client, call, name)));
    }
    visit(
        world,
        &mut Calls::new(|client, call| {
            let named = names.iter().find(|(other, from, _)| (*other, *from) == (client, *call));
            *call = named.map_or(*call, |(.., name)| *name);
        }),
    );
    world.sort();
    names
}

/// The calls that their client's own state does not show, of clients that count theirs; by client and number.
fn closed_calls<P: Service>(world: &mut World<P>) -> Vec<(ClientId, Call)> {
    let (mut counting, mut open, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for place in 0..world.clients.len() {
        let me = ClientId::of(place);
        let mut calls = Calls::new(|client, call| open.extend((client == me).then_some((client, *call))));
        calls.scope(Some(me), Ticks::ZERO);
        world.clients[place].process.visit(&mut calls);
        let is_counting = calls.is_counting;
        counting.extend(is_counting.then_some(me));
    }
    visit(world, &mut Calls::new(|client, call| all.push((client, *call))));
    all.retain(|(client, call)| call.0 > 0 && counting.contains(client) && !open.contains(&(*client, *call)));
    sort_short(&mut all);
    all.dedup();
    all
}

/// Where a closed call occurs: a hash, in which the other closed calls are alike.
fn occurrences<P: Service>(world: &World<P>, marked: (ClientId, Call), closed: &[(ClientId, Call)]) -> u64 {
    let mut world = world.clone();
    let mut mark = |client: ClientId, call: &mut Call| {
        if (client, *call) == marked {
            *call = Call(u16::MAX);
        } else if closed.contains(&(client, *call)) {
            *call = Call(0);
        }
    };
    visit(&mut world, &mut Calls::new(&mut mark));
    world.sort();
    let mut hash = Packer::default();
    (&world.clients, &world.server).hash(&mut hash);
    world.network.slots().hash(&mut hash);
    hash.finish()
}

/// Shows every call of a world.
fn visit<P: Service>(world: &mut World<P>, calls: &mut Calls<impl FnMut(ClientId, &mut Call)>) {
    for (place, host) in world.clients.iter_mut().enumerate() {
        calls.scope(Some(ClientId::of(place)), Ticks::ZERO);
        host.process.visit(calls);
    }
    calls.scope(None, Ticks::ZERO);
    world.server.process.visit(calls);
    for envelope in world.network.slots() {
        envelope.visit(calls);
    }
}

/// Shows calls but for counters, each with the client whose it is.
struct Calls<F> {
    show: F,
    scope: ClientId,
    is_counting: bool,
}

impl<F: FnMut(ClientId, &mut Call)> Calls<F> {
    fn new(show: F) -> Self {
        Calls { show, scope: ClientId(0), is_counting: false }
    }
}

impl<F: FnMut(ClientId, &mut Call)> Visitor for Calls<F> {
    fn deadline(&mut self, _: &mut Instant) {}
    fn until(&mut self, _: &mut Instant) {}
    fn elapsed(&mut self, _: &mut Instant) {}
    fn since(&mut self, _: &mut Instant) {}
    fn index(&mut self, _: &mut Index) {}
    fn token(&mut self, _: &mut Token) {}
    fn tenure(&mut self, _: &mut Tenure) {}
    fn session(&mut self, _: &mut SessionId) {}

    fn call(&mut self, call: &mut Call) {
        (self.show)(self.scope, call);
    }

    fn call_of(&mut self, client: ClientId, call: &mut Call) {
        (self.show)(client, call);
    }

    fn counter(&mut self, _: &mut Call) {
        self.is_counting = true;
    }

    fn scope(&mut self, client: Option<ClientId>, _: Ticks) {
        self.scope = client.unwrap_or(ClientId(0));
    }
}
