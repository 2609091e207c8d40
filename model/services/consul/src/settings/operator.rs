//! Operator actions through the HTTP API, and the cost of each kind from `budget.operator`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of operator action.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorActionKind {
    /// Destroy any session.
    DestroySession,
    /// Destroy the session of a client that has crashed.
    DestroyCrashed,
    /// Destroy the session of a waiting client, as if its renewals had failed.
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
    /// Delete the coordination entry of the semaphore, with or without holders.
    DeleteSlots,
    /// Delete it like the Go client: only without live holders, and at the index of that read (C-SEM-8).
    DestroySlots,
    /// Release the lock in the name of the holder's session (C-KV-13).
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
    /// Deregister the service of any node, which removes its check.
    DeregisterService,
    /// Deregister any node, which removes its checks and ends its sessions.
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
    /// It has this cost.
    At {
        /// The kind of action.
        #[serde(alias = "act")]
        action: OperatorActionKind,
        /// The cost, from 1.
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

    /// The cost.
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
