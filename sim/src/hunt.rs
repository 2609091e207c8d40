//! Hunting: one run from each seed of a range, on all cores, until one breaks a promise. The answer is the smallest such
//! seed, whoever finds what first.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use fencepost_model::catalogue::AnyScenario;
use fencepost_model::properties::Property;
use fencepost_model::protocol::Protocol;
use fencepost_model::scenario::Scenario;
use fencepost_model::with_scenario;

use crate::run::{Settings, prepare, walk};

/// How to hunt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hunt {
    /// How each run is taken; its seed is not used.
    pub settings: Settings,
    /// Which seeds, from the first to before the last.
    pub seeds: Range<u64>,
    /// On how many threads.
    pub workers: usize,
    /// Which promises; none: all of the scenario.
    pub only: Vec<Property>,
}

/// What a hunt came to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Hunted {
    /// The smallest seed whose run breaks a promise.
    pub seed: Option<u64>,
    /// How many seeds up to that one, or how many in all.
    pub tried: u64,
    /// Whether it was called off before the end of the range.
    pub was_stopped: bool,
}

/// Hunts in a scenario of any protocol. `is_over` is told how many seeds were tried so far, and may call the hunt off.
///
/// # Panics
/// The scenario is impossible once it is refined: its `validate` says why.
pub fn hunt_any(scenario: &AnyScenario, hunt: &Hunt, is_over: &(dyn Fn(u64) -> bool + Sync)) -> Hunted {
    with_scenario!(scenario, scenario => hunt_one(scenario, hunt, is_over))
}

fn hunt_one<P: Protocol>(scenario: &Scenario<P>, hunt: &Hunt, is_over: &(dyn Fn(u64) -> bool + Sync)) -> Hunted {
    let judged = scenario.judging(|promise| hunt.only.is_empty() || hunt.only.contains(&promise.property));
    let prepared = prepare(&judged, &hunt.settings);
    if let Err(mistake) = prepared.validate() {
        panic!("the scenario `{}` is impossible: {mistake}", prepared.name);
    }
    let (next, tried) = (AtomicU64::new(hunt.seeds.start), AtomicU64::new(0));
    // Beyond the smallest seed that was found there is nothing to look for; below it everything was taken by somebody.
    let end = AtomicU64::new(hunt.seeds.end);
    let stop = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..hunt.workers.max(1) {
            scope.spawn(|| {
                while stop.load(Relaxed) == 0 {
                    let seed = next.fetch_add(1, Relaxed);
                    if seed >= end.load(Relaxed) {
                        break;
                    }
                    if is_broken(&prepared, &Settings { seed, ..hunt.settings.clone() }) {
                        end.fetch_min(seed, Relaxed);
                    }
                    if is_over(tried.fetch_add(1, Relaxed) + 1) {
                        stop.store(1, Relaxed);
                    }
                }
            });
        }
    });
    let (end, was_stopped) = (end.into_inner(), stop.into_inner() != 0);
    let found = (end < hunt.seeds.end).then_some(end);
    let tried = found.map_or(tried.into_inner(), |seed| seed - hunt.seeds.start + 1);
    Hunted { seed: found, tried, was_stopped }
}

fn is_broken<P: Protocol>(scenario: &Scenario<P>, settings: &Settings) -> bool {
    !walk(scenario, &Settings { until_broken: true, ..settings.clone() }).violations.is_empty()
}
