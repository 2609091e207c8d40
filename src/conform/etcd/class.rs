//! Classes of answers: what a server's answer says by which rule. A run counts them, so that no reader takes a rule for tested that never
//! came up; and what a run cannot meet, with the reason.

use fencepost_etcd::mvcc::{
    EtcdAnswer, EtcdCall, EtcdRefusal, RangeRead, Sorted, WatchBesides, WatchRange, WatchRefusal, WatchSaid,
};

use super::pair::EtcdExchange;
use crate::tally::classes;

classes! {
    page "model/services/etcd/rules.md", also also;

    RangeAll = "E-KV-5" "range: what is there",
    RangeNothing = "E-KV-5" "range: nothing",
    RangeSorted = "E-KV-6" "range, sorted",
    RangeLimited = "E-KV-6" "range: more than the limit",
    RangeCount = "E-KV-6" "range: the count only",
    RangeFiltered = "E-KV-7" "range, filtered by revisions",
    RangePast = "E-KV-8" "range of the past",
    RangeFuture = "E-KV-8" "range: a future revision",
    RangeCompacted = "E-KV-8" "range: a compacted revision",
    PutNew = "E-KV-1" "put",
    PutPrevious = "E-KV-4" "put: the old entry",
    PutIgnoring = "E-KV-4" "put that keeps the old value or lease",
    PutGiven = "E-KV-4" "put: what is kept was given",
    PutMissing = "E-KV-4" "put: there is nothing to keep",
    PutNoLease = "E-LS-6" "put: no such lease",
    Deleted = "E-KV-2" "delete: some keys",
    DeletedNothing = "E-KV-2" "delete: nothing",
    NoKey = "E-GEN-7" "any call: the key is empty",
    Succeeded = "E-TXN-1" "transaction: the compares hold",
    Failed = "E-TXN-1" "transaction: a compare does not hold",
    Nested = "E-TXN-7" "transaction: one inside",
    Duplicate = "E-TXN-5" "transaction: a key is written twice",
    TxnRefused = "E-TXN-6" "transaction: a call of the branch taken is refused",
    CompactedNow = "E-KV-9" "compaction",
    CompactedBefore = "E-KV-9" "compaction: done before",
    CompactedFuture = "E-KV-9" "compaction: a future revision",
    WatchEvents = "E-W-2" "watch: puts",
    WatchDeletions = "E-W-4" "watch: a deletion",
    WatchPrevious = "E-W-4" "watch: the old entry",
    WatchNothing = "E-W-2" "watch: nothing yet",
    WatchFiltered = "E-W-1" "watch, without puts or deletions",
    WatchTwice = "E-W-1" "watch: two of a stream",
    WatchDuplicate = "E-W-1" "watch: the id is in use",
    WatchEmpty = "E-W-1" "watch: no key can lie in its interval",
    WatchCancelled = "E-W-1" "watch that is cancelled",
    WatchProgress = "E-W-6" "watch: progress",
    WatchCompacted = "E-W-5" "watch of what is compacted",
    Granted = "E-LS-1" "grant",
    GrantedMinimum = "E-LS-1" "grant: the TTL is raised",
    GrantedTwice = "E-LS-1" "grant: the lease exists",
    GrantedTooLong = "E-LS-1" "grant: the TTL is too large",
    Renewed = "E-LS-3" "renewal",
    RenewedMissing = "E-LS-3" "renewal: no such lease",
    Revoked = "E-LS-8" "revoke",
    RevokedMissing = "E-LS-8" "revoke: no such lease",
    TimeLeft = "E-LS-6" "remaining time",
    TimeLeftKeys = "E-LS-9" "remaining time: the keys",
    TimeLeftMissing = "E-LS-6" "remaining time: no such lease",
    Listed = "E-GEN-2" "list of leases",
    Locked = "E-CC-10" "lock: held",
    LockLeft = "E-CC-31" "lock: the caller waits and goes away",
    LockExpired = "E-CC-12" "lock: its key is gone after the wait (since 3.5)",
    Unlocked = "E-CC-14" "unlock",
    Elected = "E-CC-20" "campaign: elected",
    CampaignLeft = "E-CC-31" "campaign: the caller waits and goes away",
    Proclaimed = "E-CC-22" "proclaim",
    NotLeader = "E-CC-22" "proclaim, also in a campaign: not leader",
    Resigned = "E-CC-22" "resign",
    Leads = "E-CC-23" "leader: the oldest key",
    LeadsStranger = "E-CC-25" "leader: a key without a lease",
    NoLeader = "E-CC-23" "leader: none",
    Overtaken = "E-CC-21" "lock or campaign: compacted before its watch begins",
    RecipeNoLease = "E-CC-30" "lock or election: no such lease",
}

