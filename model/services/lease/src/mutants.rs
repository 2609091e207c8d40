//! The mutants of the lease: faults built into its sources on purpose.

fencepost_model::mutations! {
    /// A fault built into the sources of the lease.
    LeaseMutation:
    "lease", Service {
        /// The server lends again one tick before the loan is over.
        LentTooEarly,
        /// The server does not wait after a loan is over.
        GraceForgotten,
        /// The return of an earlier loan ends the current loan.
        StaleReturnFrees,
        /// A client counts its loan from the response instead of the request.
        LoanCountedFromAnswer,
        /// A client takes a repeated answer for a new loan.
        RepeatedAnswerHeeded,
        /// A client does not check its clock before it writes.
        WritesAfterLapse survives "a write may be in flight after the end of the lease in any case",
    }
}
