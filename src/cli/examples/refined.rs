//! Proven verdicts of a scenario of the catalogue, checked again with every duration doubled and tripled: the ticks were no finer than
//! they had to be, so nothing may change. `.ci/long` does it for all: `cargo run -p fencepost-cli --example refined -- b01-fencing`.
//!
//! A JSON line for each factor and each promise. A search ends after 60 s or at 4 GB; it is `bounded` then. Exit codes: 0 every verdict is
//! `proven` or `bounded`, 1 another one is among them, 2 there is no such scenario.

use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use fencepost::checker::{Options, Progress, Supervisor};
use fencepost::model::finding::{Finding, Verdict};
use fencepost::{AnyScenario, Expect, catalogue};
use memory_stats::memory_stats;

/// The time of one search.
const SECONDS_MAX: u64 = 60;

/// The memory of this program, in bytes.
const MEMORY_MAX: usize = 4_000_000_000;

/// Stops a search that takes too long, or too much memory.
struct Watch(Instant);

impl Supervisor for Watch {
    fn stop(&self, _: &Progress) -> Option<String> {
        if self.0.elapsed() > Duration::from_secs(SECONDS_MAX) {
            return Some(format!("{SECONDS_MAX} s"));
        }
        let used = memory_stats().map_or(0, |stats| stats.physical_mem);
        (used > MEMORY_MAX).then(|| "4 GB".to_owned())
    }

    fn microseconds(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// The verdicts on the promises that are expected to be proven, with every duration this many times as long.
fn refined(scenario: &dyn AnyScenario, factor: i64) -> Vec<Finding> {
    let options = Options {
        supervisor: Arc::new(Watch(Instant::now())),
        workers: available_parallelism().map_or(1, usize::from),
        ..Options::default()
    };
    let fine = scenario.refined(factor).judging(&|promise| promise.expect == Expect::Proven);
    match fine.check(&options) {
        Ok(outcomes) => outcomes.into_iter().map(|outcome| outcome.finding).collect(),
        Err(error) => panic!("{} times {factor}: {error}", scenario.name()),
    }
}

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(scenario) = catalogue::named(&name) else {
        eprintln!("there is no scenario `{name}`: `fencepost list` has their names");
        return ExitCode::from(2);
    };
    let mut is_sound = true;
    for factor in [2, 3] {
        for finding in refined(&*scenario, factor) {
            let (word, why) = match &finding.verdict {
                Verdict::Proven(_) => ("proven", String::new()),
                Verdict::Bounded { by } => ("bounded", by.clone()),
                Verdict::Violated(story) => ("violated", format!("in {} steps", story.steps.len())),
                Verdict::Vacuous { missing } => ("vacuous", missing.join(", ")),
            };
            is_sound &= matches!(word, "proven" | "bounded");
            let line = serde_json::json!({
                "scenario": name, "factor": factor, "property": finding.property.name(), "verdict": word, "why": why,
                "states": finding.states,
            });
            println!("{line}");
        }
    }
    if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
