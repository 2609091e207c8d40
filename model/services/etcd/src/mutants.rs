//! The mutants of etcd: faults built into the sources on purpose.

fencepost_model::mutations! {
    /// A fault built into the sources of etcd.
    EtcdMutation:
    "etcd", Service {
        /// The read of the newest key before a revision includes it (E-KV-7).
        NewestIncludesOwn,
        /// A new key is taken for the oldest (E-KV-1).
        NewKeyIsOldest,
        /// A transaction does not compare (E-TXN-1).
        CompareIgnored,
        /// A put with a lease that is gone is not refused (E-TXN-6).
        PutWithoutLease in "put-needs-its-lease",
        /// A renewal of an overdue lease gives it another TTL, and those that waited for a paused server come before the scan (E-LS-6, E-LS-11).
        OverdueRenewed,
        /// A renewal gives a tick less than the TTL (E-LS-3).
        RenewalShort,
        /// A revoke keeps the keys of the lease (E-LS-8).
        RevokeKeepsKeys,
        /// A checkpoint logs the whole TTL (E-LS-13).
        CheckpointIsFull in "e06-change",
        /// The scan of leases reads the wall clock in every version (E-LS-10).
        ScanReadsWallClock,
        /// A new leader adds no election timeout (E-LD-1).
        PromotionForgetsTimeout in "e05-stop-sooner",
        /// A new leader takes over the expiry instants of the old one (E-GEN-1).
        PromotionKeepsExpiry in "e05-stop-sooner",
        /// A checkpoint survives every restart (E-LS-13).
        RestartKeepsCheckpoint in "e06-restart",
        /// A watch before the compaction is accepted (E-W-5).
        CompactionIgnored in "e11-kept",
        /// A watch shows only what happens after it began (E-W-2).
        WatchFromNow,
        /// Watchers are not told of a deletion (E-W-2).
        DeletionUntold,
        /// A watch of events shows only what happens after it began (E-W-2).
        EventsFromNow in "observe-each-value",
        /// A put keeps the value of a key that exists (E-KV-1).
        PutKeepsValue in "observe-each-value",
        /// The read of the oldest key shows the newest one (E-CC-23).
        OldestIsNewest in "observe-first-value",
        /// Requests that wait for a leader are lost (E-KV-10).
        WaitingRequestsLost in "e05-after-the-end",
        /// A new leader takes proposals of its predecessor in every version (E-LD-9).
        TermUnchecked in "e04-term-check",
        /// A leader never confirms its leadership (E-LD-8).
        LeadershipUnconfirmed in "e20-confirmed",
        /// A linearizable read is answered by a copy that lags (E-KV-10).
        LinearizableReadsLag,
        /// `Lock` enters whatever the final read shows (E-CC-12).
        FinalGetIgnored in "e02-final-get",
        /// A holder counts T from the answer, not from the sending (E-T-7).
        StopCountsFromAnswer in "one-way-cut",
        /// A self-limiting holder stops a tick later (E-T-7).
        StopsLate,
        /// The loop that drops sessions has no period (E-CC-3).
        DoneAtDeadline,
        /// The end of a session does not cancel a call that waits.
        DoneCancelsNothing in "e12-cancelled",
        /// `Lock` whose wait fails keeps its key (E-CC-13).
        FailedLockKeepsKey in "e11-mutex",
        /// A waiter takes the lock after the first deletion, without another read (E-CC-11).
        DeletionIsTurn in "e02-final-get",
        /// A session is not closed (E-CC-6).
        SessionNeverClosed,
        /// A renewal is sent a tick late (E-CC-2).
        RenewsLate in "e04-short",
        /// The first deadline of a session is T (E-CC-4).
        FirstDeadlineIsTtl in "e18-long",
    }
}
