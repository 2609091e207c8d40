//! The mutants of the kernel: faults built into its sources on purpose.

crate::mutations! {
    /// A fault built into the sources of the kernel.
    KernelMutation:
    "world", Kernel {
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
    "properties", Kernel {
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
}
