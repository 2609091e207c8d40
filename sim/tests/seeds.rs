//! A seed means the same bytes for ever: pinned digests (`UPDATE_EXPECT=1` writes them anew), and what a scheduler must never do.

use std::collections::BTreeMap;
use std::ops::Range;

use expect_test::expect_file;
use fencepost::consul::Consul;
use fencepost::{AnyScenario, AnyTrace, catalogue};
use fencepost_model::ids::ProcessId;
use fencepost_model::properties::Property;
use fencepost_model::scenario::{Expect, Promise};
use fencepost_model::world::Action;
use fencepost_sim::{Curve, Hunt, Hunted, Profile, SchedulerKind, Settings, prepare, walk};

fn scenario(name: &str) -> Box<dyn AnyScenario> {
    catalogue::named(name).expect("it is in the catalogue")
}

fn uniform(seed: u64) -> Settings {
    Settings { seed, scheduler: SchedulerKind::Uniform, refinement: 1, ..Settings::default() }
}

fn realistic(seed: u64) -> Settings {
    Settings { seed, actions_max: 30_000, ..Settings::default() }
}

fn swarm(seed: u64) -> Settings {
    Settings { scheduler: SchedulerKind::Swarm, ..realistic(seed) }
}

fn priorities(seed: u64) -> Settings {
    Settings { scheduler: SchedulerKind::Priorities, ..uniform(seed) }
}

#[test]
fn digests_are_pinned() {
    let mut found = String::new();
    for name in [
        "lease-just-enough",
        "b01-no-fencing",
        "b01-one-pause",
        "b02-delay-too-short",
        "consul-record",
        "consul-skew-covered",
        "consul-cut-off-until-told",
    ] {
        let crowd = Settings { clients: Some(20), rounds: Some(5), ..realistic(8) };
        for settings in [uniform(7), realistic(7), crowd, swarm(7), swarm(5), priorities(7)] {
            let run = scenario(name).simulate(&settings);
            found += &format!(
                "{name} {} {}: {} actions, {}\n",
                settings.scheduler.name(),
                settings.seed,
                run.actions,
                run.digest
            );
        }
    }
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/tests/digests.txt")].assert_eq(&found);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_another_run() {
    for scenario in catalogue::all() {
        let run = |seed| scenario.simulate(&realistic(seed));
        assert_eq!(run(1), run(1), "{}", scenario.name());
        assert_ne!(run(1).digest, run(2).digest, "{}", scenario.name());
    }
}

/// Simulates every scenario with every scheduler, and replays what was recorded: a replay asks of each action whether it is enabled.
fn replay_all(seeds: Range<u64>, actions_max: u64, read: fn(Box<dyn AnyTrace>) -> Box<dyn AnyTrace>) {
    for scenario in catalogue::all() {
        for seed in seeds.clone() {
            for settings in [uniform(seed), realistic(seed), swarm(seed), priorities(seed)] {
                let run = scenario.simulate(&Settings { actions_max, ..settings });
                let replayed = read(run.trace).replay();
                let replayed = replayed.unwrap_or_else(|error| panic!("{}, seed {seed}: {error}", scenario.name()));
                assert_eq!(replayed.digest, run.digest, "{}, seed {seed}", scenario.name());
            }
        }
    }
}

/// Writes a trace, and reads it.
fn written(trace: Box<dyn AnyTrace>) -> Box<dyn AnyTrace> {
    catalogue::read_trace(&trace.to_text()).expect("it can be read")
}

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn every_action_that_a_scheduler_picks_is_enabled() {
    replay_all(0..3, 10_000, |trace| trace);
}

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn every_trace_can_be_replayed() {
    replay_all(3..4, 3_000, written);
}

#[test]
#[ignore = "takes minutes: .ci/long"]
fn long_executions_can_be_replayed_by_hand() {
    replay_all(0..10, 30_000, |trace| trace);
    replay_all(3..4, 30_000, written);
}

#[test]
fn random_search_finds_likely_violations() {
    for (name, seeds) in
        [("b17-release-then-stop", 50), ("b10-shared-session", 50), ("b01-no-fencing", 400), ("b03-async-write", 400)]
    {
        for settings in [uniform, priorities] {
            let is_found = (0..seeds).any(|seed| !scenario(name).simulate(&settings(seed)).violations.is_empty());
            assert!(is_found, "{name}: {seeds} seeds of {} find nothing", settings(0).scheduler.name());
        }
    }
}