/// Further rules that no answer of a class comes without.
fn also(class: Class) -> &'static [&'static str] {
    match class {
        // How events are grouped is not compared, but that those of a revision are.
        Class::WatchEvents | Class::WatchDeletions | Class::WatchPrevious => &["E-W-2", "E-W-3", "E-GEN-6"],
        Class::PutNew => &["E-GEN-3", "E-GEN-4"],
        // Their headers show that nothing was written, and that all was at one revision.
        Class::DeletedNothing | Class::Granted => &["E-KV-3"],
        Class::Succeeded | Class::Failed => &["E-TXN-4"],
        Class::Locked => &["E-CC-16", "E-CC-30"],
        Class::LockLeft => &["E-CC-11", "E-CC-13"],
        Class::CampaignLeft => &["E-CC-11", "E-CC-21"],
        Class::Overtaken => &["E-CC-13"],
        // A put under the create revision of its key.
        Class::Proclaimed => &["E-CC-24", "E-CC-30"],
        Class::NotLeader => &["E-CC-24"],
        Class::Unlocked | Class::Elected | Class::Resigned => &["E-CC-30"],
        _ => &[],
    }
}

/// What no run can meet, and why.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("a watch that is cancelled while it has events", "they come before that or not at all, as it happens (E-W-1)"),
    ("messages of events in parts", "an event of a few bytes is in one part (E-W-3)"),
    ("progress by itself", "it comes every ten minutes (E-W-6)"),
    ("leader changes", "a single node has none; --members tries them at a cluster"),
    ("unknown numbers of sort targets", "the server process dies of them (E-GEN-5)"),
    ("a transaction that deletes up to the last key", "a put behind it may end the server process (E-TXN-5)"),
    (
        "a transaction that writes, and reads a revision of the past or the future, at one of several members",
        "only the member that answers refuses it: the others carry out its writes, and differ from then on (E-TXN-6)",
    ),
    (
        "serializable reads",
        "a single node answers them as any other read; --members tries them at a leader that is cut off (E-LD-6)",
    ),
    ("compactions that wait for the clean-up", "they are answered as any other compaction (E-KV-9)"),
    (
        "transactions of more than 128 operations",
        "their number alone has them refused; a test of the stand-in has one (E-TXN-5)",
    ),
    ("a grant without an id", "the server chooses one (E-LS-1)"),
    ("lock and election without a lease", "the server chooses one, with an id of its own (E-CC-30)"),
    ("requests that are too large, authentication, alarms", "the model has none of them"),
];

/// The class of an exchange whose answers are alike.
pub fn class(exchange: &EtcdExchange) -> Class {
    match (&exchange.call, &exchange.answer) {
        (_, EtcdAnswer::Refused(refusal)) => refused(&exchange.call, *refusal),
        (EtcdCall::Lock { .. }, EtcdAnswer::Waits) => Class::LockLeft,
        (_, EtcdAnswer::Waits) => Class::CampaignLeft,
        (EtcdCall::Range(range), EtcdAnswer::Range { entries, more, .. }) => {
            range_class(range, entries.is_empty(), *more)
        }
        (EtcdCall::Put(put), EtcdAnswer::Put { previous, .. }) => match previous {
            _ if put.ignore_value || put.ignore_lease => Class::PutIgnoring,
            Some(_) => Class::PutPrevious,
            None => Class::PutNew,
        },
        (EtcdCall::Watch(watch), EtcdAnswer::Watched { watches, .. }) => watch_class(watch, watches),
        (_, EtcdAnswer::Deleted { count: 0, .. }) => Class::DeletedNothing,
        (_, EtcdAnswer::Deleted { .. }) => Class::Deleted,
        (_, EtcdAnswer::Txn { answers, .. })
            if answers.iter().any(|answer| matches!(answer, EtcdAnswer::Txn { .. })) =>
        {
            Class::Nested
        }
        (_, EtcdAnswer::Txn { succeeded: true, .. }) => Class::Succeeded,
        (_, EtcdAnswer::Txn { .. }) => Class::Failed,
        (EtcdCall::Renew(_), EtcdAnswer::Lease { ttl: 0, .. }) => Class::RenewedMissing,
        (EtcdCall::Renew(_), _) => Class::Renewed,
        (EtcdCall::Grant { ttl: wanted, .. }, EtcdAnswer::Lease { ttl, .. }) if ttl != wanted => Class::GrantedMinimum,
        (_, EtcdAnswer::Lease { .. }) => Class::Granted,
        (_, EtcdAnswer::TimeToLive { granted: None, .. }) => Class::TimeLeftMissing,
        (_, EtcdAnswer::TimeToLive { keys, .. }) if !keys.is_empty() => Class::TimeLeftKeys,
        (_, EtcdAnswer::TimeToLive { .. }) => Class::TimeLeft,
        (_, EtcdAnswer::Leases { .. }) => Class::Listed,
        (_, EtcdAnswer::Locked { .. }) => Class::Locked,
        (_, EtcdAnswer::Elected { .. }) => Class::Elected,
        (_, EtcdAnswer::Leads { entry, .. }) if entry.lease == 0 => Class::LeadsStranger,
        (_, EtcdAnswer::Leads { .. }) => Class::Leads,
        (EtcdCall::Compact(_), _) => Class::CompactedNow,
        (EtcdCall::Revoke(_), _) => Class::Revoked,
        (EtcdCall::Unlock { .. }, _) => Class::Unlocked,
        (EtcdCall::Proclaim { .. }, _) => Class::Proclaimed,
        _ => Class::Resigned,
    }
}

