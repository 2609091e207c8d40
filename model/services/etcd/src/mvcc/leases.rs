//! Leases.

use super::{EtcdAnswer, EtcdRefusal, Mvcc};

/// The highest TTL of a lease, in seconds (E-LS-1).
const HIGHEST_TTL: i64 = 9_000_000_000;

impl Mvcc {
    /// The keys of a lease, in order (E-LS-9).
    pub(super) fn keys_of(&self, lease: i64) -> Vec<String> {
        let all = self.within("\0", "\0", i64::MAX);
        all.filter(|entry| lease != 0 && entry.lease == lease).map(|entry| entry.key.clone()).collect()
    }

    pub(super) fn grant(&mut self, id: i64, ttl: i64) -> Result<EtcdAnswer, EtcdRefusal> {
        if ttl > HIGHEST_TTL {
            return Err(EtcdRefusal::TtlTooLarge);
        }
        if self.leases.contains_key(&id) {
            return Err(EtcdRefusal::LeaseExists);
        }
        let ttl = ttl.max(self.minimum_ttl);
        self.leases.insert(id, ttl);
        Ok(EtcdAnswer::Lease { revision: self.revision, id, ttl })
    }

    /// A missing lease has TTL 0.
    pub(super) fn renew(&self, id: i64) -> EtcdAnswer {
        EtcdAnswer::Lease { revision: self.revision, id, ttl: self.leases.get(&id).copied().unwrap_or_default() }
    }

    /// The end of a lease, by a call or because it expired (E-LS-8).
    ///
    /// # Errors
    /// There is no such lease.
    pub fn revoke(&mut self, id: i64) -> Result<EtcdAnswer, EtcdRefusal> {
        self.leases.remove(&id).ok_or(EtcdRefusal::LeaseNotFound)?;
        let mut writing = self.writing();
        writing.delete_of_lease(id);
        Ok(EtcdAnswer::Done { revision: writing.commit() })
    }

    pub(super) fn time_to_live(&self, id: i64, keys: bool) -> EtcdAnswer {
        let granted = self.leases.get(&id).copied();
        let keys = if keys && granted.is_some() { self.keys_of(id) } else { Vec::new() };
        EtcdAnswer::TimeToLive { revision: self.revision, id, granted, keys }
    }

    pub(super) fn leases(&self) -> EtcdAnswer {
        EtcdAnswer::Leases { revision: self.revision, ids: self.leases.keys().copied().collect() }
    }
}
