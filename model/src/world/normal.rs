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
        names.sort();
        let late = self.synchrony.wake_delay.unwrap_or(Ticks::ZERO);
        let mut rewrite = Rewrite {
            names,
            shift: world.now - Instant::START,
            clock: Instant::START,
            late_floor: Ticks::ZERO - late - back,
            until_floor: Ticks::ZERO - late.max(Ticks::new(1)) - back,
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

/// First pass: which values occur.
#[derive(Default)]
struct Names {
    tokens_are_indexes: bool,
    indexes: List<u32, 16>,
    tenures: List<u32, 8>,
    sessions: List<SessionId, 8>,
    calls: List<(Option<ClientId>, u16), 8>,
    scope: Option<ClientId>,
}

/// A value's place among the sorted, distinct ones, from 1; 0 stays 0.
fn rank<T: Ord>(values: &[T], value: &T) -> usize {
    1 + values.binary_search(value).expect("the first pass has seen every value")
}

/// Sorts and removes what occurs twice.
fn distinct<T: Copy + Ord, const N: usize>(values: &mut List<T, N>) {
    values.sort_unstable();
    let mut last = None;
    values.retain(|value| last.replace(*value) != Some(*value));
}

impl Names {
    fn sort(&mut self) {
        distinct(&mut self.indexes);
        distinct(&mut self.tenures);
        distinct(&mut self.sessions);
        distinct(&mut self.calls);
    }
}

impl Visitor for Names {
    fn deadline(&mut self, _: &mut Instant) {}
    fn until(&mut self, _: &mut Instant) {}
    fn since(&mut self, _: &mut Instant) {}

    fn index(&mut self, index: &mut Index) {
        if index.0 > 0 {
            self.indexes.push(index.0);
        }
    }

    fn token(&mut self, token: &mut Token) {
        if self.tokens_are_indexes {
            self.index(&mut Index(token.0));
        }
    }

    fn tenure(&mut self, tenure: &mut Tenure) {
        if tenure.0 > 0 {
            self.tenures.push(tenure.0);
        }
    }

    fn session(&mut self, session: &mut SessionId) {
        self.sessions.push(*session);
    }

    fn call(&mut self, call: &mut Call) {
        if call.0 > 0 {
            self.calls.push((self.scope, call.0));
        }
    }

    fn scope(&mut self, client: Option<ClientId>, _: Ticks) {
        self.scope = client;
    }
}

/// Second pass: their names in the normal form.
struct Rewrite {
    names: Names,
    shift: Ticks,
    clock: Instant,
    late_floor: Ticks,
    until_floor: Ticks,
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

    fn since(&mut self, at: &mut Instant) {
        self.shift(at, self.since_floor);
    }

    fn index(&mut self, index: &mut Index) {
        if index.0 > 0 {
            index.0 = u32::try_from(rank(&self.names.indexes, &index.0)).expect("a rank is small");
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
            tenure.0 = u32::try_from(rank(&self.names.tenures, &tenure.0)).expect("a rank is small");
        }
    }

    fn session(&mut self, session: &mut SessionId) {
        let others = self.names.sessions.partition_point(|other| other.creator < session.creator);
        session.number = u16::try_from(rank(&self.names.sessions, session) - others).expect("a rank is small");
    }

    fn call(&mut self, call: &mut Call) {
        if call.0 > 0 {
            let others = self.names.calls.partition_point(|(scope, _)| *scope < self.names.scope);
            call.0 =
                u16::try_from(rank(&self.names.calls, &(self.names.scope, call.0)) - others).expect("a rank is small");
        }
    }

    fn scope(&mut self, client: Option<ClientId>, skew: Ticks) {
        self.names.scope = client;
        self.clock = Instant::START + skew;
    }
}
