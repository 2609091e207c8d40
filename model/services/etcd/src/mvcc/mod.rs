//! The key-value store of one etcd server as its API shows it: keys with every version, transactions, leases, and the lock and election
//! calls. One call is one atomic step (E-GEN-2); time is not part of it: a lease ends by [`Mvcc::revoke`], whenever that happens.
//!
//! The `store` of the checker's world keeps what recipes look at and nothing more, and is written apart from this one. The tests of
//! `src/conform` hold this one against a real server, and `explore/tests/same_store` holds that one against this one.

mod call;
mod check;
mod kv;
mod leases;
mod recipes;
mod txn;
mod version;
mod watch;

use std::collections::BTreeMap;

pub use call::{
    Compared, Comparison, DeleteRange, EtcdAnswer, EtcdCall, EtcdRefusal, KeyValue, LeaderKey, Put, RangeRead,
    Relation, SortBy, Sorted, Transaction,
};
pub use recipes::{Contender, ContenderStep, Stage};
pub use version::EtcdVersion;
pub use watch::{WatchBesides, WatchEvent, WatchRange, WatchRefusal, WatchSaid};

/// A version of a key: its state from a revision on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct KeyVersion {
    revision: i64,
    /// Its place among the writes of that revision (E-W-2).
    place: u32,
    /// The entry; none: the key was deleted.
    entry: Option<KeyValue>,
}

/// The replicated state of a server (E-GEN-1).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Mvcc {
    version: EtcdVersion,
    revision: i64,
    compacted: i64,
    /// The lowest TTL of a lease, in seconds (E-LS-1).
    minimum_ttl: i64,
    /// The versions of each key, in order.
    history: BTreeMap<String, Vec<KeyVersion>>,
    /// The granted TTL of each lease, in seconds.
    leases: BTreeMap<i64, i64>,
}

impl Default for Mvcc {
    /// A fresh server of the default version.
    fn default() -> Self {
        Mvcc::of(EtcdVersion::default())
    }
}

impl Mvcc {
    /// A fresh server of a version: revision 1 (E-GEN-3), never compacted (E-KV-9), the TTLs of the default election timeout (E-LS-1).
    pub fn of(version: EtcdVersion) -> Self {
        Mvcc { version, revision: 1, compacted: -1, minimum_ttl: 2, history: BTreeMap::new(), leases: BTreeMap::new() }
    }

    /// A server of a version, without keys and leases, at a revision, which is compacted up to it.
    pub fn empty_at(version: EtcdVersion, revision: i64) -> Self {
        Mvcc { revision, compacted: revision, ..Mvcc::of(version) }
    }

    /// Its version.
    pub fn version(&self) -> EtcdVersion {
        self.version
    }

    /// The present revision.
    pub fn revision(&self) -> i64 {
        self.revision
    }

    /// The revision up to which history is compacted.
    pub fn compacted(&self) -> i64 {
        self.compacted
    }

    /// Carries out a call. [`EtcdAnswer::Waits`]: the key is in the queue, and the caller waits for those ahead (E-CC-11).
    pub fn ask(&mut self, call: &EtcdCall) -> EtcdAnswer {
        let answer = match call {
            EtcdCall::Range(range) => self.range(range),
            EtcdCall::Put(put) => self.put(put),
            EtcdCall::Delete(delete) => self.delete(delete),
            EtcdCall::Txn(txn) => self.transact(txn),
            EtcdCall::Compact(revision) => self.compact(*revision),
            EtcdCall::Watch(watch) => Ok(self.watch(watch)),
            EtcdCall::Grant { id, ttl } => self.grant(*id, *ttl),
            EtcdCall::Renew(id) => Ok(self.renew(*id)),
            EtcdCall::Revoke(id) => self.revoke(*id),
            EtcdCall::TimeToLive { id, keys } => Ok(self.time_to_live(*id, *keys)),
            EtcdCall::Leases => Ok(self.leases()),
            EtcdCall::Lock { .. } | EtcdCall::Campaign { .. } => self.contend(call),
            EtcdCall::Unlock { key } => self.unlock(key),
            EtcdCall::Proclaim { leader, value } => self.proclaim(leader, value),
            EtcdCall::Resign(leader) => self.resign(leader),
            EtcdCall::Leader { name } => self.leader(name),
        };
        answer.unwrap_or_else(EtcdAnswer::Refused)
    }
}
