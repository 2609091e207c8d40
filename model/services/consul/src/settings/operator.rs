//! What somebody with access to the HTTP API may do from outside, and what each kind of action costs of `budget.operator`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One kind of action that is within the operator's reach.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorActionKind {
    /// Destroy any session.
    DestroySession,
    /// Destroy the session of a client that has crashed.
    DestroyCrashed,
    /// Destroy the session of a client that waits for the lock, as if its renewals had failed.
    DestroyWaiting,
    /// Put another value into the lock's key.
    Put,
    /// Delete the lock's key.
    Delete,
    /// Put another value into the lock's key by compare-and-set, at the index it has.
    Cas,
    /// Delete the lock's key at the index it has.
    DeleteCas,
    /// Delete every key there is, as by a recursive deletion of a prefix that contains them.
    DeleteTree,
    /// Delete the coordination entry of the semaphore, whoever is on it.
    DeleteSlots,
    /// Delete it as the Go client does: only if nobody who lives is on it, and at the index it has (C-SEM-8).
    DestroySlots,
    /// Release the lock in the name of the session that has it (C-KV-13).
    Release,
    /// Acquire the lock in the name of any session.
    Acquire,
    /// Renew any session.
    RenewSession,
    /// Set any check of any node to warning.
    WarnCheck,
    /// Set any check of any node to critical.
    FailCheck,
    /// Set any check of any node to passing.
    PassCheck,
    /// Deregister any check.
    DeregisterCheck,
    /// Deregister the service of any node, and with it its check.
    DeregisterService,
    /// Deregister any node, and with it its checks and sessions.
    DeregisterNode,
    /// In one transaction, make a check of the lock's holder critical and lock the key for another session (C-LD-10).
    TakeOver,
}

impl OperatorActionKind {
    /// Whether it needs nodes and checks.
    pub fn is_about_health(self) -> bool {
        self >= OperatorActionKind::WarnCheck
    }
}

/// A kind of action with its cost: `"put"`, or `{ action = "deregister-node", cost = 2 }`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Priced {
    /// It costs 1.
    Plain(OperatorActionKind),
    /// It costs what is said.
    At {
        /// The kind of action.
        #[serde(alias = "act")]
        action: OperatorActionKind,
        /// What it costs.
        cost: u8,
    },
}

impl Priced {
    /// The kind of action.
    pub fn kind(self) -> OperatorActionKind {
        match self {
            Priced::Plain(kind) | Priced::At { action: kind, .. } => kind,
        }
    }

    /// What it costs.
    pub fn cost(self) -> u8 {
        match self {
            Priced::Plain(_) => 1,
            Priced::At { cost, .. } => cost,
        }
    }
}

impl From<OperatorActionKind> for Priced {
    fn from(kind: OperatorActionKind) -> Self {
        Priced::Plain(kind)
    }
}
