//! Where searches in this process did not follow a lap any further.
//!
//! The place is no part of a state: states that differ only in it are one. A search takes every step of a program once at least, so the
//! least of all places is the same for any number of threads.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;

use super::Programmable;
use super::intern::hash_of;
use crate::scenario::Scenario;
use crate::service::Service;

/// The least place of each scenario, by its text without promises.
static PLACES: Mutex<BTreeMap<u64, String>> = Mutex::new(BTreeMap::new());

/// The number of scenarios that are remembered.
const SCENARIOS_MAX: usize = 1_024;

thread_local! {
    /// The scenario of the last place that this thread noted, and its key: a search may cut a great many laps.
    static LAST: RefCell<Option<(Box<dyn Any>, u64)>> = const { RefCell::new(None) };
}

fn key<P: Service>(scenario: &Scenario<P>) -> u64 {
    hash_of(&scenario.judging(|_| false).to_toml())
}

fn key_of_last<P: Service>(scenario: &Scenario<P>) -> u64 {
    LAST.with_borrow_mut(|last| match last {
        Some((known, key)) if known.downcast_ref() == Some(scenario) => *key,
        _ => last.insert((Box::new(scenario.clone()), key(scenario))).1,
    })
}

/// Notes a place.
pub(super) fn note<S: Programmable>(scenario: &Scenario<S>, place: String) {
    let key = key_of_last(scenario);
    let mut places = PLACES.lock().expect("no thread panics while it holds the lock");
    if places.len() >= SCENARIOS_MAX && !places.contains_key(&key) {
        places.clear();
    }
    match places.get_mut(&key) {
        Some(least) if *least <= place => {}
        Some(least) => *least = place,
        None => drop(places.insert(key, place)),
    }
}

/// Where a lap of a program was cut in a search of this scenario: the program, the value at the head of its lap, and what it was told last.
/// Of several places the first by name. None: no lap was cut in this process.
pub fn cut_place<P: Service>(scenario: &Scenario<P>) -> Option<String> {
    PLACES.lock().expect("no thread panics while it holds the lock").get(&key(scenario)).cloned()
}
