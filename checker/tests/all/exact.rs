//! States that are compared in full: hashes that lie make no difference then.

use fencepost::{AnyScenario, catalogue};
use fencepost_checker::{Engine, Limits, Options};
use fencepost_model::finding::Finding;
use fencepost_model::mutation::{CheckerMutation, Mutation};
use fencepost_model::scenario::Suite;

use crate::catalogue::in_parallel;
use crate::reduced::essence;

/// What a search of a scenario with a mutant comes to; none if it fails.
fn counts(
    scenario: &dyn AnyScenario,
    mutant: Option<Mutation>,
    options: &Options,
) -> Option<Vec<impl PartialEq + std::fmt::Debug + use<>>> {
    let counts = |finding: Finding| (essence(&finding), finding.states, finding.transitions, finding.depth);
    let findings = scenario.subject().search(mutant, options).ok()?;
    Some(findings.into_iter().map(counts).collect::<Vec<_>>())
}

/// Fingerprints of eight bits, and hashes of parts of three: a search by hashes takes different states for one, and one that compares them
/// finds all. The last scenario has a promise about endless executions.
#[test]
fn hashes_that_collide_make_no_difference_where_states_are_compared() {
    let mut misled = [0, 0];
    // Where parts are taken for others, there may be no end of states.
    let limited = Options { limits: Limits { states: Some(20_000), depth: None }, ..Options::default() };
    for name in ["b02-fencing", "redlock-no-fault", "lease-no-lateness", "b14-destroy-on-loss"] {
        let scenario = catalogue::named(name).expect("it is in the catalogue");
        let all = counts(&*scenario, None, &Options::default());
        assert!(all.is_some(), "{name}");
        for (misled, mutant) in
            misled.iter_mut().zip([CheckerMutation::FingerprintTruncated, CheckerMutation::PartHashTruncated])
        {
            let mutant = Some(Mutation::from(mutant));
            for workers in [1, 2, 3] {
                let exact = Options { exact: true, workers, ..Options::default() };
                assert_eq!(counts(&*scenario, mutant, &exact), all, "{name}, {mutant:?}, {workers} workers");
            }
            *misled += usize::from(counts(&*scenario, mutant, &limited) != all);
        }
    }
    assert!(misled.iter().all(|misled| *misled >= 2), "{misled:?}");
}

#[test]
fn searches_that_tell_states_apart_by_hashes_are_refused() {
    let scenario = catalogue::named("lease-just-enough").expect("it is in the catalogue");
    let exact = Options { exact: true, ..Options::default() };
    for (options, which) in [
        (Options { engine: Engine::Stateright, ..exact.clone() }, "the search of stateright"),
        (Options { subsumption: true, ..exact.clone() }, "a search that leaves out covered states"),
    ] {
        let refusal = scenario.check(&options).expect_err("a refusal").to_string();
        assert_eq!(refusal, format!("states are not compared in full by {which}"));
    }
}

#[test]
#[ignore = "takes a minute: cargo test --tests -- --ignored"]
fn every_scenario_of_the_standard_suite_has_the_same_states_where_they_are_compared() {
    let standard: Vec<Box<dyn AnyScenario>> =
        catalogue::all().into_iter().filter(|scenario| scenario.description().suite == Suite::Standard).collect();
    in_parallel(&standard, |scenario| {
        let by = |exact| counts(&**scenario, None, &Options { exact, ..Options::default() });
        let all = by(false);
        assert!(all.is_some(), "{}", scenario.description().name);
        assert_eq!(by(true), all, "{}", scenario.description().name);
    });
}
