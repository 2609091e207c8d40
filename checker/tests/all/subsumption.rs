//! Worlds that others cover must make no difference: random small scenarios, each with them and without; and what is left does not depend on
//! who counts.

use fencepost::{AnyScenario, catalogue};
use fencepost_checker::Options;
use fencepost_checker::laws::Law;
use fencepost_model::finding::{Finding, Verdict};
use fencepost_model::time::Ticks;

use crate::reduced::{agree, essence, explored};
use crate::symmetry::scenario;

/// Every second one on a network that is late by a tick or two.
#[test]
fn verdicts_with_and_without_covered_worlds_agree_on_random_scenarios() {
    let drawn = |number: u64| {
        let mut drawn = scenario(number);
        if number.is_multiple_of(2) {
            drawn.synchrony.message_delay = Some(Ticks::new(1 + (number % 4 / 2).cast_signed()));
        }
        drawn
    };
    agree(&[Law::Subsumption], drawn, |number| Options {
        symmetry: number.is_multiple_of(2),
        partial_order: number.is_multiple_of(3),
        subsumption: true,
        ..Options::default()
    });
}

fn named(name: &str) -> Box<dyn AnyScenario> {
    catalogue::named(name).expect("it is in the catalogue")
}

/// Which worlds of a level are covered does not depend on the order in which they are found: so any number of workers counts the same.
#[test]
fn counts_do_not_depend_on_who_counts() {
    for name in ["b02-fencing", "b01-one-pause", "b03-async-write"] {
        let scenario = named(name);
        let by = |workers, partial_order| {
            let options = Options { workers, partial_order, subsumption: true, ..Options::default() };
            let counts = |finding: Finding| (essence(&finding), finding.states, finding.transitions, finding.depth);
            explored(&*scenario, &options).into_iter().map(counts).collect::<Vec<_>>()
        };
        for partial_order in [false, true] {
            let one = by(1, partial_order);
            for workers in [2, 3] {
                assert_eq!(by(workers, partial_order), one, "{name} with {workers} workers");
            }
        }
    }
}

/// A proof says which worlds it has left out; and it has taken the same kinds of action and reached the same goals as without.
#[test]
fn a_proof_says_that_covered_worlds_are_left_out() {
    let proven = |subsumption| {
        let found = explored(&*named("b02-fencing"), &Options { subsumption, ..Options::default() });
        let Verdict::Proven(certificate) = &found[0].verdict else { panic!("{:?}", found[0].verdict) };
        let is_printed = found[0].assumptions.iter().any(|told| told.sentence.starts_with("subsumption: "));
        assert_eq!(is_printed, subsumption);
        certificate.clone()
    };
    let says = |reduction: &String| reduction.starts_with("a world is left out if another one");
    let (with, without) = (proven(true), proven(false));
    assert!(with.reductions.iter().any(says) && !without.reductions.iter().any(says));
    assert_eq!((with.goals, with.never_taken), (without.goals, without.never_taken));
}
