//! What certificates cost: the standard suite, and a large scenario.

use std::thread;
use std::time::Instant;

use fencepost::checker::{CertificateError, Limits, Options};
use fencepost::model::finding::Finding;
use fencepost::{AnyScenario, Suite, catalogue};
use fencepost_audit::audit;

use crate::{on, scenario};

/// Seconds of the search, of the writer and of the auditor; and what was written. `None`: more worlds than the limit.
fn measured(scenario: &dyn AnyScenario, worlds_max: Option<u64>) -> Option<String> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let start = Instant::now();
    let options = Options { workers, ..Options::default() };
    let outcomes = scenario.check(&options).expect("no internal error");
    let findings: Vec<Finding> = outcomes.into_iter().map(|outcome| outcome.finding).collect();
    let searched = start.elapsed();
    let options = Options { limits: Limits { states: worlds_max, depth: None }, ..options };
    let mut out = Vec::new();
    match scenario.certify(&findings, &options, &mut out) {
        Err(CertificateError::Cut(_) | CertificateError::NothingProven) => return None,
        Err(error) => panic!("{}: {error}", scenario.name()),
        Ok(_) => {}
    }
    let written = start.elapsed() - searched;
    let text = String::from_utf8(out).expect("text");
    let audited = audit(&text, &on(workers)).unwrap_or_else(|error| panic!("{}: {error}", scenario.name()));
    let checked = start.elapsed() - searched - written;
    Some(format!(
        "{}: search {searched:.2?}, certificate {written:.2?}, audit {checked:.2?}, {} worlds, {} transitions, {} witnesses, {} KiB",
        scenario.name(),
        audited.members,
        audited.transitions,
        audited.witnesses,
        text.len() / 1024
    ))
}

#[test]
#[ignore = "takes minutes: .ci/long"]
fn the_standard_suite_is_certified_by_hand() {
    let mut all = catalogue::all();
    all.retain(|scenario| scenario.description().suite == Suite::Standard);
    let told =
        all.iter().filter_map(|scenario| measured(&**scenario, Some(40_000))).inspect(|told| eprintln!("{told}"));
    // All others have more worlds, or promise nothing that holds.
    assert_eq!(told.count(), 278, "of {}", all.len());
}

#[test]
#[ignore = "takes half a minute or more: .ci/long"]
fn large_scenarios_are_certified_by_hand() {
    for (name, size) in [
        ("b05-suspend-in-jeopardy", "185255 worlds, 764553 transitions"),
        ("consul-lock-3", "402645 worlds, 1547471 transitions"),
    ] {
        let told = measured(&*scenario(name), None).expect("it is proven");
        eprintln!("{told}");
        assert!(told.contains(size), "{told}");
    }
}
