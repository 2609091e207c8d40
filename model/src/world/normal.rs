//! The normal form: worlds that differ only in values without absolute meaning become equal.
//!
//! Instants are shifted so that now is 0, and what lies further back than any comparison looks is clamped (Lamport,
//! CHARME 2005). Indexes, tenures, calls and the numbers of sessions keep their order only.
//! `step` never normalises: the checker does it after each step of the search.

use super::World;
use crate::ids::{Call, ClientId, Index, ProcessId, SessionId, Tenure, Token};
use crate::list::List;
use crate::protocol::Protocol;
use crate::scenario::Scenario;
use crate::time::{Instant, Ticks};

/// Sees every value without absolute meaning. A forgotten one is found by the law tests.
pub trait Visitor {
    /// A deadline: only ever asked whether `now >= at`, and by how much it is late.
    fn deadline(&mut self, at: &mut Instant);
    /// The end of a belief: asked whether `now <= at`, and a deadline, too.
    fn until(&mut self, at: &mut Instant);
    /// When something began that counts from then, up to the longest duration of the service.
    fn elapsed(&mut self, at: &mut Instant);
    /// A ghost's memory of when: asked for its age, up to the longest bound of a promise.
    fn since(&mut self, at: &mut Instant);
    /// A log position.
    fn index(&mut self, index: &mut Index);
    /// A token; a log position in some scenarios.
    fn token(&mut self, token: &mut Token);
    /// A tenure.
    fn tenure(&mut self, tenure: &mut Tenure);
    /// A session's name: its number counts by order, among those of its creator.
    fn session(&mut self, session: &mut SessionId);
    /// The number of a call of the client in scope.
    fn call(&mut self, call: &mut Call);
    /// The number of a call of another client than the one in scope.
    fn call_of(&mut self, client: ClientId, call: &mut Call);
    /// A client's name; it stays what it is, but for who tells the same run of other clients.
    fn client(&mut self, _: &mut ClientId) {}
    /// Says whose calls follow, and by how much the clock of the instants that follow is ahead.
    fn scope(&mut self, client: Option<ClientId>, skew: Ticks);
}

/// Something that contains such values.
pub trait Normal {
    /// Shows each of them to the visitor, always in the same order.
    fn visit(&mut self, visitor: &mut impl Visitor);

    /// Forgets what is meaningless from `oldest` on, the earliest instant that its own clock may still show.
    fn settle(&mut self, _oldest: Instant) {}

    /// Restores the order of sorted lists after renaming.
    fn sort(&mut self) {}
}

impl<P: Protocol> Scenario<P> {
    /// Brings a world into normal form.
    pub fn normalise(&self, world: &mut World<P>) {
        // A clock that falls back looks at what was past already.
        let back = if self.budget.slips > 0 { self.clocks.skew.times(2) } else { Ticks::ZERO };
        let oldest = world.clock(ProcessId::Server) - back;
        world.server.process.settle(oldest);
        let late = self.synchrony.wake_delay.max(self.synchrony.server_delay).unwrap_or(Ticks::ZERO);
        let floors = Floors {
            late: Ticks::ZERO - late - back,
            until: Ticks::ZERO - late.max(Ticks::new(1)) - back,
            elapsed: Ticks::ZERO - P::longest(&self.service) - back,
            since: Ticks::ZERO - self.promises.iter().filter_map(|promise| promise.bound).max().unwrap_or_default(),
        };
        let mut names = Names {
            tokens_are_indexes: P::tokens_are_indexes(&self.service),
            is_stale: world.now != Instant::START,
            floors,
            ..Names::default()
        };
        visit(world, &mut names);
        if names.is_stale || !names.are_dense() {
            let shift = world.now - Instant::START;
            visit(world, &mut Rewrite { names, shift });
        }
        world.now = Instant::START;
        world.server.process.sort();
        world.network.sort();
        world.ghosts.sort();
    }
}

fn visit<P: Protocol>(world: &mut World<P>, visitor: &mut impl Visitor) {
    for (place, seat) in world.clients.iter_mut().enumerate() {
        visitor.scope(Some(ClientId::of(place)), seat.skew);
        seat.process.visit(visitor);
    }
    visitor.scope(None, world.server.skew);
    world.server.process.visit(visitor);
    world.network.visit(visitor);
    visitor.scope(None, Ticks::ZERO);
    visitor.token(&mut world.resource.highest);
    world.ghosts.visit(visitor);
}

/// How far back, from the clock in scope, each kind of instant is looked at.
#[derive(Copy, Clone, Default)]
struct Floors {
    late: Ticks,
    until: Ticks,
    elapsed: Ticks,
    since: Ticks,
}

/// First pass: which values occur, and whether any of them has to change. After most steps none has.
#[derive(Default)]
struct Names {
    tokens_are_indexes: bool,
    /// Whether some instant lies too far back, or all of them have to be shifted.
    is_stale: bool,
    floors: Floors,
    /// What the clock in scope shows when it is 0.
    clock: Instant,
    indexes: Numbers,
    tenures: Numbers,
    /// By creator.
    sessions: Owned,
    /// By client.
    calls: Owned,
    scope: u16,
}

/// A set of numbers, and the place of each among them. Those of a search are small, and fit into a word.
#[derive(Clone, Default)]
struct Numbers {
    small: u64,
    large: List<u32, 0>,
}

/// Whether a word of numbers is 1, 2, 3 … without a gap.
fn is_dense(small: u64) -> bool {
    (small >> 1) & ((small >> 1) + 1) == 0
}

impl Numbers {
    fn are_dense(&self) -> bool {
        self.large.is_empty() && is_dense(self.small)
    }

