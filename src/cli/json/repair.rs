//! The JSON lines of `fencepost repair`.

use schemars::JsonSchema;
use serde::Serialize;

use super::kernel::PropertyName;

/// A smallest set of edits that makes every broken promise hold.
#[derive(Serialize, JsonSchema)]
pub struct RepairSetJson<'a> {
    pub scenario: &'a str,
    pub repair: Vec<EditJson<'a>>,
    /// The promises that were checked with these edits. All are proven.
    #[schemars(with = "Vec<PropertyName>")]
    pub proven: Vec<&'static str>,
    /// The number of states of the largest search.
    pub states: u64,
    /// What the proofs rest on, as sentences.
    pub assumptions: Vec<String>,
    /// Measured over seeds: ticks in which a slot was free and a client waited, for each entry; null if it cannot be measured.
    pub idle: Option<f64>,
    /// Measured over seeds: requests for each entry.
    pub requests: Option<f64>,
    /// Measured over seeds: sessions that ended by themselves while their client was alive, in 1,000 ticks of a client; null for a service
    /// without sessions.
    pub false_expiries: Option<f64>,
    /// The scenario file, with `--out`.
    pub file: Option<String>,
}

/// A setting, and its values before and after.
#[derive(Serialize, JsonSchema)]
pub struct EditJson<'a> {
    /// The path in the scenario file, for example `service.ttl`.
    pub setting: &'a str,
    /// Null if it had none.
    #[schemars(with = "serde_json::Value")]
    pub before: Option<&'a toml::Value>,
    /// Null if it has none, or its default.
    #[schemars(with = "serde_json::Value")]
    pub after: Option<&'a toml::Value>,
}

/// No repair was found.
#[derive(Serialize, JsonSchema)]
pub struct NoRepairJson<'a> {
    pub scenario: &'a str,
    /// Always null.
    pub repair: Option<Vec<EditJson<'a>>>,
    /// The number of settings that were edited.
    pub knobs: usize,
    /// The number of sets of edits that were tried.
    pub tried: usize,
    /// The number of sets that are left out because they assume more about delays, clocks, faults or fairness.
    pub assume_more: usize,
    /// The number of sets whose search stopped early or whose proof is vacuous.
    pub undecided: usize,
    /// Whether every set was tried and decided: then there is no repair among them.
    pub is_exhausted: bool,
}
