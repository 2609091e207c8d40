//! When leases end. A lease is overdue T after its grant or renewal, and exists until it is revoked (E-LS-2, E-LS-3, E-LS-5): how long that
//! takes, `--timers` says.

use fencepost_conform::SECOND;
use fencepost_etcd::mvcc::EtcdAnswer;

use super::EtcdBackend;
use super::queue::Parked;
use crate::stand_in::StandIn;

/// The end of a lease, in nanoseconds.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Expiry {
    /// Its granted TTL.
    ttl: i64,
    /// From when on it is overdue.
    pub(super) overdue: i64,
    /// When it is revoked, unless it is renewed before it is overdue.
    pub(super) revoked: i64,
}

impl StandIn<EtcdBackend> {
    /// A lease begins anew: `more` nanoseconds longer than its TTL, in seconds.
    pub(super) fn begin_lease(&mut self, id: i64, ttl: i64, more: i64) {
        let ttl = ttl.saturating_mul(SECOND);
        let overdue = self.now.saturating_add(ttl).saturating_add(more);
        self.backend.counted += 1;
        let counted = self.backend.counted;
        let (_, revoked) = self
            .settings
            .timers
            .fires(overdue, |which| self.seed().draw(&[u64::from_be_bytes(*b"the scan"), counted, which]));
        self.backend.expiries.insert(id, Expiry { ttl, overdue, revoked });
    }

    /// Whether a lease is overdue, and not revoked yet: a renewal waits for that (E-LS-6).
    pub(super) fn is_overdue(&self, id: i64) -> bool {
        self.backend.expiries.get(&id).is_some_and(|expiry| expiry.overdue <= self.now)
    }

    /// The remaining time of a lease in whole seconds; below 0 if it is overdue (E-LS-6).
    pub(super) fn remaining(&self, id: i64) -> Option<i64> {
        self.backend.expiries.get(&id).map(|expiry| (expiry.overdue - self.now).div_euclid(SECOND))
    }

    /// A leader is promoted: every lease has its whole TTL, and the election timeout, from now on (E-LD-1).
    pub(super) fn promote_leases(&mut self) {
        let leases: Vec<(i64, i64)> =
            self.backend.expiries.iter().map(|(id, expiry)| (*id, expiry.ttl / SECOND)).collect();
        leases.into_iter().for_each(|(id, ttl)| self.begin_lease(id, ttl, SECOND));
        self.backend.term += 1;
    }

    /// The leader revokes a lease that is overdue, and renewals that wait for it hear that it is gone (E-LS-6).
    pub(super) fn end_lease(&mut self, id: i64) {
        // It may be gone already.
        drop(self.backend.store.revoke(id));
        self.lease_is_gone(id);
        self.serve_queue();
    }

    /// A lease was revoked.
    pub(super) fn lease_is_gone(&mut self, id: i64) {
        self.backend.expiries.remove(&id);
        let waits = |parked: &Parked| matches!(parked, Parked::Renewal(lease) if *lease == id);
        let over: Vec<_> =
            self.backend.parked.iter().filter(|(_, parked)| waits(parked)).map(|(ticket, _)| *ticket).collect();
        for ticket in over {
            let answer = EtcdAnswer::Lease { revision: self.backend.store.revision(), id, ttl: 0 };
            self.answer_parked(ticket, &answer);
        }
    }
}
