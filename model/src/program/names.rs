//! Names without absolute meaning in what only the recipe can read: a visitor as an object, and one that blanks all of them.

use crate::ids::{Call, ClientId, Index, SessionId, Tenure, Token};
use crate::normal::Visitor;
use crate::time::{Instant, Ticks};

/// A visitor of which the type is not known.
pub(super) struct Any<'a>(pub(super) &'a mut dyn Visitor);

macro_rules! pass_on {
    ($($name:ident: $kind:ty),*) => {
        impl Visitor for Any<'_> {
            $(fn $name(&mut self, value: &mut $kind) {
                self.0.$name(value);
            })*

            fn call_of(&mut self, client: ClientId, call: &mut Call) {
                self.0.call_of(client, call);
            }

            fn scope(&mut self, client: Option<ClientId>, skew: Ticks) {
                self.0.scope(client, skew);
            }

            fn keeps_apart(&self) -> bool {
                self.0.keeps_apart()
            }
        }
    };
}

pass_on!(
    deadline: Instant, until: Instant, elapsed: Instant, since: Instant, index: Index, token: Token, version: Token,
    tenure: Tenure, session: SessionId, call: Call, client: ClientId
);

/// Gives everything without absolute meaning the same name.
pub(super) struct Blank;

macro_rules! blank {
    ($($name:ident: $kind:ty),*) => {
        impl Visitor for Blank {
            $(fn $name(&mut self, value: &mut $kind) {
                *value = <$kind>::default();
            })*

            fn call_of(&mut self, _: ClientId, call: &mut Call) {
                *call = Call::default();
            }

            fn scope(&mut self, _: Option<ClientId>, _: Ticks) {}
        }
    };
}

blank!(
    deadline: Instant, until: Instant, elapsed: Instant, since: Instant, index: Index, token: Token, tenure: Tenure,
    session: SessionId, call: Call, client: ClientId
);

/// Whether something shows a reading of a wall clock.
pub(super) struct ShowsReading(pub(super) bool);

impl Visitor for ShowsReading {
    fn elapsed(&mut self, _: &mut Instant) {
        self.0 = true;
    }

    fn deadline(&mut self, _: &mut Instant) {}
    fn until(&mut self, _: &mut Instant) {}
    fn since(&mut self, _: &mut Instant) {}
    fn index(&mut self, _: &mut Index) {}
    fn token(&mut self, _: &mut Token) {}
    fn tenure(&mut self, _: &mut Tenure) {}
    fn session(&mut self, _: &mut SessionId) {}
    fn call(&mut self, _: &mut Call) {}
    fn call_of(&mut self, _: ClientId, _: &mut Call) {}
    fn scope(&mut self, _: Option<ClientId>, _: Ticks) {}
}

/// Changes nothing.
pub(super) struct NoVisitor;

macro_rules! leave {
    ($($name:ident: $kind:ty),*) => {
        impl Visitor for NoVisitor {
            $(fn $name(&mut self, _: &mut $kind) {})*

            fn call_of(&mut self, _: ClientId, _: &mut Call) {}

            fn scope(&mut self, _: Option<ClientId>, _: Ticks) {}
        }
    };
}

leave!(
    deadline: Instant, until: Instant, elapsed: Instant, since: Instant, index: Index, token: Token, tenure: Tenure,
    session: SessionId, call: Call
);
