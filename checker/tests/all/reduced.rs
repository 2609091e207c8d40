//! A reduction changes no verdict: random small scenarios, each with it and without, and its laws.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{env, thread};

use fencepost::AnyScenario;
use fencepost::consul::{Consul, SERVICE};
use fencepost_checker::laws::{Law, walks};
use fencepost_checker::mutants::Variant;
use fencepost_checker::{Limits, Options};
use fencepost_model::finding::Finding;
use fencepost_model::scenario::Scenario;

/// Larger ones take too long here.
const STATES_MAX: u64 = 6_000;

/// How many scenarios are compared, unless `FENCEPOST_CASES` says how many, as `.ci/run` does.
const WANTED: u64 = 20;

pub fn explored(scenario: &dyn AnyScenario, options: &Options) -> Vec<Finding> {
    scenario.check(options).expect("no internal error").into_iter().map(|outcome| outcome.finding).collect()
}

/// The verdict, and the length of the counterexample.
pub fn essence(finding: &Finding) -> (&'static str, Option<usize>) {
    (finding.verdict.word(), finding.verdict.story().map(|story| story.steps.len()))
}

/// Compares random scenarios of at least 300 states, with one worker and with two; also on random walks, action by action. A scenario and how it
/// is reduced are those of a number. Of the states at least a fifth is left out, in all of them together.
pub fn agree(laws: &[Law], drawn: impl Fn(u64) -> Scenario<Consul> + Sync, reduced: impl Fn(u64) -> Options + Sync) {
    let wanted = env::var("FENCEPOST_CASES").map_or(WANTED, |text| text.parse().expect("FENCEPOST_CASES is a number"));
    let (next, compared) = (AtomicU64::new(0), AtomicU64::new(0));
    let (with, without) = (AtomicU64::new(0), AtomicU64::new(0));
    let compare = || {
        while compared.load(Relaxed) < wanted {
            let number = next.fetch_add(1, Relaxed);
            let drawn = drawn(number);
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
            let reduced = reduced(number);
            let some = explored(drawn, &reduced);
            for (one, other) in some.iter().zip(&all) {
                assert_eq!(essence(one), essence(other), "scenario {number}, {}", one.property);
            }
            assert!(some == explored(drawn, &Options { workers: 2, ..reduced }), "scenario {number}, two workers");
            for law in laws {
                let lawful = drawn.subject().obeys(*law, None, Variant::AsIs, &walks(number, 2, 40));
                lawful.unwrap_or_else(|violation| panic!("scenario {number}: {}: {violation}", law.name()));
            }
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
