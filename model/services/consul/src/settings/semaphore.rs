//! The choices of a client that wants a slot. The first one of each list is what a scenario gets that does not choose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_default;
use fencepost_model::ids::ClientId;
use fencepost_model::time::Ticks;

/// A semaphore by Consul's guide: contender keys, and a coordination entry changed by compare-and-set (C-SEM-3, C-SEM-4).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Semaphore {
    /// The limit that each client has in its configuration; clients beyond the list: the last one.
    pub limits: Vec<u8>,
    /// What a client does that reads another limit than its own.
    #[serde(default)]
    pub on_conflict: OnConflict,
    /// How a client counts the holders and becomes one.
    #[serde(default)]
    pub registers: Registers,
    /// Which holders a client takes off the list.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prunes: Prunes,
    /// How long it waits after it has found a holder dead, before it takes that off the list: what Consul's lock-delay does
    /// not do for a slot, made by hand.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prune_wait: Ticks,
    /// What it does when its release loses a race.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lost_race: LostRace,
    /// What becomes of its contender key and its session when it has left.
    #[serde(default, skip_serializing_if = "is_default")]
    pub afterwards: AfterRelease,
    /// What it does when it does not hear whether it has got a slot, within `patience`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unclear: OnUncertainty,
    /// Whether the session of each client is a contender in another semaphore, too, whose prefix begins with this one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub has_neighbour: bool,
    /// Whether a holder watches for one change only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub watches_once: bool,
}

impl Semaphore {
    /// The limit in the configuration of a client.
    pub fn limit(&self, client: ClientId) -> u8 {
        self.limits.get(client.place()).or(self.limits.last()).copied().unwrap_or(1)
    }
}

/// What a client does that reads another limit than its own.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnConflict {
    /// It refuses to take part.
    #[default]
    Refuse,
    /// It goes by its own.
    Ignore,
    /// It refuses if the limit differs from the *number of holders*: what the guide says word for word (C-SEED-12).
    Literal,
}

/// Which holders a client takes off the list before it counts.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Prunes {
    /// Those whose session has no contender key (C-SEM-4).
    #[default]
    Dead,
    /// Those whose contender key is gone; a key that nobody holds any more counts (C-GDE-1).
    ByName,
    /// None.
    Never,
}

/// What a client does when its release finds that the coordination entry has changed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LostRace {
    /// It reads again, and repeats (C-SEM-7).
    #[default]
    Repeat,
    /// It lets it be.
    LetBe,
}

/// What becomes of the contender key and the session of a client that has left.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterRelease {
    /// Both are removed (C-SEM-7).
    #[default]
    Removed,
    /// Both stay, for the next time: the session belongs to the caller, who uses it for other things, too.
    Kept,
}

/// What a client does when it does not hear whether it has got a slot.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnUncertainty {
    /// It reads the coordination entry: if it is among the holders, it has.
    #[default]
    ReadAgain,
    /// It reports that it failed.
    Report,
    /// It sends the same once more, and believes that answer.
    Repeat,
}

/// How a client becomes a holder.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Registers {
    /// It adds itself to the coordination entry by compare-and-set.
    #[default]
    Cas,
    /// It counts the contender keys, then acquires one of its own.
    CountThenRegister,
}
