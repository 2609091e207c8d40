//! What the catalogue's scenarios come to, pinned: verdict, distinct states, transitions, levels, length of the shortest
//! counterexample. A changed count is a changed model: say why in the commit. `UPDATE_EXPECT=1` writes the numbers anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{env, fs, thread};

use fencepost::{AnyScenario, catalogue};
use fencepost_checker::{Engine, Limits, Options};
use fencepost_model::finding::Finding;
use fencepost_model::scenario::Suite;

use crate::assumptions;

/// A finding in one line.
fn line(finding: &Finding) -> String {
    let Finding { scenario, property, verdict, states, transitions, depth, .. } = finding;
    let steps = verdict.story().map(|story| format!(", {} steps", story.steps.len())).unwrap_or_default();
    format!(
        "{scenario} {property}: {}, {states} states, {transitions} transitions, {depth} levels{steps}",
        verdict.word()
    )
}

/// Does the work on all cores; results come in the order of the items.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, R>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((place, item)) = {
                    let place = next.fetch_add(1, Relaxed);
                    items.get(place).map(|item| (place, item))
                } {
                    let result = work(item);
                    results.lock().expect("no worker panics").insert(place, result);
                }
            });
        }
    });
    results.into_inner().expect("no worker panics").into_values().collect()
}

fn standard() -> Vec<Box<dyn AnyScenario>> {
    catalogue::all().into_iter().filter(|scenario| scenario.description().suite == Suite::Standard).collect()
}

fn pinned(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file)
}

/// Names the first line that differs: `expect-test` would print all of them twice.
fn compare(file: &str, found: &[String]) {
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(pinned(file), found.join("\n") + "\n").expect("the pins can be written");
        return;
    }
    let expected = fs::read_to_string(pinned(file)).expect("the pins are there");
    are_pinned(file, found, &expected.lines().collect::<Vec<_>>());
}

fn are_pinned(file: &str, found: &[String], expected: &[&str]) {
    for (expected, found) in expected.iter().zip(found) {
        assert_eq!(found, expected, "{file}; UPDATE_EXPECT=1 writes it anew, with `-- --ignored`");
    }
    assert_eq!(found.len(), expected.len(), "{file}");
}

/// The findings of these scenarios, in lines.
fn lines(scenarios: &[Box<dyn AnyScenario>], options: &Options) -> Vec<String> {
    let findings = in_parallel(scenarios, |scenario| {
        let outcomes = scenario.check(options).expect("no internal error");
        outcomes.iter().for_each(assumptions::are_complete_and_hold);
        outcomes.into_iter().map(|outcome| outcome.finding).collect::<Vec<_>>()
    });
    findings
        .iter()
        .flatten()
        .map(|finding| {
            assert!(finding.is_as_expected(), "{}", line(finding));
            line(finding)
        })
        .collect()
}

/// Scenarios with more states are those of [`every_verdict_is_as_expected_and_every_count_as_pinned`] alone: they are a third, and take
/// nearly all of the time.
const SMALL: u64 = 10_000;

/// The scenario of a line, and how many states it has.
fn states(line: &str) -> (&str, u64) {
    let name = line.split(' ').next().expect("a line begins with a name");
    let states = line.split(", ").find_map(|count| count.strip_suffix(" states")).expect("a line has its states");
    (name, states.parse().expect("states are a number"))
}

#[test]
fn verdicts_of_smaller_scenarios_are_as_expected_and_counts_as_pinned() {
    let pinned = fs::read_to_string(pinned("catalogue.txt")).expect("the pins are there");
    let larger: BTreeSet<&str> =
        pinned.lines().map(states).filter(|(_, states)| *states > SMALL).map(|(name, _)| name).collect();
    let expected: Vec<&str> = pinned.lines().filter(|line| !larger.contains(states(line).0)).collect();
    let smaller: Vec<Box<dyn AnyScenario>> =
        standard().into_iter().filter(|scenario| !larger.contains(scenario.name())).collect();
    assert!(smaller.len() >= 300, "{} scenarios", smaller.len());
    let found = lines(&smaller, &Options { symmetry: false, ..Options::default() });
    are_pinned("catalogue.txt", &found, &expected);
}

