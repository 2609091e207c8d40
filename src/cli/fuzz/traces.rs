//! Trace files: replayed, realigned, shrunk.

use fencepost::catalogue;
use fencepost::checker::{Limits, Options};
use fencepost::sim::Settings;

use super::{Refused, fuzz};
use crate::target::parse_trace;

/// Longer traces are not shrunk.
const SHRUNK_MAX: usize = 12;

fn used(bytes: &[u8]) -> Refused {
    let text = String::from_utf8_lossy(bytes);
    let trace = parse_trace(&text, "fuzzed.jsonl").map_err(|error| error.to_string())?;
    let named = |error: &dyn std::fmt::Display| format!("fuzzed.jsonl: {error}");
    let realigned = trace.realign().map_err(|error| named(&error))?;
    realigned.trace.replay().unwrap_or_else(|error| panic!("a realigned trace cannot be replayed: {error}"));
    trace.replay().map_err(|error| named(&error))?;
    // To shrink a trace is to search from each of its steps: that of a long one takes minutes.
    let is_short = trace.steps() <= SHRUNK_MAX;
    if let Some(property) = trace.broken().filter(|property| is_short && !trace.is_about_the_end(*property)) {
        let small = trace.shrink(property).unwrap_or_else(|error| panic!("{error}"));
        small.replay().unwrap_or_else(|error| panic!("a shrunk trace cannot be replayed: {error}"));
    }
    Ok(())
}

/// Runs of every system, and counterexamples of a search, among them endless ones.
fn files() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    // Every fifth scenario.
    for scenario in catalogue::all().iter().skip(3).step_by(5) {
        let settings = Settings { seed: 3, actions_max: 25, ..Settings::default() };
        files.push(scenario.simulate(&settings).trace.to_text().into_bytes());
        let limits = Limits { states: Some(3_000), depth: None };
        let outcomes = scenario.check(&Options { limits, ..Options::default() }).expect("no internal error");
        files.extend(outcomes.into_iter().filter_map(|outcome| Some(outcome.trace?.to_text().into_bytes())));
    }
    files
}

#[test]
fn mutated_traces_are_used_or_refused() {
    fuzz("traces", 1, &files(), &["line ", "step ", "header"], used);
}
