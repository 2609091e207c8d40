//! Leases: grant, renewal and revoke. Expiry instants are in the memory of the leader, and nothing about them is logged (E-GEN-1).

use super::{
    Cluster, Ctx, Deadline, Ending, Fact, Held, Instant, Lease, Out, Response, SessionId, Settings, Ticks, Timer,
};
use crate::messages::Request;
use crate::settings::Jump;
use crate::{EtcdEvent, EtcdMutation as Mutant};

impl Cluster {
    pub(super) fn lease(&self, id: SessionId) -> Option<&Lease> {
        self.leases.iter().find(|lease| lease.id == id)
    }

    fn lease_mut(&mut self, id: SessionId) -> Option<&mut Lease> {
        self.leases.iter_mut().find(|lease| lease.id == id)
    }

    /// Grant: expiry counts from its application (E-LS-2). An existing lease is left alone (E-LS-1).
    pub(super) fn grant_lease(&mut self, id: SessionId, ttl: Ticks, context: &Ctx<'_>, out: Out<'_>) -> Response {
        if self.lease(id).is_none() {
            let settings = &context.scenario.service;
            let expires = Deadline(context.now + ttl);
            let scanned = Deadline(expires.0 + settings.scan_delay);
            let is_new = !settings.waits_for_apply;
            self.leases.insert_sorted(Lease { id, ttl, expires, scanned, forwarded: None, rest: None, is_new });
            out.record(Fact::Renewed { session: id });
        }
        Response::Granted
    }

    /// Renewal at the leader (E-LS-3). None: the lease is overdue, and the request waits for the revoke (E-LS-6).
    pub(super) fn renew(&mut self, id: SessionId, context: &Ctx<'_>, out: Out<'_>) -> Option<Response> {
        let settings = &context.scenario.service;
        let lags = self.lags;
        let Some(lease) = self.lease_mut(id) else { return Some(Response::NoLease) };
        if lags && lease.is_new {
            return Some(Response::NoLease);
        }
        if lags && settings.waits_for_apply && settings.apply_lag > settings.apply_patience {
            return Some(Response::Failed);
        }
        if lease.expires.is_due(context.now) && !context.is_mutated(Mutant::OverdueRenewed) {
            return None;
        }
        lease.expires = Deadline(context.now + lease.ttl);
        if context.is_mutated(Mutant::RenewalShort) {
            lease.expires = Deadline(context.now + lease.ttl - settings.resend_after);
        }
        // Its new expiry is computed with the clock that the scan reads: an earlier jump no longer matters.
        lease.scanned = Deadline(lease.expires.0 + settings.scan_delay);
        (lease.rest, lease.is_new) = (None, false);
        out.record(Fact::Renewed { session: id });
        Some(Response::Renewed)
    }

    /// The end of a lease: its keys are deleted at one revision (E-LS-8), and renewals that waited are answered 0 (E-LS-6).
    pub(super) fn end_lease(&mut self, id: SessionId, context: &Ctx<'_>, out: Out<'_>) {
        self.leases.retain(|lease| lease.id != id);
        if context.is_mutated(Mutant::RevokeKeepsKeys) {
            self.entries.iter_mut().filter(|entry| entry.lease == Some(id)).for_each(|entry| entry.lease = None);
        }
        self.delete_where(|entry| entry.lease == Some(id), Ending::Invalidated, context, out);
        let waits = |held: &Held| held.request == Request::Renew(id);
        if self.away.is_none() {
            for held in self.held.iter().filter(|held| waits(held)) {
                super::answer(out, (held.client, held.call), Response::NoLease);
            }
            self.held.retain(|held| !waits(held));
        }
    }

    /// The leader revokes an overdue lease (E-LS-5).
    pub(super) fn expire(&mut self, id: SessionId, context: &Ctx<'_>, out: Out<'_>) {
        if self.lease(id).is_some() {
            out.record(Fact::Expired { session: id });
            self.end_lease(id, context, out);
        }
    }

