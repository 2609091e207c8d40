//! The lock and election calls of the server: the Go client's recipes, on the caller's lease (E-CC-30).

use super::{DeleteRange, EtcdAnswer, EtcdCall, EtcdRefusal, KeyValue, LeaderKey, Mvcc, Put};

/// The key of a contender: the name, and the lease in hexadecimal (E-CC-10).
fn own_key(name: &str, lease: i64) -> String {
    let sign = if lease < 0 { "-" } else { "" };
    format!("{name}/{sign}{:x}", lease.unsigned_abs())
}

/// The name and the lease of a call that may wait for others.
fn contest(call: &EtcdCall) -> Option<(&str, i64)> {
    match call {
        EtcdCall::Lock { name, lease } | EtcdCall::Campaign { name, lease, .. } => Some((name, *lease)),
        _ => None,
    }
}

/// A caller that waits in the queue of a lock or an election.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Contender {
    /// The creation revision of its key.
    pub created: i64,
    /// The revision after the transaction with which it entered.
    pub entered: i64,
}

impl Mvcc {
    /// The caller of a lock or a campaign that has just been told to wait; none: it has no key in the queue.
    pub fn contender(&self, call: &EtcdCall) -> Option<Contender> {
        let (name, lease) = contest(call)?;
        let created = self.present(&own_key(name, lease))?.created;
        Some(Contender { created, entered: self.revision })
    }

    /// What a caller that waits is told now; none: others are still ahead. Its own key and its lease may be gone by then (E-CC-11, E-CC-12,
    /// E-CC-20).
    pub fn served(&self, call: &EtcdCall, contender: Contender) -> Option<EtcdAnswer> {
        let (name, lease) = contest(call)?;
        let Contender { created, entered } = contender;
        if self.is_behind(name, created) {
            return None;
        }
        let key = own_key(name, lease);
        Some(match call {
            EtcdCall::Lock { .. } => EtcdAnswer::Locked { revision: self.revision, key },
            _ => EtcdAnswer::Elected {
                revision: entered,
                leader: LeaderKey { name: name.to_owned(), key, created, lease },
            },
        })
    }

    /// Whether a contender that was created earlier is in the queue (E-CC-11).
    fn is_behind(&self, name: &str, created: i64) -> bool {
        self.queue(name).any(|entry| entry.created < created)
    }

    /// The keys of the contenders: whatever begins with the name and a slash (E-CC-25).
    fn queue<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a KeyValue> + 'a {
        let prefix = format!("{name}/");
        self.within("\0", "\0", i64::MAX).filter(move |entry| entry.key.starts_with(&prefix))
    }

    /// Puts the key of a contender if it is not there. Its creation revision, and whether it was there before.
    fn enter(&mut self, key: &str, lease: i64, value: &str) -> Result<(i64, bool), EtcdRefusal> {
        if let Some(entry) = self.present(key) {
            return Ok((entry.created, true));
        }
        self.put_for(key, lease, value)?;
        Ok((self.revision, false))
    }

    fn put_for(&mut self, key: &str, lease: i64, value: &str) -> Result<(), EtcdRefusal> {
        let put = Put { key: key.to_owned(), value: value.to_owned(), lease, ..Put::default() };
        self.put(&put).map(drop).map_err(|why| match why {
            EtcdRefusal::LeaseNotFound => EtcdRefusal::RecipeLeaseNotFound,
            other => other,
        })
    }

    /// E-CC-10, E-CC-15.
    pub(super) fn lock(&mut self, name: &str, lease: i64) -> Result<EtcdAnswer, EtcdRefusal> {
        let key = own_key(name, lease);
        let (created, _) = self.enter(&key, lease, "")?;
        if self.is_behind(name, created) {
            return Ok(EtcdAnswer::Waits);
        }
        Ok(EtcdAnswer::Locked { revision: self.revision, key })
    }

    /// A plain delete by name (E-CC-14).
    pub(super) fn unlock(&mut self, key: &str) -> Result<EtcdAnswer, EtcdRefusal> {
        self.remove(key)
    }

    fn remove(&mut self, key: &str) -> Result<EtcdAnswer, EtcdRefusal> {
        self.delete(&DeleteRange { key: key.to_owned(), ..DeleteRange::default() })?;
        Ok(EtcdAnswer::Done { revision: self.revision })
    }

    /// E-CC-20: the header is that of the first transaction.
    pub(super) fn campaign(&mut self, name: &str, lease: i64, value: &str) -> Result<EtcdAnswer, EtcdRefusal> {
        let key = own_key(name, lease);
        let (created, was_there) = self.enter(&key, lease, value)?;
        let revision = self.revision;
        let is_other = self.present(&key).is_some_and(|entry| entry.value != value);
        if was_there
            && is_other
            && let Err(why) = self.put_for(&key, lease, value)
        {
            self.remove(&key)?;
            return Err(why);
        }
        if self.is_behind(name, created) {
            return Ok(EtcdAnswer::Waits);
        }
        let leader = LeaderKey { name: name.to_owned(), key, created, lease };
        Ok(EtcdAnswer::Elected { revision, leader })
    }

    /// A caller that waits for a lock or an election goes away: its key is removed (E-CC-13, E-CC-31).
    pub fn leave(&mut self, call: &EtcdCall) {
        if let Some((name, lease)) = contest(call) {
            let mut writing = self.writing();
            writing.delete(&DeleteRange { key: own_key(name, lease), ..DeleteRange::default() });
            writing.commit();
        }
    }

    fn is_leader(&self, leader: &LeaderKey) -> bool {
        self.present(&leader.key).map_or(0, |entry| entry.created) == leader.created
    }

    /// E-CC-22. The key moves to the lease that the caller names (E-CC-31).
    pub(super) fn proclaim(&mut self, leader: &LeaderKey, value: &str) -> Result<EtcdAnswer, EtcdRefusal> {
        if !self.is_leader(leader) {
            return Err(EtcdRefusal::NotLeader);
        }
        self.put_for(&leader.key, leader.lease, value)?;
        Ok(EtcdAnswer::Done { revision: self.revision })
    }

    /// E-CC-22: success, too, where the compare fails.
    pub(super) fn resign(&mut self, leader: &LeaderKey) -> Result<EtcdAnswer, EtcdRefusal> {
        if self.is_leader(leader) {
            return self.remove(&leader.key);
        }
        Ok(EtcdAnswer::Done { revision: self.revision })
    }

    /// E-CC-23.
    pub(super) fn leader(&self, name: &str) -> Result<EtcdAnswer, EtcdRefusal> {
        let oldest = self.queue(name).min_by_key(|entry| entry.created).cloned().ok_or(EtcdRefusal::NoLeader)?;
        Ok(EtcdAnswer::Leads { revision: self.revision, entry: oldest })
    }
}
