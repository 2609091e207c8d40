//! The members: loss of the leader, promotion of the next one, a pause of the single server; a leader whose loop is stuck, and which
//! the others have deposed (E-LD).

use super::{
    Absence, Away, Behind, Cluster, Ctx, Deadline, Fact, Held, InlineVec, Out, Remembered, Response, SessionId,
    Settings, Stalled,
};
use crate::messages::Request;
use crate::rarely::Rarely;
use crate::{EtcdEvent, EtcdFault, EtcdMutation as Mutant};
use fencepost_model::ids::{Call, ClientId};
use fencepost_model::scenario::Budget;
use fencepost_model::time::{Instant, Ticks};

impl Cluster {
    /// Whether a leader answers.
    pub(super) fn is_away(&self) -> bool {
        self.away.is_some()
    }

    /// Whether all members are down.
    pub(super) fn is_down(&self) -> bool {
        self.away.is_some_and(|away| away.why == Absence::Restart)
    }

    pub(crate) fn offer_faults(
        &self,
        left: &Budget,
        settings: &Settings,
        clients: usize,
        now: Instant,
        offer: &mut dyn FnMut(EtcdFault),
    ) {
        let is_calm = self.calm_until.is_none_or(|until| until.is_due(now));
        let is_whole = self.away.is_none() && self.stalled.is_none();
        if is_whole && is_calm && left.affords(EtcdFault::LOSS) {
            offer(EtcdFault::LoseLeader);
        }
        if is_whole && left.affords(EtcdFault::RESTART) {
            offer(EtcdFault::Restart);
        }
        if is_whole && left.affords(EtcdFault::FREEZE) {
            offer(EtcdFault::Freeze);
        }
        if is_whole && left.affords(EtcdFault::STALL) {
            match settings.stalled_client {
                true => (0..clients).for_each(|place| offer(EtcdFault::Stall(Some(ClientId::of(place))))),
                false => offer(EtcdFault::Stall(None)),
            }
        }
        if self.stalled.is_some() && self.away.is_none() {
            offer(EtcdFault::EndStall);
        }
        if left.affords(EtcdFault::DISCONNECTION) {
            let mut clients: Vec<ClientId> = self.watches.iter().map(|watch| watch.client).collect();
            if let Some(log) = &*self.log {
                clients.extend(log.watchers());
                clients.sort_unstable();
            }
            clients.dedup();
            clients.into_iter().for_each(|client| offer(EtcdFault::Disconnect(client)));
        }
        if is_whole && left.affords(EtcdFault::CLOCK) {
            offer(EtcdFault::Jump);
        }
        match &self.behind {
            Some(_) => offer(EtcdFault::CatchUp),
            None if left.affords(EtcdFault::LAG) => offer(EtcdFault::LagBehind),
            None => {}
        }
        match self.lags {
            true => offer(EtcdFault::ApplyAgain),
            false if left.affords(EtcdFault::SLOW_APPLY) => offer(EtcdFault::ApplySlowly),
            false => {}
        }
    }

    pub(crate) fn suffer(&mut self, fault: EtcdFault, context: &Ctx<'_>, out: Out<'_>) {
        let settings = &context.scenario.service;
        match fault {
            EtcdFault::LoseLeader => self.go_away(Absence::Election, settings.outage, context),
            EtcdFault::Restart => self.go_away(Absence::Restart, settings.outage, context),
            EtcdFault::Freeze => self.go_away(Absence::Freeze, settings.freeze, context),
            EtcdFault::Stall(with) => self.stall(with, context),
            EtcdFault::EndStall => self.end_stall(context, out),
            EtcdFault::Disconnect(client) => self.disconnect(client, out),
            EtcdFault::Jump => self.jump(context),
            EtcdFault::LagBehind => {
                let copy = (!context.scenario.programs.is_empty()).then(|| (self.oldest(), self.revision));
                let holder = self.record().owners.first().copied();
                self.behind = Some(Box::new(Behind { holder, copy: Rarely(copy) }));
            }
            EtcdFault::CatchUp => self.behind = None,
            EtcdFault::ApplySlowly => self.lags = true,
            EtcdFault::ApplyAgain => self.lags = false,
        }
    }

    fn go_away(&mut self, why: Absence, length: Ticks, context: &Ctx<'_>) {
        self.away = Some(Away { until: Deadline(context.now + length), why });
    }

