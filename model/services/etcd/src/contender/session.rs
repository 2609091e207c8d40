//! The session: a lease, its renewals, and the end of it as the client sees it (E-CC-1 to E-CC-6).

use super::{Contender, ContenderStep, Ctx, Out, Renewal, Session};
use crate::messages::{Request, Response};
use crate::settings::{Settings, Stop};
use crate::{EtcdEvent, EtcdMutation as Mutant};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{ClientId, RawId, SessionId};
use fencepost_model::scenario::Cutting;
use fencepost_model::time::{Deadline, Ticks};

impl Contender {
    /// `NewSession`: a lease is granted (E-CC-1).
    pub(super) fn open(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        self.lease = match context.scenario.service.shared_lease {
            true => SessionId::numbered(ClientId(1), 1),
            false => SessionId::numbered(context.client(), self.lease.raw().number + 1),
        };
        let stops = self.stops(context);
        let call = self.send(Request::Grant(self.lease, context.scenario.service.ttl_of(self.lease)), out);
        self.step = ContenderStep::Opening(call, stops);
    }

    /// When a self-limiting holder stops, if what it sends now is acknowledged: T after the sending, less the margin (E-T-7).
    fn stops(&self, context: &Ctx<'_>) -> Option<Deadline> {
        let Settings { stop, margin, .. } = context.scenario.service;
        let length = context.scenario.service.ttl_of(self.lease) - margin;
        let length = length + Ticks::new(i64::from(context.is_mutated(Mutant::StopsLate)));
        (stop == Stop::BeforeExpiry).then(|| Deadline(context.now + length))
    }

    /// The keepalive is registered, and the first renewal sent at once (E-CC-2). Until it is answered the session's deadline has nothing
    /// to do with its TTL (E-CC-4).
    pub(super) fn register(&mut self, stops: Option<Deadline>, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        let ttl = settings.ttl_of(self.lease);
        let first = settings.first_deadline.filter(|_| !context.is_mutated(Mutant::FirstDeadlineIsTtl)).unwrap_or(ttl);
        let done = settings.renews.then(|| Self::done(first, context));
        self.session = Some(Session { done, next: None, renewal: None, stops });
        if settings.renews {
            self.renew(context, out);
        }
    }

    /// The loop finds a deadline that has passed within its period (E-CC-3).
    fn done(length: Ticks, context: &Ctx<'_>) -> Deadline {
        let period = context.scenario.service.done_loop;
        let late = if context.is_mutated(Mutant::DoneAtDeadline) { Ticks::ZERO } else { period };
        Deadline(context.now + length + late)
    }

    /// Sends a renewal. On a link that loses messages an unanswered one is sent again (E-CC-2); otherwise the stream delivers it.
    pub(super) fn renew(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let stops = self.stops(context);
        let call = self.send(Request::Renew(self.lease), out);
        let is_lossy = context.scenario.network.cuts == Cutting::Drop || context.scenario.budget.losses > 0;
        let again = context.now + context.scenario.service.resend_after;
        if let Some(session) = &mut self.session {
            session.renewal = Some(Renewal { call, stops });
            session.next = is_lossy.then_some(Deadline(again));
        }
    }

    /// The answer to a renewal: the deadline counts from it (E-CC-3); 0 ends the session at once (E-CC-5).
    pub(super) fn hear_renewal(&mut self, renewal: Renewal, response: Response, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        let late = Ticks::new(i64::from(context.is_mutated(Mutant::RenewsLate)));
        let (next, done) = (settings.renew_after + late, Self::done(settings.ttl_of(self.lease), context));
        let counted = self.stops(context).filter(|_| context.is_mutated(Mutant::StopCountsFromAnswer));
        let Some(session) = &mut self.session else { return };
        session.renewal = None;
        match response {
            Response::Renewed => {
                session.next = Some(Deadline(context.now + next));
                session.done = Some(done);
                session.stops = counted.or(renewal.stops);
            }
            Response::NoLease => self.lose_session(Leaving::Notified, context, out),
            _ => session.next = Some(Deadline(context.now + settings.resend_after)),
        }
    }

    /// `Done` closes. Whether anything follows is up to the user (E-CC-12, E-CC-32).
    pub(super) fn lose_session(&mut self, why: Leaving, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        self.session = None;
        out.record(Fact::Service(EtcdEvent::SessionEnded(context.client())));
        match self.step {
            ContenderStep::Inside { .. } if settings.stop != Stop::Never => {
                self.leave(why, context, out);
                self.step = ContenderStep::Idle;
            }
            _ if !settings.done_cancels || context.is_mutated(Mutant::DoneCancelsNothing) => {}
            ContenderStep::Looking(_) | ContenderStep::Watching(..) | ContenderStep::Checking(_) => {
                self.withdraw(out, context);
            }
            // The transaction may be applied yet: its key goes with the lease.
            ContenderStep::Nesting(_) | ContenderStep::Locking(_) => self.step = ContenderStep::Idle,
            _ => {}
        }
    }
}
