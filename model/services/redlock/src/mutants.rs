//! The mutants of Redlock: faults built into its sources on purpose.

fencepost_model::mutations! {
    /// A fault built into the sources of Redlock.
    RedlockMutation:
    "redlock", Service {
        /// Half of the nodes minus one is a majority (B-44).
        MinorityIsEnough,
        /// A client computes its lease without the drift (B-44).
        DriftIgnored,
        /// A client that gives up does not delete its keys (B-44).
        FailedAttemptKept survives "the keys end with their lease, and no promise of progress is made to these clients",
        /// A node deletes a key with any value (B-44).
        UnlocksForeign,
        /// A restarted node responds at once (B-44).
        AnswersAfterRestart,
        /// A restarted node has no key, although the key should be on disk (B-44).
        RestartForgetsKey,
        /// The leader grants the lock before a majority has it (B-45).
        PromisedUncopied,
        /// After a partition, each node keeps its own key (B-45).
        HealKeepsBoth,
    }
}
