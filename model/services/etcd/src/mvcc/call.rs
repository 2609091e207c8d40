//! Calls of the API and their answers.

use serde::{Deserialize, Serialize};

use super::{WatchRange, WatchSaid};

/// A call. Numbers and texts that are not given are 0 and empty, as on the wire.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EtcdCall {
    /// Read keys (E-KV-5).
    Range(RangeRead),
    /// Put a key (E-KV-1).
    Put(Put),
    /// Delete keys (E-KV-2).
    Delete(DeleteRange),
    /// A transaction (E-TXN-1).
    Txn(Transaction),
    /// Compact the history up to a revision (E-KV-9).
    Compact(i64),
    /// Watch keys, as long as their history has something to say (E-W-2).
    Watch(WatchRange),
    /// Grant a lease (E-LS-1).
    Grant {
        /// The id, chosen by the client; not 0.
        id: i64,
        /// The wanted TTL in seconds.
        ttl: i64,
    },
    /// Renew a lease (E-LS-3).
    Renew(i64),
    /// Revoke a lease (E-LS-8).
    Revoke(i64),
    /// Ask for the remaining time of a lease (E-LS-6).
    TimeToLive {
        /// The lease.
        id: i64,
        /// Whether its keys are asked for.
        keys: bool,
    },
    /// List the leases (E-GEN-2).
    Leases,
    /// `v3lock`: lock (E-CC-30).
    Lock {
        /// The name of the lock.
        name: String,
        /// The lease of the caller; not 0.
        lease: i64,
    },
    /// `v3lock`: unlock (E-CC-14).
    Unlock {
        /// The key that the lock returned.
        key: String,
    },
    /// `v3election`: campaign (E-CC-20).
    Campaign {
        /// The name of the election.
        name: String,
        /// The lease of the caller; not 0.
        lease: i64,
        /// The value to announce.
        value: String,
    },
    /// `v3election`: proclaim (E-CC-22).
    Proclaim {
        /// The leader that announces it.
        leader: LeaderKey,
        /// The new value.
        value: String,
    },
    /// `v3election`: resign (E-CC-22).
    Resign(LeaderKey),
    /// `v3election`: leader (E-CC-23).
    Leader {
        /// The name of the election.
        name: String,
    },
}

/// A read of keys.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RangeRead {
    /// The first key.
    pub key: String,
    /// The end, which is not part of it; empty: one key, `\0`: all from the first on (E-KV-5).
    pub end: String,
    /// The most entries; 0 or less: all (E-KV-6).
    pub limit: i64,
    /// The revision to read; 0 or less: the present one (E-KV-8).
    pub revision: i64,
    /// The order of entries.
    pub sorted: Sorted,
    /// The field to sort by.
    pub by: SortBy,
    /// Whether values are left out.
    pub keys_only: bool,
    /// Whether entries are left out.
    pub count_only: bool,
    /// The lowest modification revision; 0: any (E-KV-7).
    pub min_modified: i64,
    /// The highest modification revision; 0: any.
    pub max_modified: i64,
    /// The lowest creation revision; 0: any.
    pub min_created: i64,
    /// The highest creation revision; 0: any.
    pub max_created: i64,
}

/// The order of a read.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sorted {
    /// Not said.
    #[default]
    Unsaid,
    /// Ascending.
    Ascending,
    /// Descending.
    Descending,
}

/// The field by which a read sorts.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SortBy {
    /// The key.
    #[default]
    Key,
    /// The version.
    Version,
    /// The creation revision.
    Created,
    /// The modification revision.
    Modified,
    /// The value.
    Value,
}

/// A put.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Put {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// The lease to which the key belongs; 0: none (E-LS-9).
    pub lease: i64,
    /// Whether the old entry is returned.
    pub previous: bool,
    /// Whether the old value stays (E-KV-4).
    pub ignore_value: bool,
    /// Whether the old lease stays (E-KV-4).
    pub ignore_lease: bool,
}

/// A deletion of keys.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DeleteRange {
    /// The first key.
    pub key: String,
    /// The end, as of a read.
    pub end: String,
    /// Whether the old entries are returned.
    pub previous: bool,
}

/// A transaction. The calls of its branches are ranges, puts, deletes and transactions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Transaction {
    /// What must hold for `success`.
    pub compare: Vec<Comparison>,
    /// Carried out if all compares hold.
    pub success: Vec<EtcdCall>,
    /// Carried out otherwise.
    pub failure: Vec<EtcdCall>,
}

/// A compare of a transaction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The first key.
    pub key: String,
    /// The end, as of a read; the compare must hold for each key (E-TXN-3).
    #[serde(default)]
    pub end: String,
    /// The relation of the field to the operand.
    pub relation: Relation,
    /// The field, with the operand.
    pub compared: Compared,
}

/// The relation that a compare asks for.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// The field is the operand.
    Equal,
    /// The field is greater.
    Greater,
    /// The field is less.
    Less,
    /// The field is not the operand.
    NotEqual,
}