/// Messages of a crowd lie in a tree while the run is taken, and in a list when it is written down: the digests must agree.
#[test]
fn a_crowd_has_the_same_digest_when_it_is_recorded() {
    for (name, seed) in [("consul-record", 1), ("consul-record-duplicates", 2), ("rabbitmq-semaphore-2", 3)] {
        let settings = Settings { clients: Some(100), rounds: Some(2), actions_max: 20_000, ..realistic(seed) };
        let run = scenario(name).simulate(&settings);
        assert!(run.actions > 1000, "{name}: {}", run.actions);
        assert_eq!(catalogue::read_trace(&run.trace.to_text()).unwrap().replay().unwrap().digest, run.digest, "{name}");
    }
}

#[test]
fn after_the_storm_nothing_goes_wrong_any_more() {
    let settings = Settings { clients: Some(10), rounds: Some(50), storm: 20, ..realistic(5) };
    for name in ["consul-record", "consul-cut-off-until-told", "b01-one-pause", "consul-skew-covered"] {
        let scenario = scenario(name);
        let scenario = prepare(scenario.of::<Consul>().expect("it is Consul's"), &settings);
        let mut world = scenario.observed();
        let mut calm_actions = 0;
        for action in walk(&scenario, &settings).actions {
            if world.now.ticks() > settings.storm * settings.refinement {
                calm_actions += 1;
                let is_disturbance = action.kind().is_disturbance();
                assert!(!is_disturbance, "{name}: {action}");
            }
            world.step(&scenario, &action);
        }
        assert!(calm_actions > 100, "{name}: the run ends with the storm");
        assert!(world.cuts.is_empty(), "{name}: links are healed");
    }
}

/// The promises about endless runs with this expectation, each with its scenario.
fn endless(expect: Expect) -> impl Iterator<Item = (Box<dyn AnyScenario>, Property)> {
    catalogue::all().into_iter().flat_map(move |scenario| {
        let is_meant =
            |promise: &&Promise| promise.expect == expect && promise.property.is_about_endless_runs(promise.bound);
        let properties: Vec<Property> = scenario.promises().iter().filter(is_meant).map(|one| one.property).collect();
        properties.into_iter().map(move |property| (scenario.clone(), property))
    })
}

fn hunt(scenario: &dyn AnyScenario, property: Property, settings: Settings, seeds: u64) -> Hunted {
    let settings = Settings { actions_max: 20_000, ..settings };
    scenario.hunt(&Hunt { settings, seeds: 0..seeds, only: vec![property], ..Hunt::default() }, &|_| false)
}

#[test]
fn in_a_calm_no_client_waits_for_long_where_the_checker_has_proven_progress() {
    for (scenario, property) in endless(Expect::Proven) {
        for settings in [uniform(0), realistic(0), swarm(0), priorities(0)] {
            let name = settings.scheduler.name();
            let found = hunt(&*scenario, property, settings, 25).seed;
            assert_eq!(found, None, "{} {property}: a seed of {name} breaks it", scenario.name());
        }
    }
}

#[test]
fn most_liveness_violations_are_found_in_a_calm() {
    let (mut all, mut found) = (0, Vec::new());
    for (scenario, property) in endless(Expect::Violated) {
        all += 1;
        let kinds = [uniform(0), realistic(0), swarm(0), priorities(0)];
        if kinds.into_iter().any(|settings| hunt(&*scenario, property, settings, 50).seed.is_some()) {
            found.push(format!("{} {property}", scenario.name()));
        }
    }
    // In `lease-endless` a client starves as long as the others ask, and a run has 16 rounds.
    assert_eq!((found.len(), all), (31, 44), "{found:#?}");
}

