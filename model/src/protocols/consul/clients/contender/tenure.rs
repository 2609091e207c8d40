//! The time inside: entering, writing, stopping, giving the lock up.

use super::{Contender, Phase, What, me};
use crate::fact::{Fact, Leaving};
use crate::ids::{Call, Token};
use crate::process::{Context, Outbox};
use crate::protocols::consul::settings::{Belief, Release, SessionUse, Writes};
use crate::protocols::consul::{Claim, Consul, LOCK, Opaque, Request};

impl Contender {
    /// Enters, unless it knows that its session is gone, or its lease is over: then the session is as good as gone, and
    /// the round is over.
    pub(super) fn enter(&mut self, token: Token, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if self.session.is_none_or(|session| session.is_over(context)) {
            self.session = None;
            return self.rest();
        }
        self.phase = Phase::Inside { token, writes: context.scenario.writes, pending: None };
        out.record(Fact::Entered { client: me(context), token });
    }

    pub(super) fn write(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Phase::Inside { token, writes, .. } = self.phase else { return };
        if self.session.is_some_and(|session| session.is_over(context)) {
            return self.leave(Leaving::Lapsed, context, out);
        }
        let mut pending = None;
        if context.scenario.service.writes == Writes::Acknowledged {
            self.last = self.last.next();
            pending = Some(self.last);
        }
        self.phase = Phase::Inside { token, writes: writes - 1, pending };
        out.write(token, pending);
    }

    pub(super) fn release(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let is_inside = context.scenario.service.release == Release::ReleaseFirst;
        if !is_inside {
            out.record(Fact::Left { client: me(context), why: Leaving::Done });
        }
        self.send_release(is_inside, context, out);
    }

    pub(super) fn send_release(&mut self, is_inside: bool, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Some(session) = self.session else {
            if is_inside {
                out.record(Fact::Left { client: me(context), why: Leaving::Done });
            }
            return self.rest();
        };
        // C-KV-16: a release writes the value, too; the recipe leaves none behind.
        let request = Request::Release(Claim { key: LOCK, session: session.id, value: Opaque::Empty, flags: 0 });
        self.call(What::Release { is_inside }, request, context, out);
    }

    /// After the release: clean up as `consul lock` does, or be done.
    pub(super) fn finish(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if context.scenario.service.cleanup {
            return self.call(What::Look, Request::Get(LOCK), context, out);
        }
        self.rest();
    }

    /// Stops acting without releasing: the session is left to its fate.
    pub(super) fn leave(&mut self, why: Leaving, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if !self.belief().is_inside {
            return;
        }
        out.record(Fact::Left { client: me(context), why });
        if context.scenario.service.session == SessionUse::Own {
            self.session = None;
        }
        self.rest();
    }

    /// Until its user wants the lock again. Without any round left the process is done and forgets its session.
    pub(super) fn rest(&mut self) {
        self.phase = Phase::Idle;
        if self.rounds == 0 {
            self.session = None;
        }
    }

    pub(super) fn hear_resource(
        &mut self,
        to: Call,
        accepted: bool,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        let Phase::Inside { token, writes, pending } = self.phase else { return };
        if pending != Some(to) {
            return;
        }
        if accepted || context.scenario.service.belief == Belief::None {
            self.phase = Phase::Inside { token, writes, pending: None };
            return;
        }
        out.record(Fact::Left { client: me(context), why: Leaving::Told });
        self.send_release(false, context, out);
    }
}
