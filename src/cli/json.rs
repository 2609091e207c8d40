//! The JSON lines that other programs rely on, with their schema.

mod conform;
mod diff;
mod doctor;
mod kernel;
mod reenact;
mod repair;
mod schema;
mod stand_in;

use std::collections::BTreeMap;

use fencepost::Expect;
use fencepost::model::finding::{Assumption, Certificate, Finding, Verdict};
use fencepost::model::mutation::Mutation;
use fencepost::reports::collision;
use fencepost::sim::Coverage;
use schemars::JsonSchema;
use serde::Serialize;

use self::kernel::PropertyName;
pub use conform::{AnswerCountJson, ClientFindingJson, LeaderRuleJson, LogVerdictJson, UnexercisedRulesJson};
pub use diff::{DifferenceJson, LossJson, MeasureJson, PromiseChangeJson, Quantiles, SideJson, StepJson};
pub use doctor::{
    AssumedBoundJson, DoctorStepJson, ExactBoundaryJson, ExactPromiseJson, PromiseJson, RepairJson, SlackJson,
    UnderstoodJson,
};
pub use reenact::ReenactmentJson;
pub use repair::{EditJson, NoRepairJson, RepairSetJson};
pub use schema::{commands, schema};
pub use stand_in::{ReadyJson, StandInVerdictJson, TortureSummaryJson, TortureTrialJson, TortureViolationJson};

/// A line of `fencepost list`.
#[derive(Serialize, JsonSchema)]
pub struct ScenarioJson<'a> {
    pub scenario: &'a str,
    pub system: &'a str,
    pub hazard: Option<&'a str>,
    pub also: &'a [String],
    pub title: &'a str,
    pub variant: &'a str,
    pub about: &'a str,
    pub story: &'a str,
    pub sources: &'a [String],
    pub suite: fencepost::Suite,
    pub properties: Vec<ExpectationJson>,
}

/// A promise with the verdict that is expected.
#[derive(Serialize, JsonSchema)]
pub struct ExpectationJson {
    #[schemars(with = "PropertyName")]
    pub name: &'static str,
    pub expect: Expect,
}

/// A line of `fencepost check`.
#[derive(Serialize, JsonSchema)]
pub struct CheckJson<'a> {
    pub scenario: &'a str,
    #[schemars(with = "PropertyName")]
    pub property: &'static str,
    pub expect: Expect,
    pub verdict: &'static str,
    pub states: u64,
    pub transitions: u64,
    pub depth: u64,
    pub steps: Option<usize>,
    /// Whether a shorter counterexample may exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_known_shortest: Option<bool>,
    pub trace: Option<&'a str>,
    pub cut_by: Option<&'a str>,
    pub missing_goals: &'a [String],
    #[schemars(with = "Vec<kernel::Assumption>")]
    pub assumptions: &'a [Assumption],
    #[schemars(with = "Option<kernel::Certificate>")]
    pub certificate: Option<&'a Certificate>,
    /// The probability that two states shared a fingerprint, at most; for proofs.
    pub collision_probability: Option<f64>,
    pub seconds: f64,
    pub engine: &'a str,
}

impl<'a> From<&'a Finding> for CheckJson<'a> {
    fn from(finding: &'a Finding) -> Self {
        CheckJson {
            scenario: &finding.scenario,
            property: finding.property.name(),
            expect: finding.expect,
            verdict: finding.verdict.word(),
            states: finding.states,
            transitions: finding.transitions,
            depth: finding.depth,
            steps: finding.verdict.story().map(|story| story.steps.len()),
            not_known_shortest: finding.verdict.story().map(|story| story.is_not_known_shortest).filter(|is| *is),
            trace: finding.trace.as_deref(),
            cut_by: match &finding.verdict {
                Verdict::Bounded { by } => Some(by),
                _ => None,
            },
            missing_goals: match &finding.verdict {
                Verdict::Vacuous { missing } => missing,
                _ => &[],
            },
            assumptions: &finding.assumptions,
            certificate: finding.verdict.certificate(),
            collision_probability: finding
                .verdict
                .certificate()
                .map(|certificate| collision(finding.states, certificate.fingerprint_bits)),
            seconds: finding.microseconds as f64 / 1e6,
            engine: &finding.engine,
        }
    }
}

/// A line of `fencepost envelope`.
#[derive(Serialize, JsonSchema)]
pub struct EnvelopeJson<'a> {
    pub settings: &'a [String],
    #[serde(flatten)]
    pub checked: CheckJson<'a>,
}

impl<'a> EnvelopeJson<'a> {
    pub fn new(settings: &'a [String], finding: &'a Finding) -> Self {
        EnvelopeJson { settings, checked: CheckJson::from(finding) }
    }
}

