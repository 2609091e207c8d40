//! The mutants of the kernel: faults built into its sources on purpose.

crate::mutations! {
    /// A fault built into the sources of the kernel.
    KernelMutation:
    "world", Kernel {
        /// The resource accepts every token.
        ResourceIgnoresTokens,
        /// The resource forgets the highest token when it refuses one.
        ResourceForgets,
        /// The resource forgets nothing when it restarts.
        RestartedResourceRemembers,
        /// The resource refuses the token it has seen last.
        ResourceRefusesEqualTokens,
        /// The tokens of all keys of the resource are compared with each other.
        KeysShareTokens survives "no scenario of the catalogue runs a program: src/tests/programs/work_queue.rs notices it",
        /// An item that a client takes stays in the work queue.
        TakenItemStays survives "no scenario of the catalogue runs a program: src/tests/programs/work_queue.rs notices it",
        /// An item that is finished stays in the work queue.
        FinishedItemStays survives "no scenario of the catalogue runs a program: src/tests/programs/work_queue.rs notices it",
        /// An item is handled and finished although it is not in the work queue any more.
        AbsentItemCompleted survives "no scenario of the catalogue runs a program: src/tests/programs/work_queue.rs notices it",
        /// A paused process receives a message.
        PausedHears,
        /// A cut link lets messages through.
        CutLeaks,
        /// A cut link never heals.
        HealNever,
        /// The bound on a clock's skew ignores the clock's offset.
        OffsetUncounted,
        /// `is_enabled` accepts any message with the same content.
        AnyAlikeIsEnabled,
        /// A fault strikes where the scenario does not let it.
        FaultsAnywhere,
        /// The place of a fault may be an action of another process.
        PlaceOfAnyProcess,
        /// An operator action happens although the budget is less than its cost.
        CostUnasked,
        /// Bounds on delays apply to paused processes and cut links, too.
        NoExcuse,
        /// The bound on the delay of clients' wake-ups is ignored.
        WakeDelayUnbounded,
        /// The servers' deadlines have the clients' bound.
        ServerDelayOfClients,
        /// A lost message still arrives.
        LossKeepsMessage,
        /// A duplicate replaces the original.
        DuplicateTakesOriginal,
        /// A clock never moves backwards.
        SlipForwardsOnly,
        /// A crash costs nothing.
        CrashIsFree,
        /// A client remembers everything after a crash.
        CrashKeepsMemory,
        /// A message may be late by a tick more than the bound.
        MessageDelayTooLong,
        /// A write is stamped with the newest tenure of all clients.
        StampIsNewestTenure,
        /// A cut link that should lose messages holds them back.
        CutHolds,
        /// Passing time violates nothing.
        LatenessUnjudged,
        /// A clock jump violates nothing.
        SlipUnjudged survives "where a clock jump alone violates a promise, the scenario is too large to try it on",
        /// A step violates at most one promise.
        FirstViolationOnly,
        /// Responses are in flight where they should take no time.
        RepliesTravel,
        /// The idle time of a lock begins with the last step.
        IdlenessStartsAnew,
        /// No read is known to be in progress.
        ReadsUnremembered,
        /// A re-acquire begins a tenure.
        ReacquireIsFresh,
        /// A grant does not end the lock-delay period after an invalidation.
        GrantKeepsInvalidation survives "a grant that was not too soon is not followed by one that is sooner after the same invalidation",
        /// A tenure continues after it was freed.
        FreedKeepsRunning,
        /// The first renewal of a session counts, and no later one.
        RenewalUnremembered,
        /// The resource remembers the tenure that wrote last instead of the newest one.
        TouchedIsLast survives "the two differ only after no-lost-update is violated: until then each write has the newest tenure",
        /// The number of slots is the one at the start.
        LimitUnremembered survives "only counts change: no scenario yet in which it decides a verdict",
    }
    "properties", Kernel {
        /// `single-owner` does not see a lock that is granted while another client owns it.
        TheftUnseen,
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
        /// `slot-conservation` does not see a missing permit.
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
        /// `slot-limit` and `slot-limit-belief` ignore a new number of slots.
        LimitIsFirst,
        /// `slot-exclusion` ignores slot 1.
        FirstSlotUnseen,
        /// `verify-truthful` accepts any owner.
        AnyOwnerIsTrue,
        /// `single-administrator` does not count a paused administrator.
        PausedIsNotAtWork survives "no scenario pauses an administrator",
        /// `token-order` allows equal tokens.
        EqualTokensOrdered,
        /// `sequencer-sound` does not see the end of the newest tenure.
        EndUnseen,
        /// `sequencer-complete` does not see a refusal before the first write.
        FirstRefusalUnseen,
        /// `linearizable` accepts the answer that the lock is free at any time.
        FreeIsAlwaysTrue survives "no scenario yet in which an observer wrongly finds the lock free",
        /// `no-lost-update` ignores the tenure before the last one.
        LastTenureSpared,
        /// `no-lost-update` compares the tenures of writes to different keys.
        KeysShareTenures survives "no scenario of the catalogue runs a program: src/tests/programs/work_queue.rs notices it",
        /// `handled-once` does not look at item 1.
        FirstItemUnseen survives "no scenario of the catalogue runs a program: src/tests/programs/work_queue.rs notices it",
        /// `eventually-acquired` allows a tick more.
        IdleBoundTooLong,
        /// `progress` looks at client 1 only.
        ProgressOfOneClient survives "where progress is promised all clients are interchangeable, so client 1 starves if any client does",
    }
}
