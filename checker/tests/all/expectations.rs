//! An expectation changes what a search is asked for, and never what it says: a promise that is known to break is expected to hold,
//! and the same shortest counterexample is found.

use fencepost::catalogue;
use fencepost::checker::{Engine, Limits, Options};
use fencepost_model::finding::Verdict;
use fencepost_model::scenario::{Expect, Promise, Suite};

/// Promises that need more states are not searched twice.
const STATES_MAX: u64 = 20_000;

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn a_violation_against_expectation_is_the_one_that_is_expected() {
    let mut compared = 0;
    for scenario in catalogue::all().iter().filter(|scenario| scenario.description().suite == Suite::Standard) {
        for promise in scenario.promises().iter().filter(|promise| promise.expect == Expect::Violated) {
            let alone = scenario.judging(&|other| other == promise);
            let surprised = scenario.judging(&|_| false).promising(Promise { expect: Expect::Proven, ..*promise });
            let surprised = surprised.expect("an expectation is always possible");
            for engine in Engine::ALL {
                let options =
                    Options { engine, limits: Limits { states: Some(STATES_MAX), depth: None }, ..Options::default() };
                let expected = alone.check(&options).expect("no internal error").remove(0).finding;
                if matches!(expected.verdict, Verdict::Bounded { .. }) {
                    break;
                }
                // The search for a proof may need more states than the one that was expected to find a violation.
                let options = Options { limits: Limits::default(), ..options };
                let found = surprised.check(&options).unwrap_or_else(|error| panic!("{}: {error}", scenario.name()));
                let (Verdict::Violated(one), Verdict::Violated(other)) = (&expected.verdict, &found[0].finding.verdict)
                else {
                    panic!("{} {}: {}", scenario.name(), promise.property, found[0].finding.verdict.word());
                };
                assert_eq!(one.steps.len(), other.steps.len(), "{} {}", scenario.name(), promise.property);
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared} verdicts were compared");
}
