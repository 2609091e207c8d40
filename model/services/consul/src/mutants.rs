//! The mutants of Consul: faults built into its sources on purpose.

fencepost_model::mutations! {
    /// A fault built into the sources of Consul.
    ConsulMutation:
    "consul server", Server {
        /// Restarted servers have lost every entry (C-LD-13).
        RestartLosesEntries,
        /// A new leader answers before it has applied its log: entries are missing (C-CON-1).
        LeaderIsBehind,
        /// The server forgets the lock-delay at an acquire (C-LD-2).
        LockDelayIgnored,
        /// The lock-delay is one tick too short (C-LD-3).
        LockDelayTooShort,
        /// A plain release starts a lock-delay, too (C-LD-6).
        LockDelayAfterRelease answers,
        /// The server ends a session after TTL instead of its multiple (C-TTL-2).
        TtlNotMultiplied,
        /// The server ends a session one tick before its TTL.
        TtlTooShort,
        /// Renewals are acknowledged and forgotten (C-SES-18).
        RenewalForgotten,
        /// An acquire takes the lock from its holder (C-KV-10).
        AcquireSteals,
        /// An acquire with an ended session succeeds (C-KV-10).
        AcquireWithoutSession,
        /// The holder's re-acquire raises LockIndex (C-KV-11).
        ReacquireCounts answers,
        /// A release by any session frees the lock (C-KV-12).
        ReleaseByAnybody,
        /// A plain put leaves LockIndex alone (C-KV-8).
        PutKeepsLockIndex,
        /// The deletion of a key only frees it, so its LockIndex continues (C-KV-18).
        DeleteOnlyFrees,
        /// A write that changes nothing still raises ModifyIndex (C-KV-7).
        EqualWriteCounts answers,
        /// The end of a session leaves its keys unchanged (C-INV-1).
        InvalidationLeavesKeys,
        /// Behavior delete releases instead (C-INV-1).
        DeleteBehaviorReleases,
        /// A compare-and-set does not compare (C-KV-9).
        CasIgnoresIndex,
        /// The log checks the lock-delay as well when it applies an acquire (C-LD-9).
        ApplyLooksAtLockDelay,
        /// A failed transaction keeps its first operations (C-TXN-3).
        TransactionKeepsHalf,
        /// The check of a session in a transaction always passes (C-TXN-6).
        CheckSessionPasses,
        /// A blocking query is never answered once it waits (C-BLK-1).
        WatchForgotten,
        /// A new leader continues the timers of the old leader (C-TTL-6).
        ElectionKeepsTimers,
        /// A renewal saves a session whose end is decided (C-TTL-5).
        RenewalSavesDoomed,
        /// A session can be bound to a check that is critical (C-SES-4).
        CriticalCheckAccepted answers,
        /// A critical check ends no session (C-INV-5).
        CriticalCheckIgnored,
        /// A warning ends sessions, too (C-INV-5).
        WarningEndsSessions answers,
        /// The removal of a node ends only sessions that are bound to a check (C-INV-6).
        NodeRemovalSparesUnbound,
        /// Requests that are held while there is no leader are lost (C-CON-6).
        HeldRequestsForgotten,
        /// A deletion starts a lock-delay, too (C-LD-6).
        LockDelayAfterDelete answers,
        /// A failed transaction reverts the lock-delays that it has set (C-LD-8).
        RollbackForgetsDelays answers,
        /// A session's id in another letter case is the same holder (C-SES-20).
        SpellingIgnored answers,
        /// Deletions are not remembered (C-KV-22).
        TombstonesForgotten answers,
        /// A recursive deletion is remembered key by key, and not by its prefix (C-KV-17).
        TreeBuriesEachKey answers,
        /// Prepared queries outlive their session (C-PQ-4).
        QueriesSurvive answers,
        /// The deregistration of a check ends no session (C-INV-7).
        CheckRemovalSparesSessions answers,
        /// The end of a session releases only its first key (C-INV-1).
        OnlyFirstKeyReleased answers,
        /// A new session gets the id of an ended session of its creator (C-SES-2).
        SessionIdsReused answers,
        /// The renewal of an ended session succeeds (C-SES-18).
        UnknownSessionRenewed,
        /// A conditional deletion does not compare (C-KV-15).
        DeleteCasIgnoresIndex answers,
        /// A release does not write value and flags (C-KV-16).
        ReleaseKeepsContent answers,
        /// The deletion of a key removes its lock-delay (C-LD-7).
        LockDelayGoesWithKey answers,
        /// A lock-delay may be longer than the cap (C-LD-1).
        LockDelayUncapped,
        /// A new leader has no lock-delays (C-LD-11).
        ElectionLosesDelays,
        /// Servers that replay their log do not restart the lock-delays (C-LD-12).
        ReplayLosesDelays,
        /// A failed transaction keeps the tombstones of its deletions (C-TXN-3).
        RollbackKeepsTombstones answers,
        /// The leader does not check the lock-delays of keys in a transaction (C-TXN-8).
        TransactionIgnoresLockDelay answers,
        /// The check of an index in a transaction always passes (C-TXN-5).
        CheckIndexPasses answers,
        /// A blocking query on a key does not notice the deletion of the key (C-BLK-5).
        DeletionWakesNobody,
        /// A blocking query has no deadline (C-BLK-2).
        QueryDeadlineForgotten in "consul-missed-deletion-waits",
        /// The creation of a session checks only its first check (C-SES-4).
        OnlyFirstCheckLookedAt answers,
        /// The deregistration of a service keeps its checks (C-INV-8).
        ServiceLeavesChecks answers,
        /// A node that is registered again has its old checks (C-INV-6).
        NodeRemovalKeepsChecks answers,
        /// Gossip gives a node up without waiting for the detection time (C-INV-4).
        SuspectedAtOnce,
        /// Gossip does not notice that a link to a node is restored (C-INV-4).
        SilenceOutlivesHeal,
        /// A deposed leader answers consistent reads from memory (C-CON-2).
        DeposedReadsConsistently,
        /// A key counts among its own older keys (C-KV-21).
        QueueCountsItself,
        /// Two prepared queries may have one name (C-PQ-3).
        QueryNamesCollide answers,
        /// A node, a service or a check is set or removed whatever its index is (C-TXN-10).
        CatalogCasIgnoresIndex answers,
        /// A registration that changes nothing still raises ModifyIndex (C-INV-17).
        EqualRegistrationCounts answers,
    }
    "consul clients", Service {
        /// A self-limiting client counts its lease from the response instead of the request.
        LeaseFromAnswer,
        /// A self-limiting client stays one tick longer than its lease.
        LeaseOverstayed,
        /// A client releases before its writes are acknowledged, whatever its setting says.
        ReleaseWithoutWaiting,
        /// A killed job stops at once.
        KillWithoutGrace,
        /// A contender for a semaphore ignores the limit.
        LimitIgnored,
        /// A contender that leaves a semaphore stays on record.
        SlotKept,
        /// A contender for a semaphore treats every holder as dead (C-SEM-4).
        PrunesTheLiving,
        /// A contender becomes a holder by a plain put instead of a compare-and-set (C-SEM-3).
        TakesByPut,
        /// A contender treats a failed compare-and-set as a success (C-SEM-4).
        EntersOnFalse,
        /// A holder of a slot ignores its monitor's answers (C-SEM-6).
        MonitorIgnored,
        /// A holder that leaves removes every holder from the list (C-SEM-7).
        LeavesForAll in "consul-semaphore-two-rounds",
        /// A contender that has found a holder dead does not wait before it prunes.
        DoubtForgotten,
        /// A client in a queue does not wait for those before it.
        QueueJumped,
        /// A contender continues with a session that the server calls invalid (C-LCK-4).
        DeadSessionKept,
        /// A contender enters without checking the holder of the key that it has read back (C-LCK-5).
        ReadBackUnchecked,
        /// A contender cleans up with a plain deletion instead of a conditional one (C-LCK-10).
        CleanupUnconditional,
        /// A contender enters although its lease is over (C-TTL-3).
        EntersAfterLease,
        /// A monitor ignores that the key is free (C-LCK-6).
        MonitorAcceptsFreeKey,
        /// A monitor sends no query after the first answer (C-LCK-6).
        MonitorStopsAfterAnswer,
        /// A monitor treats the first error as the loss of the lock (C-LCK-6).
        MonitorErrorIsLoss survives "a holder that stops too early is safe, and no promise forbids it",
        /// A monitor retries without end (C-LCK-6).
        MonitorErrorsUncounted in "consul-monitor-gives-up",
        /// The first client in a queue enters without a check of its own key (B-26).
        RecheckForgotten,
        /// A client renews its session once (C-API-2).
        RenewsOnce,
        /// A client treats the 404 to a renewal as a temporary error (C-API-2).
        GoneTakenForError,
        /// A failed renewal extends the lease (C-API-2).
        ErrorExtendsLease in "consul-renewals-with-quorum",
        /// An observer reads the leader's name in a free key (C-LE-1).
        ObserverIgnoresSession,
        /// A third party compares the number only, and not the session (C-LCK-5).
        VerifierIgnoresHolder,
        /// A contender for a semaphore overwrites a limit that is not its own (C-SEM-4).
        LimitConflictIgnored,
        /// A contender for a semaphore prunes no holder (C-SEM-4).
        DeadHolderKept,
        /// A holder of a slot that leaves does not repeat a failed compare-and-set (C-SEM-7).
        LostRaceNotRepeated,
        /// The monitor of a holder of a slot sends no query after the first answer (C-SEM-6).
        SlotMonitorStops,
    }
}