#[test]
#[ignore = "takes a minute: cargo test --tests -- --ignored"]
fn every_verdict_is_as_expected_and_every_count_as_pinned() {
    compare("catalogue.txt", &lines(&standard(), &Options { symmetry: false, ..Options::default() }));
}

/// The second column of pins: with partial orders. Verdicts and lengths of counterexamples are those of the first column, for a search of all actions up
/// to the length of a counterexample looks for a shorter one.
#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn partial_orders_change_no_verdict_and_no_shortest_counterexample() {
    let pinned = fs::read_to_string(pinned("catalogue.txt")).expect("the pins are there");
    let found = lines(&standard(), &Options { symmetry: false, partial_order: true, ..Options::default() });
    assert_eq!(found.len(), pinned.lines().count());
    for (found, pinned) in found.iter().zip(pinned.lines()) {
        assert_eq!(essence(found), essence(pinned));
    }
    compare("partial-order.txt", &found);
}

/// The third column: without worlds that others cover. Verdicts and lengths of counterexamples are those of the first column.
#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn covered_worlds_change_no_verdict_and_no_shortest_counterexample() {
    let pinned = fs::read_to_string(pinned("catalogue.txt")).expect("the pins are there");
    let found = lines(&standard(), &Options { symmetry: false, subsumption: true, ..Options::default() });
    assert_eq!(found.len(), pinned.lines().count());
    for (found, pinned) in found.iter().zip(pinned.lines()) {
        assert_eq!(essence(found), essence(pinned));
    }
    compare("subsumption.txt", &found);
}

/// What does not depend on how many states there are: verdict and length of the shortest counterexample.
fn essence(line: &str) -> (String, Option<String>) {
    let (verdict, counts) = line.split_once(", ").expect("a line has counts");
    (verdict.to_owned(), counts.split(", ").find(|count| count.ends_with("steps")).map(str::to_owned))
}

#[test]
#[ignore = "takes two minutes: .ci/long"]
fn symmetry_changes_no_verdict_and_no_shortest_counterexample_by_hand() {
    let pinned = fs::read_to_string(pinned("catalogue.txt")).expect("the pins are there");
    let found = lines(&standard(), &Options::default());
    assert_eq!(found.len(), pinned.lines().count());
    for (found, pinned) in found.iter().zip(pinned.lines()) {
        assert_eq!(essence(found), essence(pinned));
    }
}

/// Scenarios larger than this are compared by `.ci/long`.
const MEDIUM: u64 = 20_000;

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn both_engines_agree_on_verdicts_and_counts() {
    let compared = AtomicUsize::new(0);
    in_parallel(&standard(), |scenario| {
        let limits = Limits { states: Some(MEDIUM), depth: None };
        let by = |engine, workers| {
            let options = Options { engine, workers, limits, symmetry: false, ..Options::default() };
            let outcomes = scenario.check(&options).expect("no internal error");
            outcomes
                .iter()
                .map(|outcome| (line(&outcome.finding), outcome.trace.as_ref().map(|trace| trace.to_text())))
                .collect::<Vec<_>>()
        };
        let (one, two) = (by(Engine::Dataflow, 1), by(Engine::Dataflow, 2));
        assert_eq!(one, two, "with one worker and with two");
        if one.iter().all(|(line, _)| !line.contains("bounded")) {
            let other = by(Engine::Stateright, 1);
            let lines =
                |found: &[(String, Option<String>)]| found.iter().map(|(line, _)| line.clone()).collect::<Vec<_>>();
            assert_eq!(lines(&one), lines(&other), "by our search and by stateright's");
            compared.fetch_add(1, Relaxed);
        }
    });
    assert!(compared.into_inner() > 90, "nearly all scenarios are small enough");
}