    /// A proposal of the old leader to revoke a lease is in the log, and will be committed (E-LD-9).
    pub(super) fn forward(&mut self, id: SessionId, context: &Ctx<'_>) {
        if let Some(lease) = self.lease_mut(id) {
            lease.forwarded = Some(Deadline(context.now));
        }
    }

    /// That proposal is committed.
    pub(super) fn commit_forwarded(&mut self, id: SessionId, context: &Ctx<'_>, out: Out<'_>) {
        out.record(Fact::Service(EtcdEvent::RevokeForwarded(id)));
        self.expire(id, context, out);
    }

    /// A client or an operator revokes a lease (E-LS-8).
    pub(super) fn revoke(&mut self, id: SessionId, context: &Ctx<'_>, out: Out<'_>) -> Response {
        if self.lease(id).is_none() {
            return Response::NoLease;
        }
        out.record(Fact::Destroyed { session: id });
        self.end_lease(id, context, out);
        Response::Done
    }

    /// The leader logs the rest of a lease (E-LS-13).
    pub(super) fn checkpoint(&mut self, id: SessionId, context: &Ctx<'_>) {
        if context.is_mutated(Mutant::CheckpointIsFull) {
            return self.leases.iter_mut().for_each(|lease| lease.rest = Some(lease.ttl));
        }
        if let Some(lease) = self.lease_mut(id) {
            lease.rest = Some((lease.expires.0 - context.now).max(Ticks::ZERO));
        }
    }

    /// A jump of the leader's wall clock (E-LS-10). Back: the scan comes late by the jump. Ahead: the scan finds a lease before it is
    /// overdue, and looks again after the retry.
    pub(super) fn jump(&mut self, context: &Ctx<'_>) {
        let Settings { clock_jump, jumps, scan_retry, scans_monotonic, .. } = &context.scenario.service;
        if *scans_monotonic && !context.is_mutated(Mutant::ScanReadsWallClock) {
            return;
        }
        for lease in self.leases.iter_mut() {
            let mut at = context.now.max(lease.expires.0) + *clock_jump;
            if *jumps == Jump::Ahead {
                at = context.now.max(lease.expires.0 - *clock_jump) + *scan_retry;
                while at < lease.expires.0 {
                    at += *scan_retry;
                }
            }
            lease.scanned = Deadline(at);
        }
    }

    /// Every lease gets its whole TTL, and the election timeout, from the promotion on (E-LD-1); with a checkpoint: the rest.
    pub(super) fn promote_leases(&mut self, is_restart: bool, context: &Ctx<'_>) {
        let settings = &context.scenario.service;
        let keeps = !is_restart || settings.checkpoint_persists || context.is_mutated(Mutant::RestartKeepsCheckpoint);
        for lease in self.leases.iter_mut() {
            if !keeps {
                lease.rest = None;
            }
            let length = lease.rest.unwrap_or(lease.ttl);
            let more = match context.is_mutated(Mutant::PromotionForgetsTimeout) {
                true => Ticks::ZERO,
                false => settings.election_timeout,
            };
            if !context.is_mutated(Mutant::PromotionKeepsExpiry) {
                lease.expires = Deadline(context.now + length + more);
            }
            lease.scanned = Deadline(lease.expires.0 + settings.scan_delay);
        }
    }

    pub(super) fn lease_wakes(&self, settings: &Settings, due: &mut dyn FnMut(Timer, Instant)) {
        for lease in &self.leases {
            due(Timer::Revoke(lease.id), lease.scanned.0);
            lease.forwarded.into_iter().for_each(|at| due(Timer::Forwarded(lease.id), at.0));
            if let Some(after) = settings.checkpoint.filter(|_| lease.rest.is_none()) {
                let rest = lease.ttl - after;
                if rest > Ticks::ZERO {
                    due(Timer::Checkpoint(lease.id), lease.expires.0 - rest);
                }
            }
        }
    }
}
