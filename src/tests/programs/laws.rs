//! Laws of programs: a run is a cache, ids and instants have no absolute meaning, and states merge at the heads of laps.

use fencepost::Scenario;
use fencepost::consul::{self, Consul};
use fencepost::etcd::{self, Etcd};
use fencepost::lease::{self, Lease, LeaseMessage, Lending as _};
use fencepost::model::ids::RawId;
use fencepost::model::laws::{budgets_are_kept, enabled_and_is_enabled_agree, pick, properties_agree_with_their_twins};
use fencepost::model::monitor::{ByKind, NumberKind, Numbers, Observed};
use fencepost::model::normal::Normal;
use fencepost::model::program::{Gone, Handle, Lap, Recipe, forget_all, in_place, scoped};
use fencepost::model::resource::Accepts;
use fencepost::model::service::Service;
use fencepost::model::time::{Instant, Ticks};
use fencepost::model::world::{Action, Horizon};

use serde::{Deserialize, Serialize};

use crate::random_scenarios::number;

use super::go_lock::go_lock;
use super::redlock::both;
use super::semaphore;
use super::stores;
use super::versions;
use super::{shipped, with_programs};

/// Numbers that look random, and are the same in every run.
fn numbers(mut seed: u64, count: usize) -> Vec<u16> {
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 48) as u16
    };
    (0..count).map(|_| next()).collect()
}

fn small_go_lock() -> Scenario<Consul> {
    let scenario = consul::lock("go-lock-walk").ttl(2).lock_delay(1).renew_every(1).scenario();
    go_lock(scenario.budget(|budget| (budget.crashes, budget.restarts) = (1, 1)).rounds(2), 1)
}

/// Clients of etcd with what befalls them, and with two rounds: a renewal that is sent again, a watch that is resumed, a wait that is cancelled.
const RECIPES: [&str; 5] = ["e02-final-get", "e03-looks", "e11-again", "e12-cancelled", "e21-by-name"];

fn recipe(name: &str) -> Scenario<Etcd> {
    etcd::as_programs(&shipped(name)).expect("its clients can be programs")
}

/// Takers, verifiers and administrators, with what befalls them: a lost connection, a message that is lost, a lease, an operator; and
/// the message that is a mutex.
const SEMAPHORES: [&str; 7] = [
    "rabbitmq-semaphore-3",
    "f22-relative-retry",
    "f34-redeclare",
    "f35-topology-recovery",
    "f36-lease",
    "f12-wait-bounded",
    "b36-doubled",
];

/// How many walks are taken, unless `FENCEPOST_WALKS` says how many, as `.ci/run` does.
const WALKS: u64 = 12;

/// On each of some walks.
pub(super) fn on_walks<S: Service>(scenario: &Scenario<S>, law: impl Fn(&Scenario<S>, &[u16])) {
    (0..number("FENCEPOST_WALKS", WALKS)).for_each(|seed| law(scenario, &numbers(seed, 80)));
}

/// With the runs dropped before each step the worlds are the same, step by step; so they are inside a scope, and changed in place.
pub(super) fn a_run_is_a_cache<S: Service>(scenario: &Scenario<S>, choices: &[u16]) {
    let walk = |forgets: bool| {
        let (mut world, mut enabled, mut told) = (scenario.observed(), Vec::new(), Vec::new());
        for choice in choices {
            scenario.enabled(&world, &mut enabled);
            let Some(action) = pick(&enabled, *choice) else { break };
            if forgets {
                forget_all();
            }
            let step = world.step(scenario, action);
            told.push(format!("{action}: {:?} {world:?}", step.facts));
        }
        told
    };
    let kept = walk(false);
    assert_eq!(kept, walk(true));
    assert_eq!(kept, scoped(|| walk(true)));
    assert_eq!(kept, in_place(|| walk(false)));
    assert_eq!(kept, in_place(|| walk(true)));
}

/// Gives log positions, tenures, sessions and calls other numbers, in the same order.
struct OtherNumbers {
    salt: u32,
}

impl Numbers for OtherNumbers {
    fn instant(&mut self, at: Instant, _: Instant) -> Instant {
        at
    }

    fn number(&mut self, kind: NumberKind, number: u32, _: bool) -> u32 {
        match kind {
            // A counter may be 0, which stands for no number.
            _ if number == 0 => 0,
            NumberKind::Index | NumberKind::Tenure => number * (2 + self.salt % 3) + self.salt % 50,
            NumberKind::Session(_) | NumberKind::Call(_) | NumberKind::Counter(_) => number + 1 + self.salt % 9,
        }
    }
}

/// The same world with other numbers.
fn renumbered<S: Service>(scenario: &Scenario<S>, state: &Observed<S>, salt: u32) -> Observed<S> {
    let mut other = state.clone();
    let mut numbers = OtherNumbers { salt };
    let mut visitor = ByKind::new(&mut numbers, Horizon::of(scenario));
    other.world.visit(&mut visitor);
    other.monitor.visit(&mut visitor);
    other
}

