//! Every mutant is noticed by a verdict: not by a count, and not by a panic only.

use fencepost_checker::mutants::{Baseline, Noticed, Subjects, noticed};
use fencepost_etcd_explore::service;

/// `fencepost mutants` asks all of them, and is content with a law.
#[test]
#[ignore = "takes a minute: .ci/long"]
fn every_mutant_is_noticed_by_a_verdict_by_hand() {
    let read = |(name, text): &(&str, &str)| service().read(text, name).expect("it is valid");
    let baseline =
        |file: &(&str, &str)| Baseline::of(read(file).subject(), Subjects::STATES_MAX).expect("no internal error");
    let named = service().scenarios().iter().map(|file| read(file).subject()).collect();
    let subjects = Subjects::new(service().scenarios().iter().filter_map(baseline).collect(), named);
    let missed: Vec<String> = service()
        .mutations()
        .iter()
        .map(|mutation| (mutation, noticed(*mutation, &subjects)))
        .filter(|(_, found)| !matches!(found, Noticed::Verdict { .. }))
        .map(|(mutation, found)| format!("{mutation:?}: {found}"))
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
