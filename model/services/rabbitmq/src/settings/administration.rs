//! The choices of administrators: what the published text says about them, and what it leaves open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Release, is_default};

/// Administrators and what they do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Administration {
    /// The operations of each administrator, one after the other.
    pub does: Vec<Vec<Operation>>,
    /// Whether they take the mutex first (F-14).
    pub mutex: bool,
    /// How they give it back.
    #[serde(skip_serializing_if = "is_default")]
    pub unlock: Release,
    /// How they determine the number of slots.
    pub counts: Counts,
    /// How far beyond the first gap they look for strays (R-Q-84).
    pub looks_beyond: u8,
    /// Which queues an addition declares.
    pub adds: Adds,
    /// How far down a removal goes.
    pub removes: Removes,
    /// In which order a removal goes.
    #[serde(skip_serializing_if = "is_default")]
    pub order: Order,
    /// The number of the lowest slot.
    #[serde(skip_serializing_if = "is_default")]
    pub base: Base,
    /// What they delete beyond the highest slot; none: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overshoot: Option<Overshoot>,
    /// Whether they wait for holders: before a number is used again, and after it was removed (F-10, F-11).
    pub waits: bool,
    /// How often they look in vain before they stop waiting; none: as long as it takes (F-26).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<u8>,
    /// What they do when a step fails (F-21).
    #[serde(skip_serializing_if = "is_default")]
    pub failure: Failure,
    /// Whether their library replaces a lost connection, so that they go on without the mutex (F-15).
    #[serde(skip_serializing_if = "is_default")]
    pub reconnects: bool,
    /// What they do about an operation that was cut short.
    #[serde(skip_serializing_if = "is_default")]
    pub retries: Retries,
    /// Whether creation looks at what is there first (F-20).
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
    /// A semaphore with so many slots.
    Create(u8),
    /// No semaphore.
    Destroy,
    /// So many more slots.
    Add(u8),
    /// So many fewer.
    Remove(u8),
}

/// How the number of slots is determined.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Up to the first one that a probe does not find.
    ToFirstGap,
    /// Up to the first one of which a passive declare says, too, that it is not there (R-Q-82, R-Q-84).
    #[default]
    Confirmed,
}

/// Which queues an addition declares.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Adds {
    /// Only the last one, as the text says (F-6).
    Last,
    /// Each, from the lowest (R-Q-85).
    #[default]
    Each,
}

/// How far down a removal goes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Removes {
    /// Down to the one that should be left, as the text says (F-7).
    OneTooMany,
    /// As many as asked (R-Q-86).
    #[default]
    Exactly,
}

/// In which order slots are removed.
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

/// What is deleted beyond the highest slot (F-16).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overshoot {
    /// So many beyond the number counted, and that one as well, after the operation.
    FromCounted(u8),
    /// So many beyond the number counted, after the operation.
    BeyondCounted(u8),
    /// So many beyond the number that is to be left, before anything is declared.
    BeyondTarget(u8),
}

/// What an administrator does when a step fails.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// It stops.
    #[default]
    Stops,
    /// It goes on with the next one (F-21).
    GoesOn,
}

/// What an administrator does about an operation that was cut short.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Retries {
    /// It counts anew, and goes on to the size that it had worked out before the first step.
    #[default]
    ToTarget,
    /// It does the same once more: adds or removes as many (F-22).
    Relative,
    /// Nothing.
    Never,
}
