//! The choices that distinguish clients and versions. The first value of each is that of etcd 3.4.23 and its Go client.

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
    /// When a holder stops, beside its user.
    Stop {
        /// Never: the end of its session is not looked at (E-CC-32).
        Never,
        /// When its session's `Done` closes (E-CC-3).
        OnDone,
        /// `margin` before T has passed since the sending of the last acknowledged renewal (E-T-7).
        BeforeExpiry,
    }

    /// What a candidate does whose campaign has failed (E-CC-21).
    OnError {
        /// Nothing: its key stays, and its session goes on.
        Keep,
        /// It closes its session.
        Close,
        /// It campaigns again, with the same session.
        Again,
    }

    /// How a user leaves.
    Leave {
        /// It unlocks or resigns.
        Release,
        /// It does not: it ends, and its process and session go on (E-CC-6).
        Abandon,
        /// Its call fails, and it takes the second call's success for a release (E-CC-22).
        FailAndForget,
        /// Its call fails, and the second call releases: no released version.
        FailAndRepeat,
    }

    /// Whether it takes a second lock, whose name begins with that of the first (E-CC-25).
    Nested {
        /// It does not.
        No,
        /// After the first.
        Second,
        /// Before the first.
        First,
    }

    /// How clients read the holder.
    Reads {
        /// Not at all.
        Never,
        /// By a linearizable range; each try has a request number of its own (E-KV-10, 3.4.42).
        Linearizable,
        /// By a linearizable range; a try repeats the request number of the last one (E-25).
        ReusedNumber,
        /// From the local copy of the member: a list of leases, a serializable range (E-GEN-2).
        Local,
    }

    /// Which way the wall clock of the leader jumps.
    Jump {
        /// Back.
        Back,
        /// Ahead.
        Ahead,
    }

    /// What the protected resource is.
    Guard {
        /// Outside etcd: it may compare tokens, as `resource` says.
        Resource,
        /// A key of the store: each write compares the create revision of its client's key (E-CC-24).
        Txn,
    }
}

/// What an operator does.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorKind {
    /// Deletes the holder's key.
    DeleteHeld,
    /// Deletes the key of the client that waits longest.
    DeleteWaiting,
    /// Revokes the holder's lease.
    RevokeHeld,
    /// Revokes the lease of the client that waits longest.
    RevokeWaiting,
    /// Puts a key without a lease below the prefix.
    PutStranger,
    /// Puts the holder's key anew, without its lease (E-LS-9).
    Detach,
    /// Compacts the store up to now (E-KV-9).
    Compact,
}