    #[inline]
    fn note(&mut self, number: u32) {
        match number {
            0..64 => self.small |= 1 << number,
            _ if self.large.contains(&number) => {}
            _ => self.large.push(number),
        }
    }

    /// The place of a number among all numbers noted in order, from 1.
    #[inline]
    fn rank(&self, number: u32) -> u32 {
        match number {
            0..64 => (self.small & (u64::MAX >> (63 - number))).count_ones(),
            _ => {
                let below: u32 = self.large.iter().map(|other| u32::from(*other <= number)).sum();
                self.small.count_ones() + below
            }
        }
    }
}

/// Numbers that count only among those with the same owner: clients by their number, 0 for nobody.
#[derive(Default)]
struct Owned {
    few: [u64; Owned::FEW],
    /// Owners and numbers beyond that, as pairs; their order means nothing.
    many: List<(u16, u16), 0>,
}

impl Owned {
    const FEW: usize = 5;

    fn are_dense(&self) -> bool {
        self.many.is_empty() && self.few.iter().all(|small| is_dense(*small))
    }

    #[inline]
    fn note(&mut self, owner: u16, number: u16) {
        match self.few.get_mut(usize::from(owner)) {
            Some(small) if number < 64 => *small |= 1 << number,
            _ if self.many.contains(&(owner, number)) => {}
            _ => self.many.push((owner, number)),
        }
    }

    /// The place of a number among those of its owner, from 1.
    #[inline]
    fn rank(&self, owner: u16, number: u16) -> u16 {
        let small = self.few.get(usize::from(owner)).copied().unwrap_or_default();
        let mask = if number < 64 { u64::MAX >> (63 - number) } else { u64::MAX };
        let below = self.many.iter().filter(|other| other.0 == owner && other.1 <= number).count();
        u16::try_from((small & mask).count_ones() as usize + below).expect("they were 16 bits before")
    }
}

impl Names {
    /// Whether every number is its own place already.
    fn are_dense(&self) -> bool {
        self.indexes.are_dense() && self.tenures.are_dense() && self.sessions.are_dense() && self.calls.are_dense()
    }

    #[inline]
    fn look(&mut self, at: Instant, floor: Ticks) {
        self.is_stale |= at < self.clock + floor;
    }
}

impl Visitor for Names {
    #[inline]
    fn deadline(&mut self, at: &mut Instant) {
        self.look(*at, self.floors.late);
    }

    #[inline]
    fn until(&mut self, at: &mut Instant) {
        self.look(*at, self.floors.until);
    }

    #[inline]
    fn elapsed(&mut self, at: &mut Instant) {
        self.look(*at, self.floors.elapsed);
    }

    #[inline]
    fn since(&mut self, at: &mut Instant) {
        self.look(*at, self.floors.since);
    }

    fn index(&mut self, index: &mut Index) {
        if index.0 > 0 {
            self.indexes.note(index.0);
        }
    }

    fn token(&mut self, token: &mut Token) {
        if self.tokens_are_indexes {
            self.index(&mut Index(token.0));
        }
    }

    fn tenure(&mut self, tenure: &mut Tenure) {
        if tenure.0 > 0 {
            self.tenures.note(tenure.0);
        }
    }

    fn session(&mut self, session: &mut SessionId) {
        self.sessions.note(session.creator.0, session.number);
    }

    fn call(&mut self, call: &mut Call) {
        if call.0 > 0 {
            self.calls.note(self.scope, call.0);
        }
    }

    fn call_of(&mut self, client: ClientId, call: &mut Call) {
        if call.0 > 0 {
            self.calls.note(client.0, call.0);
        }
    }

    fn scope(&mut self, client: Option<ClientId>, skew: Ticks) {
        self.scope = client.map_or(0, |client| client.0);
        self.clock = Instant::START + skew;
    }
}

/// Second pass: their names in the normal form.
struct Rewrite {
    names: Names,
    shift: Ticks,
}

impl Rewrite {
    #[inline]
    fn shift(&self, at: &mut Instant, floor: Ticks) {
        *at = (*at - self.shift).max(self.names.clock + floor);
    }
}

impl Visitor for Rewrite {
    fn deadline(&mut self, at: &mut Instant) {
        self.shift(at, self.names.floors.late);
    }

    fn until(&mut self, at: &mut Instant) {
        self.shift(at, self.names.floors.until);
    }

    fn elapsed(&mut self, at: &mut Instant) {
        self.shift(at, self.names.floors.elapsed);
    }

    fn since(&mut self, at: &mut Instant) {
        self.shift(at, self.names.floors.since);
    }

    fn index(&mut self, index: &mut Index) {
        if index.0 > 0 {
            index.0 = self.names.indexes.rank(index.0);
        }
    }

    fn token(&mut self, token: &mut Token) {
        if self.names.tokens_are_indexes {
            let mut index = Index(token.0);
            self.index(&mut index);
            token.0 = index.0;
        }
    }

    fn tenure(&mut self, tenure: &mut Tenure) {
        if tenure.0 > 0 {
            tenure.0 = self.names.tenures.rank(tenure.0);
        }
    }

    fn session(&mut self, session: &mut SessionId) {
        session.number = self.names.sessions.rank(session.creator.0, session.number);
    }

    fn call(&mut self, call: &mut Call) {
        if call.0 > 0 {
            call.0 = self.names.calls.rank(self.names.scope, call.0);
        }
    }

    fn call_of(&mut self, client: ClientId, call: &mut Call) {
        if call.0 > 0 {
            call.0 = self.names.calls.rank(client.0, call.0);
        }
    }

    fn scope(&mut self, client: Option<ClientId>, skew: Ticks) {
        self.names.scope(client, skew);
    }
}