/// What may happen, and what it does, is the same in the world that stands for all equivalent ones, and in one with other numbers.
pub(super) fn names_have_no_meaning<S: Service>(scenario: &Scenario<S>, choices: &[u16]) {
    same_under(scenario, choices, |state, _| scenario.representative(state));
    same_under(scenario, choices, |state, choice| renumbered(scenario, state, choice.into()));
}

fn same_under<S: Service>(scenario: &Scenario<S>, choices: &[u16], named: impl Fn(&Observed<S>, u16) -> Observed<S>) {
    let (mut world, mut enabled, mut others) = (scenario.observed(), Vec::new(), Vec::new());
    for choice in choices {
        let same = named(&world, *choice);
        scenario.enabled(&world, &mut enabled);
        scenario.enabled(&same, &mut others);
        assert_eq!(enabled.len(), others.len());
        let place = usize::from(*choice) % enabled.len().max(1);
        let Some(action) = enabled.get(place) else { break };
        let mut other = same;
        // The messages of both stand in the same order, for ranks keep it.
        let step = other.step(scenario, &others[place]);
        assert_eq!(world.step(scenario, action).facts.len(), step.facts.len());
        assert_eq!(scenario.representative(&other), scenario.representative(&world), "{action}");
    }
}

#[test]
fn dropping_the_runs_changes_nothing() {
    on_walks(&with_programs("lease-duplicates"), a_run_is_a_cache);
    on_walks(&small_go_lock(), a_run_is_a_cache);
    on_walks(&versions::twice(Accepts::Unchanged), a_run_is_a_cache);
    on_walks(&both("b44-late-answers")[1], a_run_is_a_cache);
    on_walks(&stores::program("b47-anonymous-node"), a_run_is_a_cache);
    SEMAPHORES.iter().for_each(|name| on_walks(&semaphore::program(name), a_run_is_a_cache));
    RECIPES.iter().for_each(|name| on_walks(&recipe(name), a_run_is_a_cache));
}

#[test]
#[should_panic(expected = "a state that has taken a step in place is gone")]
fn a_state_that_was_copied_before_a_step_in_place_is_not_used_after_it() {
    let scenario = with_programs("lease-duplicates");
    in_place(|| {
        let (mut world, mut enabled) = (scenario.observed(), Vec::new());
        let copy = world.clone();
        scenario.enabled(&world, &mut enabled);
        let asks = enabled.iter().find(|action| matches!(action, Action::Command { .. }));
        world.step(&scenario, asks.expect("a user may ask for the lock"));
        format!("{copy:?}")
    });
}

#[test]
fn a_program_behaves_the_same_under_renamed_ids() {
    on_walks(&with_programs("lease-duplicates"), names_have_no_meaning);
    on_walks(&small_go_lock(), names_have_no_meaning);
    on_walks(&versions::scenario(2, 2, Accepts::NotLower), names_have_no_meaning);
    for name in ["b44-late-answers", "redlock-late-unlock"] {
        // Values of earlier attempts are on their way.
        on_walks(&Scenario { rounds: 3, ..both(name)[1].clone() }, names_have_no_meaning);
    }
    for name in ["b33-check-then-push", "b34-step-by-step", "b35-recorded-ttl", "b47-anonymous-node"] {
        on_walks(&stores::program(name), names_have_no_meaning);
    }
    SEMAPHORES.iter().for_each(|name| on_walks(&semaphore::program(name), names_have_no_meaning));
    RECIPES.iter().for_each(|name| on_walks(&recipe(name), names_have_no_meaning));
}

#[test]
fn the_laws_of_every_scenario_hold_with_programs() {
    on_walks(&small_go_lock(), the_usual_laws_hold);
    SEMAPHORES.iter().for_each(|name| on_walks(&semaphore::program(name), the_usual_laws_hold));
    RECIPES.iter().for_each(|name| on_walks(&recipe(name), the_usual_laws_hold));
}

pub(super) fn the_usual_laws_hold<S: Service>(scenario: &Scenario<S>, choices: &[u16]) {
    enabled_and_is_enabled_agree(scenario, choices).unwrap_or_else(|violation| panic!("{violation}"));
    budgets_are_kept(scenario, choices).unwrap_or_else(|violation| panic!("{violation}"));
    properties_agree_with_their_twins(scenario, choices).unwrap_or_else(|violation| panic!("{violation}"));
}

/// A client that looks into the number of its loan.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct LooksInto;

impl Recipe<Lease> for LooksInto {
    const NAME: &'static str = "looks-into";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        let ticks = match lender.borrow().await {
            LeaseMessage::Lent(loan) => 1 + i64::from(loan.raw() % 7),
            _ => 1,
        };
        lender.sleep(Ticks::new(ticks)).await;
        Ok(Lap::Done)
    }
}

#[test]
#[should_panic(expected = "it is not deterministic")]
fn a_program_that_looks_into_a_log_position_is_found_under_other_numbers() {
    let scenario = lease::lock("looks-into").programs(LooksInto).scenario();
    on_walks(&scenario, |scenario, choices| {
        same_under(scenario, choices, |state, choice| renumbered(scenario, state, choice.into()));
    });
}
