//! Answer classes: what an answer of the HTTP API says by which rule. A conformance run counts them, so that no reader takes a
//! rule for tested that never came up.

use std::fmt;

use crate::tally::{AnswerClass, classes};

classes! {
    page "model/services/consul/rules.md", also also;

    PathCleaned = "C-GEN-9" "301: the path contains an empty part",
    WrongMethod = "C-GEN-5" "405: the method is not allowed",
    ModesConflict = "C-CON-1" "400: stale and consistent",
    CacheConflict = "C-CON-1" "400: cached and consistent",
    BadIndex = "C-BLK-2" "400: the index of a blocking query is no number",
    BadWait = "C-BLK-2" "400: the wait of a blocking query is no duration",
    NoSuchPath = "C-GEN-5" "404: no such endpoint",
    Options = "C-GEN-10" "OPTIONS: the methods of an endpoint",
    Namespace = "C-GEN-11" "400: a namespace is named",
    NoDatacenter = "C-GEN-12" "500: no path to the datacenter",

    SessionCreated = "C-SES-1" "create: a fresh id",
    SessionBody = "C-SES-3" "create: 400, the body is not what it should be",
    SessionNoNode = "C-SES-4" "create: 500, no node",
    SessionDelay = "C-SES-8" "create: 400, the lock-delay is no duration",
    SessionBehavior = "C-SES-6" "create: invalid behavior",
    SessionTtl = "C-SES-7" "create: the TTL is no duration",
    SessionTtlRange = "C-SES-7" "create: the TTL is out of range",
    SessionNode = "C-SES-5" "create: missing node registration",
    SessionCheck = "C-SES-13" "create: missing check registration",
    SessionCritical = "C-SES-11" "create: the check is critical",
    SessionFound = "C-SES-16" "info: the session",
    SessionUnknown = "C-SES-15" "info: nothing",
    SessionMalformed = "C-SES-15" "500: the id is malformed",
    SessionMissing = "C-SES-15" "400: no id, or no node",
    SessionList = "C-SES-15" "a list of sessions",
    SessionRenewed = "C-SES-18" "renew: the session",
    SessionNotRenewed = "C-SES-18" "renew: 404",
    SessionDestroyed = "C-SES-19" "destroy: a session was there",
    SessionDestroyedTwice = "C-SES-19" "destroy: none was there",

    KeyMissing = "C-KV-1" "400: no key",
    FlagsConflict = "C-KV-1" "400: two of cas, acquire, release",
    BadNumber = "C-KV-1" "500: flags or index are no number",
    TooLarge = "C-KV-2" "413: the value is too large",
    Put = "C-KV-8" "put: the entry changes",
    PutEqual = "C-KV-7" "put: nothing changes",
    PutHeld = "C-KV-8" "put: on a key that is held",
    PutDelayed = "C-LD-5" "put: during a lock-delay",
    CasDone = "C-KV-9" "cas: the entry changes",
    CasEqual = "C-KV-9" "cas: nothing changes",
    CasStale = "C-KV-9" "cas: false, not at the index",
    CasAbsent = "C-KV-9" "cas: false, absent",
    CasPresent = "C-KV-9" "cas with 0: false, present",
    Acquired = "C-KV-10" "acquire: the key was free or absent",
    AcquiredAgain = "C-KV-11" "acquire: held by the same session, another value",
    AcquiredEqual = "C-KV-11" "acquire: held by the same session, nothing changes",
    AcquireHeld = "C-KV-10" "acquire: false, held by another",
    AcquireSpelling = "C-SES-20" "acquire: false, held by the same session in another letter case",
    AcquireDelayed = "C-LD-2" "acquire: false, lock-delay",
    AcquireDelayedHolder = "C-LD-4" "acquire: false, lock-delay, although held by the same session",
    AcquireDelayedUnknown = "C-LD-4" "acquire: false, lock-delay, although the session is unknown",
    AcquireNoSession = "C-KV-10" "acquire: 500, no session given",
    AcquireMalformed = "C-KV-10" "acquire: 500, malformed session",
    AcquireUnknown = "C-KV-10" "acquire: 500, unknown session",
    Released = "C-KV-12" "release: true",
    ReleaseAbsent = "C-KV-12" "release: false, absent",
    ReleaseFree = "C-KV-12" "release: false, free",
    ReleaseOther = "C-KV-12" "release: false, held by another",
    ReleaseNoSession = "C-KV-12" "release: 500, no session given",
    Deleted = "C-KV-14" "delete: an entry was there",
    DeletedHeld = "C-KV-14" "delete: a held entry was there",
    DeletedAbsent = "C-KV-4" "delete: none was there",
    DeleteCasDone = "C-KV-15" "delete-cas: true, at the index",
    DeleteCasAbsent = "C-KV-15" "delete-cas: true, absent",
    DeleteCasStale = "C-KV-15" "delete-cas: false",
    TreeDeleted = "C-KV-17" "delete-tree: entries were there",
    TreeDeletedEmpty = "C-KV-17" "delete-tree: none were there",
    Found = "C-KV-6" "get: a free entry",
    FoundHeld = "C-KV-6" "get: a held entry",
    FoundRaw = "C-KV-5" "get raw: the value",
    Absent = "C-KV-20" "get: 404, at the index of the store",
    Listed = "C-KV-21" "list: entries",
    ListedNone = "C-KV-5" "list: 404",
    ListedOldGrave = "C-KV-23" "list: 404, at the index of a deletion",
    Keys = "C-KV-5" "keys: names",
    KeysNone = "C-KV-5" "keys: 404",
    KeysEmptyPrefix = "C-KV-5" "keys of the empty prefix: an empty list",

    TxnBody = "C-TXN-1" "txn: 400, the body is not what it should be",
    TxnTooMany = "C-TXN-1" "txn: 413, more than 64 operations",
    TxnDone = "C-TXN-4" "txn: done",
    TxnRead = "C-TXN-7" "txn: done, only reads",
    TxnReadFailed = "C-TXN-7" "txn: 409, only reads",
    TxnFailed = "C-TXN-5" "txn: 409, one operation failed",
    TxnFailedTwice = "C-TXN-3" "txn: 409, several operations failed",
    TxnDelayed = "C-LD-2" "txn: 409, lock-delay",
    TxnPrecheck = "C-TXN-8" "txn: refused before the log",
    TxnKeepsDelay = "C-LD-8" "txn: 409, and a lock-delay stays",
    TxnFreesAndLocks = "C-LD-10" "txn: frees a key and locks it at once",

    TxnItemAtIndex = "C-TXN-10" "txn: a node, service or check is set or deleted at its index",
    TxnItemStale = "C-TXN-10" "txn: 409, a node, service or check is not at the index",
    TxnCheckUntold = "C-TXN-11" "txn: a check cannot be registered, and that is not told",

    NodeRegistered = "C-INV-9" "register: a node or a service",
    CheckSet = "C-INV-5" "register: a check that is not critical",
    CheckCritical = "C-INV-3" "register: a critical check",
    CheckElsewhere = "C-INV-15" "register: 500, the check names another node",
    CheckNoId = "C-INV-16" "register: 500, a check or a service without an id",
    CheckOfNoService = "C-INV-9" "register: 500, the check's service is not registered",
    NodeRenamed = "C-INV-4" "register: a node under a new name",
    RegisterBody = "C-INV-9" "register: refused before the log",
    CheckRemoved = "C-INV-7" "deregister: a check",
    ServiceRemoved = "C-INV-8" "deregister: a service",
    NodeRemoved = "C-INV-6" "deregister: a node",
    NothingRemoved = "C-INV-7" "deregister: what is not there",
    Health = "C-INV-9" "the checks of a node",
    NodeFound = "C-INV-18" "a node with its services",
    NodeUnknown = "C-INV-18" "a node that is not there",

    QueryCreated = "C-PQ-1" "query: created",
    QueryUnbound = "C-PQ-1" "query: must be bound to a session",
    QueryNoSession = "C-PQ-2" "query: invalid session",
    QueryMalformed = "C-PQ-2" "query: malformed session",
    QueryNameTaken = "C-PQ-3" "query: the name is taken",
    QueryUpdated = "C-PQ-4" "query: updated",
    QueryFound = "C-PQ-5" "query: found",
    QueryUnknown = "C-PQ-5" "query: 404",
    QueryNotThere = "C-PQ-5" "query: 500, cannot change what is not there",
    QueryList = "C-PQ-5" "query: list",
    QueryDeleted = "C-PQ-5" "query: deleted",
    QueryBody = "C-PQ-7" "query: 400, the body is not what it should be",
    QueryNoId = "C-PQ-7" "query: 500, the id is malformed",
    NodeFailed = "C-INV-4" "gossip: a node has failed",
    NodeReturned = "C-INV-4" "gossip: a node that had failed is back",
    AgentCheck = "C-INV-5" "agent: a check of its own changes, and the catalogue hears of it",
    QueryExecuted = "C-PQ-9" "query: executed, or explained",
}

