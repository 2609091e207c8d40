//! The numbers and instants of a world without absolute meaning, by what they count among.

use serde::{Deserialize, Serialize};

use crate::ids::{Call, ClientId, Index, RawId, SessionId, SessionParts, Tenure, Token};
use crate::normal::Visitor;
use crate::time::{Instant, Ticks};
use crate::world::Horizon;

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

impl NumberKind {
    /// The largest number of its kind.
    #[must_use]
    pub fn most(self) -> u32 {
        match self {
            NumberKind::Index | NumberKind::Tenure => u32::MAX,
            NumberKind::Session(_) | NumberKind::Call(_) | NumberKind::Counter(_) => u16::MAX.into(),
        }
    }
}

/// Gives instants and numbers other values.
pub trait Numbers {
    /// The new value of an instant; what is earlier than `floor` means the same as `floor`, once now is 0.
    fn instant(&mut self, at: Instant, floor: Instant) -> Instant;

    /// The new value of a number. 0 stands for no number and is not asked for, but that a counter can be 0. `is_own` says that the number is
    /// a call of the client in scope.
    fn number(&mut self, kind: NumberKind, number: u32, is_own: bool) -> u32;
}

/// Visits all of them: the visitor of a [`Numbers`]. What becomes larger than the [largest](NumberKind::most) of its kind becomes 0.
pub struct ByKind<'a, N> {
    numbers: &'a mut N,
    horizon: Horizon,
    /// What the clock in scope shows when true time is 0.
    clock: Instant,
    scope: u16,
}

impl<'a, N: Numbers> ByKind<'a, N> {
    /// Its visitor in a scenario with this horizon.
    pub fn new(numbers: &'a mut N, horizon: Horizon) -> Self {
        ByKind { numbers, horizon, clock: Instant::START, scope: 0 }
    }

    fn instant(&mut self, at: &mut Instant, floor: Ticks) {
        *at = self.numbers.instant(*at, self.clock + floor);
    }

    fn number(&mut self, kind: NumberKind, number: u32) -> u32 {
        if number == 0 { 0 } else { self.numbers.number(kind, number, kind == NumberKind::Call(self.scope)) }
    }

    fn short(&mut self, kind: NumberKind, number: u16) -> u16 {
        u16::try_from(self.number(kind, number.into())).unwrap_or_default()
    }
}

impl<N: Numbers> Visitor for ByKind<'_, N> {
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
        call.0 = self.short(NumberKind::Call(self.scope), call.0);
    }

    fn call_of(&mut self, client: ClientId, call: &mut Call) {
        call.0 = self.short(NumberKind::Call(client.0), call.0);
    }

    fn counter(&mut self, call: &mut Call) {
        let name = self.numbers.number(NumberKind::Counter(self.scope), call.0.into(), true);
        call.0 = u16::try_from(name).unwrap_or_default();
    }

    fn scope(&mut self, client: Option<ClientId>, skew: Ticks) {
        self.scope = client.map_or(0, |client| client.0);
        self.clock = Instant::START + skew;
    }
}
