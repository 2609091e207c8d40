//! Scenario files: read, checked in small part, simulated with each scheduler.

use fencepost::catalogue::files;
use fencepost::checker::{Limits, Options};
use fencepost::sim::{SchedulerKind, Settings};

use super::{Refused, fuzz};
use crate::run_arguments;
use crate::target;

/// A search of many clients takes long for each state.
const FEW: u16 = 12;

fn used(bytes: &[u8]) -> Refused {
    let text = String::from_utf8_lossy(bytes);
    let scenario = target::parse(&text, "fuzzed.toml").map_err(|error| error.to_string())?;
    let _ = scenario.notes();
    let clients = scenario.description().clients;
    let _ = scenario.assumptions();
    if clients <= FEW {
        let limits = Limits { states: Some(40), depth: Some(6) };
        scenario.check(&Options { limits, ..Options::default() }).unwrap_or_else(|error| panic!("{error}"));
    }
    let actions_max = if clients <= FEW { 60 } else { 4 };
    for scheduler in SchedulerKind::ALL {
        let refinement = scheduler.refinement();
        let settings = Settings { scheduler, refinement, actions_max, seed: 1, ..Settings::default() };
        // A scenario that is possible, and impossible on a finer clock, is refused by name.
        if run_arguments::refuse_unusable(&*scenario, &settings).is_ok() {
            scenario.summarize(&settings);
        }
    }
    Ok(())
}

#[test]
fn mutated_scenarios_are_used_or_refused() {
    let files: Vec<Vec<u8>> = files().map(|(_, text)| text.as_bytes().to_vec()).collect();
    fuzz("scenarios", 1, &files, &["fuzzed.toml:"], used);
}
