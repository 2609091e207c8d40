//! The settings of a contender for a slot. The first variant of each enum is the default.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_default;
use fencepost_model::ids::ClientId;
use fencepost_model::time::Ticks;

/// A semaphore by Consul's guide: contender keys, and a coordination entry changed by compare-and-set (C-SEM-3, C-SEM-4).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Semaphore {
    /// The limit in each client's configuration; the last one for clients beyond the list. At least one is needed: a recipe has none.
    #[serde(default)]
    pub limits: Vec<u8>,
    /// A client's reaction to another limit than its own.
    #[serde(default)]
    pub on_conflict: OnConflict,
    /// How a client counts the holders and becomes one.
    #[serde(default)]
    pub registers: Registers,
    /// The holders that a client prunes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prunes: Prunes,
    /// How long it waits before it prunes a holder that it has found dead, in ticks. Consul's lock-delay does this
    /// not do for a slot, made by hand.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prune_wait: Ticks,
    /// What it asks after a lost race for a slot.
    #[serde(default, skip_serializing_if = "is_default")]
    pub after_race: AfterRace,
    /// Its reaction to a lost race at release.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lost_race: LostRace,
    /// The fate of its contender key and its session after it has left.
    #[serde(default, skip_serializing_if = "is_default")]
    pub afterwards: AfterRelease,
    /// Its reaction to a missing response to its request for a slot, within `patience`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unclear: OnUncertainty,
    /// Whether the session of each client is also a contender in another semaphore whose prefix begins with this one.
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

/// A client's reaction to another limit than its own.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnConflict {
    /// It refuses to take part.
    #[default]
    Refuse,
    /// It uses its own limit.
    Ignore,
    /// It refuses if the limit differs from the *number of holders*: the literal text of the guide (C-SEED-12).
    Literal,
}

/// The holders that a client prunes before it counts.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Prunes {
    /// Holders whose session has no contender key (C-SEM-4).
    #[default]
    Dead,
    /// Holders whose contender key does not exist; a key without a session counts (C-GDE-1).
    ByName,
    /// None.
    Never,
}

/// What a contender asks when its compare-and-set was refused because the coordination entry has changed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterRace {
    /// The listing, as it is.
    #[default]
    List,
    /// The query that it has asked last, from the same index (C-SEM-4).
    SameQuery,
    /// A query that waits for a change since the listing that it has read last: the guide.
    Watch,
}

/// A client's reaction at release if the coordination entry has changed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LostRace {
    /// It reads again, and repeats (C-SEM-7).
    #[default]
    Repeat,
    /// It stops.
    LetBe,
}

/// The fate of the contender key and the session of a client that has left.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterRelease {
    /// Both are removed (C-SEM-7).
    #[default]
    Removed,
    /// Both stay for the next round: the session belongs to the caller, which uses it for other purposes, too.
    Kept,
}

/// A client's reaction to a missing response to its request for a slot.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnUncertainty {
    /// It reads the coordination entry: if it is among the holders, it has.
    #[default]
    ReadAgain,
    /// It reports a failure.
    Report,
    /// It repeats the request, and believes the second response.
    Repeat,
}

/// How a client becomes a holder.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Registers {
    /// It adds itself to the coordination entry by compare-and-set.
    #[default]
    Cas,
    /// It counts the contender keys, then acquires its own.
    CountThenRegister,
}
