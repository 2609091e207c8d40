//! The JSON lines of `fencepost doctor`.

use fencepost::model::units::Duration;
use schemars::JsonSchema;
use serde::Serialize;

/// A line of `fencepost doctor`: a promise.
#[derive(Serialize, JsonSchema)]
pub struct PromiseJson {
    /// The container of a manifest whose settings are judged; null without one.
    pub container: Option<String>,
    /// What configuration has the settings, as `container manager of Deployment operator`; null without one. Those of one file differ.
    pub configuration: Option<String>,
    pub property: &'static str,
    pub verdict: &'static str,
    /// Bounds that were not given: the verdict takes each of them as 0.
    pub not_given: Vec<AssumedBoundJson>,
    pub slack: Vec<SlackJson>,
    pub assumptions: Vec<String>,
    /// The scenario of the proof or of the execution; null if the verdict is unknown.
    pub scenario: Option<String>,
    /// The length of a tick in that scenario.
    #[schemars(with = "Option<String>")]
    pub tick: Option<Duration>,
    pub states: Option<u64>,
    pub why: Option<String>,
    pub execution: Option<Vec<DoctorStepJson>>,
    pub repairs: Vec<RepairJson>,
    pub files: Vec<String>,
    /// How each field of a configuration was understood; empty without one.
    pub understood: Vec<UnderstoodJson>,
}

/// A line of `fencepost doctor scenario`: a promise of the scenario as it stands.
#[derive(Serialize, JsonSchema)]
pub struct ExactPromiseJson {
    pub scenario: String,
    pub property: &'static str,
    /// The bound of the promise in ticks, if it has one.
    pub bound: Option<i64>,
    /// `kept`, `broken`, `vacuous` or `unknown`.
    pub verdict: &'static str,
    /// How many states were searched, if it is kept.
    pub states: Option<u64>,
    /// The length of a shortest execution, if it is broken.
    pub steps: Option<usize>,
    /// The goals that were not reached, if it is vacuous, or what stopped the search.
    pub why: Option<String>,
    /// Where the verdict changes, for each setting that was changed and each direction.
    pub boundaries: Vec<ExactBoundaryJson>,
    pub assumptions: Vec<String>,
    /// The length of a tick; null if the scenario does not say it.
    #[schemars(with = "Option<String>")]
    pub tick: Option<Duration>,
    pub files: Vec<String>,
}

/// Where a verdict changes with one setting. Values are in ticks; of a flag, 0 is false, and 1 is true.
#[derive(Serialize, JsonSchema)]
pub struct ExactBoundaryJson {
    pub setting: String,
    pub direction: &'static str,
    pub value: i64,
    /// The farthest value that was searched with the same verdict.
    pub same_to: i64,
    /// The nearest value that was searched with another verdict, or that is refused; null if there is none as far as values were tried.
    pub other_from: Option<i64>,
    /// The verdict there: `kept`, `broken`, `vacuous`, `unknown`; or `refused`.
    pub other: Option<&'static str>,
    /// Why it is refused or unknown.
    pub why: Option<String>,
}

/// A bound on the environment that was not given.
#[derive(Serialize, JsonSchema)]
pub struct AssumedBoundJson {
    /// `pause`, `latency` or `drift`.
    pub bound: &'static str,
    pub taken_as: &'static str,
    /// What the world is like in which it is 0.
    pub meaning: &'static str,
    /// If the promise is kept: the farthest value of this bound alone with a proof.
    pub kept_to: Option<String>,
    /// The nearest value with an execution that breaks the promise; null if none was found.
    pub broken_from: Option<String>,
}

/// A field of a configuration as it is in the field.
#[derive(Clone, Serialize, JsonSchema)]
pub struct UnderstoodJson {
    pub field: String,
    /// The line and the column where it stands, each from 1; null if it is not set.
    pub line: Option<usize>,
    pub column: Option<usize>,
    /// Its value as it was written; null if it is not set, or might be secret.
    pub value: Option<String>,
    /// Whether it has a part in a verdict: `setting`, `without-effect`, `unknown`.
    pub kind: &'static str,
    pub meaning: String,
}

/// How much room a promise leaves in one direction of one quantity.
#[derive(Serialize, JsonSchema)]
pub struct SlackJson {
    pub quantity: &'static str,
    pub direction: &'static str,
    pub asked: String,
    pub kept_to: String,
    pub broken_from: Option<String>,
    pub tried_to: String,
    /// How much room there is, in seconds; in parts per million for a rate.
    pub room: String,
}

/// A step of an execution that breaks a promise.
#[derive(Serialize, JsonSchema)]
pub struct DoctorStepJson {
    #[schemars(with = "String")]
    pub at: Duration,
    pub label: String,
    pub facts: Vec<String>,
    pub violations: Vec<String>,
}

/// What makes the promise hold.
#[derive(Serialize, JsonSchema)]
pub struct RepairJson {
    /// One change, or two.
    pub change: String,
    pub is_setting: bool,
    /// The promises that the change breaks.
    pub breaks: Vec<&'static str>,
    /// The options of the change for which the configuration has no field.
    pub without_field: Vec<&'static str>,
    #[schemars(with = "Option<String>")]
    pub failover: Option<Duration>,
    #[schemars(with = "Option<String>")]
    pub notice: Option<Duration>,
    /// A live holder that stands still for less than this keeps its session.
    #[schemars(with = "Option<String>")]
    pub stall: Option<Duration>,
    pub renewals_an_hour: u64,
}
