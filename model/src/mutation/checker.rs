//! The mutants of the checker: faults built into its sources on purpose.

crate::mutations! {
    /// A fault built into the sources of the checker.
    CheckerMutation:
    "normal form", Reduction {
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
        /// A search for a violation leaves out what nobody hears, although that may be due.
        ShortestIgnoresUnheard,
        /// A message that nobody hears stays where the step is looked up.
        LookupKeepsUnheard,
    }
    "symmetry", Reduction {
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
    "memo", Reduction {
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
        /// New names are looked up without what clients show of their calls.
        NamesIgnoreCalls,
        /// Parts of clients that have changed places are looked up without the order.
        PlacesIgnoreOrder,
    }
    "engine", Search {
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
    "liveness", Search {
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
    "limits", Search {
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
