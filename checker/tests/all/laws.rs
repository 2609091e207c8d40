//! The laws of searches, on every small scenario of the standard suite. Those on walks are with the model, drawn by
//! proptest; here they are checked on the walks on which `mutants` expects them to fail.

use std::collections::BTreeSet;

use fencepost_checker::laws::{Law, walks};
use fencepost_checker::mutants::Baseline;
use fencepost_model::catalogue::{self, AnyScenario};
use fencepost_model::laws::rough;
use fencepost_model::mutation::{Layer, Mutation, common};
use fencepost_model::scenario::{Replies, Suite};
use fencepost_model::with_scenario;

use crate::catalogue::in_parallel;

/// Searches of larger scenarios take too long here.
const SMALL: u64 = 1_500;

fn small() -> Vec<AnyScenario> {
    let standard: Vec<AnyScenario> = catalogue::all()
        .into_iter()
        .filter(|scenario| with_scenario!(scenario, scenario => scenario.suite == Suite::Standard))
        .collect();
    let is_small = |scenario: &AnyScenario| Baseline::of(scenario, SMALL).expect("no internal error").is_some();
    let kept = in_parallel(&standard, is_small);
    standard.into_iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(scenario, _)| scenario).collect()
}

#[test]
fn every_law_holds_where_no_mutant_is_switched_on() {
    let small = small();
    assert!(small.len() > 60, "{} scenarios", small.len());
    let (first, _) = small.split_first().expect("there are some");
    with_scenario!(first, scenario => Law::Fairness.check(scenario, &[])).unwrap_or_else(|error| panic!("{error}"));
    let walks = walks(1, 2, 60);
    in_parallel(&small, |scenario| {
        for replies in [Replies::Travel, Replies::Instant] {
            for law in Law::ALL.iter().filter(|law| law.is_on_walks()) {
                with_scenario!(scenario, scenario => law.check(&rough(scenario, replies), &walks))
                    .unwrap_or_else(|violation| panic!("{}: {}: {violation}", scenario.name(), law.name()));
            }
        }
        for law in Law::ALL.iter().filter(|law| **law != Law::Fairness) {
            with_scenario!(scenario, scenario => law.check(scenario, &walks))
                .unwrap_or_else(|violation| panic!("{}: {}: {violation}", scenario.name(), law.name()));
        }
    });
}

#[test]
fn every_layer_has_mutants_and_every_mutant_of_a_reduction_a_law() {
    let layers: BTreeSet<Layer> = common().map(Mutation::layer).collect();
    assert_eq!(layers.len(), 8);
    for layer in layers {
        let count = common().filter(|mutation| mutation.layer() == layer).count();
        assert!(count >= 5, "{}: {count}", layer.name);
        assert!(Law::ALL.iter().any(|law| law.concerns(layer)), "{}", layer.name);
    }
}
