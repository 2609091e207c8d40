//! The mutants of Consul: faults built into its sources on purpose.

fencepost_model::mutations! {
    /// A fault built into the sources of Consul.
    ConsulMutation:
    "consul server", Server {
        /// Restarted servers have lost every entry (C-LD-13).
        RestartLosesEntries,
        /// A new leader answers before it has applied its log: entries are missing (C-CON-1).
        LeaderIsBehind,
        /// The server forgets the lock-delay when somebody acquires (C-LD-2).
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
        /// Acquiring takes the lock away from whoever has it (C-KV-10).
        AcquireSteals,
        /// Acquiring works with a session that is gone (C-KV-10).
        AcquireWithoutSession,
        /// The holder's re-acquire raises LockIndex (C-KV-11).
        ReacquireCounts answers,
        /// Anybody's release frees the lock (C-KV-12).
        ReleaseByAnybody,
        /// A plain put leaves LockIndex alone (C-KV-8).
        PutKeepsLockIndex,
        /// Deleting a key only frees it, so that its LockIndex goes on (C-KV-18).
        DeleteOnlyFrees,
        /// A write that changes nothing still raises ModifyIndex (C-KV-7).
        EqualWriteCounts answers,
        /// The end of a session leaves its keys as they are (C-INV-1).
        InvalidationLeavesKeys,
        /// Behavior delete releases instead (C-INV-1).
        DeleteBehaviorReleases,
        /// A compare-and-set does not compare (C-KV-9).
        CasIgnoresIndex,
        /// The log looks at the lock-delay, too, when it applies an acquire (C-LD-9).
        ApplyLooksAtLockDelay,
        /// A transaction that fails leaves behind what it had done so far (C-TXN-3).
        TransactionKeepsHalf,
        /// The check of a session in a transaction always passes (C-TXN-6).
        CheckSessionPasses,
        /// A blocking query is never answered once it waits (C-BLK-1).
        WatchForgotten,
        /// A new leader goes on with the timers of the old one (C-TTL-6).
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
        /// Requests that are held while there is no leader are forgotten (C-CON-6).
        HeldRequestsForgotten,
        /// A deletion starts a lock-delay, too (C-LD-6).
        LockDelayAfterDelete answers,
        /// A transaction that fails takes the lock-delays back that it has set (C-LD-8).
        RollbackForgetsDelays answers,
        /// A session's id in another letter case is the same holder (C-SES-20).
        SpellingIgnored answers,
        /// Deletions are not remembered (C-KV-22).
        TombstonesForgotten answers,
        /// A recursive deletion is remembered key by key, and not by its prefix (C-KV-17).
        TreeBuriesEachKey answers,
        /// Prepared queries outlive their session (C-PQ-4).
        QueriesSurvive answers,
        /// A check that is deregistered takes no session along (C-INV-7).
        CheckRemovalSparesSessions answers,
        /// Of several keys, the end of a session releases the first only (C-INV-1).
        OnlyFirstKeyReleased answers,
        /// A new session gets the id of a dead one of its creator (C-SES-2).
        SessionIdsReused answers,
        /// The renewal of a session that is gone is answered with success (C-SES-18).
        UnknownSessionRenewed,
        /// A conditional deletion does not compare (C-KV-15).
        DeleteCasIgnoresIndex answers,
        /// A release leaves value and flags as they are (C-KV-16).
        ReleaseKeepsContent answers,
        /// The deletion of a key removes its lock-delay (C-LD-7).
        LockDelayGoesWithKey answers,
        /// A lock-delay may be longer than the cap (C-LD-1).
        LockDelayUncapped,
        /// A new leader has no lock-delays (C-LD-11).
        ElectionLosesDelays,
        /// Servers that replay their log do not start the lock-delays again (C-LD-12).
        ReplayLosesDelays,
        /// A transaction that fails keeps the tombstones of its deletions (C-TXN-3).
        RollbackKeepsTombstones answers,
        /// The leader does not look at the lock-delays of keys in a transaction (C-TXN-8).
        TransactionIgnoresLockDelay answers,
        /// The check of an index in a transaction always passes (C-TXN-5).
        CheckIndexPasses answers,
        /// A blocking query on a key does not notice the deletion of the key (C-BLK-5).
        DeletionWakesNobody,
        /// A blocking query has no deadline (C-BLK-2).
        QueryDeadlineForgotten in "consul-missed-deletion-waits",
        /// Of several checks, the creation of a session looks at the first only (C-SES-4).
        OnlyFirstCheckLookedAt answers,
        /// A service that is deregistered leaves its checks behind (C-INV-8).
        ServiceLeavesChecks answers,
        /// A node that is registered again has the checks that it had before its removal (C-INV-6).
        NodeRemovalKeepsChecks answers,
        /// Gossip gives a node up without waiting for the detection time (C-INV-4).
        SuspectedAtOnce,
        /// Gossip does not notice that a link to a node is restored (C-INV-4).
        SilenceOutlivesHeal,
        /// A deposed leader answers consistent reads from its memory (C-CON-2).
        DeposedReadsConsistently,
        /// A key counts among the older ones of itself (C-KV-21).
        QueueCountsItself,
        /// Two prepared queries may have one name (C-PQ-3).
        QueryNamesCollide answers,
    }
    "consul clients", Service {
        /// A self-limiting client counts its lease from the answer instead of the request.
        LeaseFromAnswer,
        /// A self-limiting client stays one tick longer than its lease.
        LeaseOverstayed,
        /// A client releases before its writes are acknowledged, whatever its setting says.
        ReleaseWithoutWaiting,
        /// A job that is killed is gone at once.
        KillWithoutGrace,
        /// A contender for a semaphore does not look at the limit.
        LimitIgnored,
        /// A contender that leaves a semaphore stays on record.
        SlotKept,
        /// A contender for a semaphore takes every holder for dead (C-SEM-4).
        PrunesTheLiving,
        /// It becomes a holder by a plain put instead of a compare-and-set (C-SEM-3).
        TakesByPut,
        /// It takes a compare-and-set that was refused for one that was not (C-SEM-4).
        EntersOnFalse,
        /// A holder of a slot does not read what its monitor is told (C-SEM-6).
        MonitorIgnored,
        /// A holder that leaves takes everybody off the list (C-SEM-7).
        LeavesForAll in "consul-semaphore-two-rounds",
        /// A contender that has found a holder dead does not wait before it prunes.
        DoubtForgotten,
        /// A client in a queue does not wait for those before it.
        QueueJumped,
        /// A contender goes on with a session that the server calls invalid (C-LCK-4).
        DeadSessionKept,
        /// A contender enters without a look at who holds the key that it has read back (C-LCK-5).
        ReadBackUnchecked,
        /// A contender cleans up with a plain deletion instead of a conditional one (C-LCK-10).
        CleanupUnconditional,
        /// A contender enters although its lease is over (C-TTL-3).
        EntersAfterLease,
        /// A monitor does not see that the key is free (C-LCK-6).
        MonitorAcceptsFreeKey,
        /// A monitor sends no query after the first answer (C-LCK-6).
        MonitorStopsAfterAnswer,
        /// A monitor takes the first error for the loss of the lock (C-LCK-6).
        MonitorErrorIsLoss survives "a holder that stops too early is safe, and no promise is about that",
        /// A monitor retries without end (C-LCK-6).
        MonitorErrorsUncounted in "consul-monitor-gives-up",
        /// The first in a queue enters without a look at its own key (B-26).
        RecheckForgotten,
        /// A client renews its session once (C-API-2).
        RenewsOnce,
        /// A client takes the 404 to a renewal for an error that will pass (C-API-2).
        GoneTakenForError,
        /// A renewal that fails extends the lease (C-API-2).
        ErrorExtendsLease in "consul-renewals-with-quorum",
        /// An observer reads the name of the leader in a key that is free (C-LE-1).
        ObserverIgnoresSession,
        /// A third party compares the number only, and not the session (C-LCK-5).
        VerifierIgnoresHolder,
        /// A contender for a semaphore overwrites a limit that is not its own (C-SEM-4).
        LimitConflictIgnored,
        /// A contender for a semaphore prunes nobody (C-SEM-4).
        DeadHolderKept,
        /// A holder of a slot that leaves does not repeat a compare-and-set that was refused (C-SEM-7).
        LostRaceNotRepeated,
        /// The monitor of a holder of a slot sends no query after the first answer (C-SEM-6).
        SlotMonitorStops,
    }
}
