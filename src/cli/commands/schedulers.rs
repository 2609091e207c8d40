//! `fencepost schedulers`: how many seeds each scheduler needs to find the expected violations.

use std::fmt::Write;

use clap::Args;
use fencepost::sim::{Hunt, SchedulerKind, Settings};
use fencepost::{AnyScenario, Expect, Property, Suite};

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::output::{say, say_json, write};
use crate::parallel::{in_parallel, progress};
use crate::supervisor::{stop_on_interrupt, stopped, was_interrupted};
use crate::target;

#[derive(Args, Debug)]
pub struct Schedulers {
    /// Scenarios, hazards (B-01) or scenario files, instead of the standard suite
    targets: Vec<String>,
    /// Give up on a promise after N seeds
    #[arg(long, default_value_t = 2_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Take the mean over N seeds that violate it
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    hits: u64,
}

/// The attempts of each scheduler, in the order of [`SchedulerKind::ALL`].
type Row = [Attempts; SchedulerKind::ALL.len()];

/// A promise that is expected to break in some step.
struct SearchTarget {
    scenario: Box<dyn AnyScenario>,
    hazard: String,
    property: Property,
}

/// What a scheduler took: seeds tried, and how many of them broke the promise.
#[derive(Copy, Clone)]
struct Attempts {
    seeds: u64,
    hits: u64,
}

impl Attempts {
    fn word(self) -> String {
        if self.hits == 0 { "–".to_owned() } else { self.seeds.div_ceil(self.hits).to_string() }
    }
}

pub fn run(schedulers: &Schedulers, common: &Common) -> Result<Exit, CommandError> {
    let mut scenarios = Vec::new();
    for word in &schedulers.targets {
        scenarios.extend(target::find(word, common)?);
    }
    if schedulers.targets.is_empty() {
        scenarios = target::suite(Suite::Standard);
    }
    let search_targets: Vec<SearchTarget> = scenarios.iter().flat_map(|scenario| search_targets(&**scenario)).collect();
    if search_targets.is_empty() {
        return Err(CommandError::Input("none of these promises is expected to break in a single step".to_owned()));
    }
    stop_on_interrupt();
    let bar = progress(search_targets.len(), "promises", common.quiet);
    let rows =
        in_parallel(&search_targets, &bar, |target| SchedulerKind::ALL.map(|kind| schedulers.hunt(target, kind)));
    let all = search_targets.len();
    let is_complete = |row: &Row| row.iter().all(|tried| schedulers.is_enough(*tried));
    let (search_targets, rows): (Vec<SearchTarget>, Vec<Row>) =
        search_targets.into_iter().zip(rows).filter(|(_, row)| is_complete(row)).unzip();
    if common.json {
        for (target, row) in search_targets.iter().zip(&rows) {
            for (kind, tried) in SchedulerKind::ALL.iter().zip(row) {
                say_json(&target.line(*kind, *tried));
            }
        }
    } else {
        say(&schedulers.table(&search_targets, &rows));
    }
    if search_targets.len() < all {
        return Ok(stopped(&format!("{} of {all} promises were tried by every scheduler", search_targets.len())));
    }
    if let Some(out) = &common.out {
        write(&out.join("schedulers.md"), &schedulers.markdown(&search_targets, &rows))?;
    }
    Ok(Exit::AsExpected)
}

/// The promises of a scenario that are expected to break in some step.
fn search_targets(scenario: &dyn AnyScenario) -> Vec<SearchTarget> {
    let hazard = scenario.description().hazard.unwrap_or_default().to_owned();
    let promises = scenario.promises().iter();
    promises
        .filter(|promise| promise.expect == Expect::Violated)
        .filter(|promise| !promise.property.is_about_endless_runs(promise.bound))
        .map(|promise| SearchTarget { scenario: scenario.copy(), hazard: hazard.clone(), property: promise.property })
        .collect()
}