/// A line of `fencepost simulate` and of `fencepost replay`.
#[derive(Serialize, JsonSchema)]
pub struct RunJson<'a> {
    pub scenario: &'a str,
    pub seed: Option<u64>,
    pub digest: &'a str,
    pub actions: u64,
    pub ticks: i64,
    pub violations: Vec<ViolationJson<'a>>,
    pub trace: Option<String>,
}

/// A promise that a run broke.
#[derive(Serialize, JsonSchema)]
pub struct ViolationJson<'a> {
    #[schemars(with = "PropertyName")]
    pub property: &'static str,
    pub step: u64,
    pub message: &'a str,
}

/// A line of `fencepost hunt` that found something.
#[derive(Serialize, JsonSchema)]
pub struct HuntJson<'a> {
    #[serde(flatten)]
    pub run: RunJson<'a>,
    pub seeds_tried: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<CoverageJson>,
}

/// What seeds have shown.
#[derive(Serialize, JsonSchema)]
pub struct CoverageJson {
    pub seeds: u64,
    pub outlines: usize,
    /// Seeds that show what no other seed does.
    pub alone: u64,
}

impl From<&Coverage> for CoverageJson {
    fn from(coverage: &Coverage) -> Self {
        let (alone, seeds) = coverage.alone();
        CoverageJson { seeds, outlines: coverage.outlines(), alone }
    }
}

/// A line of `fencepost hunt` that did not.
#[derive(Serialize, JsonSchema)]
pub struct NothingFoundJson<'a> {
    pub scenario: &'a str,
    pub seed: Option<u64>,
    pub seeds_tried: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<CoverageJson>,
}

/// A line of `fencepost schedulers`.
#[derive(Serialize, JsonSchema)]
pub struct SchedulerJson<'a> {
    pub scenario: &'a str,
    pub hazard: &'a str,
    #[schemars(with = "PropertyName")]
    pub property: &'static str,
    pub scheduler: &'static str,
    pub seeds: u64,
    pub hits: u64,
}

/// A line of `fencepost detector`: a time for each seed, none where it was not within ten minutes.
#[derive(Serialize, JsonSchema)]
pub struct DetectionJson {
    pub members: u16,
    pub loss_percent: u64,
    pub slow: u16,
    pub lifeguard: bool,
    pub server_ms: Vec<Option<i64>>,
    pub first_ms: Vec<Option<i64>>,
    pub all_ms: Vec<Option<i64>>,
    pub left_ms: Vec<Option<i64>>,
    pub mistakes: u64,
    pub mistakes_about_healthy: u64,
    pub hours: f64,
}

/// A line of `fencepost sweep`, and of `fencepost merge`.
#[derive(Serialize, JsonSchema)]
pub struct SweepJson<'a> {
    pub settings: &'a [String],
    pub runs: u64,
    /// How many of them broke which promise.
    #[schemars(schema_with = "kernel::counts")]
    pub violated: BTreeMap<&'static str, u64>,
    /// The reason why there are none.
    pub problem: Option<&'a str>,
}

/// A line of `fencepost shrink`.
#[derive(Serialize, JsonSchema)]
pub struct ShrinkJson<'a> {
    pub scenario: &'a str,
    #[schemars(with = "PropertyName")]
    pub property: &'static str,
    pub steps_before: usize,
    pub steps_after: usize,
    pub digest: &'a str,
    pub trace: Option<&'a str>,
}

/// A line of `fencepost regress`.
#[derive(Serialize, JsonSchema)]
pub struct RegressionJson<'a> {
    pub scenario: &'a str,
    #[schemars(with = "PropertyName")]
    pub property: &'static str,
    pub steps: usize,
    pub test: &'a str,
}

/// A line of `fencepost replay --realign`.
#[derive(Serialize, JsonSchema)]
pub struct RealignmentJson<'a> {
    pub scenario: &'a str,
    pub steps: usize,
    pub diverges_at: Option<usize>,
    pub why: Option<&'a str>,
    pub left_out: &'a [usize],
    pub violations: Vec<ViolationJson<'a>>,
    pub trace: Option<&'a str>,
}

/// A line of `fencepost new`, `docs` and `man`: a file that was written.
#[derive(Serialize, JsonSchema)]
pub struct WrittenJson<'a> {
    pub file: &'a str,
}

/// A line of `fencepost mutants`.
#[derive(Serialize, JsonSchema)]
pub struct MutantJson {
    #[schemars(with = "String")]
    pub mutant: Mutation,
    pub layer: &'static str,
    /// What is wrong with the sources.
    pub about: &'static str,
    pub killed: bool,
    /// The column of the matrix.
    pub noticed_by: &'static str,
    /// The rule by which recorded answers of a real server refute it.
    pub refuted_by: Option<&'static str>,
    pub scenario: Option<String>,
    #[schemars(with = "Option<PropertyName>")]
    pub property: Option<&'static str>,
    pub verdict: Option<&'static str>,
    pub law: Option<&'static str>,
    /// Why nothing can notice it.
    pub survives: Option<&'static str>,
}
