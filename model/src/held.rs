//! What a client holds: a lock, or one slot of several.

use serde::{Deserialize, Serialize};

/// What the clients of a scenario contend for. Sentences of stories depend on it.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    /// A lock: one client may be inside.
    #[default]
    Lock,
    /// A slot of a semaphore: its limit says how many clients may be inside.
    Slot,
}
