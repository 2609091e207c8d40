//! Seeds: what is proven is never seen broken; what is broken is found, and shrinks to about the shortest run there is;
//! and what a user's own test says of a seed that fails.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::{env, fs};

use fencepost::catalogue;
use fencepost::checker::Options;
use fencepost::consul::{self, Behavior, Consul, Sequencer};
use fencepost::sim::{Hunt, Settings};
use fencepost::{Accepts, AnyScenario, Property, Scenario, Seeds};

/// A violation in the refined form of a scenario that was proven would be a fault in our abstraction of time.
#[test]
fn a_proven_promise_is_never_violated_on_the_finer_clock() {
    for scenario in catalogue::all() {
        let seeds =
            Seeds::count(100).regressions_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/regressions"));
        seeds.run(&*scenario);
    }
}

fn scenario(name: &str) -> Box<dyn AnyScenario> {
    catalogue::named(name).expect("it is in the catalogue")
}

/// How many seeds a hunt may take.
const BUDGET: u64 = 3_000;

/// Hazards that seeds find, with the smallest seed.
const FOUND: [(&str, Property, u64); 14] = [
    ("b01-no-fencing", Property::NoLostUpdate, 1250),
    ("b03-async-write", Property::NoLostUpdate, 722),
    ("b04-check-then-write", Property::NoLostUpdate, 1167),
    ("b06-lock-index-cleanup", Property::TokenOrder, 0),
    ("b07-lock-index", Property::NoLostUpdate, 522),
    ("b08-random-token", Property::NoLostUpdate, 285),
    ("b10-shared-session", Property::MutualExclusion, 3),
    ("b12-kill-shell", Property::MutualExclusion, 460),
    ("b16-delete-held-key", Property::MutualExclusion, 32),
    ("b17-release-then-stop", Property::MutualExclusion, 3),
    ("b18-serf-health", Property::MutualExclusion, 2615),
    ("b19-reap", Property::MutualExclusion, 698),
    ("b28-ignore-conflict", Property::SlotLimitBelief, 5),
    ("b32-count-then-register", Property::SlotLimit, 8),
];

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn hazards_are_found_from_seeds_and_shrink_to_about_the_shortest_run() {
    let mut wrong = Vec::new();
    for (name, property, expected) in FOUND {
        let scenario = scenario(name);
        let settings = Settings { actions_max: 1_000, ..Settings::default() };
        let hunt = |workers| {
            let hunt =
                Hunt { settings: settings.clone(), seeds: 0..BUDGET, workers, only: vec![property], ..Hunt::default() };
            scenario.hunt(&hunt, &|_| false)
        };
        let found = hunt(1);
        assert_eq!(found, hunt(2), "{name}: one thread and two find the same");
        let Some(seed) = found.seed else { panic!("{name}: {BUDGET} seeds do not break {property}") };
        let run = scenario.simulate(&Settings { seed, ..settings });
        let trace = catalogue::read_trace(&run.trace.to_text()).expect("a trace");
        let small = trace.shrink(property).expect("it breaks it");
        small.replay().expect("a shrunk run is a run");
        let options = Options { only: Some(property), ..Options::default() };
        let outcomes = scenario.check(&options).expect("no internal error");
        let shortest = outcomes[0].trace.as_ref().expect("a counterexample");
        let shortest = catalogue::read_trace(&shortest.to_text()).expect("a trace").steps();
        if seed != expected || 2 * small.steps() > 3 * shortest {
            wrong.push(format!("{name} {property}: seed {seed}, {} steps, the shortest has {shortest}", small.steps()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn an_execution_of_ten_clients_shrinks_to_two() {
    let crowd = Settings { clients: Some(10), rounds: Some(2), actions_max: 3_000, ..Settings::default() };
    let scenario = scenario("b01-no-fencing");
    let task = Hunt {
        settings: crowd.clone(),
        seeds: 0..100,
        workers: 2,
        only: vec![Property::MutualExclusion],
        ..Hunt::default()
    };
    let seed = scenario.hunt(&task, &|_| false).seed.expect("ten clients soon find out");
    let trace =
        catalogue::read_trace(&scenario.simulate(&Settings { seed, ..crowd }).trace.to_text()).expect("a trace");
    let small = trace.shrink(Property::MutualExclusion).expect("it breaks it");
    assert!(trace.steps() > 200, "{}", trace.steps());
    assert_eq!(small.steps(), 11);
    let header = small.to_text().lines().next().expect("a header").to_owned();
    assert!(header.contains("\"clients\":2"), "{header}");
    small.replay().expect("a shrunk run is a run");
}

/// Two attempts before the end of the lock-delay (C-LD-1) are not needed: the client may as well be asked later.
#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn attempts_that_come_too_soon_are_shrunk_away() {
    let scenario = scenario("b12-kill-shell");
    let run = scenario.simulate(&Settings { seed: 460, actions_max: 1_000, ..Settings::default() });
    let trace = catalogue::read_trace(&run.trace.to_text()).expect("a trace");
    let small = trace.shrink(Property::MutualExclusion).expect("it breaks it");
    assert_eq!((trace.steps(), small.steps()), (55, 25), "a shortest run has 25");
}

/// A lock whose sequencer starts again, and a folder of its own for the seeds that find out.
fn broken(folder: &str) -> (Scenario<Consul>, PathBuf) {
    let scenario = consul::lock("our-ledger")
        .ttl(1)
        .behavior(Behavior::Delete)
        .sequencer(Sequencer::LockIndex)
        .writes(1)
        .resource(Accepts::NotLower)
        .promise(Property::TokenOrder)
        .scenario();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let _ = fs::remove_dir_all(&folder);
    (scenario, folder)
}

fn message(seeds: &Seeds, scenario: &Scenario<Consul>) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| seeds.run(consul::SERVICE.any(scenario)))).expect_err("it breaks");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn a_seed_that_fails_tells_its_story_is_kept_and_ends_with_the_line_that_reproduces_it() {
    let (scenario, folder) = broken("regressions");
    let printed = message(&Seeds::range(0..500).regressions_dir(&folder), &scenario);
    let mut rest = printed.as_str();
    for part in [
        "token-order is violated",
        "shrunk from",
        "client 1 acquires the lock (token 1)",
        "assumptions:",
        "is now kept in",
    ] {
        let Some(place) = rest.find(part) else { panic!("“{part}” does not come next in:\n{printed}") };
        rest = &rest[place..];
    }
    let last = printed.lines().last().expect("a line");
    let name = "seeds::a_seed_that_fails_tells_its_story_is_kept_and_ends_with_the_line_that_reproduces_it";
    let seed = last
        .strip_prefix("reproduce it with: FENCEPOST_SEED=")
        .and_then(|rest| rest.strip_suffix(&format!(" cargo test {name}")));
    let seed: u64 = seed.unwrap_or_else(|| panic!("another last line: {last}")).parse().expect("a number");

    // Kept: it is tried before any other, even where no other is asked for.
    let kept = fs::read_to_string(folder.join("our-ledger.txt")).expect("it was kept");
    assert_eq!(kept, format!("{seed} # token-order\n"));
    let again = message(&Seeds::range(0..0).regressions_dir(&folder), &scenario);
    assert!(again.contains("is among those kept"), "{again}");
    // And alone, as the last line says.
    assert!(
        message(&Seeds::range(0..0).regressions_dir(&folder).single(seed), &scenario)
            .contains("token-order is violated")
    );
}

#[test]
fn a_promise_that_is_expected_to_break_is_no_failure() {
    let (mut scenario, folder) = broken("no-regressions");
    scenario.promises[0].expect = fencepost::Expect::Violated;
    Seeds::range(0..200).regressions_dir(&folder).run(consul::SERVICE.any(&scenario));
    assert!(!folder.exists());
}
