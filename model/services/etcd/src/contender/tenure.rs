//! The tenure: how it begins, and how a user leaves.

use super::{Contender, ContenderStep, Ctx, Key, Operation, Out, is_election};
use crate::EtcdMutation as Mutant;
use crate::messages::{Request, Response};
use crate::rarely::Rarely;
use crate::settings::{Guard, Leave, Nested};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{Call, Tenure};
use fencepost_model::time::Deadline;

impl Contender {
    pub(super) fn enter(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        if !self.may_enter(context) {
            return self.withdraw(out, context);
        }
        self.step = ContenderStep::Inside { writes: context.scenario.writes, pending: None };
        out.record(Fact::Entered { client: context.client(), token: self.created.token() });
        if context.scenario.service.watches_own_key {
            self.watch_own_key(out);
        }
    }

    pub(super) fn watch_own_key(&mut self, out: Out<'_>) {
        self.own_watch = Some(self.send(Request::Watch(self.key(), self.created), out));
    }

    /// A write to the resource, with the create revision as token, or to a key of etcd, in a transaction (E-CC-24).
    pub(super) fn write(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let ContenderStep::Inside { writes, .. } = self.step else { return };
        let call = match context.scenario.service.guard {
            Guard::Resource => {
                self.call = self.call.next();
                out.write(self.created.token(), Some(self.call));
                self.call
            }
            Guard::Txn => self.transact(self.key(), self.created, Operation::Write(Tenure::default()), out),
        };
        self.step = ContenderStep::Inside { writes: writes - 1, pending: Some(call) };
    }

    /// The answer to a write.
    pub(super) fn hear_write(&mut self, call: Call) {
        if let ContenderStep::Inside { writes, pending: Some(pending) } = self.step
            && pending == call
        {
            self.step = ContenderStep::Inside { writes, pending: None };
        }
    }

    pub(super) fn leave(&mut self, why: Leaving, context: &Ctx<'_>, out: Out<'_>) {
        self.own_watch = None;
        out.record(Fact::Left { client: context.client(), why });
    }

    /// The user has finished.
    pub(super) fn release(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        self.leave(Leaving::Done, context, out);
        match context.scenario.service.leave {
            Leave::Release | Leave::FailAndRepeat => {
                let call = self.delete_key(context, out);
                self.step = ContenderStep::Unlocking(call);
            }
            // The second call of `Resign` finds no session, and returns success (E-CC-22).
            Leave::Abandon | Leave::FailAndForget => self.finish(context, out),
        }
    }

    /// `Unlock` deletes by name (E-CC-14), `Resign` by the create revision (E-CC-22).
    pub(super) fn delete_key(&mut self, context: &Ctx<'_>, out: Out<'_>) -> Call {
        if is_election(context) || context.scenario.service.unlock_compares {
            return self.transact(self.key(), self.created, Operation::Delete, out);
        }
        self.send(Request::Delete(self.key()), out)
    }

    /// The round is over; the session is closed, or kept for the next one.
    pub(super) fn finish(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        let closes = settings.closes_session && !context.is_mutated(Mutant::SessionNeverClosed);
        // E-CC-6: also a session that is done; not one that was refused.
        if closes && !matches!(self.step, ContenderStep::Opening(..)) {
            self.session = None;
            let call = self.send(Request::Revoke(self.lease), out);
            let limit = settings.limits_close.then(|| Deadline(context.now + settings.ttl_of(self.lease)));
            self.step = ContenderStep::Closing(call, Rarely(limit));
        } else {
            self.step = ContenderStep::Idle;
        }
    }

    /// The answer to what it waits for on its way out.
    pub(super) fn hear_end(&mut self, _: Response, context: &Ctx<'_>, out: Out<'_>) {
        match self.step {
            ContenderStep::Unlocking(_) if context.scenario.service.nested != Nested::No => {
                let call = self.send(Request::Delete(Key::Below(self.lease)), out);
                self.step = ContenderStep::Unnesting(call);
            }
            ContenderStep::Unlocking(_) | ContenderStep::Unnesting(_) | ContenderStep::Withdrawing(_) => {
                self.finish(context, out);
            }
            _ => self.step = ContenderStep::Idle,
        }
    }
}