impl SearchTarget {
    fn line(&self, kind: SchedulerKind, tried: Attempts) -> json::SchedulerJson<'_> {
        let Attempts { seeds, hits } = tried;
        let (scenario, hazard) = (self.scenario.name(), self.hazard.as_str());
        json::SchedulerJson { scenario, hazard, property: self.property.name(), scheduler: kind.name(), seeds, hits }
    }
}

impl Schedulers {
    fn is_enough(&self, tried: Attempts) -> bool {
        tried.hits >= self.hits || tried.seeds >= self.seeds
    }

    fn hunt(&self, target: &SearchTarget, kind: SchedulerKind) -> Attempts {
        let mut tried = Attempts { seeds: 0, hits: 0 };
        while !self.is_enough(tried) && !was_interrupted() {
            let task = Hunt {
                settings: Settings {
                    scheduler: kind,
                    refinement: kind.refinement(),
                    actions_max: 1_000,
                    ..Settings::default()
                },
                seeds: tried.seeds..self.seeds,
                only: vec![target.property],
                ..Hunt::default()
            };
            let hunted = target.scenario.hunt(&task, &|_| was_interrupted());
            tried.seeds += hunted.tried;
            tried.hits += u64::from(hunted.seed.is_some());
        }
        tried
    }

    fn table(&self, search_targets: &[SearchTarget], rows: &[Row]) -> String {
        let width = search_targets.iter().map(|target| target.scenario.name().len()).max().unwrap_or(0);
        let mut text = format!("{:6} {:width$} {:22}", "", "seeds for each one that breaks it", "");
        SchedulerKind::ALL.iter().for_each(|kind| text += &format!("{:>11}", kind.name()));
        text.push('\n');
        for (target, row) in search_targets.iter().zip(rows) {
            text += &format!("{:6} {:width$} {:22}", target.hazard, target.scenario.name(), target.property.name());
            row.iter().for_each(|tried| text += &format!("{:>11}", tried.word()));
            text.push('\n');
        }
        text + "\n" + &self.summary(search_targets, rows)
    }

    fn markdown(&self, search_targets: &[SearchTarget], rows: &[Row]) -> String {
        let names = SchedulerKind::ALL.map(SchedulerKind::name);
        let mut text = format!(
            "# Seeds per violation, by scheduler\n\n\
             Written by `fencepost schedulers --seeds {} --hits {} --out DIR`. The number of seeds per violation: the mean of this number of \
             hits, or of all hits among the seeds; “–” for no hit. A violation that no scheduler finds needs the exhaustive search.\n\n\
             | hazard | scenario | promise | {} |\n|---|---|---|{}\n",
            self.seeds,
            self.hits,
            names.join(" | "),
            "--:|".repeat(names.len())
        );
        for (target, row) in search_targets.iter().zip(rows) {
            let words = row.map(Attempts::word).join(" | ");
            let _ =
                writeln!(text, "| {} | {} | {} | {words} |", target.hazard, target.scenario.name(), target.property);
        }
        text + "\n" + &self.summary(search_targets, rows)
    }

    /// What each scheduler found in all, and what none of them did.
    fn summary(&self, search_targets: &[SearchTarget], rows: &[Row]) -> String {
        let mut text = format!("Of {} promises, within {} seeds:", search_targets.len(), self.seeds);
        for (place, kind) in SchedulerKind::ALL.iter().enumerate() {
            let found = rows.iter().filter(|row| row[place].hits > 0).count();
            let _ = write!(text, " {} breaks {found},", kind.name());
        }
        let missed: Vec<String> = search_targets
            .iter()
            .zip(rows)
            .filter(|(_, row)| row.iter().all(|tried| tried.hits == 0))
            .map(|(target, _)| format!("{} {}", target.scenario.name(), target.property))
            .collect();
        text += &format!(" none of them {}", missed.len());
        if !missed.is_empty() {
            text += &format!(": {}", missed.join(", "));
        }
        text + ".\n"
    }
}