#[test]
fn a_wait_in_a_calm_is_told_and_replayed_and_a_false_one_is_refused() {
    let scenario = scenario("b14-renew-after-loss");
    let property = Property::EventuallyAcquired;
    let seed = hunt(&*scenario, property, realistic(0), 200).seed.expect("some seed finds it");
    let run = scenario.simulate(&realistic(seed));
    let violation = run.violations.iter().find(|violation| violation.property == property).expect("it was found");
    assert!(violation.message.starts_with("during the calm the lock stayed free for "), "{}", violation.message);
    let replay = |text: &str| catalogue::read_trace(text).expect("it can be read").replay();
    let text = run.trace.to_text();
    let replayed = replay(&text).expect("it can be repeated");
    let step = &replayed.story.steps[usize::try_from(violation.step).expect("it fits") - 1];
    assert_eq!(step.violations.last().expect("the story has it there").message, violation.message);
    let header: serde_json::Value = serde_json::from_str(text.lines().next().expect("a header")).expect("JSON");
    let wait = &header["waits"][0];
    for (name, other) in [("waited", 1), ("calm_from", 1), ("step", 100_000)] {
        let (was, is) = (format!("\"{name}\":{}", wait[name]), format!("\"{name}\":{other}"));
        assert!(replay(&text.replacen(&was, &is, 1)).is_err(), "{name} of {header}");
    }
}

#[test]
fn ten_thousand_seeds_are_the_same_runs_twice_and_on_any_number_of_threads() {
    let scenario = scenario("b17-release-then-stop");
    let hunted = |workers| {
        let settings = Settings { actions_max: 1_000, ..Settings::default() };
        let task = Hunt { settings, seeds: 0..10_000, workers, twice: true, covers: true, ..Hunt::default() };
        scenario.hunt(&task, &|_| false)
    };
    let (one, two) = (hunted(1), hunted(2));
    assert_eq!((one.tried, one.differs, one.was_stopped), (10_000, None, false));
    assert_eq!(one, two);
}

/// One pass over the seeds finds for each promise the seed that a hunt for it alone finds.
#[test]
fn a_hunt_for_each_promise_finds_what_hunts_for_one_find() {
    for name in ["b06-lock-index-cleanup", "b17-release-then-stop", "lease-one-tick-less"] {
        let scenario = scenario(name);
        let settings = Settings { actions_max: 1_000, ..uniform(0) };
        let hunted = |only: &[Property], each, workers| {
            let task = Hunt {
                settings: settings.clone(),
                seeds: 0..2_000,
                workers,
                only: only.to_vec(),
                each,
                ..Hunt::default()
            };
            scenario.hunt(&task, &|_| false)
        };
        let all: Vec<Property> = scenario.promises().iter().map(|promise| promise.property).collect();
        let found = |one: &Property| Some((*one, hunted(&[*one], false, 2).seed?));
        let expected: Vec<(Property, u64)> = all.iter().filter_map(found).collect();
        assert!(!expected.is_empty(), "{name}");
        for workers in 1..=3 {
            assert_eq!(hunted(&all, true, workers).each, expected, "{name}, {workers} workers");
        }
    }
}

/// A tenth too fast or too slow, a clock slips by a tick every ten; after thirty-five it is set right, step by step, at once.
#[test]
fn clocks_that_drift_slip_at_their_rate_and_are_set_right() {
    let (_, text) = catalogue::files().find(|(name, _)| *name == "consul-skew-covered").unwrap();
    let text = text.replace("skew = 1", "skew = 3").replace("slips = 2", "slips = 100");
    let scenario = catalogue::read(&text, "drift").unwrap();
    let scenario = scenario.of::<Consul>().expect("it is Consul's");
    let of = |thousandths| Some(Curve::new(vec![thousandths]).unwrap());
    let profile = Profile { drift: of(100_000), resync_every: of(35_000), ..Profile::default() };
    let settings = Settings { profile, storm: 70, ends_with_storm: true, ..realistic(3) };
    let mut slips: BTreeMap<ProcessId, Vec<(i64, i64)>> = BTreeMap::new();
    let mut now = 0;
    for action in walk(&prepare(scenario, &settings), &settings).actions {
        match action {
            Action::Advance(by) => now += by.count(),
            Action::Slip { process, by } => slips.entry(process).or_default().push((now, by.count())),
            _ => {}
        }
    }
    assert_eq!(slips.len(), 3, "two clients and the server");
    for (process, slips) in slips {
        let by = slips[0].1;
        let away = [10_000, 20_000, 30_000].map(|at| (at, by));
        let back = [(35_000, -by); 3];
        let again = [40_000, 50_000, 60_000].map(|at| (at, by));
        assert_eq!(slips, [away, back, again].concat(), "{process}");
    }
}
