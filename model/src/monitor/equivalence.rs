//! Worlds that differ only in values without absolute meaning are equivalent: the same actions are possible in both.
//!
//! This module has the plainest definition, including the ghosts of the monitor: two worlds are equivalent if their
//! representatives are equal. Replay of endless executions and shrinking use it. The checker has a normal form that is
//! the same world and is computed faster; a law compares the two.

use serde::{Deserialize, Serialize};

use super::{Observed, name_closed_calls};
use crate::ids::{Call, ClientId, Index, ProcessId, RawId, SessionId, SessionParts, Tenure, Token};
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
        let mut naming = Naming::new(Horizon::of(self), world.now - Instant::START);
        let oldest = world.clock(ProcessId::Server) - naming.horizon.back;
        world.server.process.settle(oldest);
        naming.is_own = true;
        for (place, host) in world.clients.iter_mut().enumerate() {
            naming.scope(Some(ClientId::of(place)), host.skew);
            host.process.visit(&mut naming);
        }
        naming.is_own = false;
        let mut show = |naming: &mut Naming| {
            world.visit(naming);
            naming.scope(None, Ticks::ZERO);
            monitor.visit(naming);
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

/// What a number counts among.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NumberKind {
    /// Log positions.
    Index,
    /// Tenures.
    Tenure,
    /// The sessions of one creator.
    Session(u16),
    /// The calls of one client.
    Call(u16),
    /// The newest call of one client that [counts](Visitor::counter) them.
    Counter(u16),
}

/// Visits a world twice. The first visit collects the numbers that occur; the second replaces them by their ranks and
/// shifts instants.
struct Naming {
    horizon: Horizon,
    shift: Ticks,
    /// The clock in scope when true time is 0.
    clock: Instant,
    scope: u16,
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
    fn new(horizon: Horizon, shift: Ticks) -> Self {
        Naming {
            horizon,
            shift,
            clock: Instant::START,
            scope: 0,
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

    fn instant(&self, at: &mut Instant, floor: Ticks) {
        if self.is_ranked {
            *at = (*at - self.shift).max(self.clock + floor);
        }
    }

    /// The rank of a number in its scope, from 1. 0 stands for no number.
    fn number(&mut self, kind: NumberKind, number: u32) -> u32 {
        if number == 0 || !self.is_ranked {
            self.numbers.extend((number > 0).then_some((kind, number)));
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

    fn short(&mut self, kind: NumberKind, number: u16) -> u16 {
        u16::try_from(self.number(kind, number.into())).expect("a rank is no larger than the number")
    }

    /// Of calls only identity counts, where a client says so by counting them: those that its own state shows come first, in the order in
    /// which it shows them, and all others behind them.
    fn name_call(&mut self, client: ClientId, call: &mut Call) {
        let is_new = self.is_own && client.0 == self.scope && call.0 > 0 && !self.own.contains(&(client, *call));
        self.own.extend(is_new.then_some((client, *call)));
        if !self.is_ranked || !self.counting.contains(&client) || call.0 == 0 {
            call.0 = self.short(NumberKind::Call(client.0), call.0);
            return;
        }
        let own = self.own.iter().filter(|(other, _)| *other == client);
        let place = own.clone().position(|(_, other)| other == call);
        let before = place.unwrap_or_else(|| {
            let shown_later = own.filter(|(_, other)| other > call).count();
            usize::from(self.numbers_up_to(client, *call)) - 1 + shown_later
        });
        let name = Call(u16::try_from(before + 1).expect("a client has few calls"));
        self.renamed.push((NumberKind::Call(client.0), call.0.into(), name.0.into()));
        *call = name;
    }

    /// How many calls of the client have no larger number.
    fn numbers_up_to(&self, client: ClientId, call: Call) -> u16 {
        let is_among =
            |(kind, number): &&(NumberKind, u32)| *kind == NumberKind::Call(client.0) && *number <= call.0.into();
        u16::try_from(self.numbers.iter().filter(is_among).count()).expect("a client has few calls")
    }
}

impl Visitor for Naming {
    fn deadline(&mut self, at: &mut Instant) {
        self.instant(at, self.horizon.late);
    }

    fn until(&mut self, at: &mut Instant) {
        self.instant(at, self.horizon.until);
    }

    fn elapsed(&mut self, at: &mut Instant) {
        self.instant(at, self.horizon.elapsed);
    }

    fn since(&mut self, at: &mut Instant) {
        self.instant(at, self.horizon.since);
    }

    fn index(&mut self, index: &mut Index) {
        *index = Index::numbered(self.number(NumberKind::Index, index.raw()));
    }

    fn token(&mut self, token: &mut Token) {
        if self.horizon.tokens_are_indexes {
            *token = Token::numbered(self.number(NumberKind::Index, token.raw()));
        }
    }

    fn counts_versions(&self) -> bool {
        self.horizon.versions_are_counts
    }

    fn tenure(&mut self, tenure: &mut Tenure) {
        tenure.0 = self.number(NumberKind::Tenure, tenure.0);
    }

    fn session(&mut self, session: &mut SessionId) {
        let SessionParts { creator, number } = session.raw();
        *session = SessionId::numbered(creator, self.short(NumberKind::Session(creator.0), number));
    }

    fn call(&mut self, call: &mut Call) {
        self.name_call(ClientId(self.scope), call);
    }

    fn call_of(&mut self, client: ClientId, call: &mut Call) {
        self.name_call(client, call);
    }

    fn counter(&mut self, call: &mut Call) {
        let client = ClientId(self.scope);
        if self.is_ranked {
            let name = self.numbers_up_to(client, Call(u16::MAX));
            self.renamed.push((NumberKind::Counter(client.0), call.0.into(), name.into()));
            call.0 = name;
        } else if !self.counting.contains(&client) {
            self.counting.push(client);
        }
    }

    fn scope(&mut self, client: Option<ClientId>, skew: Ticks) {
        self.scope = client.map_or(0, |client| client.0);
        self.clock = Instant::START + skew;
    }
}
