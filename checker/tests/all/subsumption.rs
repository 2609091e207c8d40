//! Worlds that others cover must make no difference: random small scenarios, each with them and without; and what is left does not depend on
//! who counts.

use std::env;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use fencepost::consul::SERVICE;
use fencepost::{AnyScenario, catalogue};
use fencepost_checker::laws::{Law, walks};
use fencepost_checker::mutants::Variant;
use fencepost_checker::{Limits, Options};
use fencepost_model::finding::{Finding, Verdict};
use fencepost_model::time::Ticks;

use crate::symmetry::scenario;

/// Larger ones take too long here.
const STATES_MAX: u64 = 6_000;

fn explored(scenario: &dyn AnyScenario, options: &Options) -> Vec<Finding> {
    scenario.check(options).expect("no internal error").into_iter().map(|outcome| outcome.finding).collect()
}

/// The verdict, and the length of a shortest counterexample.
fn essence(finding: &Finding) -> (&'static str, Option<usize>) {
    (finding.verdict.word(), finding.verdict.story().map(|story| story.steps.len()))
}

/// Compares `wanted` random scenarios of at least 300 states; also on random walks, action by action.
fn agree(wanted: u64) {
    let (next, compared) = (AtomicU64::new(0), AtomicU64::new(0));
    let (with, without) = (AtomicU64::new(0), AtomicU64::new(0));
    let compare = || {
        while compared.load(Relaxed) < wanted {
            let number = next.fetch_add(1, Relaxed);
            let mut drawn = scenario(number);
            if number.is_multiple_of(2) {
                drawn.synchrony.message_delay = Some(Ticks::new(1 + (number % 4 / 2).cast_signed()));
            }
            if drawn.validate().is_err() {
                continue;
            }
            let drawn = SERVICE.any(&drawn);
            let limits = Limits { states: Some(STATES_MAX), depth: None };
            let all = explored(drawn, &Options { limits, symmetry: false, ..Options::default() });
            let states = all.iter().map(|finding| finding.states).max().unwrap_or_default();
            if states < 300 || all.iter().any(|finding| finding.verdict.word() == "bounded") {
                continue;
            }
            let (symmetry, partial_order) = (number.is_multiple_of(2), number.is_multiple_of(3));
            let reduced = Options { symmetry, partial_order, subsumption: true, ..Options::default() };
            let some = explored(drawn, &reduced);
            for (one, other) in some.iter().zip(&all) {
                assert_eq!(essence(one), essence(other), "scenario {number}, {}", one.property);
            }
            assert!(some == explored(drawn, &Options { workers: 2, ..reduced }), "scenario {number}, two workers");
            let walks = walks(number, 2, 40);
            let lawful = drawn.subject().obeys(Law::Subsumption, None, Variant::AsIs, &walks);
            lawful.unwrap_or_else(|violation| panic!("scenario {number}: {violation}"));
            let sum = |findings: &[Finding]| findings.iter().map(|finding| finding.states).sum::<u64>();
            with.fetch_add(sum(&some), Relaxed);
            without.fetch_add(sum(&all), Relaxed);
            compared.fetch_add(1, Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(compare);
        }
    });
    let (with, without) = (with.into_inner(), without.into_inner());
    assert!(with * 5 < without * 4, "{with} states, {without} without");
}

#[test]
fn verdicts_with_and_without_covered_worlds_agree_on_random_scenarios() {
    agree(env::var("FENCEPOST_CASES").map_or(60, |text| text.parse().expect("FENCEPOST_CASES is a number")));
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

/// A proof says which worlds it has left out.
#[test]
fn a_proof_says_that_covered_worlds_are_left_out() {
    let says = |subsumption| {
        let found = explored(&*named("b02-fencing"), &Options { subsumption, ..Options::default() });
        let Verdict::Proven(certificate) = &found[0].verdict else { panic!("{:?}", found[0].verdict) };
        certificate.reductions.iter().any(|reduction| reduction.starts_with("a world is left out if another one"))
    };
    assert!(says(true) && !says(false));
}