/// The field that is compared, with the operand.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// The version.
    Version(i64),
    /// The creation revision.
    Created(i64),
    /// The modification revision.
    Modified(i64),
    /// The value.
    Value(String),
    /// The lease.
    Lease(i64),
}

/// A key with what is known of it (E-KV-1).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct KeyValue {
    /// The key.
    pub key: String,
    /// The revision at which it was created.
    pub created: i64,
    /// The revision of the last put.
    pub modified: i64,
    /// The number of puts since it was created.
    pub version: i64,
    /// The value.
    pub value: String,
    /// The lease; 0: none.
    pub lease: i64,
}

/// What a campaign returns, and what proclaim and resign are told.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LeaderKey {
    /// The name of the election.
    pub name: String,
    /// The key of the candidate.
    pub key: String,
    /// Its creation revision.
    pub created: i64,
    /// The lease; not 0.
    pub lease: i64,
}

/// An answer. `revision` is that of its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EtcdAnswer {
    /// To a range.
    Range {
        /// The revision.
        revision: i64,
        /// The entries.
        entries: Vec<KeyValue>,
        /// The number of keys in the interval (E-KV-6).
        count: usize,
        /// Whether the limit left some out.
        more: bool,
    },
    /// To a put.
    Put {
        /// The revision.
        revision: i64,
        /// The old entry, if it was asked for.
        previous: Option<KeyValue>,
    },
    /// To a deletion.
    Deleted {
        /// The revision.
        revision: i64,
        /// The number of deleted keys.
        count: usize,
        /// The old entries, if they were asked for.
        previous: Vec<KeyValue>,
    },
    /// To a transaction.
    Txn {
        /// The revision; none: a nested one, whose header is empty (E-TXN-7).
        revision: Option<i64>,
        /// Which branch was taken.
        succeeded: bool,
        /// The answers of its calls.
        answers: Vec<EtcdAnswer>,
    },
    /// What the stream of a watch has said.
    Watched {
        /// The revision.
        revision: i64,
        /// The revision whose deletions a server may tell or not: one that loses those at the compacted revision has them for as long as the
        /// compaction takes (E-W-5).
        unsure: Option<i64>,
        /// Whether it tells progress if it is asked for it (E-W-6).
        progress: bool,
        /// What it says of each watch.
        watches: Vec<WatchSaid>,
    },
    /// To a grant, or to a renewal: 0 if there is no such lease (E-LS-6).
    Lease {
        /// The revision.
        revision: i64,
        /// The lease.
        id: i64,
        /// Its TTL in seconds.
        ttl: i64,
    },
    /// To a question for the remaining time.
    TimeToLive {
        /// The revision.
        revision: i64,
        /// The lease.
        id: i64,
        /// Its granted TTL in seconds; none: there is no such lease.
        granted: Option<i64>,
        /// Its keys, in order, if they were asked for.
        keys: Vec<String>,
    },
    /// To a list of leases.
    Leases {
        /// The revision.
        revision: i64,
        /// Their ids, ascending.
        ids: Vec<i64>,
    },
    /// The lock is taken.
    Locked {
        /// The revision.
        revision: i64,
        /// The key that stands for it.
        key: String,
    },
    /// The election is won.
    Elected {
        /// The revision.
        revision: i64,
        /// The leader.
        leader: LeaderKey,
    },
    /// The leader of an election.
    Leads {
        /// The revision.
        revision: i64,
        /// Its key.
        entry: KeyValue,
    },
    /// Done: a compaction, a revoke, an unlock, a proclamation, a resignation.
    Done {
        /// The revision.
        revision: i64,
    },
    /// Others are ahead.
    Waits,
    /// It was refused, without any effect.
    Refused(EtcdRefusal),
}

/// Why a call is refused (the table of E-GEN).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EtcdRefusal {
    /// The key is empty.
    NoKey,
    /// `ignore_value` with a value (E-KV-4).
    ValueGiven,
    /// `ignore_lease` with a lease (E-KV-4).
    LeaseGiven,
    /// `ignore_value` or `ignore_lease` of a missing key (E-KV-4).
    KeyNotFound,
    /// A transaction writes a key twice (E-TXN-5).
    DuplicateKey,
    /// There is no such lease.
    LeaseNotFound,
    /// The lease exists (E-LS-1).
    LeaseExists,
    /// The TTL is above 9,000,000,000 s (E-LS-1).
    TtlTooLarge,
    /// The revision is compacted (E-KV-8).
    Compacted,
    /// The revision is yet to come (E-KV-8).
    Future,
    /// The same, in a call of a lock or an election: another code, another status.
    RecipeLeaseNotFound,
    /// A lock or a campaign begins to watch what is compacted by then (E-CC-13, E-CC-21).
    RecipeCompacted,
    /// A lock finds its own key gone after the wait (E-CC-12).
    SessionExpired,
    /// The election has no candidate (E-CC-23).
    NoLeader,
    /// The key of the leader is gone, or is another's (E-CC-22).
    NotLeader,
}
