//! The choices that distinguish electors. The first value of each is that of client-go, line v0.37.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! choices {
    ($($(#[$about:meta])* $name:ident { $(#[$first_about:meta])* $first:ident, $($(#[$each_about:meta])* $each:ident,)* })*) => {$(
        $(#[$about])*
        #[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $(#[$first_about])*
            #[default]
            $first,
            $($(#[$each_about])* $each,)*
        }
    )*};
}

choices! {
    /// How a contender gets the lease.
    Acquire {
        /// It reads the record; it creates, or replaces one that has expired or names no holder (OL-K-5).
        Observe,
        /// It creates the record, and never replaces one (OL-O-3).
        CreateOnly,
        /// It reads the record; if there is none, it writes in any case, waits, and reads back (OL-26).
        WriteAndReadBack,
    }

    /// What a contender does when its creation is refused.
    RefusedCreate {
        /// It takes the lease for another's (OL-O-3).
        Held,
        /// It reads the record, and compares the identity (OL-23).
        ReRead,
    }

    /// From when on a record counts as expired.
    Expiry {
        /// The recorded duration after the contender saw it change (OL-K-4).
        Recorded,
        /// The contender's own duration after that (OL-K-21).
        Own,
        /// The recorded duration after the writer's wall clock (OL-K-20, OL-K-22, OL-O-2).
        WriterClock,
        /// Never (OL-O-3).
        Never,
    }

    /// Whether the instant of expiry counts as expired.
    Boundary {
        /// It does (OL-K-4).
        Closed,
        /// It does not (OL-D-2, OL-K-20, OL-O-2).
        Strict,
    }

    /// What a renewal sends.
    Renewal {
        /// A conditional write with the cached version; if it fails, a read and a write (OL-K-5).
        FastFirst,
        /// A read and a write (OL-K-5, before v0.30).
        ReadWrite,
        /// A conditional write only. A refusal ends the renewals without a word (OL-D-6).
        WriteOnly,
    }

    /// When a holder gives up.
    GivesUp {
        /// At the renew deadline; attempts are made on a ticker from its start (OL-K-7).
        AtDeadline,
        /// After an attempt and a sleep, if the renew deadline is over then (OL-K-21).
        AfterAttempt,
        /// At the first tick after the renew deadline, or when it reads another holder (OL-K-20).
        AtTick,
        /// Never: it only stops renewing (OL-D-6).
        Never,
    }

    /// From when on the renew deadline counts.
    PollFrom {
        /// The beginning of the next attempt to renew (OL-K-7).
        Poll,
        /// The last acknowledged renewal (OL-8).
        LastSuccess,
    }

    /// The deadline of the work itself, counted from the sending of the last acknowledged write.
    Guard {
        /// None: the elector tells the work.
        None,
        /// The lease, its last instant included (OL-D-2).
        Lease,
        /// The lease without its last instant (OL-K-22).
        BeforeLease,
        /// `safe_time` (OL-D-7).
        SafeTime,
    }

    /// How the lease is given back.
    Release {
        /// Not at all: ReleaseOnCancel is off.
        Never,
        /// A write with the version that the elector saw last (OL-K-12, to v0.33).
        CachedVersion,
        /// A read; then, if the *cached* record names this holder, a write with the version just read (OL-K-12, from v0.34).
        FreshVersion,
        /// A read; then, if the record *just read* names this holder, a write with its version (the repair of OL-3).
        FreshRecord,
        /// Deletion, if the record has the version that the elector saw last (OL-O-2).
        Delete,
        /// A read; then, if the record names this holder, deletion in any case (OL-O-3).
        LookThenDelete,
        /// A read; then, if the record names this holder, deletion if it still has that version (the repair of OL-27).
        LookThenDeleteVersion,
    }

    /// The order of steps when the lease is lost.
    OnLoss {
        /// The lease is released, then the work is told (OL-K-10).
        ReleaseThenTell,
        /// The work is told, then the lease is released.
        TellThenRelease,
    }

    /// What happens when the caller cancels.
    OnCancel {
        /// The lease is released while the work stops (OL-K-10).
        ReleaseAtOnce,
        /// The work stops, without renewals; then the lease is released (OL-4).
        Wait,
        /// The work stops, with renewals; then the lease is released (OL-K-17).
        WaitRenewing,
    }

    /// When the caller may cancel.
    Cancels {
        /// Never.
        Never,
        /// At any time.
        AnyTime,
        /// In the instant of an acknowledged renewal only.
        AfterRenewal,
    }

    /// When a process may fall asleep.
    NapsFrom {
        /// In any sleep between two requests.
        AnyTime,
        /// In the instant of an acknowledged renewal only.
        Renewal,
    }

    /// What the program does when it hears that it no longer leads.
    Callback {
        /// It stops its work.
        Heeded,
        /// It goes on (OL-15).
        Ignored,
        /// It hears nothing: the elector contends again (OL-17).
        Silent,
    }

    /// Whether the work waits for the election.
    Work {
        /// It does.
        Led,
        /// It begins with the program (OL-16).
        Unasked,
    }

    /// The identity that a client writes.
    Identity {
        /// A new one with each start (OL-K-17).
        Unique,
        /// The same with each start of a client.
        Hostname,
        /// The same for all clients (OL-10).
        Shared,
    }

    /// What a contender remembers from one call to the next.
    Memory {
        /// The record and the time of its observation.
        Kept,
        /// Nothing (OL-D-5).
        PerCall,
    }

    /// The token that the work sends with its writes.
    Tokens {
        /// None.
        None,
        /// The number of transitions, or the generation (OL-18, OL-25).
        Transitions,
        /// The version of the record at the acquisition (OL-S-1).
        ResourceVersion,
    }

    /// Whose clock the end of a row is compared with.
    RowClock {
        /// The database's (OL-R-3).
        Database,
        /// The client's (OL-R-2).
        Client,
    }
}

/// An action of the operator.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorKind {
    /// It deletes the record (OL-S-7).
    Delete,
    /// It deletes a record whose holder's work is over (OL-27).
    ForceUnlock,
    /// It changes a label: the version changes, the content does not (OL-S-8).
    Relabel,
}