/// Further rules that no answer of a class comes without.
fn also(class: Class) -> &'static [&'static str] {
    match class {
        Class::SessionCreated => &["C-SES-2"],
        Class::SessionCheck => &["C-SES-5"],
        // The rows and the index are compared with those of the model.
        Class::SessionFound => &["C-SES-14", "C-SES-15", "C-SES-17"],
        Class::SessionList | Class::SessionUnknown => &["C-SES-17"],
        Class::SessionDestroyed => &["C-INV-1"],
        Class::BadNumber => &["C-KV-26"],
        Class::Put => &["C-GEN-7"],
        Class::CasEqual | Class::AcquiredEqual => &["C-KV-7"],
        Class::Released => &["C-KV-16"],
        Class::Found | Class::FoundHeld | Class::FoundRaw => &["C-KV-20"],
        Class::Absent => &["C-KV-5"],
        // A delay follows an invalidation, and nothing else.
        Class::AcquireDelayed | Class::TxnDelayed | Class::TxnKeepsDelay | Class::PutDelayed => &["C-LD-1", "C-INV-1"],
        Class::AcquireDelayedHolder | Class::AcquireDelayedUnknown => &["C-LD-1", "C-LD-2", "C-INV-1"],
        Class::TxnFailed | Class::TxnFreesAndLocks => &["C-TXN-3"],
        Class::TxnItemAtIndex | Class::TxnItemStale => &["C-TXN-9"],
        Class::CheckCritical => &["C-INV-5"],
        Class::NodeRemoved | Class::CheckRemoved => &["C-INV-8"],
        Class::NodeRenamed => &["C-INV-19"],
        Class::Health => &["C-INV-13"],
        Class::NodeFound => &["C-INV-17"],
        Class::AgentCheck => &["C-INV-10"],
        _ => &[],
    }
}

impl Class {
    /// Whether a lock-delay is the reason.
    pub fn is_delay(self) -> bool {
        matches!(
            self,
            Class::AcquireDelayed | Class::AcquireDelayedHolder | Class::AcquireDelayedUnknown | Class::TxnDelayed
        )
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.rule(), self.text())
    }
}
