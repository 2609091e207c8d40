//! The mutants of Redlock: faults built into its sources on purpose.

fencepost_model::mutations! {
    /// A fault built into the sources of Redlock.
    RedlockMutation:
    "redlock", Service {
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
}
