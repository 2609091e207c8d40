//! Both engines, symmetry on and off, one and two workers say the same of programs: of those of the catalogue, and of random ones.
//!
//! `FENCEPOST_CASES=2000` checks more random scenarios, `FENCEPOST_FIRST_CASE` says with which it begins.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use fencepost::catalogue::CATALOGUE;
use fencepost::checker::{Engine, Limits, Options};
use fencepost::consul::{self, Consul, GoLock, GoSemaphore};
use fencepost::etcd::{self, Etcd};
use fencepost::lease::{self, Lease, Loan};
use fencepost::model::ids::Index;
use fencepost::model::resource::Accepts;
use fencepost::model::service::Service;
use fencepost::rabbitmq::{self, RabbitMq};
use fencepost::redlock::{self, Redlock};
use fencepost::registry::random::Material;
use fencepost::stores::{self, Stores};
use fencepost::{AnyScenario, Scenario, catalogue};

use super::{Verdicts, redlock as page, semaphore, stores as recipes, verdicts, words};
use crate::random_scenarios::{draws, number};

/// The scenario with the Go client as its clients' program; none: it is a queue.
fn lock_or_semaphore(scenario: &Scenario<Consul>) -> Option<Scenario<Consul>> {
    let (settings, terms) = (scenario.service.clone(), scenario.service.terms());
    let wait = settings.watch_wait.unwrap_or(settings.retry_every);
    if settings.queue.is_some() {
        return None;
    }
    let scenario = scenario.clone();
    Some(match &settings.semaphore {
        Some(semaphore) => {
            let mut recipe = GoSemaphore::with(terms, semaphore.limits[0], 1);
            recipe.wait = wait;
            scenario.programs(recipe)
        }
        None => {
            let mut recipe = GoLock::with(terms, 1);
            (recipe.wait, recipe.retry_every) = (wait, settings.retry_every);
            scenario.programs(recipe)
        }
    })
}

/// Whether the programs can be explored: they write with tokens, which a resource that compares versions does not take.
fn is_explored<S: Service>(program: &Scenario<S>) -> bool {
    program.resource != Accepts::Unchanged && program.validate().is_ok()
}

/// What a law says of the scenario with its clients as programs; none: its clients cannot be programs.
fn with_programs<T>(scenario: &dyn AnyScenario, law: impl FnOnce(&dyn AnyScenario) -> T) -> Option<T> {
    if let Some(scenario) = scenario.of::<Lease>() {
        let (lease, retry_every) = (scenario.service.lease, scenario.service.retry_every);
        let program = scenario.clone().programs(Loan { lease, retry_every, last: Index::NONE });
        return is_explored(&program).then(|| law(lease::SERVICE.any(&program)));
    }
    if let Some(scenario) = scenario.of::<Stores>() {
        let program = recipes::as_programs(scenario)?;
        return is_explored(&program).then(|| law(stores::SERVICE.any(&program)));
    }
    if let Some(scenario) = scenario.of::<Redlock>() {
        let program = page::as_programs(scenario);
        return is_explored(&program).then(|| law(redlock::SERVICE.any(&program)));
    }
    if let Some(scenario) = scenario.of::<RabbitMq>() {
        let program = semaphore::as_programs(scenario)?;
        return is_explored(&program).then(|| law(rabbitmq::SERVICE.any(&program)));
    }
    if let Some(scenario) = scenario.of::<Etcd>() {
        let program = etcd::as_programs(scenario)?;
        return is_explored(&program).then(|| law(etcd::SERVICE.any(&program)));
    }
    let program = lock_or_semaphore(scenario.of::<Consul>()?)?;
    is_explored(&program).then(|| law(consul::SERVICE.any(&program)))
}

/// How far a search of a scenario of the catalogue goes with symmetry, and one of a random one; without it, it may have to go further.
const CATALOGUED_STATES: u64 = 1_000;
const RANDOM_STATES: u64 = 400;

