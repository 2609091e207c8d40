//! The mutants of the stores: faults built into its sources on purpose.

fencepost_model::mutations! {
    /// A fault built into the sources of the stores.
    StoresMutation:
    "stores", Service {
        /// The store admits one client more than the limit (B-35).
        RecordBeyondLimit,
        /// A reaped token does not become free (B-33).
        ReaperKeepsToken,
        /// The store reaps one tick too early (B-33).
        ReapedTooEarly,
        /// A reaped token is released once more (B-33).
        GivenBackTwice,
        /// The store keeps the entry of a client that it has refused (B-34).
        RefusedStaysRanked,
        /// The store does not find an existing entry by its name (B-47).
        NameIgnored,
        /// A client enters with a rank that is one too high (B-34).
        RankBeyondLimit,
        /// A refused client leaves its entry on the list (B-34).
        RankKept,
    }
}
