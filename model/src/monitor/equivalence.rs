//! Worlds that differ only in values without absolute meaning are equivalent: the same actions are possible in both.
//!
//! This module has the plainest definition, including the ghosts of the monitor: two worlds are equivalent if their
//! representatives are equal. Replay of endless executions and shrinking use it. The checker has a normal form that is
//! the same world and is computed faster; a law compares the two.

use serde::{Deserialize, Serialize};

use super::numbers::{ByKind, NumberKind, Numbers};
use super::{Observed, name_closed_calls};
use crate::ids::{Call, ClientId, ProcessId};
use crate::normal::{Normal, Visitor};
use crate::scenario::Scenario;
use crate::service::Service;
use crate::sort::sort_short;
use crate::time::{Instant, Ticks};
use crate::world::{Horizon, World};

impl<P: Service> Scenario<P> {
    /// The representative of all equivalent worlds: now is 0, instants beyond the horizon are clamped, and numbers are
    /// ranks.
    #[must_use]
    pub fn representative(&self, state: &Observed<P>) -> Observed<P> {
        self.named(state).0
    }

    /// The same with what it renames, so that another program can repeat it.
    #[must_use]
    pub fn renamed_representative(&self, state: &Observed<P>) -> (Observed<P>, Renaming) {
        let (representative, naming, closed) = self.named(state);
        (representative, Renaming { shift: naming.shift, numbers: naming.renamed(&closed) })
    }

    /// The representative, and what it renames: closed calls last.
    fn named(&self, state: &Observed<P>) -> (Observed<P>, Naming, Vec<(ClientId, Call, Call)>) {
        let Observed { mut world, mut monitor } = state.clone();
        let horizon = Horizon::of(self);
        let mut naming = Naming::new(world.now - Instant::START);
        let oldest = world.clock(ProcessId::Server) - horizon.back;
        world.server.process.settle(oldest);
        naming.is_own = true;
        let mut visitor = ByKind::new(&mut naming, horizon);
        for (place, host) in world.clients.iter_mut().enumerate() {
            visitor.scope(Some(ClientId::of(place)), host.skew);
            host.process.visit(&mut visitor);
        }
        naming.is_own = false;
        let mut show = |naming: &mut Naming| {
            let mut visitor = ByKind::new(naming, horizon);
            world.visit(&mut visitor);
            visitor.scope(None, Ticks::ZERO);
            monitor.visit(&mut visitor);
        };
        show(&mut naming);
        naming.rank();
        show(&mut naming);
        world.now = Instant::START;
        world.sort();
        let closed = name_closed_calls(&mut world);
        monitor.sort();
        (Observed { world, monitor }, naming, closed)
    }
}

/// What a representative renames: its instants are earlier by `shift`, and some numbers have others.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Renaming {
    /// By how much instants are moved back.
    #[serde(with = "crate::time::signed")]
    pub shift: Ticks,
    /// The numbers that change, sorted: what they count among, the old one, the new one.
    pub numbers: Vec<(NumberKind, u32, u32)>,
}

impl<P: Service> Normal for World<P> {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        for (place, host) in self.clients.iter_mut().enumerate() {
            visitor.scope(Some(ClientId::of(place)), host.skew);
            host.process.visit(visitor);
        }
        visitor.scope(None, self.server.skew);
        self.server.process.visit(visitor);
        visitor.scope(None, Ticks::ZERO);
        self.resource.visit(visitor);
        for envelope in self.network.slots() {
            envelope.visit(visitor);
        }
    }

    fn sort(&mut self) {
        self.server.process.sort();
        self.network.sort();
    }
}

/// Visits a world twice. The first visit collects the numbers that occur; the second replaces them by their ranks and
/// shifts instants.
struct Naming {
    shift: Ticks,
    numbers: Vec<(NumberKind, u32)>,
    is_ranked: bool,
    /// Whether a client's own state is looked at.
    is_own: bool,
    /// The calls that it shows, in that order.
    own: Vec<(ClientId, Call)>,
    /// The clients that count their calls.
    counting: Vec<ClientId>,
    /// The numbers that have changed.
    renamed: Vec<(NumberKind, u32, u32)>,
}

