//! The mutants of observed leases: faults built into the sources on purpose.

fencepost_model::mutations! {
    /// A fault built into the sources of observed leases.
    ObservedLeaseMutation:
    "observed-lease", Service {
        /// The version of the record does not change with a write (OL-S-1).
        VersionKept,
        /// The store creates a record although there is one (OL-S-3).
        CreateOverwrites,
        /// The store replaces a record whatever its version (OL-S-3).
        PutIgnoresVersion,
        /// The write of an earlier holder creates a deleted record again (OL-S-4).
        PutRecreates,
        /// The store deletes a record whatever its version (OL-O-1).
        DeleteIgnoresVersion,
        /// A contender takes the record over a tick too early (OL-K-4).
        TakesOverEarly,
        /// Every read starts the wait again (OL-K-3).
        ObservedAnew,
        /// A contender compares versions, not contents (OL-S-8).
        WatchesVersion,
        /// The instant of expiry counts where the test is strict (OL-D-2).
        StrictIsClosed,
        /// A write names no version (OL-K-5).
        PutUnconditional,
        /// An elector that loses the lease does not tell its work (OL-K-10).
        LossUntold,
        /// A release writes a duration of 0 (OL-S-5).
        ReleasesForNothing,
        /// A client that is not the holder releases the lease (OL-K-12).
        AnyoneReleases,
        /// A release names no version (OL-K-12).
        ReleaseUnconditional,
        /// The deadline of the work counts from the answer (OL-D-2).
        GuardFromAnswer,
        /// A release writes the holder's name again (OL-K-12).
        ReleaseKeepsHolder,
        /// The deadline does not end a request in flight (OL-K-7).
        DeadlineWaitsForAnswer,
        /// A record has the exact duration (OL-K-2).
        DurationNotTruncated,
        /// A contender counts its own duration (OL-K-4).
        OwnDurationCounted,
        /// A contender takes the writer's clock for its own (OL-K-20).
        WallClocksAlike,
        /// A client that restarts keeps its name (OL-K-17).
        RestartKeepsName,
        /// A call remembers what an earlier call has seen (OL-D-5).
        CallRemembers,
        /// A cancelled elector waits for its work for ever (OL-K-17).
        GraceUnlimited,
        /// An error of the store is no renewal (OL-D-8).
        ErrorIsNoRenewal,
        /// The database believes the time of a client (OL-R-3).
        RowBelievesClient,
        /// The database gives a row away a tick before its end (OL-R-1).
        RowTakenEarly,
        /// A client counts its row from the statement (OL-R-2).
        RowCountsFromStatement,
        /// The database ends a row for another client (OL-R-4).
        RowEndedByOther,
        /// A row ends before it was kept for the least time (OL-R-4).
        AtLeastIgnored,
    }
}
