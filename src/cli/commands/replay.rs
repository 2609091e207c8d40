//! `fencepost replay`: a recorded run, repeated step by step.

use std::path::PathBuf;

use clap::Args;
use fencepost::model::trace::Replayed;
use fencepost::reports::export::{itf, mermaid, perfetto, run_picture};
use fencepost::reports::html::run_page;
use fencepost::reports::timeline::timeline;
use fencepost::rests_on;
use fencepost::{AnyRealigned, AnyTrace};

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json::{self, RunJson, ViolationJson};
use crate::output::{say, say_json, width, write, write_trace};
use crate::target::{self, quoted};

#[derive(Args, Debug)]
pub struct Replay {
    /// A trace file
    trace: PathBuf,
    /// For a model or file that has changed: replay each step whose label is still enabled, and report the differences; with
    /// --out, write the execution into a trace
    #[arg(long)]
    realign: bool,
    /// Write the execution to FILE; the extension selects the format: a page (.html), a picture (.svg), a diagram for Mermaid
    /// (.mmd), ITF (.itf.json), events for Perfetto (.perfetto.json)
    #[arg(long, visible_alias = "picture", value_name = "FILE", value_parser = exported)]
    export: Vec<Exported>,
    /// Show at most N steps
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    show: usize,
}

/// A file, and what is to stand in it.
#[derive(Clone, Debug)]
struct Exported {
    file: PathBuf,
    format: Format,
}

/// Writes a run with a title.
type Format = fn(&Replayed, &str) -> String;

/// What a file's name ends with, and how a run is written then.
const FORMATS: [(&str, Format); 5] = [
    (".html", |run, title| run_page(&run.story, title, &run.assumptions)),
    (".svg", |run, _| run_picture(&run.story)),
    (".mmd", |run, title| mermaid(&run.story, title)),
    (".itf.json", |run, title| itf(&run.story, title)),
    (".perfetto.json", |run, title| perfetto(&run.story, title)),
];

fn exported(file: &str) -> Result<Exported, String> {
    let format = FORMATS.iter().find(|(ending, _)| file.ends_with(ending));
    let endings = FORMATS.map(|(ending, _)| ending).join(", ");
    let (_, format) = format.ok_or_else(|| format!("its name ends with one of {endings}"))?;
    Ok(Exported { file: PathBuf::from(file), format: *format })
}

pub fn run(replay: &Replay, common: &Common) -> Result<Exit, CommandError> {
    let file = replay.trace.display();
    let trace = target::trace(&replay.trace)?;
    if replay.realign {
        return realign(replay, &*trace, common);
    }
    let replayed = trace
        .replay()
        .map_err(|error| CommandError::Input(format!("{file}: {error}; `--realign` repeats what can still happen")))?;
    draw(replay, &replayed)?;
    let violations = violations(&replayed);
    if common.json {
        say_json(&RunJson {
            scenario: &replayed.scenario,
            seed: replayed.seed,
            digest: &replayed.digest,
            actions: replayed.story.steps.len() as u64,
            ticks: replayed.story.steps.last().map_or(0, |step| step.at),
            violations,
            trace: Some(file.to_string()),
        });
        return Ok(Exit::AsExpected);
    }
    if !common.quiet {
        say(&timeline(&replayed.story, replay.show, width()));
        say(&format!("\n{}", rests_on(&replayed.assumptions)));
    }
    say(&format!(
        "\n{}, found by the {}: {} steps, repeated to the letter; digest {}\n",
        replayed.scenario,
        replayed.origin,
        replayed.story.steps.len(),
        replayed.digest
    ));
    for violation in violations {
        say(&format!("✗ {} is violated at step {}: {}\n", violation.property, violation.step, violation.message));
    }
    Ok(Exit::AsExpected)
}

/// Repeats what can still happen. Only a run that is the same is as expected.
fn realign(replay: &Replay, trace: &dyn AnyTrace, common: &Common) -> Result<Exit, CommandError> {
    let file = replay.trace.display();
    let AnyRealigned { trace: now, diverges, skipped } =
        trace.realign().map_err(|error| CommandError::Input(format!("{file}: {error}")))?;
    let replayed =
        now.replay().map_err(|error| CommandError::Internal(format!("the run cannot be repeated: {error}")))?;
    draw(replay, &replayed)?;
    let violations = violations(&replayed);
    let stem = replay.trace.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let path = write_trace(common.out.as_deref(), &format!("{stem}--realigned"), &now.to_text())?;
    let path = path.map(|path| path.display().to_string());
    let exit = if diverges.is_none() { Exit::AsExpected } else { Exit::Unexpected };
    if common.json {
        say_json(&json::RealignmentJson {
            scenario: &replayed.scenario,
            steps: replayed.story.steps.len(),
            diverges_at: diverges.as_ref().map(|mismatch| mismatch.step),
            why: diverges.as_ref().map(|mismatch| mismatch.message.as_str()),
            left_out: &skipped,
            violations,
            trace: path.as_deref(),
        });
        return Ok(exit);
    }
    if !common.quiet {
        say(&timeline(&replayed.story, replay.show, width()));
        say("\n");
    }
    say(&match &diverges {
        None => format!("{}: {} steps, all as they were written down\n", replayed.scenario, replayed.story.steps.len()),
        Some(mismatch) => format!(
            "{}: {mismatch}\n{} of {} steps can still happen\n",
            replayed.scenario,
            replayed.story.steps.len(),
            replayed.story.steps.len() + skipped.len()
        ),
    });
    for violation in violations {
        say(&format!("✗ {} is violated at step {}: {}\n", violation.property, violation.step, violation.message));
    }
    say(&match path {
        Some(path) => format!("what happens now: {path}\nreplay it with: fencepost replay {}\n", quoted(&path)),
        None => "write what happens now into a trace with: --out DIR\n".to_owned(),
    });
    Ok(exit)
}

/// Writes the run down in whatever form is wanted.
fn draw(replay: &Replay, replayed: &Replayed) -> Result<(), CommandError> {
    let seed = replayed.seed.map(|seed| format!(", seed {seed}")).unwrap_or_default();
    let title = format!("{}, found by the {}{seed}", replayed.scenario, replayed.origin);
    replay.export.iter().try_for_each(|Exported { file, format }| write(file, &format(replayed, &title)))
}

/// The first violation of each promise.
fn violations(replayed: &Replayed) -> Vec<ViolationJson<'_>> {
    let mut list: Vec<ViolationJson<'_>> = Vec::new();
    for (place, step) in replayed.story.steps.iter().enumerate() {
        for violation in &step.violations {
            let property = violation.property.name();
            if list.iter().all(|other| other.property != property) {
                list.push(ViolationJson { property, step: place as u64 + 1, message: &violation.message });
            }
        }
    }
    list
}
