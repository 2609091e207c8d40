//! Scenarios beyond what a suite can afford: they belong to no suite and have no pins. `fencepost check FILE` takes hours for some
//! of them; here they only have to be possible, and their search has to begin.

use std::fs;
use std::path::Path;

use fencepost::catalogue;
use fencepost_checker::{Limits, Options};

/// The number of states of each that are expanded here.
const BEGINNING: u64 = 500;

#[test]
fn every_wall_is_a_possible_scenario_and_in_no_suite() {
    let services = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/services");
    let in_suites: Vec<String> = catalogue::all().iter().map(|scenario| scenario.name().to_owned()).collect();
    let mut count = 0;
    for service in ["consul", "rabbitmq"] {
        for file in fs::read_dir(services.join(service).join("walls")).expect("a folder of walls") {
            let path = file.expect("readable").path();
            let text = fs::read_to_string(&path).expect("text");
            let scenario =
                catalogue::read(&text, &path.display().to_string()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(path.file_stem().and_then(|name| name.to_str()), Some(scenario.name()), "the file's name");
            assert!(!in_suites.iter().any(|name| name == scenario.name()), "{} is in a suite", scenario.name());
            assert!(text.starts_with("# ") && text.contains("# Source"), "{}: a story and its source", scenario.name());
            let limits = Limits { states: Some(BEGINNING), depth: None };
            let outcomes = scenario.check(&Options { limits, ..Options::default() }).expect("no internal error");
            assert!(outcomes.iter().all(|outcome| outcome.finding.verdict.word() == "bounded"), "{}", scenario.name());
            count += 1;
        }
    }
    assert_eq!(count, 12);
}
