//! What a user's own test sees.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost::consul::{self, Behavior, Consul, Sequencer};
use fencepost::{Accepts, Check, Property, Ticks, catalogue, lease};

fn ledger(sequencer: Sequencer) -> Check<Consul> {
    consul::lock("our-ledger")
        .ttl(1)
        .lock_delay(1)
        .behavior(Behavior::Delete)
        .sequencer(sequencer)
        .writes(1)
        .resource(Accepts::NotLower)
        .promise(Property::NoLostUpdate)
}

#[test]
fn a_scenario_built_in_rust_is_verified() {
    ledger(Sequencer::ModifyIndex).verify();
}

#[test]
fn a_failure_prints_violation_story_assumptions_and_replay_command() {
    let panic = catch_unwind(AssertUnwindSafe(|| ledger(Sequencer::LockIndex).verify())).expect_err("it breaks");
    let message = panic.downcast_ref::<String>().expect("a message");
    let mut rest = message.as_str();
    for part in [
        "our-ledger: no-lost-update is violated; expected: proven",
        "client 1 enters (token 1)",
        "✗ no-lost-update is violated",
        "assumptions:\n",
        "the delay of wake-ups is unbounded",
        "replay it with: fencepost replay target/fencepost/our-ledger--no-lost-update.jsonl",
    ] {
        let Some(place) = rest.find(part) else { panic!("“{part}” does not come next in:\n{message}") };
        rest = &rest[place..];
    }
}

#[test]
#[should_panic(expected = "promises nothing")]
fn a_scenario_without_promises_is_no_proof() {
    consul::lock("empty").verify();
}

#[test]
#[should_panic(expected = "is impossible: budget.pauses")]
fn an_impossible_scenario_is_refused() {
    consul::lock("odd").budget(|budget| budget.pauses = 1).promise(Property::MutualExclusion).verify();
}

#[test]
fn a_short_file_means_the_same_and_repeats_no_default() {
    for scenario in catalogue::all() {
        let short = scenario.to_short_toml();
        let read = catalogue::read(&short, "short").unwrap_or_else(|error| panic!("{error}\n{short}"));
        assert_eq!(read.to_short_toml(), short);
        assert_eq!((read.promises(), read.assumptions()), (scenario.promises(), scenario.assumptions()), "{short}");
        assert!(short.lines().count() < scenario.to_toml().lines().count(), "{short}");
    }
    let scenario = catalogue::named("b01-no-fencing").unwrap();
    assert!(scenario.to_short_toml().lines().count() <= 20, "{}", scenario.to_short_toml());
}

/// A time with a unit is the number of ticks that it has, and findings say how long a tick is.
#[test]
fn durations_have_units_where_the_check_has_a_tick() {
    let printer = || lease::lock("our-printer").tick("500ms");
    let timed =
        printer().lease("2s").grace("1500ms").wake_delay("1s").promise_within(Property::EventuallyAcquired, "10s");
    let counted = printer().lease(4).grace(3).wake_delay(2).promise_within(Property::EventuallyAcquired, 20);
    assert_eq!(timed.clone().scenario(), counted.scenario());
    assert!(timed.scenario().assumptions().iter().any(|assumption| assumption.to_string() == "a tick is 500ms"));
    // The recipe's 15 s: in halves of a second, unless there is a tick.
    assert_eq!(consul::lock("ours").tick("250ms").recipe("go-lock").scenario().service.ttl, Some(Ticks::new(60)));
    assert_eq!(consul::lock("ours").recipe("go-lock").scenario().service.ttl, Some(Ticks::new(30)));
}

#[test]
fn a_duration_that_is_no_number_of_ticks_is_refused_with_what_to_write() {
    type Building = fn() -> Check<Consul>;
    let refused: [(Building, &str); 5] = [
        (
            || consul::lock("ours").ttl("15s"),
            "15s has a unit, and the check has no tick: say `.tick(\"15s\")` before it",
        ),
        (
            || consul::lock("ours").tick("500ms").ttl("1200ms"),
            "1.2s is no whole number of ticks of 500ms: write another time, or `.tick(\"100ms\")`",
        ),
        (|| consul::lock("ours").tick("1s").ttl("15"), "`15` has no unit"),
        (|| consul::lock("ours").tick("0s"), "a tick is longer than 0"),
        (|| consul::lock("ours").tick("2s").recipe("go-lock"), "15s is no whole number of ticks of 2s"),
    ];
    for (build, says) in refused {
        let panic = catch_unwind(build).expect_err(says);
        let message = panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(ToString::to_string));
        let message = message.expect("a message");
        assert!(message.contains(says), "{message}");
    }
}
