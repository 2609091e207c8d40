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
        let mut names = Names { tokens_are_indexes: P::tokens_are_indexes(&self.service), ..Names::default() };
        visit(world, &mut names);
        let late = self.synchrony.wake_delay.unwrap_or(Ticks::ZERO);
        let mut rewrite = Rewrite {
            names,
            shift: world.now - Instant::START,
            clock: Instant::START,
            late_floor: Ticks::ZERO - late - back,
            until_floor: Ticks::ZERO - late.max(Ticks::new(1)) - back,
            elapsed_floor: Ticks::ZERO - P::longest(&self.service) - back,
            since_floor: Ticks::ZERO
                - self.promises.iter().filter_map(|promise| promise.bound).max().unwrap_or_default(),
        };
        visit(world, &mut rewrite);
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

/// First pass: which values occur. The lists are short and without repetition; their order means nothing.
#[derive(Default)]
struct Names {
    tokens_are_indexes: bool,
    indexes: List<u32, 16>,
    tenures: List<u32, 8>,
    /// Creator and number, as [`within`].
    sessions: List<u32, 8>,
    /// Client and number, as [`within`].
    calls: List<u32, 8>,
    scope: u16,
}

/// A number that counts only among those with the same owner.
fn within(owner: u16, number: u16) -> u32 {
    u32::from(owner) << 16 | u32::from(number)
}

fn note<const N: usize>(values: &mut List<u32, N>, value: u32) {
    if !values.contains(&value) {
        values.push(value);
    }
}

/// A value's place among all values in order, from 1. Counting beats sorting where there are a handful.
fn rank(values: &[u32], value: u32) -> u32 {
    values.iter().map(|other| u32::from(*other <= value)).sum()
}

/// The same among those of the same owner.
fn rank_within(values: &[u32], value: u32) -> u16 {
    values.iter().map(|other| u16::from((other >> 16 == value >> 16) & (*other <= value))).sum()
}

impl Visitor for Names {
    fn deadline(&mut self, _: &mut Instant) {}
    fn until(&mut self, _: &mut Instant) {}
    fn elapsed(&mut self, _: &mut Instant) {}
    fn since(&mut self, _: &mut Instant) {}

    fn index(&mut self, index: &mut Index) {
        if index.0 > 0 {
            note(&mut self.indexes, index.0);
        }
    }

    fn token(&mut self, token: &mut Token) {
        if self.tokens_are_indexes {
            self.index(&mut Index(token.0));
        }
    }

    fn tenure(&mut self, tenure: &mut Tenure) {
        if tenure.0 > 0 {
            note(&mut self.tenures, tenure.0);
        }
    }

    fn session(&mut self, session: &mut SessionId) {
        note(&mut self.sessions, within(session.creator.0, session.number));
    }

    fn call(&mut self, call: &mut Call) {
        if call.0 > 0 {
            note(&mut self.calls, within(self.scope, call.0));
        }
    }

    fn call_of(&mut self, client: ClientId, call: &mut Call) {
        if call.0 > 0 {
            note(&mut self.calls, within(client.0, call.0));
        }
    }

    fn scope(&mut self, client: Option<ClientId>, _: Ticks) {
        self.scope = client.map_or(0, |client| client.0);
    }
}

/// Second pass: their names in the normal form.
struct Rewrite {
    names: Names,
    shift: Ticks,
    clock: Instant,
    late_floor: Ticks,
    until_floor: Ticks,
    elapsed_floor: Ticks,
    since_floor: Ticks,
}

impl Rewrite {
    fn shift(&self, at: &mut Instant, floor: Ticks) {
        *at = (*at - self.shift).max(self.clock + floor);
    }
}

impl Visitor for Rewrite {
    fn deadline(&mut self, at: &mut Instant) {
        self.shift(at, self.late_floor);
    }

    fn until(&mut self, at: &mut Instant) {
        self.shift(at, self.until_floor);
    }

    fn elapsed(&mut self, at: &mut Instant) {
        self.shift(at, self.elapsed_floor);
    }

    fn since(&mut self, at: &mut Instant) {
        self.shift(at, self.since_floor);
    }

    fn index(&mut self, index: &mut Index) {
        if index.0 > 0 {
            index.0 = rank(&self.names.indexes, index.0);
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
            tenure.0 = rank(&self.names.tenures, tenure.0);
        }
    }

    fn session(&mut self, session: &mut SessionId) {
        session.number = rank_within(&self.names.sessions, within(session.creator.0, session.number));
    }

    fn call(&mut self, call: &mut Call) {
        if call.0 > 0 {
            call.0 = rank_within(&self.names.calls, within(self.names.scope, call.0));
        }
    }

    fn call_of(&mut self, client: ClientId, call: &mut Call) {
        if call.0 > 0 {
            call.0 = rank_within(&self.names.calls, within(client.0, call.0));
        }
    }

    fn scope(&mut self, client: Option<ClientId>, skew: Ticks) {
        self.names.scope(client, skew);
        self.clock = Instant::START + skew;
    }
}