fn range_class(range: &RangeRead, is_nothing: bool, more: bool) -> Class {
    let filters = [range.min_modified, range.max_modified, range.min_created, range.max_created];
    match () {
        () if range.count_only => Class::RangeCount,
        () if range.revision > 0 => Class::RangePast,
        () if more => Class::RangeLimited,
        () if filters != [0; 4] => Class::RangeFiltered,
        () if is_nothing => Class::RangeNothing,
        () if range.sorted != Sorted::Unsaid => Class::RangeSorted,
        () => Class::RangeAll,
    }
}

fn watch_class(watch: &WatchRange, watches: &[WatchSaid]) -> Class {
    let events =
        watches.iter().flat_map(|said| if let WatchSaid::Events { events, .. } = said { &events[..] } else { &[] });
    match watches {
        [WatchSaid::Refused(WatchRefusal::Compacted), ..] => Class::WatchCompacted,
        [WatchSaid::Refused(_), ..] => Class::WatchEmpty,
        [.., WatchSaid::Refused(_)] => Class::WatchDuplicate,
        [WatchSaid::Compacted { .. }, ..] => Class::WatchCompacted,
        [_, _, ..] => Class::WatchTwice,
        _ if watch.besides == WatchBesides::Cancel => Class::WatchCancelled,
        _ if watch.besides == WatchBesides::Progress => Class::WatchProgress,
        _ if watch.no_put || watch.no_delete => Class::WatchFiltered,
        _ if events.clone().any(|event| event.previous.is_some()) => Class::WatchPrevious,
        _ if events.clone().any(|event| event.entry.is_none()) => Class::WatchDeletions,
        _ if events.count() == 0 => Class::WatchNothing,
        _ => Class::WatchEvents,
    }
}

fn refused(call: &EtcdCall, refusal: EtcdRefusal) -> Class {
    match (call, refusal) {
        (_, EtcdRefusal::NoKey) => Class::NoKey,
        (_, EtcdRefusal::DuplicateKey) => Class::Duplicate,
        (EtcdCall::Compact(_), EtcdRefusal::Future) => Class::CompactedFuture,
        (EtcdCall::Compact(_), _) => Class::CompactedBefore,
        (EtcdCall::Txn(_), _) => Class::TxnRefused,
        (EtcdCall::Range(_), EtcdRefusal::Future) => Class::RangeFuture,
        (EtcdCall::Range(_), _) => Class::RangeCompacted,
        (_, EtcdRefusal::ValueGiven | EtcdRefusal::LeaseGiven) => Class::PutGiven,
        (_, EtcdRefusal::KeyNotFound) => Class::PutMissing,
        (EtcdCall::Put(_), _) => Class::PutNoLease,
        (_, EtcdRefusal::LeaseExists) => Class::GrantedTwice,
        (_, EtcdRefusal::TtlTooLarge) => Class::GrantedTooLong,
        (_, EtcdRefusal::SessionExpired) => Class::LockExpired,
        (_, EtcdRefusal::NoLeader) => Class::NoLeader,
        (_, EtcdRefusal::NotLeader) => Class::NotLeader,
        (_, EtcdRefusal::RecipeCompacted) => Class::Overtaken,
        (_, EtcdRefusal::RecipeLeaseNotFound) => Class::RecipeNoLease,
        _ => Class::RevokedMissing,
    }
}
