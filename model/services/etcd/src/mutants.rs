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
        PutWithoutLease,
        /// A renewal of an overdue lease is answered at once (E-LS-6).
        OverdueRenewed,
        /// A renewal gives a tick less than the TTL (E-LS-3).
        RenewalShort,
        /// A revoke keeps the keys of the lease (E-LS-8).
        RevokeKeepsKeys,
        /// A checkpoint logs the whole TTL (E-LS-13).
        CheckpointIsFull,
        /// The scan of leases reads the wall clock in every version (E-LS-10).
        ScanReadsWallClock,
        /// A new leader adds no election timeout (E-LD-1).
        PromotionForgetsTimeout,
        /// A new leader takes over the expiry instants of the old one (E-GEN-1).
        PromotionKeepsExpiry,
        /// A checkpoint survives every restart (E-LS-13).
        RestartKeepsCheckpoint,
        /// A watch before the compaction is accepted (E-W-5).
        CompactionIgnored,
        /// A watch shows only what happens after it began (E-W-2).
        WatchFromNow,
        /// Watchers are not told of a deletion (E-W-2).
        DeletionUntold,
        /// After a pause renewals that waited come before the scan (E-LS-11).
        QueuedRenewalsFirst,
        /// Requests that wait for a leader are lost (E-KV-10).
        WaitingRequestsLost,
        /// A new leader takes proposals of its predecessor in every version (E-LD-9).
        TermUnchecked,
        /// A leader never confirms its leadership (E-LD-8).
        LeadershipUnconfirmed,
        /// A linearizable read is answered by a copy that lags (E-KV-10).
        LinearizableReadsLag,
        /// `Lock` enters whatever the final read shows (E-CC-12).
        FinalGetIgnored,
        /// A holder counts T from the answer, not from the sending (E-T-7).
        StopCountsFromAnswer,
        /// A self-limiting holder stops a tick later (E-T-7).
        StopsLate,
        /// The loop that drops sessions has no period (E-CC-3).
        DoneAtDeadline,
        /// The end of a session does not cancel a call that waits.
        DoneCancelsNothing,
        /// `Lock` whose wait fails keeps its key (E-CC-13).
        FailedLockKeepsKey,
        /// A waiter takes the lock after the first deletion, without another read (E-CC-11).
        DeletionIsTurn,
        /// A session is not closed (E-CC-6).
        SessionNeverClosed,
        /// A renewal is sent a tick late (E-CC-2).
        RenewsLate,
        /// An answer 0 does not end the session (E-CC-5).
        ZeroIgnored,
        /// The first deadline of a session is T (E-CC-4).
        FirstDeadlineIsTtl,
    }
}
