//! `fencepost shrink`: the same promise, broken by a shorter run.

use std::path::PathBuf;

use clap::Args;
use fencepost::Property;
use fencepost::reports::timeline::timeline;

use crate::args::{Common, property};
use crate::exit::{CommandError, Exit};
use crate::json::ShrinkJson;
use crate::output::{say, say_json, width, write_trace};
use crate::target::{self, quoted};

#[derive(Args, Debug)]
pub struct Shrink {
    /// A trace file whose execution violates a promise
    trace: PathBuf,
    /// The promise whose violation is kept [default: the first that the execution violates]
    #[arg(long, value_parser = property, value_name = "NAME")]
    property: Option<Property>,
    /// Show at most N steps
    #[arg(long, default_value_t = 200, value_name = "N")]
    show: usize,
}

pub fn run(shrink: &Shrink, common: &Common) -> Result<Exit, CommandError> {
    let file = shrink.trace.display();
    let bad = |error: &dyn std::fmt::Display| CommandError::Input(format!("{file}: {error}"));
    let trace = target::trace(&shrink.trace)?;
    trace.replay().map_err(|error| bad(&error))?;
    let Some(property) = shrink.property.or(trace.broken()) else {
        return Err(bad(&"the run breaks no promise: there is nothing to keep while it is shrunk"));
    };
    let small = trace.shrink(property).map_err(|error| bad(&error))?;
    let replayed = small
        .replay()
        .map_err(|error| CommandError::Internal(format!("the shrunk run cannot be repeated: {error}")))?;
    let stem = shrink.trace.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = format!("{}--shrunk", stem.trim_end_matches("--shrunk"));
    let path = write_trace(common.out.as_deref(), &name, &small.to_text())?.map(|path| path.display().to_string());
    let (before, after) = (trace.steps(), small.steps());
    if common.json {
        say_json(&ShrinkJson {
            scenario: &replayed.scenario,
            property: property.name(),
            steps_before: before,
            steps_after: after,
            digest: &replayed.digest,
            trace: path.as_deref(),
        });
        return Ok(Exit::AsExpected);
    }
    if !common.quiet {
        say(&timeline(&replayed.story, shrink.show, width()));
    }
    let steps = match after < before {
        true => format!("{after} steps instead of {before}, passages of time not counted"),
        false => format!("{before} steps, passages of time not counted; none was found to be needless"),
    };
    say(&format!("\n{}: {property} is broken by {steps}\n", replayed.scenario));
    say(&match path {
        Some(path) => format!("replay it with: fencepost replay {}\n", quoted(&path)),
        None => "keep it with: --out DIR\n".to_owned(),
    });
    Ok(Exit::AsExpected)
}
