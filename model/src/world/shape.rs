//! The shape of an action: the action without the numbers that depend on earlier steps; and the same action under a
//! permutation of clients.

use super::{Action, Envelope, Fault, World};
use crate::ids::{Call, ClientId, Index, ProcessId, RawId, SessionId, Tenure, Token};
use crate::normal::{Normal, Visitor};
use crate::scenario::Scenario;
use crate::service::Service;
use crate::time::{Instant, Ticks};

impl<P: Service> Action<P> {
    /// The action without indexes, tokens, tenures, calls and session numbers. Two actions with the same shape have the
    /// same effect in executions that reached them in different ways. The length of a passage of time is not part of
    /// its shape.
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
            Action::Operator(operator_action) => operator_action.visit(&mut Blank),
            Action::Advance(ticks) => *ticks = Ticks::ZERO,
            Action::Command { .. } | Action::Fault(_) | Action::Slip { .. } | Action::Choose { .. } => {}
        }
        shape
    }
}

impl<P: Service> Action<P> {
    /// The same action under a permutation of clients.
    #[must_use]
    pub fn renamed(&self, rename: &impl Fn(ClientId) -> ClientId) -> Self {
        let mut names = Rename::permuting(rename);
        let process = |process: &mut ProcessId| {
            if let ProcessId::Client(client) = process {
                *client = rename(*client);
            }
        };
        let mut action = *self;
        match &mut action {
            Action::Deliver(envelope) | Action::Lose(envelope) | Action::Duplicate(envelope) => {
                process(&mut envelope.from);
                process(&mut envelope.to);
                envelope.message.visit(&mut names);
                envelope.message.sort();
            }
            Action::Wake { process: whose, timer } => {
                process(whose);
                timer.visit(&mut names);
            }
            Action::Operator(operator_action) => operator_action.visit(&mut names),
            Action::Command { client, .. } | Action::Fault(Fault::Crash(client) | Fault::Restart(client)) => {
                *client = rename(*client);
            }
            Action::Slip { process: whose, .. }
            | Action::Choose { process: whose, .. }
            | Action::Fault(Fault::Pause(whose) | Fault::Resume(whose)) => process(whose),
            Action::Fault(Fault::Cut(link) | Fault::Heal(link)) => {
                process(&mut link.from);
                process(&mut link.to);
            }
            Action::Fault(Fault::Service(fault)) => fault.visit(&mut names),
            Action::Advance(_) | Action::Fault(Fault::RestartResource) => {}
        }
        action
    }
}

impl<P: Service> Scenario<P> {
    /// The action itself, or the first enabled action of the same shape; for a passage of time, as much as may pass.
    pub fn like(&self, world: &World<P>, wanted: &Action<P>) -> Option<Action<P>> {
        if self.is_enabled(world, wanted) {
            return Some(*wanted);
        }
        if let Action::Advance(_) = wanted {
            return world.slack(self).filter(|slack| *slack > Ticks::ZERO).map(Action::Advance);
        }
        let shape = wanted.shape();
        let mut enabled = Vec::new();
        self.enabled(world, &mut enabled);
        enabled.into_iter().find(|action| action.shape() == shape)
    }
}

/// Renames clients wherever they occur.
pub struct Rename<'a, F> {
    rename: &'a F,
    keeps_apart: bool,
}

impl<'a, F: Fn(ClientId) -> ClientId> Rename<'a, F> {
    /// Each client has a name of its own afterwards.
    pub fn permuting(rename: &'a F) -> Self {
        Rename { rename, keeps_apart: true }
    }

    /// Several clients may have the same name afterwards.
    pub fn merging(rename: &'a F) -> Self {
        Rename { rename, keeps_apart: false }
    }
}

impl<F: Fn(ClientId) -> ClientId> Visitor for Rename<'_, F> {
    fn deadline(&mut self, _: &mut Instant) {}
    fn until(&mut self, _: &mut Instant) {}
    fn elapsed(&mut self, _: &mut Instant) {}
    fn since(&mut self, _: &mut Instant) {}
    fn index(&mut self, _: &mut Index) {}
    fn token(&mut self, _: &mut Token) {}
    fn tenure(&mut self, _: &mut Tenure) {}
    fn call(&mut self, _: &mut Call) {}
    fn call_of(&mut self, _: ClientId, _: &mut Call) {}
    fn scope(&mut self, _: Option<ClientId>, _: Ticks) {}

    fn session(&mut self, session: &mut SessionId) {
        let parts = session.raw();
        *session = SessionId::numbered((self.rename)(parts.creator), parts.number);
    }

    fn client(&mut self, client: &mut ClientId) {
        *client = (self.rename)(*client);
    }

    fn keeps_apart(&self) -> bool {
        self.keeps_apart
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
        *session = SessionId::numbered(session.raw().creator, 0);
    }

    fn call(&mut self, call: &mut Call) {
        *call = Call::default();
    }

    fn call_of(&mut self, _: ClientId, call: &mut Call) {
        *call = Call::default();
    }

    fn scope(&mut self, _: Option<ClientId>, _: Ticks) {}
}
