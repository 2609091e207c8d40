//! `fencepost sweep`: seeds × settings, into a store that any number of starts fill, and any number of machines.

mod csv;
pub mod merge;
mod plan;
mod store;

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use clap::Args;
use fencepost::Property;
use fencepost::sim::{Profile, Settings};
use indicatif::ProgressBar;

use self::plan::{Job, Jobs, Shard, SweepPlan};
use self::store::{Broken, Store, SweptRun};
use crate::args::{Common, seeds};
use crate::exit::{CommandError, Exit};
use crate::json::SweepJson;
use crate::output::{make_folder, say, say_json};
use crate::parallel::{in_parallel, progress};
use crate::run_arguments::RunArguments;
use crate::supervisor::{stop_on_interrupt, stopped, was_interrupted};
use crate::target;

#[derive(Args, Debug)]
pub struct Sweep {
    /// A scenario or scenario file [default: the scenario and the settings of the store]
    target: Option<String>,
    /// The file that keeps the runs; runs that it contains are not repeated
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    /// A setting and its values, as service.ttl=none,1,2; several times for a grid
    #[arg(long, value_name = "KEY=VALUES", requires = "target")]
    vary: Vec<String>,
    /// How many seeds for each setting, or which: 1000, or 500..1500
    #[arg(long, default_value = "1000", value_parser = seeds, value_name = "N|A..B", requires = "target")]
    seeds: Range<u64>,
    /// End each run after N actions, if it does not come to rest before
    #[arg(long, default_value_t = 20_000, requires = "target")]
    actions: u64,
    /// Only this part of all runs, as 2/8; `fencepost merge` puts the parts together
    #[arg(long, default_value_t = Shard::WHOLE, value_name = "K/N", requires = "target")]
    shard: Shard,
    #[command(flatten)]
    arguments: RunArguments,
    /// Write a line for each run into this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// The number of runs that are written in one transaction.
const BATCH: u64 = 512;

pub fn run(sweep: &Sweep, common: &Common) -> Result<Exit, CommandError> {
    stop_on_interrupt();
    let (mut store, jobs, runs) = sweep.open(common)?;
    let done = store.done_of(&runs)?;
    is_the_same_model(&store, &jobs)?;
    let mut next = runs.start + done;
    let length = usize::try_from(runs.end - runs.start).unwrap_or(usize::MAX);
    let bar = progress(length, "runs", common.quiet || common.json);
    while next < runs.end && !was_interrupted() {
        bar.set_position(next - runs.start);
        let batch: Vec<u64> = (next..runs.end.min(next + BATCH)).collect();
        store.add(&in_parallel(&batch, &ProgressBar::hidden(), |number| take(&jobs, *number)))?;
        next += batch.len() as u64;
    }
    bar.finish_and_clear();
    if next < runs.end {
        let (file, done) = (sweep.store.display(), next - runs.start);
        return Ok(stopped(&format!("{done} of {length} runs are in {file}; the same command goes on with the rest")));
    }
    summary(&store, &jobs, common)?;
    if let Some(file) = &sweep.csv {
        make_folder(file.parent().unwrap_or(std::path::Path::new("")))?;
        let table =
            fs::File::create(file).map_err(|error| CommandError::Input(format!("{}: {error}", file.display())))?;
        csv::export(&store, &jobs, std::io::BufWriter::new(table))?;
    }
    Ok(Exit::AsExpected)
}

impl Sweep {
    /// The store, what is to be done in all, and which of it here.
    fn open(&self, common: &Common) -> Result<(Store, Jobs, Range<u64>), CommandError> {
        let Some(target) = &self.target else {
            if self.arguments.settings() != Settings::default() {
                let file = self.store.display();
                return Err(CommandError::Input(format!("{file} says how its runs are taken; leave the options out")));
            }
            let store = Store::open(&self.store)?;
            let (_, jobs, runs) = store.jobs()?;
            return Ok((store, jobs, runs));
        };
        let run_settings = self.arguments.settings();
        let plan = SweepPlan {
            scenario: target::one(target, common)?.to_toml(),
            vary: self.vary.clone(),
            seeds: (self.seeds.start, self.seeds.end),
            scheduler: run_settings.scheduler.name().to_owned(),
            refinement: run_settings.refinement,
            clients: run_settings.clients,
            rounds: run_settings.rounds,
            storm: run_settings.storm,
            calm: run_settings.calm,
            actions: self.actions,
            profile: Some(run_settings.profile).filter(|profile| *profile != Profile::default()),
        };
        let jobs = plan.jobs()?;
        let runs = self.shard.range(jobs.len());
        make_folder(self.store.parent().unwrap_or(std::path::Path::new("")))?;
        let (store, is_new) = Store::open_or_make(&self.store, &plan, runs.clone(), &settings(&jobs))?;
        if !is_new && store.plan()? != (plan, runs.clone()) {
            let file = self.store.display();
            return Err(CommandError::Input(format!(
                "{file} holds another sweep; `fencepost sweep --store {file}` goes on with it"
            )));
        }
        Ok((store, jobs, runs))
    }
}

/// Reads a store as the commands do, and takes none of its runs but the last again.
#[cfg(test)]
pub fn look_through(file: &std::path::Path) -> Result<(), CommandError> {
    let store = Store::open(file)?;
    let (_, jobs, runs) = store.jobs()?;
    is_the_same_model(&store, &jobs)?;
    store.done_of(&runs)?;
    csv::export(&store, &jobs, std::io::sink())
}

/// The settings as they stand in a store: names, and what makes them impossible.
fn settings(jobs: &Jobs) -> Vec<(String, Option<String>)> {
    let settings = jobs.settings.iter();
    settings.map(|setting| (setting.names.join(", "), setting.scenario.as_ref().err().cloned())).collect()
}

fn take(jobs: &Jobs, number: u64) -> SweptRun {
    let job = jobs.job(number).expect("only runs of the plan are taken");
    let Job { setting, seed } = job;
    let summarize = jobs.scenario(job).summarize(&jobs.run_settings(job));
    let violations = summarize.violations.into_iter().map(|violation| Broken {
        property: violation.property.name().to_owned(),
        step: violation.step,
        message: violation.message,
    });
    SweptRun {
        number,
        setting,
        seed,
        actions: summarize.actions,
        ticks: summarize.ticks,
        is_at_rest: summarize.is_at_rest,
        digest: summarize.digest,
        violations: violations.collect(),
    }
}

/// A store that another version of the model has begun must not be resumed.
fn is_the_same_model(store: &Store, jobs: &Jobs) -> Result<(), CommandError> {
    let Some((number, digest)) = store.last()? else { return Ok(()) };
    if jobs.job(number).is_none() {
        return Err(store.bad("table run, the last row", &format!("there is no run {number}")));
    }
    let now = take(jobs, number).digest;
    if now == digest {
        return Ok(());
    }
    let why = format!(
        "another version of the model has begun this store: run {number} had the digest {digest}, and now has {now}"
    );
    Err(store.bad("table run, the last row", &why))
}

/// For each setting: how many runs, and how many of them broke which promise.
fn summary(store: &Store, jobs: &Jobs, common: &Common) -> Result<(), CommandError> {
    let mut runs = vec![0u64; jobs.settings.len()];
    let mut broken: BTreeMap<(usize, String), u64> = BTreeMap::new();
    store.for_each(jobs, |run| {
        runs[run.setting] += 1;
        for violation in run.violations {
            *broken.entry((run.setting, violation.property)).or_default() += 1;
        }
        Ok(())
    })?;
    let promises = jobs.promises();
    let count = |place: usize, property: Property| broken.get(&(place, property.name().to_owned())).copied();
    for (place, setting) in jobs.settings.iter().enumerate() {
        if common.json {
            let violated =
                promises.iter().map(|property| (property.name(), count(place, *property).unwrap_or(0))).collect();
            let problem = setting.scenario.as_ref().err().map(String::as_str);
            say_json(&SweepJson { settings: &setting.names, runs: runs[place], violated, problem });
            continue;
        }
        let names = if setting.names.is_empty() { "as it is".to_owned() } else { setting.names.join(", ") };
        if let Err(problem) = &setting.scenario {
            say(&format!("{names}: {problem}\n"));
            continue;
        }
        let counts = promises.iter().map(|property| match count(place, *property) {
            Some(count) => format!("{property} broken by {count}"),
            None => format!("{property} by none"),
        });
        say(&format!("{names}: of {} runs {}\n", runs[place], counts.collect::<Vec<_>>().join(", ")));
    }
    Ok(())
}
