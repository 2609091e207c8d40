//! `fencepost repair`: the smallest sets of edits that make every broken promise of a scenario hold, each proven.

mod counterexamples;
mod edits;
mod kept;
mod mistakes;
mod price;
mod search;
mod tell;
mod trial;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use fencepost::catalogue::CATALOGUE;
use fencepost::model::finding::{Finding, Verdict};
use fencepost::registry::random::Material;
use fencepost::{AnyScenario, Promise, Property};

use self::counterexamples::Counterexamples;
use self::edits::{edits, knobs};
use self::kept::{Resumption, Subject};
use self::price::{Price, price};
use self::search::{Known, Tried, search};
use self::trial::{Base, DEEPER, Repair as Candidate};
use crate::args::{Common, property, time_limit};
use crate::exit::{CommandError, Exit};
use crate::output::write;
use crate::parallel::{in_parallel, progress};
use crate::supervisor::{Watch, stop_on_interrupt, stopped, was_interrupted};
use crate::target;

/// Search the smallest sets of edits that make the broken promises of a scenario hold
///
/// Edits change settings of the service and its clients, or what the resource accepts. Each set of edits is checked like a scenario
/// of its own. A repair keeps every promise that was broken and every promise that held, all proven. Sets of edits whose verdicts would
/// rest on another assumption about delays, clocks, faults or fairness are left out, and so are values that are mistakes of a client or faults
/// of a server. The search ends with the first size that has
/// repairs: those shown are minimal. They are sorted by the waiting time that they cost over some seeds, which is measured and not proven.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct Repair {
    /// A scenario or scenario file
    target: String,
    /// Repair only this promise; the others must hold if they held
    #[arg(long, value_parser = property, value_name = "NAME")]
    property: Vec<Property>,
    /// Edit only this setting, as service.lock_delay or resource; may be repeated
    #[arg(long, value_name = "KEY")]
    knob: Vec<String>,
    /// Do not edit this setting; may be repeated
    #[arg(long, value_name = "KEY")]
    fixed: Vec<String>,
    /// The largest number of edits in a set
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    edits: u8,
    /// Expand at most N states for each candidate; those that need more are searched with ten times as many at the end
    #[arg(long, default_value_t = 200_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_states: u64,
    /// Stop after this time, as 90s or 5m, or in seconds
    #[arg(long, default_value = "60s", value_name = "DURATION", value_parser = time_limit)]
    timeout: Duration,
    /// Keep every judgement in this file, and judge no candidate again that it has: a search that was stopped is resumed
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Measure the price of each repair over N seeds
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
}

const EXIT_CODES: &str = "Exit codes: 0 a repair is shown, or no promise is broken; 1 no set of at most that number of edits is a repair; 2 bad usage or input; 3 none was found, and some sets were not tried or not decided; 4 internal error.";

/// A repair with its price, and the file that it was written into.
pub struct Priced {
    repair: Candidate,
    price: Option<Price>,
    file: Option<PathBuf>,
}

