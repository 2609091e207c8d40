//! What is judged.

use std::fmt;

use fencepost_model::properties::Property;
use fencepost_model::scenario::{Promise as Judged, Scenario};
use fencepost_model::service::Service;

/// What a lock, a semaphore or an election is expected to keep.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Promise {
    /// Never two clients at work at once.
    MutualExclusion,
    /// No write of an earlier holder is accepted after one of a later holder.
    NoLostUpdate,
    /// Never more clients at work at once than a semaphore has slots.
    SlotLimit,
    /// A holder that lives and can be reached does not lose the lock, or the slot.
    KeepsLock,
    /// A leader that lives and can reach the store does not lose its lease.
    KeepsLease,
}

impl Promise {
    /// All of them.
    pub const ALL: [Promise; 5] =
        [Promise::MutualExclusion, Promise::NoLostUpdate, Promise::SlotLimit, Promise::KeepsLock, Promise::KeepsLease];

    /// The name everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Promise::MutualExclusion => Property::MutualExclusion.name(),
            Promise::NoLostUpdate => Property::NoLostUpdate.name(),
            Promise::SlotLimit => Property::SlotLimitBelief.name(),
            Promise::KeepsLock => "keeps-lock",
            Promise::KeepsLease => "keeps-lease",
        }
    }

    /// The promise as a sentence.
    pub fn about(self) -> &'static str {
        match self {
            Promise::MutualExclusion => "never two clients at work at once",
            Promise::NoLostUpdate => "no write of an earlier holder is accepted after one of a later holder",
            Promise::SlotLimit => "never more clients at work at once than there are slots",
            Promise::KeepsLock => "a holder that lives, and whose messages arrive in time, never loses the lock",
            Promise::KeepsLease => "a leader that lives, and whose messages arrive in time, never loses the lease",
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The promise as the model knows it.
pub(crate) fn judged<S: Service>(scenario: &Scenario<S>) -> Judged {
    *scenario.promises.first().expect("each scenario here promises one thing")
}
