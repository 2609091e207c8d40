//! The shape of an action: what is left of it without the numbers that depend on what happened before.

use super::{Action, Envelope};
use crate::ids::{Call, ClientId, Index, SessionId, Tenure, Token};
use crate::protocol::Protocol;
use crate::time::{Instant, Ticks};
use crate::world::normal::{Normal, Visitor};

impl<P: Protocol> Action<P> {
    /// The action without indexes, tokens, tenures, calls and numbers of sessions: two actions of one shape do the same
    /// in runs that have come to it in different ways. Of a passage of time only that it is one is left.
    #[must_use]
    pub fn shape(&self) -> Self {
        let blank = |envelope: &Envelope<P>| {
            let mut envelope = Envelope { due: None, ..*envelope };
            envelope.message.visit(&mut Blank);
            envelope
        };
        let mut shape = *self;
        match &mut shape {
            Action::Deliver(envelope) | Action::Lose(envelope) | Action::Duplicate(envelope) => {
                *envelope = blank(envelope);
            }
            Action::Wake { timer, .. } => timer.visit(&mut Blank),
            Action::Operator(act) => act.visit(&mut Blank),
            Action::Advance(ticks) => *ticks = Ticks::ZERO,
            Action::Command { .. } | Action::Fault(_) | Action::Slip { .. } | Action::Choose { .. } => {}
        }
        shape
    }
}

struct Blank;

impl Visitor for Blank {
    fn deadline(&mut self, at: &mut Instant) {
        *at = Instant::START;
    }

    fn until(&mut self, at: &mut Instant) {
        *at = Instant::START;
    }

    fn elapsed(&mut self, at: &mut Instant) {
        *at = Instant::START;
    }

    fn since(&mut self, at: &mut Instant) {
        *at = Instant::START;
    }

    fn index(&mut self, index: &mut Index) {
        *index = Index::default();
    }

    fn token(&mut self, token: &mut Token) {
        *token = Token::default();
    }

    fn tenure(&mut self, tenure: &mut Tenure) {
        *tenure = Tenure::default();
    }

    fn session(&mut self, session: &mut SessionId) {
        session.number = 0;
    }

    fn call(&mut self, call: &mut Call) {
        *call = Call::default();
    }

    fn call_of(&mut self, _: ClientId, call: &mut Call) {
        *call = Call::default();
    }

    fn scope(&mut self, _: Option<ClientId>, _: Ticks) {}
}
