//! `fencepost merge`: merges the shards of a sweep.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::plan::{Jobs, Shard, SweepPlan};
use super::store::{Store, SweptRun};
use super::{settings, summary};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::output::{make_folder, say};

#[derive(Args, Debug)]
pub struct Merge {
    /// The store to create
    into: PathBuf,
    /// The stores of the parts, in any order; together they must be the whole sweep
    #[arg(required = true)]
    parts: Vec<PathBuf>,
}

/// How many runs are written at once.
const BATCH: usize = 10_000;

/// A part, with the runs that are in it.
struct Part {
    file: PathBuf,
    store: Store,
    first: u64,
    after: u64,
}

pub fn run(merge: &Merge, common: &Common) -> Result<Exit, CommandError> {
    if merge.into.exists() {
        return Err(CommandError::Input(format!("{} is there already", merge.into.display())));
    }
    let (plan, parts) = open(&merge.parts)?;
    let jobs = plan.jobs()?;
    fit(&parts, jobs.len())?;
    make_folder(merge.into.parent().unwrap_or(Path::new("")))?;
    // Under another name until it is whole.
    let unfinished = merge.into.with_extension("unfinished");
    let gone = |error| CommandError::Input(format!("{}: {error}", unfinished.display()));
    if unfinished.exists() {
        fs::remove_file(&unfinished).map_err(gone)?;
    }
    write(&unfinished, &plan, &jobs, &parts)?;
    fs::rename(&unfinished, &merge.into).map_err(gone)?;
    let store = Store::open(&merge.into)?;
    summary(&store, &jobs, common)?;
    if !common.json && !common.quiet {
        say(&format!("{} runs in {}\n", jobs.len(), merge.into.display()));
    }
    Ok(Exit::AsExpected)
}

/// Opens the parts, and puts them into the order of their runs.
fn open(files: &[PathBuf]) -> Result<(SweepPlan, Vec<Part>), CommandError> {
    let mut parts: Vec<Part> = Vec::new();
    let mut whole: Option<SweepPlan> = None;
    let mut places = BTreeSet::new();
    for file in files {
        if !places.insert(fs::canonicalize(file).unwrap_or_else(|_| file.clone())) {
            return Err(CommandError::Input(format!("{} is named twice", file.display())));
        }
        let store = Store::open(file)?;
        let (plan, _, runs) = store.jobs()?;
        let done = store.done_of(&runs)?;
        let name = file.display();
        if done < runs.end - runs.start {
            let all = runs.end - runs.start;
            return Err(CommandError::Input(format!("{name} is not finished: {done} of {all} runs are in it")));
        }
        if *whole.get_or_insert_with(|| plan.clone()) != plan {
            return Err(CommandError::Input(format!("{name} is a part of another sweep than {}", files[0].display())));
        }
        parts.push(Part { file: file.clone(), store, first: runs.start, after: runs.end });
    }
    parts.sort_by_key(|part| (part.first, part.after));
    Ok((whole.expect("there is at least one"), parts))
}

/// Whether the parts are the whole, without a gap and without an overlap.
fn fit(parts: &[Part], runs: u64) -> Result<(), CommandError> {
    let mut next = 0;
    for Part { file, first, after, .. } in parts {
        if *first > next {
            return Err(CommandError::Input(format!("the runs {next} to {} are in none of the parts", first - 1)));
        }
        if *first < next {
            return Err(CommandError::Input(format!(
                "{}: its runs from {first} on are in another part, too",
                file.display()
            )));
        }
        next = *after;
    }
    if next < runs {
        return Err(CommandError::Input(format!("the runs {next} to {} are in none of the parts", runs - 1)));
    }
    Ok(())
}

fn write(file: &Path, plan: &SweepPlan, jobs: &Jobs, parts: &[Part]) -> Result<(), CommandError> {
    let (mut store, _) = Store::open_or_make(file, plan, Shard::WHOLE.range(jobs.len()), &settings(jobs))?;
    let mut batch: Vec<SweptRun> = Vec::new();
    for part in parts {
        part.store.for_each(jobs, |taken| {
            batch.push(taken);
            if batch.len() < BATCH {
                return Ok(());
            }
            store.add(&std::mem::take(&mut batch))
        })?;
    }
    store.add(&batch)
}
