//! `fencepost replay`: a recorded run, repeated step by step.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use fencepost::model::trace::{AnyTrace, Replayed};
use fencepost::reports::timeline::timeline;

use super::json::{Simulated, Violated};
use super::output::{say, say_json};
use super::{Common, Exit, Trouble};

#[derive(Args, Debug)]
pub struct Replay {
    /// A trace file
    trace: PathBuf,
    /// Show at most so many steps
    #[arg(long, default_value_t = 10_000)]
    show: usize,
}

pub fn run(replay: &Replay, common: &Common) -> Result<Exit, Trouble> {
    let file = replay.trace.display();
    let text =
        fs::read_to_string(&replay.trace).map_err(|error| Trouble::Input(format!("{file} cannot be read: {error}")))?;
    let trace = AnyTrace::from_text(&text).map_err(|error| Trouble::Input(format!("{file}: {error}")))?;
    let replayed = trace.replay().map_err(|error| Trouble::Input(format!("{file}: {error}")))?;
    let violations = violations(&replayed);
    if common.json {
        say_json(&Simulated {
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
        say(&timeline(&replayed.story, replay.show));
        say("\nassumptions:\n");
        replayed.assumptions.iter().for_each(|sentence| say(&format!("  - {sentence}\n")));
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

/// The first violation of each promise.
fn violations(replayed: &Replayed) -> Vec<Violated<'_>> {
    let mut list: Vec<Violated<'_>> = Vec::new();
    for (place, step) in replayed.story.steps.iter().enumerate() {
        for breach in &step.breaches {
            let property = breach.property.name();
            if list.iter().all(|other| other.property != property) {
                list.push(Violated { property, step: place as u64 + 1, message: &breach.message });
            }
        }
    }
    list
}
