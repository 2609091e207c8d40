//! Numbers of requests, kept small: a program counts its requests with sixteen bits, and a tenure may last for months.

use std::collections::BTreeMap;

use fencepost_model::ids::{Call, ClientId, Index, SessionId, Tenure, Token};
use fencepost_model::normal::{Normal, Visitor};
use fencepost_model::program::{Program, Programmable};
use fencepost_model::time::Instant;

/// From this number on they are counted from 1 again.
pub(crate) const CALLS_MAX: u16 = 1_000;

/// Gives the requests that the program waits for small numbers, in the same order. Says which number each has now.
pub(crate) fn renumber<S: Programmable>(program: &mut Program<S>) -> BTreeMap<Call, Call> {
    let mut seen = Seen::default();
    program.visit(&mut seen);
    let new = (1..).map(Call);
    let named: BTreeMap<Call, Call> = seen.0.into_keys().zip(new).collect();
    program.visit(&mut Named(&named));
    named
}

#[derive(Default)]
struct Seen(BTreeMap<Call, ()>);

struct Named<'a>(&'a BTreeMap<Call, Call>);

macro_rules! leave {
    ($type:ty, $($name:ident: $kind:ty),*) => {
        impl Visitor for $type {
            $(fn $name(&mut self, _: &mut $kind) {})*

            fn call(&mut self, call: &mut Call) {
                self.meet(call);
            }

            fn call_of(&mut self, _: ClientId, _: &mut Call) {}

            fn scope(&mut self, _: Option<ClientId>, _: fencepost_model::time::Ticks) {}
        }
    };
}

leave!(
    Seen, deadline: Instant, until: Instant, elapsed: Instant, since: Instant, index: Index, token: Token, tenure: Tenure,
    session: SessionId
);
leave!(
    Named<'_>, deadline: Instant, until: Instant, elapsed: Instant, since: Instant, index: Index, token: Token,
    tenure: Tenure, session: SessionId
);

impl Seen {
    fn meet(&mut self, call: &mut Call) {
        self.0.insert(*call, ());
    }
}

impl Named<'_> {
    fn meet(&mut self, call: &mut Call) {
        *call = self.0[call];
    }
}
