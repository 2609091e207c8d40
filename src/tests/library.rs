//! What a user's own test sees.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fencepost::consul::{self, Behavior, Consul, Sequencer};
use fencepost::{Accepts, Check, Property, catalogue};

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
