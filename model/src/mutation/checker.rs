//! The mutants of the checker: faults built into its sources on purpose.

crate::mutations! {
    /// A fault built into the sources of the checker.
    CheckerMutation:
    "normal form", Reduction {
        /// A deadline is clamped a tick too early.
        DeadlineClampedTooEarly,
        /// The end of a belief is clamped like a deadline.
        UntilIsDeadline,
        /// A start time is clamped a tick too early.
        ElapsedClampedTooEarly,
        /// A start time is ignored.
        ElapsedForgotten,
        /// The age bound of a promise is clamped a tick too early.
        AgeClampedTooEarly,
        /// Clocks never move backwards.
        FallingClockForgotten,
        /// Tokens that are indexes keep their numbers while indexes change.
        TokensUnrenamed,
        /// All tokens are renamed like indexes.
        TokensAreIndexes,
        /// Versions that are counts are renamed like tokens.
        VersionsRenamed survives "no scenario of the catalogue runs a program: src/tests/programs/versions.rs notices it",
        /// Large numbers are ignored when others are renamed.
        LargeNumbersForgotten,
        /// The server forgets a tick too early.
        ServerSettlesTooEarly,
        /// True time stays absolute.
        NowIsKept,
        /// The server's state after a step is ignored.
        RenewalSparesServer,
        /// Calls are named by their order.
        CallsKeepOrder,
        /// A client's next call has a number that is in use.
        NewestCallUncounted,
    }
    "unheard", Reduction {
        /// Answers on open calls go unheard.
        AnswersUnheard,
        /// Requests on closed calls are left out, whatever the server does with them.
        RequestsUnheard,
        /// Requests are left out of which the answer is awaited.
        AwaitedRequestsUnheard,
        /// A search for a violation leaves out messages without a reaction, although they may be due.
        ShortestIgnoresUnheard,
        /// A message without a reaction stays where the step is looked up.
        LookupKeepsUnheard,
    }
    "subsumption", Reduction {
        /// Worlds cover others whatever is left of their budgets.
        BudgetsUncompared,
        /// Worlds cover others whatever time is left for their messages.
        DelaysUncompared,
        /// A message that is due sooner counts as one that may take longer.
        SoonerCovers,
        /// All that is compared counts as one number.
        LanesAreOne,
        /// Of several messages only the first one is compared.
        OneMessageCompared,
    }
    "partial order", Reduction {
        /// Actions are hidden although they state facts.
        OrderIgnoresFacts,
        /// Actions are hidden although the client's belief changes.
        OrderIgnoresBeliefs,
        /// A client's actions are taken first although another message may reach it.
        OrderIgnoresAnswers,
        /// A client's actions are taken first although time makes a difference.
        OrderIgnoresTimers,
        /// What is due in a tick is due.
        OrderHurriesTooEarly,
        /// A client's actions are taken first although a message to it may be lost.
        OrderIgnoresLosses,
        /// A client's actions are taken first although a fault may strike it.
        OrderIgnoresFaults,
        /// A client's actions are taken first although they do not come to an end.
        OrderIgnoresProgress survives "no client of these services can act unseen and have as much at hand as before",
        /// Of several actions of a client only the first is explored.
        OrderTakesOneOfSeveral,
        /// A write is hidden although its stamp may change.
        OrderIgnoresStamps,
        /// A counterexample of a search with partial orders is called a shortest one.
        LongCalledShortest,
        /// A loss is left out although delays are bounded.
        LossLeftOutInTime,
        /// A loss or a pause is explored only where it alone lets time pass, whatever else is left.
        LateFaultsStandAlone,
        /// Losses and pauses are taken late although faults are kept to places.
        LateFaultsIgnorePlaces,
        /// Losses and pauses are taken late although a promise looks at every world.
        LateFaultsIgnorePromises,
        /// A pause is left out where it is a wake-up that presses.
        LatePausesIgnoreWakes,
        /// Pauses are taken late although the service notices them.
        LatePausesIgnoreService,
        /// Pauses are taken late although answers that take no time reach only who is up.
        LatePausesIgnoreReplies,
    }
    "symmetry", Reduction {
        /// Clients that the service treats differently are permuted.
        AllClientsAlike,
        /// Clients with different clock offsets are permuted.
        OffsetsUncompared survives "clients whose clocks start differently do not start alike, so the comparison of starts excludes them",
        /// Clients with different initial states are permuted.
        StartsUncompared,
        /// Messages are not sorted after a permutation of clients.
        ArrangedMessagesUnsorted,
        /// A goal reached by one client is not credited to its permutation.
        GoalsOfOneClient,
    }
    "memo", Reduction {
        /// A step is looked up by its first component only.
        KeyIgnoresParts,
        /// A step is looked up without the tenures that stamp its writes.
        KeyIgnoresTenures,
        /// A step with an immediate response is looked up without the client that receives the response.
        KeyIgnoresCaller,
        /// A step is looked up where cut links lose messages.
        KeyIgnoresLossyCuts,
        /// A received message stays in flight.
        LookupKeepsMessage,
        /// A clock jump violates nothing if its step is a cache hit.
        LookupSlipUnjudged survives "where a clock jump alone violates a promise, the scenario is too large to try it on",
        /// A step violates nothing if it is a cache hit.
        LookupUnjudged,
        /// Ghosts ignore the facts of a cache hit.
        LookupForgetsFacts,
        /// The server forgets nothing when time passes.
        LookupSettlesNothing,
        /// New messages are appended instead of sorted in.
        LookupLeavesMessagesUnsorted,
        /// New names are looked up without the shift of time.
        NamesIgnoreShift,
        /// New names are looked up without the numbers of other components.
        NamesIgnoreOthers,
        /// New names are looked up without the calls that clients show.
        NamesIgnoreCalls,
        /// Components of permuted clients are looked up without the permutation.
        PlacesIgnoreOrder,
        /// Of the clients that a component names, the new place of the first one alone counts.
        PlacesOfOneClient,
        /// After a step that is not looked up, clients keep their places.
        TakenUnarranged,
        /// After a step that is not looked up, clients change places as components although closed calls are named by where they occur.
        TakenIgnoresClosedCalls,
    }
    "engine", Search {
        /// The frontier loses the last state of a chunk.
        FrontierLosesLast,
        /// The state after a violation has the fingerprint of the same world without a violation.
        ViolationHiddenByState,
        /// The filter of recently sent states reports a state that was not sent.
        RecentByPlace,
        /// What a cache hit leads to belongs to the worker that owns the state before it.
        PartitionOfPredecessor,
        /// A violation on an odd level is lost.
        ViolationLost,
        /// Only eight bits of a fingerprint count.
        FingerprintTruncated,
        /// Components are told apart by three bits of their hash.
        PartHashTruncated,
        /// An entry of the table of visited states keeps a byte of its fingerprint.
        EntryTruncated,
        /// The last action of a state is not taken.
        LastActionForgotten,
        /// A stutter step violates nothing.
        StutterHidesViolation survives "no step of the catalogue violates a promise and changes nothing",
        /// A proof does not require its goals.
        GoalsUnasked,
    }
    "cluster", Search {
        /// What other processes have counted is left out.
        TotalsUnheard,
        /// A violation that another process has found is left out.
        OtherViolationUnheard,
        /// States arrive in another process as if no violation led to them.
        ViolationUncarried,
        /// The sample of symmetry is that of one process.
        SamplesUnheard,
        /// The parts of another process's states are looked up by the numbers that they have there.
        PartsUntranslated,
        /// A search of several processes that goes on from checkpoints counts transitions from 0.
        CheckpointTransitionsForgotten,
        /// The states of the last checkpoint are not expanded.
        CheckpointUnexpanded,
    }
    "store", Search {
        /// States of earlier levels are states of the next level on disk, too.
        KnownKept,
        /// Where candidates are sorted on disk, the last run is lost.
        RunLost,
        /// A search on disk that is resumed forgets which goals were reached before.
        ResumedGoalsForgotten,
        /// A search on disk that is resumed counts transitions from 0.
        ResumedTransitionsForgotten,
        /// The manifest does not say that the last level has a violation.
        ViolationUnwritten,
    }
    "liveness", Search {
        /// A state without a successor is not the end of an execution.
        DeadlockUncounted,
        /// A strongly connected component that is unfair as a whole has no fair part.
        ComponentNotSplit,
        /// Time may stop.
        TimeMayStop,
        /// Strongly fair actions are treated as weakly fair.
        StrongIsWeak,
        /// An action that is enabled in one state counts as enabled in every state.
        WeakAtFirstState,
        /// Components are taken for smaller than they are.
        LowLinkIgnored,
        /// The cycle of a counterexample need not be weakly fair.
        LassoUnfair,
        /// A client that enters still counts as waiting.
        EntriesLeaveItOpen survives "no fair cycle of the catalogue has an entry of a waiting client",
        /// A slot is always free.
        RoomUncounted,
        /// What one thread calls a label, all of them do.
        LabelsOfOneThread,
        /// States are left out from which no weakly fair action is reached, also where it is disabled.
        PruneIgnoresDisabled,
        /// States are left out after one pass over the edges.
        PruneBeforeStable,
        /// What leads to a state that is left out counts as disabled.
        PruneDropsEdges,
    }
    "limits", Search {
        /// A search that a limit stopped reports that it is exhausted.
        CutUntold,
        /// A search that reached the depth limit reports that it is exhausted.
        DepthUntold,
        /// A search that was interrupted reports that it is exhausted.
        CallOffUntold,
        /// A limit of states allows one more.
        LimitOffByOne,
        /// A search that stopped early counts as a proof.
        CutIsProof,
        /// A violation found by a search that stopped early is not reported.
        CutHidesViolation survives "in the laws, a search that stops early stops before its first violation",
    }
}