/// All six searches of a scenario, and what differs between them; none: the space is too large for this law.
fn differences(scenario: &dyn AnyScenario, most: u64) -> Option<Vec<String>> {
    let by = |engine, workers, symmetry, states| -> Option<Verdicts> {
        let limits = Limits { states: Some(states), ..Limits::default() };
        let found = verdicts(scenario, &Options { engine, workers, symmetry, limits, ..Options::default() });
        found.iter().all(|(_, word, ..)| *word != "bounded").then_some(found)
    };
    let usual = by(Engine::Dataflow, 1, true, most)?;
    let plain = by(Engine::Dataflow, 1, false, 20 * most)?;
    let mut differ = Vec::new();
    let mut compare = |what: &str, found: Option<Verdicts>, with: &Verdicts| {
        if found.as_ref() != Some(with) {
            differ.push(format!("{what}: {found:?}, not {with:?}"));
        }
    };
    compare("two workers", by(Engine::Dataflow, 2, true, most), &usual);
    compare("stateright", by(Engine::Stateright, 1, true, most), &usual);
    compare("two workers, without symmetry", by(Engine::Dataflow, 2, false, 20 * most), &plain);
    compare("stateright, without symmetry", by(Engine::Stateright, 1, false, 20 * most), &plain);
    if words(&plain) != words(&usual) {
        differ.push(format!("symmetry: {usual:?}, without it {plain:?}"));
    }
    Some(differ)
}

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn the_searches_agree_about_the_programs_of_the_catalogue() {
    let mut agreed = 0;
    for scenario in catalogue::all() {
        if let Some(Some(differ)) = with_programs(&*scenario, |program| differences(program, CATALOGUED_STATES)) {
            assert!(differ.is_empty(), "{}: {differ:#?}", scenario.name());
            agreed += 1;
        }
        // The rest is left to the random ones.
        if agreed == CATALOGUED {
            break;
        }
    }
    assert_eq!(agreed, CATALOGUED);
}

/// The number of scenarios of the catalogue that are searched in all ways.
const CATALOGUED: usize = 40;

/// Searches random scenarios with programs until the wanted number was small enough; returns in how many a promise was violated.
fn law(first: u64, wanted: u64) -> u64 {
    let material = Material::of(CATALOGUE);
    let (next, agreed, violated) = (AtomicU64::new(first), AtomicU64::new(0), AtomicU64::new(0));
    let found = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while agreed.load(Relaxed) < wanted {
                    let case = next.fetch_add(1, Relaxed);
                    let scenario = material.scenario(&mut draws(case));
                    let judged = with_programs(&*scenario, |program| {
                        let differ = differences(program, RANDOM_STATES)?;
                        let limits = Limits { states: Some(RANDOM_STATES), ..Limits::default() };
                        let usual = verdicts(program, &Options { limits, ..Options::default() });
                        Some((differ, usual.iter().any(|(_, word, ..)| *word == "violated")))
                    });
                    let Some(Some((differ, is_violated))) = judged else { continue };
                    agreed.fetch_add(1, Relaxed);
                    violated.fetch_add(u64::from(is_violated), Relaxed);
                    if !differ.is_empty() {
                        let mut found = found.lock().expect("no thread panics with it");
                        found.push(format!("scenario {case}: {differ:#?}\n{}", scenario.to_toml()));
                    }
                }
            });
        }
    });
    let found = found.into_inner().expect("no thread panics with it");
    assert!(found.is_empty(), "{} scenarios\n{}", found.len(), found.join("\n"));
    let (drawn, agreed) = (next.into_inner() - first, agreed.into_inner());
    println!("{drawn} drawn, {agreed} small enough, {violated:?} with a violation");
    violated.into_inner()
}

#[test]
fn the_searches_agree_about_random_programs() {
    law(number("FENCEPOST_FIRST_CASE", 0), number("FENCEPOST_CASES", 4));
}

#[test]
#[ignore = "takes minutes: cargo test --tests -- --ignored"]
fn they_agree_about_three_hundred_random_programs() {
    let violated = law(0, 300);
    assert!((30..270).contains(&violated), "{violated} with a violation: the law sees one kind only");
}
