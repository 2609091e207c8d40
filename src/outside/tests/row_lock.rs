//! What the lock in a row of a table promises, and what it does not.

use fencepost::model::fact::Fact;
use fencepost::sim::{Settings, simulate_with};
use fencepost::{Accepts, Check, Property};
use row_lock::{RowLock, Turns};

/// Only the owner frees the lock.
fn lock() -> Check<RowLock> {
    Check::<RowLock>::new("row-lock").rounds(2).resource(Accepts::NotLower)
}

/// A client that was refused takes the lock over: it thinks that the owner is dead.
fn stolen() -> Check<RowLock> {
    let is_stolen = |fact: &Fact<RowLock>| matches!(fact, Fact::Granted { stolen: true, .. });
    Check::<RowLock>::new("stolen-row-lock")
        .rounds(2)
        .resource(Accepts::NotLower)
        .settings(|lock| lock.takes_over = true)
        .own_goal("taken-over", is_stolen)
}

#[test]
fn compare_and_set_lets_one_client_in() {
    let lock = lock().budget(|budget| (budget.duplicates, budget.crashes, budget.restarts) = (1, 1, 1));
    lock.promise(Property::SingleOwner).promise(Property::MutualExclusion).promise(Property::NoLostUpdate).verify();
}

#[test]
fn the_version_protects_the_table_from_an_owner_that_is_not_dead() {
    stolen().expect_violated(Property::MutualExclusion).promise(Property::NoLostUpdate).verify();
}

#[test]
fn ten_thousand_seeds_do_not_break_it() {
    lock().promise(Property::MutualExclusion).survives(10_000);
}

#[test]
fn a_scheduler_of_our_own_breaks_a_lock_that_is_taken_over() {
    let lock = stolen().promise(Property::MutualExclusion).scenario();
    let settings = Settings { refinement: 1, ..Settings::default() };
    let breaks = |step: usize| {
        let run = simulate_with(&lock, &settings, Turns::by(step)).expect("it picks what is enabled");
        run.violations.iter().any(|violation| violation.property == Property::MutualExclusion)
    };
    assert!((1..100).any(breaks));
}

#[test]
#[ignore = "it fails, as it should: `cargo test -- --ignored` shows how"]
fn a_lock_that_is_taken_over_is_no_lock() {
    stolen().promise(Property::MutualExclusion).verify();
}
