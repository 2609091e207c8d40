//! The settings of administrators: the claims of the published text, and the choices that it leaves open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Release, is_default};

/// The administrators and their operations.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Administration {
    /// The operations of each administrator, in order.
    pub does: Vec<Vec<Operation>>,
    /// Whether they take the mutex first (F-14).
    pub mutex: bool,
    /// How they release it.
    #[serde(skip_serializing_if = "is_default")]
    pub unlock: Release,
    /// How they determine the number of slots.
    pub counts: Counts,
    /// How many numbers beyond the first gap they probe for strays (R-Q-84).
    pub looks_beyond: u8,
    /// The queues that an addition declares.
    pub adds: Adds,
    /// The extent of a removal.
    pub removes: Removes,
    /// The order of a removal.
    #[serde(skip_serializing_if = "is_default")]
    pub order: Order,
    /// The number of the lowest slot.
    #[serde(skip_serializing_if = "is_default")]
    pub base: Base,
    /// The queues that they delete beyond the highest slot; none: no queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overshoot: Option<Overshoot>,
    /// Whether they wait for holders: before a number is reused, and after it was removed (F-10, F-11).
    pub waits: bool,
    /// How often they check before they stop waiting; none: they wait without limit (F-26).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<u8>,
    /// Their reaction to a failed step (F-21).
    #[serde(skip_serializing_if = "is_default")]
    pub failure: Failure,
    /// Whether their library replaces a lost connection, so that they continue without the mutex (F-15).
    #[serde(skip_serializing_if = "is_default")]
    pub reconnects: bool,
    /// How they resume an interrupted operation.
    #[serde(skip_serializing_if = "is_default")]
    pub retries: Retries,
    /// Whether creation counts existing slots first (F-20).
    pub converges: bool,
}

impl Default for Administration {
    fn default() -> Self {
        Administration {
            does: Vec::new(),
            mutex: true,
            unlock: Release::Delete,
            counts: Counts::Confirmed,
            looks_beyond: 0,
            adds: Adds::Each,
            removes: Removes::Exactly,
            order: Order::Descending,
            base: Base(1),
            overshoot: None,
            waits: true,
            patience: None,
            failure: Failure::Stops,
            reconnects: false,
            retries: Retries::ToTarget,
            converges: true,
        }
    }
}

/// An administrative operation.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Create a semaphore with this number of slots.
    Create(u8),
    /// Delete the semaphore.
    Destroy,
    /// Add this number of slots.
    Add(u8),
    /// Remove this number of slots.
    Remove(u8),
}

impl Operation {
    /// The target number of slots.
    pub(crate) fn size_after(self, counted: u8) -> u8 {
        match self {
            Operation::Create(size) => size,
            Operation::Destroy => 0,
            Operation::Add(more) => counted + more,
            Operation::Remove(fewer) => counted.saturating_sub(fewer),
        }
    }
}

/// How the number of slots is determined.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Up to the first slot that a probe does not find.
    ToFirstGap,
    /// Up to the first slot that a passive declare does not find either (R-Q-82, R-Q-84).
    #[default]
    Confirmed,
}

/// The queues that an addition declares.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Adds {
    /// Only the last one, as the text says (F-6).
    Last,
    /// Each queue, from the lowest (R-Q-85).
    #[default]
    Each,
}

/// The extent of a removal.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Removes {
    /// Down to the slot that should remain, as the text says (F-7).
    OneTooMany,
    /// The requested number of slots (R-Q-86).
    #[default]
    Exactly,
}

/// The order in which slots are removed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The highest first.
    #[default]
    Descending,
    /// The lowest first (F-19).
    Ascending,
}

/// The number of the lowest slot that is created (B-43).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Base(pub u8);

impl Default for Base {
    fn default() -> Self {
        Base(1)
    }
}

/// The queues that are deleted beyond the highest slot (F-16).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overshoot {
    /// This many numbers beyond the counted number, inclusive, after the operation.
    FromCounted(u8),
    /// This many numbers beyond the counted number, after the operation.
    BeyondCounted(u8),
    /// This many numbers beyond the target number, before any declaration.
    BeyondTarget(u8),
}

/// The reaction to a failed step.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// It stops.
    #[default]
    Stops,
    /// It continues with the next step (F-21).
    GoesOn,
}

/// How an administrator resumes an interrupted operation.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Retries {
    /// It counts again, and continues to the target that it computed before the first step.
    #[default]
    ToTarget,
    /// It repeats the operation: it adds or removes the same number again (F-22).
    Relative,
    /// It does not resume.
    Never,
}
