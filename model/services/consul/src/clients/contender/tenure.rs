//! The time inside: entering, writing, stopping, giving the lock up.

use super::super::ask;
use super::super::membership::Membership;
use super::{Contender, Pending, Phase, What, third_party};
use crate::ConsulMutation;
use crate::settings::{BeliefRule, Guard, Release, Unlock, Writes};
use crate::{
    Answer, Claim, Consul, ConsulMessage, Key, LOCK, Opaque, Operation, Order, Plain, Request, Spelling, Transaction,
};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{Index, Tenure, Token};
use fencepost_model::process::{Context, Outbox};

impl Contender {
    /// Enters, unless it knows that its session is gone, or its lease is over: then the session is as good as gone, and
    /// the round is over.
    pub(super) fn enter(&mut self, token: Token, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let is_late =
            |session: Membership| session.is_over(context) && !context.is_mutated(ConsulMutation::EntersAfterLease);
        if self.session.is_none_or(is_late) {
            self.session = None;
            return self.rest();
        }
        self.phase = Phase::Inside { token, writes: context.scenario.writes, pending: None };
        out.record(Fact::Entered { client: context.client(), token });
        self.watch(Index::NONE, context, out);
    }

    pub(super) fn write(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Phase::Inside { token, writes, .. } = self.phase else { return };
        if self.session.is_some_and(|session| session.is_over(context)) {
            return self.lapse(context, out);
        }
        let settings = &context.scenario.service;
        let pending = match (settings.guard, self.session) {
            (Guard::Look, _) => Some(Pending::Look(ask(&mut self.last, Request::Get(LOCK), out))),
            (Guard::Transaction, Some(session)) => {
                let check =
                    Operation::CheckSession { key: LOCK, session: Some(session.id), spelling: Spelling::default() };
                let set = Operation::Set { key: Key::Data, value: Plain::Name(context.client()), flags: 0 };
                // In either order: both happen, or neither.
                let operations = [set, check].into_iter().collect();
                let request = Request::Commit(Transaction { operations, tenure: Tenure::default() });
                Some(Pending::Commit(ask(&mut self.last, request, out)))
            }
            (Guard::Transaction, None) => None,
            (Guard::None, Some(session)) if settings.delegates => {
                self.last = self.last.next();
                let order = Order { session: session.id, token, ..Order::default() };
                let to = third_party(context.scenario).into();
                out.send(to, ConsulMessage::Order(context.client(), self.last, order));
                (settings.writes == Writes::Acknowledged).then_some(Pending::Order(self.last))
            }
            (Guard::None, _) => self.send_write(token, context, out),
        };
        self.phase = Phase::Inside { token, writes: writes - 1, pending };
    }

    fn send_write(&mut self, token: Token, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) -> Option<Pending> {
        let mut call = None;
        if context.scenario.service.writes == Writes::Acknowledged {
            self.last = self.last.next();
            call = Some(self.last);
        }
        out.write(token, call);
        call.map(Pending::Write)
    }

    /// The response to a read before a write, or to the transaction that does both.
    pub(super) fn hear_guard(&mut self, answer: Answer, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Phase::Inside { token, writes, .. } = self.phase else { return };
        let pending = match answer {
            Answer::Found(entry) if self.is_mine(&entry) => self.send_write(token, context, out),
            Answer::Committed => None,
            _ => return self.leave(Leaving::Notified, context, out),
        };
        self.phase = Phase::Inside { token, writes, pending };
    }

    pub(super) fn release(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let is_inside = context.scenario.service.release == Release::ReleaseFirst;
        if !is_inside {
            out.record(Fact::Left { client: context.client(), why: Leaving::Done });
        }
        self.send_release(is_inside, context, out);
    }

    pub(super) fn send_release(&mut self, is_inside: bool, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.monitor = None;
        let Some(session) = self.session else {
            if is_inside {
                out.record(Fact::Left { client: context.client(), why: Leaving::Done });
            }
            return self.rest();
        };
        if context.scenario.service.queue.is_some() {
            self.stake = Token::NONE;
            return self.call(What::Release { is_inside }, Request::Delete(Key::Contender(session.id)), context, out);
        }
        match context.scenario.service.unlock {
            // C-KV-16: a release writes the value, too; the recipe leaves none behind.
            Unlock::Release => {
                let claim = Claim::new(LOCK, session.id, Opaque::Empty, context.scenario.service.flags);
                self.call(What::Release { is_inside }, Request::Release(claim), context, out);
            }
            Unlock::Delete => self.call(What::Release { is_inside }, Request::Delete(LOCK), context, out),
            Unlock::LookThenDelete => self.call(What::LookToDelete { is_inside }, Request::Get(LOCK), context, out),
        }
    }

    /// After the release, whatever came of it: it cleans up like `consul lock`, or finishes.
    pub(super) fn finish(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if context.scenario.service.ends_session {
            self.end_session(out);
        }
        if context.scenario.service.cleanup {
            return self.call(What::Look, Request::Get(LOCK), context, out);
        }
        self.rest();
    }

    /// Waits until its user asks for the lock again. After the last round the process ends and forgets its session.
    pub(super) fn rest(&mut self) {
        self.phase = Phase::Idle;
        self.monitor = None;
        if self.rounds == 0 {
            self.session = None;
        }
    }

    /// The response to a write, from the resource or from the third party.
    pub(super) fn hear_write(
        &mut self,
        to: Pending,
        accepted: bool,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        let Phase::Inside { token, writes, pending } = self.phase else { return };
        if pending != Some(to) {
            return;
        }
        if accepted || context.scenario.service.belief == BeliefRule::None {
            self.phase = Phase::Inside { token, writes, pending: None };
            return;
        }
        out.record(Fact::Left { client: context.client(), why: Leaving::Notified });
        self.send_release(false, context, out);
    }
}
