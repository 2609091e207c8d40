//! Every mutant, by layer.
//!
//! A name alone is a mutant that a verdict, a law or a disagreement of the engines must notice; `in "…"` behind it: a verdict
//! in that scenario, which is too large to try every mutant on; `answers`: only recorded answers of a real server can;
//! `survives "…"`: nothing can, and why.

use super::{Layer, mutations};

mutations! {
    ConsulServer {
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
    ConsulClients {
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
    RabbitmqBroker {
        /// The end of a channel takes exclusive queues along (R-Q-35).
        ChannelTakesQueues,
        /// So does a refusal that closes the channel (R-Q-29).
        RefusalTakesQueues,
        /// The broker says close-ok before the exclusive queues are gone (R-Q-37).
        CloseOkFirst,
        /// Exclusive queues outlive their connection (R-Q-39).
        OwnerlessQueuesStay,
        /// The exclusive queues of a connection go all at once (R-Q-40).
        QueuesGoTogether survives "executions are missing, and none of them is needed for a violation",
        /// An exclusive queue is anybody's who declares it (R-Q-51).
        OwnerIgnored,
        /// A passive declare of another one's exclusive queue is answered with success (R-Q-9).
        LooksAtForeign,
        /// Anybody may delete an exclusive queue (R-Q-12).
        DeletesForeign answers,
        /// A mandatory publish that finds no queue does not come back (R-Q-17).
        UnroutableIsAcked,
        /// A probe keeps a queue from expiring (R-Q-25).
        ProbesRenew survives "a slot expires before the first probe, too, so that the verdict is the same",
        /// Exclusive and transient queues survive a restart of the broker (R-Q-56).
        RestartKeepsAll,
        /// Unacknowledged messages of a channel that is closed are not put back (R-Q-70).
        UnackedStayAway answers,
        /// Unacknowledged messages of a connection that ends are lost (R-Q-70).
        UnackedGoWithConnection,
        /// A rejected message is not put back (R-Q-70).
        RejectLosesMessage,
        /// A publish that the queue refuses is confirmed (R-Q-20).
        NackToldAsConfirm answers,
        /// Methods before close-ok are carried out on a channel that the broker has closed (R-Q-31).
        ClosingChannelServes answers,
        /// A method on a connection that is over opens it again (R-Q-39).
        LateRequestReopens,
        /// A connection is dropped after one missed heartbeat instead of two (R-Q-43).
        DropsAfterOneMiss,
        /// A declaration with other arguments is answered with success (R-Q-2).
        InequivalentAccepted answers,
        /// A queue with messages is deleted although only an empty one should be (R-Q-13).
        IfEmptyIgnored answers,
        /// Anybody may get messages from an exclusive queue (R-Q-9).
        GetsForeign answers,
        /// The deletion of a queue that does not exist is refused (R-Q-11).
        DeletionOfAbsentRefused,
        /// A minority declares queues although a majority has to agree (R-Q-69).
        MinorityDeclares,
        /// A minority goes on instead of pausing (R-Q-66).
        MinorityGoesOn,
        /// The losing side does not start anew after a partition (R-Q-65).
        AutohealSparesLoser,
        /// A node that goes down loses its durable queues (R-Q-14).
        NodeLosesDurable,
        /// Durable queues do not survive a restart of the broker (R-Q-56).
        RestartLosesDurable,
        /// The broker does not notice that a socket was closed (R-Q-39).
        ClosedSocketUnnoticed,
    }
    RabbitmqClients {
        /// A client that finds the holder's queue locked takes it for its own (R-Q-51).
        EntersWhenLocked,
        /// A client enters before it has verified (R-Q-87).
        EntersUnverified,
        /// A client that finds its slot removed keeps the holder's queue (R-Q-87).
        KeepsUnverified,
        /// A client takes 405 from a passive declare for *mine* (R-Q-89).
        LockedCountsAsMine,
        /// A client forgets to give its slot back (R-Q-88).
        ReleaseForgotten,
        /// A client goes on after its connection was lost (R-Q-89).
        LossIgnored,
        /// An administrator does not take the mutex (R-Q-83).
        MutexForgotten,
        /// An administrator that stops half-way keeps the mutex (R-Q-83).
        MutexKept survives "no promise says that an administrator finishes",
        /// An administrator uses a number again that is still held (R-Q-85).
        AddsWithoutLooking survives "the holder keeps its queue under that number, and no promise breaks",
        /// An administrator does not wait for the holders of removed slots (R-Q-86).
        RemovesWithoutWaiting,
        /// An administrator removes the lowest slot first (R-Q-86).
        AscendingRemoval,
        /// A client releases a message that is a lock with ack instead of reject (R-Q-70).
        ReleasesByAck,
        /// A client with a message that is a lock goes on after its connection was lost (R-Q-70).
        GetterIgnoresLoss survives "another client has the message before the holder can hear of it (B-36)",
        /// A client does not say close-ok before it opens a channel again (R-Q-31).
        CloseOkForgotten,
        /// A client takes the confirm after a return for a success (R-Q-81).
        ReturnTakenForAck,
        /// A client takes a nack for an absent queue (R-Q-81).
        NackTakenForAbsent,
        /// A client enters although its lease is over (R-Q-90).
        TakerEntersAfterLease,
        /// A client whose lease is over keeps its connection (R-Q-90).
        LapseKeepsSlot,
        /// A client that verifies does not look at the slot queue (R-Q-89).
        SlotNotVerified,
        /// An administrator goes on although another one has the mutex (R-Q-83).
        BusyIgnored,
        /// An administrator does not delete slots beyond the first gap (R-Q-84).
        StraysLeft,
        /// An administrator does not confirm that a slot is absent (R-Q-82).
        AbsenceUnconfirmed,
        /// An administrator that tries again works out its target anew (R-Q-83).
        RetryForgetsTarget,
    }
    Lease {
        /// The server lends again one tick before the loan is over.
        LentTooEarly,
        /// The server does not wait after a loan is over.
        GraceForgotten,
        /// The return of an earlier loan ends the present one.
        StaleReturnFrees,
        /// A client counts its loan from the answer instead of the request.
        LoanCountedFromAnswer,
        /// A client takes a repeated answer for a new loan.
        RepeatedAnswerHeeded,
        /// A client does not look at its clock before it writes.
        WritesAfterLapse survives "a write may be under way after the end of the lease in any case",
    }
    Roster {
        /// The store lets in one more than there are slots (B-35).
        RecordBeyondLimit,
        /// What is reaped does not become free (B-33).
        ReaperKeepsToken,
        /// The store reaps one tick too early (B-33).
        ReapedTooEarly,
        /// A token that was reaped is given back once more (B-33).
        GivenBackTwice,
        /// The store keeps the entry of a client that it has refused (B-34).
        RefusedStaysRanked,
        /// The store does not find an entry again by its name (B-47).
        NameIgnored,
        /// A client enters with a rank that is one too high (B-34).
        RankBeyondLimit,
        /// A client that is refused leaves its entry on the list (B-34).
        RankKept,
    }
    Replicas {
        /// Half of the nodes without one more is enough (B-44).
        MinorityIsEnough,
        /// A client counts its lease without the drift (B-44).
        DriftIgnored,
        /// A client that gives up leaves its keys behind (B-44).
        FailedAttemptKept survives "the keys end with their lease, and no promise of progress is made to these clients",
        /// A node deletes a key whatever its value (B-44).
        UnlocksForeign,
        /// A node that starts anew answers at once (B-44).
        AnswersAfterRestart,
        /// A node that starts anew has no key, although it should be on disk (B-44).
        RestartForgetsKey,
        /// The leading node grants the lock before a majority has it (B-45).
        PromisedUncopied,
        /// Nodes that reach each other again keep what each of them has (B-45).
        HealKeepsBoth,
    }
    World {
        /// The resource accepts every token.
        ResourceIgnoresTokens,
        /// The resource forgets the highest token when it refuses one.
        ResourceForgets,
        /// The resource refuses the token it has seen last.
        ResourceRefusesEqualTokens,
        /// A message arrives at a process that is paused.
        PausedHears,
        /// A cut link lets messages through.
        CutLeaks,
        /// A cut link never heals.
        HealNever,
        /// The bound on a clock's skew forgets where the clock starts.
        OffsetUncounted,
        /// `is_enabled` allows any message of those alike.
        AnyAlikeIsEnabled,
        /// An operator acts although the budget is less than the cost.
        CostUnasked,
        /// Bounds on lateness count for paused processes and cut links, too.
        NoExcuse,
        /// The bound on the lateness of clients' wake-ups is ignored.
        WakeDelayUnbounded,
        /// The servers' deadlines have the bound of the clients.
        ServerDelayOfClients,
        /// A lost message arrives nevertheless.
        LossKeepsMessage,
        /// A duplicate takes the place of the original.
        DuplicateTakesOriginal,
        /// A clock never falls back.
        SlipForwardsOnly,
        /// A crash costs nothing.
        CrashIsFree,
        /// A client remembers everything after a crash.
        CrashKeepsMemory,
        /// A message may be late by a tick more than the bound.
        MessageDelayTooLong,
        /// A write is stamped with the newest tenure of all clients.
        StampIsNewestTenure survives "only counts change: no scenario yet in which it decides a verdict",
        /// A cut link that should lose messages holds them back.
        CutHolds,
        /// Time that passes violates nothing.
        LatenessUnjudged,
        /// A clock that slips violates nothing.
        SlipUnjudged survives "where a slip alone breaks a promise, the scenario is too large to try it on",
        /// A step violates one promise at most.
        FirstViolationOnly,
        /// Answers travel where they should take no time.
        RepliesTravel,
        /// A lock that is idle is idle since the last step.
        IdlenessStartsAnew,
        /// No read is known to be under way.
        ReadsUnremembered,
        /// A re-acquire begins a tenure.
        ReacquireIsFresh,
        /// A grant does not end the time after an invalidation.
        GrantKeepsInvalidation survives "a grant that was not too soon is not followed by one that is sooner after the same invalidation",
        /// A tenure that was freed runs on.
        FreedKeepsRunning,
        /// Of all renewals of a session, the first counts.
        RenewalUnremembered,
        /// The resource was touched by the tenure that wrote last, and not by the newest one.
        TouchedIsLast survives "the two differ only after no-lost-update is violated: until then each write has the newest tenure",
        /// The number of slots is the one at the start.
        LimitUnremembered survives "only counts change: no scenario yet in which it decides a verdict",
    }
    Properties {
        /// `single-owner` does not see a lock that is handed on while another client owns it.
        TheftUnseen survives "the servers as shipped hand no lock on without freeing it; no scenario combines it with a mutant of them",
        /// `single-owner` does not see two owners on record.
        OwnersUncounted,
        /// `single-owner` does not see two holders of one slot.
        ConflictUnseen survives "the servers as shipped give no slot to two; no scenario combines it with a mutant of them",
        /// `lock-delay` asks for a tick less.
        LockDelayBoundTooShort,
        /// `lock-delay` does not see an invalidation and a grant in one step (C-LD-10).
        SameStepUnseen,
        /// `ttl-lower-bound` asks for a tick less.
        TtlBoundTooShort,
        /// `slot-limit` allows a holder more.
        OneHolderMore,
        /// `slot-conservation` does not see what is lost.
        LossUnseen,
        /// `contiguity` allows any first number.
        FirstSlotUnasked,
        /// `count-exact` allows a count that is too low.
        FewerCounted,
        /// `size-as-asked` allows fewer slots.
        FewerThanAsked,
        /// `session-consistency` inspects nothing.
        RecordsUninspected survives "the servers as shipped keep their records; mutants of servers are noticed by this property",
        /// `mutual-exclusion` looks at clients 1 and 2 only.
        TwoClientsOnly,
        /// `lease-exclusion` does not see clients whose clocks are ahead.
        FastClocksUnseen,
        /// `slot-limit-belief` asks the most careless client.
        LargestPromiseCounts,
        /// `slot-limit` and `slot-limit-belief` do not hear of a new number of slots.
        LimitIsFirst,
        /// `slot-exclusion` does not look at slot 1.
        FirstSlotUnseen,
        /// `verify-truthful` believes any owner.
        AnyOwnerIsTrue,
        /// `single-administrator` does not count one who is paused.
        PausedIsNotAtWork survives "no scenario pauses an administrator",
        /// `token-order` allows equal tokens.
        EqualTokensOrdered,
        /// `sequencer-sound` does not see the end of the newest tenure.
        EndUnseen,
        /// `sequencer-complete` does not see a refusal before the first write.
        FirstRefusalUnseen,
        /// `linearizable` believes that nobody has the lock.
        FreeIsAlwaysTrue survives "no scenario yet in which an observer wrongly finds the lock free",
        /// `no-lost-update` spares the tenure before the last one.
        LastTenureSpared,
        /// `eventually-acquired` asks for a tick more.
        IdleBoundTooLong,
        /// `progress` looks at client 1 only.
        ProgressOfOneClient survives "where progress is promised all clients are interchangeable, so client 1 starves if any client does",
    }
    NormalForm {
        /// A deadline is clamped a tick too early.
        DeadlineClampedTooEarly,
        /// The end of a belief is clamped like a deadline.
        UntilIsDeadline,
        /// What counts from an instant counts for a tick less.
        ElapsedClampedTooEarly,
        /// What counts from an instant does not count.
        ElapsedForgotten,
        /// What a promise says of an age is clamped a tick too early.
        AgeClampedTooEarly,
        /// No clock falls back.
        FallingClockForgotten,
        /// Tokens that are indexes keep their numbers while indexes change.
        TokensUnrenamed,
        /// All tokens are renamed like indexes.
        TokensAreIndexes,
        /// Numbers that are not small do not count when others are renamed.
        LargeNumbersForgotten,
        /// The server forgets a tick too early.
        ServerSettlesTooEarly,
        /// True time goes on.
        NowIsKept,
        /// After a step the server is not looked at.
        RenewalSparesServer,
    }
    Symmetry {
        /// Clients that the service does not treat alike change places.
        AllClientsAlike,
        /// Clients whose clocks start differently change places.
        OffsetsUncompared survives "clients whose clocks start differently do not start alike, so the comparison of starts excludes them",
        /// Clients that start differently change places.
        StartsUncompared,
        /// Messages are not sorted after clients have changed places.
        ArrangedMessagesUnsorted,
        /// A goal that one client reaches counts for no other.
        GoalsOfOneClient,
    }
    Memo {
        /// A step is looked up by its first part only.
        KeyIgnoresParts,
        /// A step is looked up without the tenures that stamp what it sends.
        KeyIgnoresTenures,
        /// A step in which an answer is heard at once is looked up without the client that hears it.
        KeyIgnoresCaller,
        /// A step is looked up where cut links lose messages.
        KeyIgnoresLossyCuts,
        /// A message that was received is under way still.
        LookupKeepsMessage,
        /// A clock that slips violates nothing where the step is looked up.
        LookupSlipUnjudged survives "where a slip alone breaks a promise, the scenario is too large to try it on",
        /// A step that is looked up violates nothing.
        LookupUnjudged,
        /// The ghosts do not hear of facts that are looked up.
        LookupForgetsFacts,
        /// The server forgets nothing when time passes.
        LookupSettlesNothing,
        /// New messages stand behind all others.
        LookupLeavesMessagesUnsorted,
        /// New names are looked up without the shift of time.
        NamesIgnoreShift,
        /// New names are looked up without the numbers of other parts.
        NamesIgnoreOthers,
        /// Parts of clients that have changed places are looked up without the order.
        PlacesIgnoreOrder,
    }
    Engine {
        /// The frontier loses the last state of a chunk.
        FrontierLosesLast,
        /// The world after a violation is the same state as that world without it.
        ViolationHiddenByState,
        /// A state that was not handed over lately is taken for one that was.
        RecentByPlace,
        /// A violation on an odd level is lost.
        ViolationLost,
        /// Eight bits of a fingerprint count.
        FingerprintTruncated,
        /// The last action of a state is not taken.
        LastActionForgotten,
        /// A step that changes nothing violates nothing.
        StutterHidesViolation survives "no step of the catalogue violates a promise and changes nothing",
        /// A proof does not ask for its goals.
        GoalsUnasked,
    }
    Liveness {
        /// A state without a successor is no end of an execution.
        DeadlockUncounted,
        /// A component that is unfair as a whole has no fair part.
        ComponentNotSplit,
        /// Time may come to a stop.
        TimeMayStop,
        /// What is strongly fair is weakly fair.
        StrongIsWeak,
        /// What is possible in one state counts as possible all the time.
        WeakAtFirstState,
        /// Components are taken for smaller than they are.
        LowLinkIgnored,
        /// The stem of a counterexample ends somewhere in the component.
        StemEndsAnywhere survives "a counterexample is repeated before it is told, and any stem that leads into the round is one",
        /// The cycle of a counterexample need not be weakly fair.
        LassoUnfair,
        /// A client that enters goes on waiting.
        EntriesLeaveItOpen survives "no fair round of the catalogue has an entry of a client that waits",
        /// There is always room inside.
        RoomUncounted,
    }
    Limits {
        /// A search that a limit has cut says that it is exhausted.
        CutUntold,
        /// A search that is too deep says that it is exhausted.
        DepthUntold,
        /// A search that was called off says that it is exhausted.
        CallOffUntold,
        /// A limit of states allows one more.
        LimitOffByOne,
        /// A search that was cut counts as a proof.
        CutIsProof,
        /// A state graph that was cut is judged.
        CutGraphIsJudged survives "it ends in a panic: states of a graph that was cut have no edges",
        /// A violation found by a search that was cut is not told.
        CutHidesViolation survives "a search that is cut in the laws is cut before its first violation",
    }
}
