//! The laws of searches, on every small scenario of the standard suite, and those of reductions, on random walks that proptest
//! draws. Laws of the model are with the model; here they are checked on the walks on which `mutants` expects them to fail.

use std::cell::RefCell;

use std::collections::BTreeSet;
use std::env;

use fencepost::{AnyScenario, catalogue};
use fencepost_checker::laws::{Law, walks};
use fencepost_checker::mutants::{Baseline, Variant};
use fencepost_model::laws::LawViolation;
use fencepost_model::mutation::{Layer, Mutation, common};
use fencepost_model::scenario::{Axis, Replies, Suite};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use crate::catalogue::in_parallel;

/// Searches of larger scenarios take too long here, and those of scenarios larger than this even longer.
const SMALL: u64 = 100;
const LARGER: u64 = 1_500;

/// The scenarios of the standard suite with up to this number of states.
fn small(states: u64) -> Vec<Box<dyn AnyScenario>> {
    let standard: Vec<Box<dyn AnyScenario>> =
        catalogue::all().into_iter().filter(|scenario| scenario.description().suite == Suite::Standard).collect();
    let kept = in_parallel(&standard, |scenario| {
        Baseline::of(scenario.subject(), states).expect("no internal error").is_some()
    });
    standard.into_iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(scenario, _)| scenario).collect()
}

/// Takes every law through each of these scenarios.
fn every_law_holds(small: &[Box<dyn AnyScenario>]) {
    let walks = walks(1, 2, 60);
    in_parallel(small, |scenario| {
        let scenario = scenario.subject();
        let obeys = |law: Law, variant| {
            scenario
                .obeys(law, None, variant, &walks)
                .unwrap_or_else(|violation| panic!("{}: {}: {violation}", scenario.name(), law.name()));
        };
        for variant in [Variant::Rough(Replies::Travel), Variant::Rough(Replies::Instant)] {
            Law::ALL.iter().copied().filter(|law| law.is_on_walks()).for_each(|law| obeys(law, variant));
        }
        obeys(Law::LateFaults, Variant::Struck);
        Law::ALL.iter().copied().filter(|law| *law != Law::Fairness).for_each(|law| obeys(law, Variant::AsIs));
    });
}

#[test]
fn every_law_holds_where_no_mutant_is_switched_on() {
    let small = small(SMALL);
    assert!(small.len() > 40, "{} scenarios", small.len());
    let (first, _) = small.split_first().expect("there are some");
    first.subject().obeys(Law::Fairness, None, Variant::AsIs, &[]).unwrap_or_else(|error| panic!("{error}"));
    every_law_holds(&small);
}

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn every_law_holds_in_larger_scenarios() {
    let small: Vec<String> = small(SMALL).iter().map(|scenario| scenario.name().to_owned()).collect();
    let mut larger = self::small(LARGER);
    larger.retain(|scenario| !small.iter().any(|name| name == scenario.name()));
    assert!(larger.len() > 30, "{} scenarios", larger.len());
    every_law_holds(&larger);
}

#[test]
fn every_layer_has_mutants_and_every_mutant_of_a_reduction_a_law() {
    let layers: BTreeSet<Layer> = common().map(Mutation::layer).collect();
    assert_eq!(layers.len(), 13);
    for layer in layers {
        let count = common().filter(|mutation| mutation.layer() == layer).count();
        assert!(count >= 5, "{}: {count}", layer.name);
        assert!(Law::ALL.iter().any(|law| law.concerns(layer)), "{}", layer.name);
    }
}

/// How many walks are taken through each scenario, unless `PROPTEST_CASES` says how many, as `.ci/run` does.
const WALKS: u32 = 8;

/// Takes random walks. They are the same in every run.
fn take_walks(scenario: &str, law: &dyn Fn(&[u16]) -> Result<(), LawViolation>) {
    let cases = env::var_os("PROPTEST_CASES").map_or(WALKS, |_| ProptestConfig::default().cases);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let walk = |choices: Vec<u16>| law(&choices).map_err(|violation| TestCaseError::fail(violation.to_string()));
    runner.run(&vec(any::<u16>(), 1..60), walk).unwrap_or_else(|error| panic!("{scenario}: {error}"));
}

/// Takes a law on random walks through every scenario.
macro_rules! law {
    ($name:ident, $law:expr) => {
        #[test]
        fn $name() {
            for scenario in catalogue::all() {
                let scenario = scenario.subject();
                take_walks(scenario.name(), &|choices| scenario.obeys($law, None, Variant::AsIs, &[choices.to_vec()]));
            }
        }
    };
}

law!(the_normal_form_is_invisible, Law::NormalForm);
law!(who_is_who_does_not_matter, Law::Renaming);
law!(a_step_renews_the_normal_form, Law::Renewal);
law!(what_a_partial_order_chooses_commutes_with_all_else, Law::PartialOrder);
law!(a_loss_or_a_pause_that_is_left_out_is_not_needed_there, Law::LateFaults);
law!(a_covered_world_can_do_nothing_more, Law::Subsumption);
law!(a_message_without_a_reaction_makes_no_difference, Law::Unheard);

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn a_step_that_is_looked_up_is_the_step_that_is_taken() {
    for scenario in catalogue::all() {
        // The cache is kept from walk to walk: so they are taken together.
        let walks = RefCell::new(Vec::new());
        take_walks(scenario.name(), &|choices| {
            walks.borrow_mut().push(choices.to_vec());
            Ok(())
        });
        scenario
            .subject()
            .obeys(Law::Lookup, None, Variant::AsIs, &walks.into_inner())
            .unwrap_or_else(|violation| panic!("{}: {violation}", scenario.name()));
    }
}

/// Beyond the clients that have words of their own, and the places that have bits of their own.
#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn a_step_renews_the_normal_form_of_many_clients() {
    for (name, clients) in [("consul-retries", 9), ("consul-third-party", 70), ("lease-duplicates", 9)] {
        let scenario = catalogue::named(name).expect("it is there");
        let axis: Axis = format!("clients={clients}").parse().expect("it is an axis");
        let many = scenario.vary(&[axis]).remove(0).scenario.expect("this number of clients is possible").subject();
        let mut choices = 7_u32;
        let walk: Vec<u16> = std::iter::repeat_with(|| {
            choices = choices.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u16::try_from(choices >> 16).expect("these are 16 bits")
        })
        .take(150)
        .collect();
        for law in [Law::Renewal, Law::Lookup] {
            many.obeys(law, None, Variant::AsIs, std::slice::from_ref(&walk))
                .unwrap_or_else(|violation| panic!("{name}: {violation}"));
        }
    }
}
