//! The checker and the simulator must agree about scenarios outside the catalogue: no run of any scheduler violates a promise
//! whose state space the checker has exhausted without a violation.
//!
//! `FENCEPOST_CASES=2000 FENCEPOST_SEEDS=50` checks more scenarios and more seeds than the default portion, as `.ci/run` does with 120 scenarios;
//! `FENCEPOST_FIRST_CASE` says with which scenario it begins, `FENCEPOST_STATES` how far each search goes.

use std::fmt::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use fencepost::catalogue::{self, CATALOGUE};
use fencepost::checker::{Limits, Options};
use fencepost::model::finding::Verdict;
use fencepost::registry::random::Material;
use fencepost::sim::{Curve, Hunt, Profile, SchedulerKind, Settings};
use fencepost::{AnyScenario, Property};

/// The numbers of a random scenario (Steele, Lea, Flood, OOPSLA 2014: SplitMix64).
pub(crate) fn draws(case: u64) -> impl FnMut(u64) -> u64 {
    // Another factor than that of the steps: otherwise each scenario would get the numbers of the one before, without the first.
    let mut state = case.wrapping_mul(0xd134_2543_de82_ef95);
    move |bound| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// What the law has checked.
#[derive(Default, Debug)]
struct Tally {
    scenarios: u64,
    /// Promises without a violation in an exhausted state space, and those of them that are about endless runs.
    exhausted: u64,
    endless: u64,
    violated: u64,
    bounded: u64,
    runs: u64,
    contradictions: Vec<(u64, String)>,
}

fn settings(scheduler: SchedulerKind) -> Settings {
    Settings { scheduler, refinement: scheduler.refinement(), actions_max: 20_000, ..Settings::default() }
}

/// No profile violates a proven promise: here each message takes up to 40 ticks.
fn slow() -> Settings {
    let latency = Curve::new(vec![0, 40_000]).expect("quantiles");
    let profile = Profile { latency, ..Profile::default() };
    Settings { profile, ..settings(SchedulerKind::Realistic) }
}

/// The promises of a scenario that no execution violates, by the checker.
fn exhausted(scenario: &dyn AnyScenario, tally: &Mutex<Tally>) -> Vec<Property> {
    let limits = Limits { states: Some(number("FENCEPOST_STATES", 10_000)), ..Limits::default() };
    let outcomes = scenario.check(&Options { limits, ..Options::default() }).expect("no internal error");
    let mut tally = tally.lock().expect("no thread panics with it");
    let mut properties = Vec::new();
    for outcome in outcomes {
        match outcome.finding.verdict {
            Verdict::Violated(_) => tally.violated += 1,
            Verdict::Bounded { .. } => tally.bounded += 1,
            // A goal that is not reached changes nothing about what was exhausted.
            Verdict::Proven(_) | Verdict::Vacuous { .. } => {
                tally.exhausted += 1;
                tally.endless += u64::from(outcome.finding.property.is_about_endless_runs(None));
                properties.push(outcome.finding.property);
            }
        }
    }
    properties
}

/// The first seed of each scheduler, and of one with slow messages, that violates a promise although the checker says that no
/// execution does.
fn contradictions(scenario: &dyn AnyScenario, seeds: Range<u64>, tally: &Mutex<Tally>) -> String {
    let only = exhausted(scenario, tally);
    let mut found = String::new();
    if only.is_empty() {
        return found;
    }
    let usual = SchedulerKind::ALL.map(|scheduler| (scheduler.name(), settings(scheduler)));
    for (name, settings) in usual.into_iter().chain([("realistic and slow", slow())]) {
        let hunt = Hunt { settings: settings.clone(), seeds: seeds.clone(), only: only.clone(), ..Hunt::default() };
        let hunted = scenario.hunt(&hunt, &|_| false);
        tally.lock().expect("no thread panics with it").runs += hunted.tried;
        let Some(seed) = hunted.seed else { continue };
        let judged = scenario.judging(&|promise| only.contains(&promise.property));
        let run = judged.simulate(&Settings { seed, ..settings });
        for violation in run.violations {
            let property = violation.property;
            writeln!(found, "{name}, seed {seed}, {property}: {}", violation.message).expect("a text takes it");
        }
    }
    found
}

/// Checks the random scenarios with these numbers.
fn law(first: u64, cases: u64, seeds: u64) -> Tally {
    let material = Material::of(CATALOGUE);
    let (next, tally) = (AtomicU64::new(first), Mutex::new(Tally::default()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let case = next.fetch_add(1, Relaxed);
                    if case >= first + cases {
                        break;
                    }
                    let scenario = material.scenario(&mut draws(case));
                    // Seeds of its own: the same few would let messages take the same few times everywhere.
                    let seeds = case * seeds..(case + 1) * seeds;
                    let judge = || contradictions(&*scenario, seeds, &tally);
                    let found = catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|_| "a panic\n".to_owned());
                    let mut tally = tally.lock().expect("no thread panics with it");
                    tally.scenarios += 1;
                    if !found.is_empty() {
                        tally.contradictions.push((case, format!("{found}{}", scenario.to_toml())));
                    }
                }
            });
        }
    });
    let mut tally = tally.into_inner().expect("no thread panics with it");
    tally.contradictions.sort();
    tally
}

pub(crate) fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().expect("a number"))
}

#[test]
fn no_scheduler_violates_a_proven_promise_of_a_random_scenario() {
    let cases = number("FENCEPOST_CASES", 40);
    let tally = law(number("FENCEPOST_FIRST_CASE", 0), cases, number("FENCEPOST_SEEDS", 5));
    let mut list = String::new();
    for (case, text) in &tally.contradictions {
        writeln!(list, "--- scenario {case}\n{text}").expect("a text takes it");
    }
    let Tally { scenarios, exhausted, endless, violated, bounded, runs, .. } = tally;
    println!(
        "{scenarios} scenarios: {exhausted} promises exhausted, {endless} of them about endless runs; {violated} violated, {bounded} bounded; {runs} runs"
    );
    assert!(tally.contradictions.is_empty(), "{} contradictions\n{list}", tally.contradictions.len());
    assert!(exhausted > cases && endless > cases / 8, "the checker decides enough of them to say something");
}

/// Seed 1582 of the swarm: a stall of the storm lasts 72 ticks into the calm, then two messages take 24 and 29 ticks. The calm
/// had a bound of 108 ticks whatever the profile, and took that for starvation.
const SLOW_ONLY: &str = r#"
name = "one-client-and-slow-messages"
system = "rabbitmq-semaphore"
about = "One client takes a slot, twice; nothing goes wrong."
clients = 1
rounds = 2

[service]
slots = [1, 2, 3]
memory = 3

[service.administration]

[[promise]]
property = "eventually-acquired"
"#;

#[test]
fn slow_messages_break_no_promise_about_endless_runs() {
    let scenario = catalogue::read(SLOW_ONLY, "file").expect("it is valid");
    let outcomes = scenario.check(&Options::default()).expect("no internal error");
    assert_eq!(outcomes[0].finding.verdict.word(), "proven");
    let run = scenario.simulate(&Settings { seed: 1582, ..settings(SchedulerKind::Swarm) });
    assert!(run.violations.is_empty(), "{:?}", run.violations);
}
