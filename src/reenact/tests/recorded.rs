//! The recorded file is about the counterexamples that the checker finds now. `fencepost reenact --all --consul URL --record FILE`
//! writes it anew.

use std::collections::BTreeMap;

use fencepost_model::scenario::Suite;
use fencepost_reenact::{RECORDED, SeenViolation, read, write};

use crate::catalogue::{counterexamples, violated};

fn recorded() -> BTreeMap<(String, String), SeenViolation> {
    let lines = read(RECORDED).expect("a recorded file");
    assert_eq!(write(lines.clone()), RECORDED, "the file is in order");
    lines.into_iter().map(|line| ((line.scenario.clone(), line.property.clone()), line)).collect()
}

#[test]
fn every_violated_promise_is_recorded_and_nothing_else() {
    let named: Vec<(String, String)> =
        violated().into_iter().map(|(scenario, property)| (scenario, property.to_owned())).collect();
    let recorded = recorded();
    for promise in &named {
        assert!(recorded.contains_key(promise), "{promise:?} is missing");
    }
    assert_eq!(recorded.len(), named.len(), "the file records promises that are not violated");
}

/// How many counterexamples of the suite are those that were driven.
fn known(suite: Suite) -> usize {
    let recorded = recorded();
    let mut found = 0;
    for counterexample in counterexamples(suite) {
        let line = &recorded[&(counterexample.scenario, counterexample.property.to_owned())];
        let now = &counterexample.trace.header.digest;
        assert_eq!(line.digest, *now, "{} {} has another counterexample", line.scenario, line.property);
        found += 1;
    }
    found
}

#[test]
fn what_is_recorded_is_about_the_counterexamples_of_today() {
    assert!(known(Suite::Standard) > 90);
}

#[test]
#[ignore = "it searches the larger scenarios"]
fn what_is_recorded_is_about_the_counterexamples_of_the_full_suite() {
    assert!(known(Suite::Full) > 0);
}

#[test]
fn nothing_is_refused_and_most_of_what_can_happen_does() {
    let recorded = recorded();
    let count = |names: &[&str]| recorded.values().filter(|line| names.contains(&line.outcome.as_str())).count();
    assert_eq!(count(&["refused"]), 0);
    let possible = count(&["happened", "refused", "undecided"]);
    assert!(count(&["happened"]) * 10 >= possible * 8, "{} of {possible}", count(&["happened"]));
}