pub fn run(repair: &Repair, common: &Common) -> Result<Exit, CommandError> {
    let scenario = target::one(&repair.target, common)?;
    let knobs = repair.knobs(&*scenario)?;
    stop_on_interrupt();
    let watch = Arc::new(Watch::new(Some(repair.timeout), None)?);
    let promises: Vec<Promise> = scenario.promises().to_vec();
    let mut base = Base { scenario, broken: Vec::new(), kept: Vec::new(), states_max: repair.max_states, watch };
    let mut outcomes = base.check(&*base.scenario, &promises, base.states_max)?;
    if outcomes.iter().any(|outcome| outcome.finding.is_undecided()) {
        outcomes = base.check(&*base.scenario, &promises, base.states_max.saturating_mul(DEEPER))?;
    }
    let mut counterexamples = Counterexamples::default();
    outcomes.iter().filter_map(|outcome| outcome.trace.clone()).for_each(|trace| counterexamples.add(trace));
    let findings: Vec<Finding> = outcomes.into_iter().map(|outcome| outcome.finding).collect();
    if let Some(finding) = findings.iter().find(|finding| finding.is_undecided()) {
        let (property, states) = (finding.property, repair.max_states.saturating_mul(DEEPER));
        eprintln!(
            "fencepost: {property} is not decided within {states} states and the timeout: raise --max-states or --timeout"
        );
        return Ok(Exit::Undecided);
    }
    base.sort(&promises, &findings, &repair.property)?;
    if base.broken.is_empty() {
        tell::nothing_is_broken(&base, common);
        return Ok(Exit::AsExpected);
    }
    let material = Material::of(CATALOGUE);
    let edits = edits(&*base.scenario, &knobs, &material);
    let mut resumption = match &repair.resume {
        Some(path) => Resumption::open(path, &base.subject())?,
        None => Resumption::default(),
    };
    if resumption.count() > 0 && !common.quiet {
        eprintln!("resumed: {} candidates were judged before", resumption.count());
    }
    let known = Known { counterexamples, resumption: &mut resumption };
    let mut tried = search(&base, &edits, usize::from(repair.edits), known, common.quiet || common.json)?;
    let repairs = std::mem::take(&mut tried.repairs);
    let bar = progress(repairs.len(), "prices", common.quiet || common.json);
    let prices = in_parallel(&repairs, &bar, |found| price(&*found.scenario, repair.seeds));
    let mut repairs: Vec<Priced> =
        repairs.into_iter().zip(prices).map(|(repair, price)| Priced { repair, price, file: None }).collect();
    let cost = |priced: &Priced| priced.price.map_or((f64::MAX, f64::MAX), |price| (price.idle, price.requests));
    repairs.sort_by(|one, other| cost(one).partial_cmp(&cost(other)).expect("prices are numbers"));
    if let Some(out) = &common.out {
        write_files(&mut repairs, out)?;
    }
    tell::result(&base, &knobs, &tried, &repairs, common);
    if was_interrupted() {
        return Ok(stopped("the sets of edits that were tried until then are those above"));
    }
    Ok(exit(&tried, &repairs))
}

fn exit(tried: &Tried, repairs: &[Priced]) -> Exit {
    match (repairs.is_empty(), tried.is_exhausted()) {
        (false, _) => Exit::AsExpected,
        (true, true) => Exit::Unexpected,
        (true, false) => Exit::Undecided,
    }
}

/// Writes each repair as a scenario file.
fn write_files(repairs: &mut [Priced], out: &Path) -> Result<(), CommandError> {
    for (place, priced) in repairs.iter_mut().enumerate() {
        let scenario = &priced.repair.scenario;
        let file = out.join("repairs").join(format!("{}-{}.toml", scenario.name(), place + 1));
        write(&file, &scenario.in_units(&scenario.to_short_toml()))?;
        priced.file = Some(file);
    }
    Ok(())
}

impl Repair {
    /// The settings that may be edited.
    fn knobs(&self, scenario: &dyn AnyScenario) -> Result<Vec<String>, CommandError> {
        let mut all = knobs(scenario.description().system);
        if let Some(unknown) = self.knob.iter().chain(&self.fixed).find(|knob| !all.contains(knob)) {
            let nearest = all.iter().min_by_key(|knob| strsim::damerau_levenshtein(knob, unknown));
            let hint = nearest.map_or(String::new(), |knob| format!("; did you mean `{knob}`?"));
            return Err(CommandError::Input(format!("`{unknown}` is no setting that can be edited{hint}")));
        }
        all.retain(|knob| (self.knob.is_empty() || self.knob.contains(knob)) && !self.fixed.contains(knob));
        Ok(all)
    }
}

impl Base {
    /// What the judgements of candidates depend on.
    fn subject(&self) -> Subject {
        let names = |promises: &[Promise]| promises.iter().map(|promise| format!("{promise:?}")).collect();
        Subject {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: self.scenario.to_toml(),
            broken: names(&self.broken),
            kept: names(&self.kept),
        }
    }

    /// Sorts the promises into those that shall hold from now on, and those that hold already.
    fn sort(&mut self, promises: &[Promise], findings: &[Finding], only: &[Property]) -> Result<(), CommandError> {
        for (promise, finding) in promises.iter().zip(findings) {
            match finding.verdict {
                Verdict::Violated(_) if only.is_empty() || only.contains(&promise.property) => {
                    self.broken.push(*promise)
                }
                Verdict::Violated(_) => {}
                _ => self.kept.push(*promise),
            }
        }
        match only.iter().find(|property| !promises.iter().any(|promise| promise.property == **property)) {
            Some(property) => {
                Err(CommandError::Input(format!("{} does not promise `{property}`", self.scenario.name())))
            }
            None => Ok(()),
        }
    }
}
