//! The JSON lines of `fencepost diff`. The field `kind` tells them apart.

use schemars::JsonSchema;
use serde::Serialize;

use super::kernel::PropertyName;

/// A field of the scenario files that differs.
#[derive(Serialize, JsonSchema)]
pub struct DifferenceJson<'a> {
    #[schemars(extend("const" = "difference"))]
    pub kind: &'static str,
    /// The path in the scenario file, for example `service.ttl`.
    pub path: &'a str,
    /// The value in A; null if A does not have the field.
    #[schemars(with = "serde_json::Value")]
    pub a: Option<&'a toml::Value>,
    /// The value in B; null if B does not have the field.
    #[schemars(with = "serde_json::Value")]
    pub b: Option<&'a toml::Value>,
    /// Whether it is a text for people, which changes no execution.
    pub is_text: bool,
}

/// A promise that either scenario makes, as both keep it.
#[derive(Serialize, JsonSchema)]
pub struct PromiseChangeJson<'a> {
    #[schemars(extend("const" = "promise"))]
    pub kind: &'static str,
    #[schemars(with = "PropertyName")]
    pub property: &'static str,
    /// The bound of the promise, in ticks.
    pub bound: Option<i64>,
    /// `lost`, `gained`, `kept` (by both), `neither` (keeps it), or `undecided`.
    pub change: &'static str,
    pub a: SideJson<'a>,
    pub b: SideJson<'a>,
}

/// A promise, as one scenario keeps it.
#[derive(Serialize, JsonSchema)]
pub struct SideJson<'a> {
    pub scenario: &'a str,
    /// Whether the scenario makes the promise itself.
    pub is_promised: bool,
    /// The verdict of the search: `proven`, `violated`, `bounded` or `vacuous`; null if there was no search.
    pub verdict: Option<&'static str>,
    pub states: Option<u64>,
    /// The limit that stopped the search.
    pub cut_by: Option<&'a str>,
    pub missing_goals: &'a [String],
    /// The reason why there was no search.
    pub why: Option<&'a str>,
}

/// A shortest execution of B that violates a lost promise.
#[derive(Serialize, JsonSchema)]
pub struct LossJson<'a> {
    #[schemars(extend("const" = "loss"))]
    pub kind: &'static str,
    #[schemars(with = "PropertyName")]
    pub property: &'static str,
    pub scenario: &'a str,
    pub steps: Vec<StepJson<'a>>,
    /// For an endless execution: the index of the first step of the cycle.
    pub repeats_from: Option<usize>,
    pub trace: Option<&'a str>,
}

/// A step of an execution.
#[derive(Serialize, JsonSchema)]
pub struct StepJson<'a> {
    /// True time after the step, in ticks.
    pub at: i64,
    pub label: &'a str,
    pub facts: &'a [String],
    pub violations: Vec<&'a str>,
}

/// A quantity, measured over seeds in both scenarios. It is not proven.
#[derive(Serialize, JsonSchema)]
pub struct MeasureJson<'a> {
    #[schemars(extend("const" = "measure"))]
    pub kind: &'static str,
    pub measure: &'static str,
    pub about: &'static str,
    /// `ticks` or `count`.
    pub unit: &'static str,
    pub a: Quantiles,
    pub b: Quantiles,
    pub scheduler: &'a str,
    /// The first seed.
    pub seeds_from: u64,
    /// The seed after the last one.
    pub seeds_to: u64,
    /// The maximum length of a run, in ticks.
    pub storm: i64,
    /// The length of a tick in A and in B, where the scenario says it. Times in ticks of different lengths are not comparable.
    pub ticks: [Option<String>; 2],
}

/// A distribution of measured values; the quantiles are null where there is no value.
#[derive(Serialize, JsonSchema, Copy, Clone, PartialEq, Debug, Default)]
pub struct Quantiles {
    /// The number of values.
    pub values: usize,
    pub p10: Option<f64>,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
}