    /// A new leader is promoted (E-LD-1), or the server runs again (E-LS-11).
    pub(super) fn come_back(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let Some(away) = self.away.take() else { return };
        let apart = context.scenario.service.elections_apart;
        match away.why {
            Absence::Election | Absence::Restart => {
                self.promote_leases(away.why == Absence::Restart, context);
                self.calm_until = (apart > Ticks::ZERO).then(|| Deadline(context.now + apart));
                out.record(Fact::Service(EtcdEvent::Promoted));
            }
            // Overdue leases are revoked one by one; renewals of them wait for that (E-LS-6).
            Absence::Freeze => {}
        }
        if context.is_mutated(Mutant::WaitingRequestsLost) {
            self.held.clear();
        }
        self.serve_held(context, out);
    }

    /// Serves the requests that waited, in order.
    fn serve_held(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let held: Vec<Held> = std::mem::take(&mut self.held).iter().copied().collect();
        for Held { client, call, request } in held {
            self.ask((client, call), request, context, out);
        }
    }

    /// The leader's loop is stuck; the others elect another one after their election timeout (E-LD-5, E-LD-7).
    fn stall(&mut self, with: Option<ClientId>, context: &Ctx<'_>) {
        let settings = &context.scenario.service;
        let remember = |lease: &super::Lease| Remembered {
            id: lease.id,
            ttl: lease.ttl,
            expires: lease.expires,
            is_proposed: false,
        };
        let leases: InlineVec<Remembered, 3> = self.leases.iter().map(remember).collect();
        let ends = Deadline(context.now + settings.stall);
        self.stalled = Some(Box::new(Stalled { with, ends, leases }));
        self.go_away(Absence::Election, settings.outage, context);
    }

    /// In the view of the stalled leader a lease is overdue. A proposal made before the others have elected another leader is lost with
    /// its term; a later one waits for the end of the stall (E-LD-9).
    pub(super) fn propose(&mut self, id: SessionId) {
        let is_lost = self.away.is_some();
        let Some(stalled) = &mut self.stalled else { return };
        if is_lost {
            stalled.leases.retain(|lease| lease.id != id);
        } else if let Some(lease) = stalled.leases.iter_mut().find(|lease| lease.id == id) {
            lease.is_proposed = true;
        }
    }

    /// The stall is over: what the old leader has proposed is forwarded to the new one, and nothing in it names the term (E-LD-9).
    fn end_stall(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        let Some(stalled) = self.stalled.take() else { return };
        let is_forwarded = context.scenario.service.forwards_revokes || context.is_mutated(Mutant::TermUnchecked);
        for proposed in stalled.leases.iter().filter(|lease| lease.is_proposed && is_forwarded) {
            self.forward(proposed.id, context);
        }
        self.serve_held(context, out);
    }

    /// Whether the client is connected to the stalled leader, which answers renewals only.
    pub(super) fn is_with_stalled(&self, client: ClientId) -> bool {
        self.stalled.as_ref().is_some_and(|stalled| stalled.with == Some(client))
    }

    /// A renewal by a client of the stalled leader, from its own memory (E-LD-8). None: it is not answered by it.
    pub(super) fn renew_stalled(
        &mut self,
        client: ClientId,
        request: Request,
        context: &Ctx<'_>,
        out: Out<'_>,
    ) -> Option<Response> {
        let settings = &context.scenario.service;
        let Request::Renew(id) = request else { return None };
        let stalled = self.stalled.as_mut().filter(|stalled| stalled.with == Some(client))?;
        let confirms = settings.confirms_leadership && !context.is_mutated(Mutant::LeadershipUnconfirmed);
        let is_running = |lease: &&mut Remembered| lease.id == id && !lease.expires.is_due(context.now);
        let Some(lease) = stalled.leases.iter_mut().find(is_running).filter(|_| !confirms) else {
            return Some(Response::Failed);
        };
        lease.expires = Deadline(context.now + lease.ttl);
        out.record(Fact::Renewed { session: id });
        out.record(Fact::Service(EtcdEvent::RenewedByStalled(id)));
        Some(Response::Renewed)
    }

    /// A client's connection breaks: its watches are gone, and it learns that (E-W-7).
    fn disconnect(&mut self, client: ClientId, out: Out<'_>) {
        let mut calls: Vec<Call> =
            self.watches.iter().filter(|watch| watch.client == client).map(|watch| watch.call).collect();
        self.watches.retain(|watch| watch.client != client);
        calls.extend(self.log.iter_mut().flat_map(|log| log.disconnect(client)));
        calls.into_iter().for_each(|call| super::answer(out, (client, call), Response::Disconnected));
    }
}
