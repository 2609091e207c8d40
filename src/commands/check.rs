//! `fencepost check`: every run of some scenarios.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use fencepost::checker::{Engine, Limits, Options, Outcome, check_any};
use fencepost::model::finding::Finding;
use fencepost::{AnyScenario, Property, Suite, explain};

use super::json::Checked;
use super::output::{is_coloured, say, say_json, write, write_trace};
use super::parallel::cores;
use super::supervisor::{Watch, heed_interrupts};
use super::{Common, Exit, Trouble, target};

#[derive(Args, Debug)]
pub struct Check {
    /// Scenarios, hazards (B-06) or scenario files
    #[arg(required_unless_present = "suite")]
    targets: Vec<String>,
    /// Check a whole suite instead
    #[arg(long, value_parser = suite, value_name = "standard|full")]
    suite: Option<Suite>,
    /// Check only this promise
    #[arg(long, value_parser = property, value_name = "NAME")]
    property: Option<Property>,
    /// Which search: our own, or stateright's
    #[arg(long, value_enum, default_value_t = EngineName::Dataflow)]
    engine: EngineName,
    /// Search on so many threads [default: one for each core; stateright: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
    /// Whether interchangeable clients count as one
    #[arg(long, value_enum, default_value_t = Switch::On)]
    symmetry: Switch,
    /// Expand at most so many states
    #[arg(long, value_name = "N")]
    max_states: Option<u64>,
    /// Explore at most so many levels; the initial state is level 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_depth: Option<u64>,
    /// Use at most so much memory, in MiB
    #[arg(long, value_name = "MIB")]
    max_memory: Option<u64>,
    /// Search for at most so long, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}

/// On or off.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// The names of the engines.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
enum EngineName {
    Dataflow,
    Stateright,
}

impl From<EngineName> for Engine {
    fn from(name: EngineName) -> Self {
        match name {
            EngineName::Dataflow => Engine::Dataflow,
            EngineName::Stateright => Engine::Stateright,
        }
    }
}

fn suite(text: &str) -> Result<Suite, String> {
    match text {
        "standard" => Ok(Suite::Standard),
        "full" => Ok(Suite::Full),
        _ => Err("there are `standard` and `full`".to_owned()),
    }
}

pub fn property(text: &str) -> Result<Property, String> {
    let names = || Property::ALL.iter().map(|property| property.name()).collect::<Vec<_>>().join(", ");
    let is_meant = |property: &&Property| property.name() == text || property.hazards_name() == text;
    Property::ALL.iter().find(is_meant).copied().ok_or_else(|| format!("there are {}", names()))
}

pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

pub fn run(check: &Check, common: &Common) -> Result<Exit, Trouble> {
    let mut scenarios = check.suite.map(target::suite).unwrap_or_default();
    for word in &check.targets {
        scenarios.extend(target::find(word)?);
    }
    heed_interrupts();
    let mut findings = Vec::new();
    for scenario in &scenarios {
        let mut watch = Watch::new(check.timeout, check.max_memory)?;
        if !common.quiet {
            watch = watch.showing(scenario.name());
        }
        let watch = Arc::new(watch);
        let options = Options {
            limits: Limits { states: check.max_states, depth: check.max_depth },
            supervisor: Arc::<Watch>::clone(&watch),
            only: check.property,
            engine: check.engine.into(),
            symmetry: check.symmetry == Switch::On,
            workers: check.workers.map_or_else(cores, usize::from),
        };
        let outcomes = check_any(scenario, &options)?;
        watch.finish();
        if outcomes.is_empty() {
            return Err(Trouble::Input(nothing(scenario, check.property)));
        }
        for outcome in outcomes {
            findings.push(keep(outcome, common.out.as_deref())?);
            tell(findings.last().expect("just added"), common);
        }
    }
    if let Some(out) = &common.out {
        write(&out.join("report.html"), &fencepost::reports::html::page(&findings, "fencepost"))?;
    }
    Ok(exit(&findings))
}

fn nothing(scenario: &AnyScenario, property: Option<Property>) -> String {
    match property {
        Some(property) => format!("{} does not promise `{property}`", scenario.name()),
        None => format!("{} promises nothing: add a [[promise]]", scenario.name()),
    }
}

/// Writes the trace, if it is wanted, and notes where.
pub fn keep(outcome: Outcome, out: Option<&Path>) -> Result<Finding, Trouble> {
    let mut finding = outcome.finding;
    if let Some(trace) = outcome.trace {
        let name = format!("{}--{}", finding.scenario, finding.property);
        finding.trace = write_trace(out, &name, &trace)?.map(|path| path.display().to_string());
    }
    Ok(finding)
}

fn tell(finding: &Finding, common: &Common) {
    if common.json {
        return say_json(&Checked::from(finding));
    }
    if common.quiet {
        return say(&format!("{} {}: {}\n", finding.scenario, finding.property, finding.verdict.word()));
    }
    let mut text = explain(finding);
    if let Some(trace) = &finding.trace {
        text += &format!("replay it with: fencepost replay {trace}\n");
    }
    if is_coloured() {
        text = text.replacen(finding.verdict.word(), &format!("\x1b[1m{}\x1b[0m", finding.verdict.word()), 1);
    }
    say(&(text + "\n"));
}

/// What the findings together come to.
pub fn exit(findings: &[Finding]) -> Exit {
    let is_surprise = |finding: &Finding| !finding.is_as_expected() && !finding.is_undecided();
    if findings.iter().any(is_surprise) {
        Exit::Unexpected
    } else if findings.iter().any(Finding::is_undecided) {
        Exit::Undecided
    } else {
        Exit::AsExpected
    }
}