impl Naming {
    fn new(shift: Ticks) -> Self {
        Naming {
            shift,
            numbers: Vec::new(),
            is_ranked: false,
            is_own: false,
            own: Vec::new(),
            counting: Vec::new(),
            renamed: Vec::new(),
        }
    }

    /// All numbers are collected.
    fn rank(&mut self) {
        sort_short(&mut self.numbers);
        self.numbers.dedup();
        self.is_ranked = true;
    }

    /// The rank of a number in its scope, from 1.
    fn rank_of(&mut self, kind: NumberKind, number: u32) -> u32 {
        if !self.is_ranked {
            self.numbers.push((kind, number));
            return number;
        }
        let smaller = self.numbers.partition_point(|other| *other < (kind, 1));
        let up_to = self.numbers.partition_point(|other| *other <= (kind, number));
        let rank = u32::try_from(up_to - smaller).expect("a world has few numbers");
        self.renamed.push((kind, number, rank));
        rank
    }

    /// The numbers that have changed, sorted, after closed calls have changed their numbers once more.
    fn renamed(mut self, closed: &[(ClientId, Call, Call)]) -> Vec<(NumberKind, u32, u32)> {
        for (kind, _, to) in &mut self.renamed {
            let is_it = |(client, from, _): &&(ClientId, Call, Call)| {
                *kind == NumberKind::Call(client.0) && u32::from(from.0) == *to
            };
            *to = closed.iter().find(is_it).map_or(*to, |(.., name)| name.0.into());
        }
        self.renamed.retain(|(_, from, to)| from != to);
        self.renamed.sort_unstable();
        self.renamed.dedup();
        self.renamed
    }

    /// Of calls only identity counts, where a client says so by counting them: those that its own state shows come first, in the order in
    /// which it shows them, and all others behind them.
    fn name_call(&mut self, kind: NumberKind, client: ClientId, number: u32, is_own: bool) -> u32 {
        let call = Call(u16::try_from(number).expect("calls have 16 bits"));
        let is_new = self.is_own && is_own && !self.own.contains(&(client, call));
        self.own.extend(is_new.then_some((client, call)));
        if !self.is_ranked || !self.counting.contains(&client) {
            return self.rank_of(kind, number);
        }
        let own = self.own.iter().filter(|(other, _)| *other == client);
        let place = own.clone().position(|(_, other)| *other == call);
        let before = place.unwrap_or_else(|| {
            let shown_later = own.filter(|(_, other)| *other > call).count();
            self.numbers_up_to(client, call) - 1 + shown_later
        });
        let name = u32::try_from(before + 1).expect("a client has few calls");
        self.renamed.push((kind, number, name));
        name
    }

    /// The newest call of a client that counts has as large a number as there are calls of it.
    fn name_counter(&mut self, kind: NumberKind, client: ClientId, number: u32) -> u32 {
        if self.is_ranked {
            let name = u32::try_from(self.numbers_up_to(client, Call(u16::MAX))).expect("a client has few calls");
            self.renamed.push((kind, number, name));
            return name;
        }
        if !self.counting.contains(&client) {
            self.counting.push(client);
        }
        number
    }

    /// How many calls of the client have no larger number.
    fn numbers_up_to(&self, client: ClientId, call: Call) -> usize {
        let is_among =
            |(kind, number): &&(NumberKind, u32)| *kind == NumberKind::Call(client.0) && *number <= call.0.into();
        self.numbers.iter().filter(is_among).count()
    }
}

impl Numbers for Naming {
    fn instant(&mut self, at: Instant, floor: Instant) -> Instant {
        if self.is_ranked { (at - self.shift).max(floor) } else { at }
    }

    fn number(&mut self, kind: NumberKind, number: u32, is_own: bool) -> u32 {
        match kind {
            NumberKind::Call(client) => self.name_call(kind, ClientId(client), number, is_own),
            NumberKind::Counter(client) => self.name_counter(kind, ClientId(client), number),
            _ => self.rank_of(kind, number),
        }
    }
}
