//! Schemas of what the kernel itself writes into JSON lines. The kernel's types have no schemas of their own; a test compares these with
//! the lines that the commands print.

#![expect(dead_code, reason = "schemas are read from the types, and no value is made")]

use std::borrow::Cow;
use std::collections::BTreeMap;

use fencepost::{Expect, Property};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// The name of a property that scenario files can promise.
pub struct PropertyName;

impl JsonSchema for PropertyName {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Property")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Property::ALL.iter().map(|property| property.name()).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// The number of runs for each property.
pub fn counts(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": { "type": "integer", "minimum": 0 } })
}

/// An assumption of a verdict.
#[derive(JsonSchema)]
pub struct Assumption {
    kind: String,
    class: AssumptionClass,
    value: AssumptionValue,
    /// The path of a setting in the scenario file, or `model` for a limit of the model.
    source: String,
    sentence: String,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum AssumptionClass {
    Mutation,
    Timing,
    Fairness,
    Setting,
    Budget,
    Limit,
}

#[derive(JsonSchema)]
#[serde(untagged)]
enum AssumptionValue {
    None,
    Number(i64),
    Name(String),
    Names(Vec<String>),
}

/// The parts of a proof besides its counts.
#[derive(JsonSchema)]
pub struct Certificate {
    goals: Vec<String>,
    never_taken: Vec<String>,
    reductions: Vec<String>,
    /// The number of bits by which states were told apart; null: they were compared in full.
    fingerprint_bits: Option<u8>,
}

/// One combination of settings of a study, with its measurements.
#[derive(JsonSchema)]
pub struct Point {
    settings: Vec<String>,
    /// The reason why the combination is impossible, if it is.
    problem: Option<String>,
    runs: u64,
    /// For each promise, the number of runs that violated it.
    #[schemars(schema_with = "counts")]
    broken: BTreeMap<String, u64>,
    /// The sum of the measurements, in ticks of the refined clock.
    total: Measurement,
    samples: Vec<Sample>,
    seeds: Vec<Extreme>,
    splits: Vec<Split>,
}

#[derive(JsonSchema)]
struct Measurement {
    ticks: i64,
    inside: i64,
    idle: i64,
    idle_by_mistake: i64,
    overlap: i64,
    entries: u64,
    requests: u64,
    writes: u64,
    sessions: u64,
    stale_accepted: u64,
    stale_refused: u64,
    mistakes: u64,
    mistaken: i64,
    watched: i64,
    handovers: Vec<i64>,
    detections: Vec<i64>,
    dead_holds: Vec<i64>,
    held_at_the_end: u64,
}

#[derive(JsonSchema)]
struct Sample {
    ticks: i64,
    idle: i64,
    overlap: i64,
}

#[derive(JsonSchema)]
struct Extreme {
    what: String,
    seed: u64,
    command: String,
}

#[derive(JsonSchema)]
struct Split {
    stages: Vec<Stage>,
}

#[derive(JsonSchema)]
struct Stage {
    tried: u64,
    reached: u64,
}

/// A grid of settings that was searched exhaustively.
#[derive(JsonSchema)]
pub struct Search {
    is_of_points: bool,
    title: String,
    scenario: String,
    settings: Vec<SearchedSettings>,
}

#[derive(JsonSchema)]
struct SearchedSettings {
    settings: Vec<String>,
    found: Result<Vec<Finding>, String>,
}

#[derive(JsonSchema)]
struct Finding {
    scenario: String,
    system: String,
    hazard: Option<String>,
    variant: String,
    about: String,
    property: PropertyName,
    bound: Option<i64>,
    /// The length of a tick, where the durations of the scenario have units; absent if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    tick: Option<String>,
    expect: Expect,
    verdict: Verdict,
    states: u64,
    transitions: u64,
    depth: u64,
    assumptions: Vec<Assumption>,
    engine: String,
    microseconds: u64,
    trace: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Proven(Certificate),
    Violated(Story),
    Bounded { by: String },
    Vacuous { missing: Vec<String> },
}

#[derive(JsonSchema)]
struct Story {
    held: Held,
    lanes: Vec<String>,
    /// The labels of the scenario's prefix; absent if it has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    begins_after: Vec<String>,
    steps: Vec<StoryStep>,
    arrows: Vec<Arrow>,
    /// The length of a tick, where the durations of the scenario have units; absent if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    tick: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats_from: Option<usize>,
    /// Whether a shorter execution may violate the promise, too; absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_not_known_shortest: bool,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Held {
    Lock,
    Slot,
}

#[derive(JsonSchema)]
struct StoryStep {
    at: i64,
    label: String,
    /// The kind of action; null if several steps were folded into one.
    kind: Option<String>,
    facts: Vec<String>,
    lane: Option<usize>,
    owners: Vec<u16>,
    inside: Vec<u16>,
    token: u32,
    down: Vec<usize>,
    paused: Vec<usize>,
    violations: Vec<Violation>,
}

#[derive(JsonSchema)]
struct Violation {
    property: PropertyName,
    message: String,
}

#[derive(JsonSchema)]
struct Arrow {
    from: usize,
    to: usize,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<String>,
    sent: usize,
    ended: Option<usize>,
    lost: bool,
}
