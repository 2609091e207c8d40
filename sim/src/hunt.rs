//! Hunting: one run from each seed of a range, on all cores, until one breaks a promise. The answer is the smallest such
//! seed, in whatever order the threads finish.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;

use crate::coverage::Coverage;
use crate::run::{prepare, walk};
use crate::settings::Settings;

/// How to hunt.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hunt {
    /// How each run is taken; its seed is not used.
    pub settings: Settings,
    /// Which seeds, from the first to before the last.
    pub seeds: Range<u64>,
    /// On how many threads.
    pub workers: usize,
    /// Which promises; none: all of the scenario.
    pub only: Vec<Property>,
    /// Whether each run is taken twice, and must be the same.
    pub twice: bool,
    /// Whether all seeds are tried, to see what they show.
    pub covers: bool,
    /// Whether seeds are tried until each promise has broken, and not only one of them.
    pub each: bool,
}

/// The result of a hunt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hunted {
    /// The smallest seed whose run breaks a promise.
    pub seed: Option<u64>,
    /// If each promise was hunted for: those that broke, in the order of the scenario, with the smallest seed whose run breaks it.
    pub each: Vec<(Property, u64)>,
    /// How many seeds up to that one, or how many in all.
    pub tried: u64,
    /// Whether it was called off before the end of the range.
    pub was_stopped: bool,
    /// The smallest seed whose run was another one the second time: a fault of the model, or of fencepost.
    pub differs: Option<u64>,
    /// What the seeds have shown, if they were to cover as much as they can.
    pub coverage: Coverage,
}

/// Searches the seeds of a scenario for a violation. `is_over` receives the number of finished seeds, and may stop the hunt.
///
/// # Panics
/// The scenario is impossible once it is refined: its `validate` says why. Or a client's program is wrong: a
/// [`ProgramError`](fencepost_model::program::ProgramError) is behind the message.
pub fn hunt<P: Service>(scenario: &Scenario<P>, hunt: &Hunt, is_over: &(dyn Fn(u64) -> bool + Sync)) -> Hunted {
    let judged = scenario.judging(|promise| hunt.only.is_empty() || hunt.only.contains(&promise.property));
    let prepared = prepare(&judged, &hunt.settings);
    if let Err(mistake) = prepared.validate() {
        panic!("the scenario `{}` is impossible: {mistake}", prepared.name);
    }
    let (next, tried) = (AtomicU64::new(hunt.seeds.start), AtomicU64::new(0));
    // Seeds beyond the smallest hit do not matter; every seed below it was taken by some thread.
    let end = AtomicU64::new(hunt.seeds.end);
    let (found, differs) = (AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX));
    let each: Vec<(Property, AtomicU64)> =
        prepared.promises.iter().map(|promise| (promise.property, AtomicU64::new(u64::MAX))).collect();
    let stop = AtomicBool::new(false);
    let coverage = Mutex::new(Coverage::default());
    thread::scope(|scope| {
        let work = || {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    // The last number is the end of a range at most, and no seed.
                    let Ok(seed) = next.fetch_update(Relaxed, Relaxed, |seed| seed.checked_add(1)) else { break };
                    if seed >= end.load(Relaxed) {
                        break;
                    }
                    let settings = Settings { seed, ..hunt.settings.clone() };
                    let until_broken = !hunt.covers && !hunt.each;
                    let settings = Settings { until_broken, collects: hunt.covers, ..settings };
                    let taken = walk(&prepared, &settings);
                    let is_broken = !taken.violations.is_empty();
                    if is_broken {
                        found.fetch_min(seed, Relaxed);
                    }
                    let is_another = hunt.twice && walk(&prepared, &settings).digest.hex() != taken.digest.hex();
                    if is_another {
                        differs.fetch_min(seed, Relaxed);
                    }
                    if is_another || is_broken && until_broken {
                        end.fetch_min(seed, Relaxed);
                    }
                    if hunt.each {
                        let broken = |property| taken.violations.iter().any(|violation| violation.property == property);
                        let newly = each.iter().filter(|(property, _)| broken(*property));
                        newly.for_each(|(_, smallest)| _ = smallest.fetch_min(seed, Relaxed));
                        // The last of the smallest seeds is the end, once every promise has one.
                        let last = each.iter().map(|(_, smallest)| smallest.load(Relaxed)).max();
                        if let Some(last) = last.filter(|_| !hunt.covers) {
                            end.fetch_min(last, Relaxed);
                        }
                    }
                    if hunt.covers {
                        coverage
                            .lock()
                            .expect("no thread panics while it holds the coverage")
                            .add(seed, &taken.outlines);
                    }
                    if is_over(tried.fetch_add(1, Relaxed) + 1) {
                        stop.store(true, Relaxed);
                    }
                }
            })
        };
        let workers: Vec<_> = (0..hunt.workers.max(1)).map(|_| work()).collect();
        for worker in workers {
            // A panic keeps its message, for a program of the user's may be to blame.
            if let Err(panic) = worker.join() {
                stop.store(true, Relaxed);
                resume_unwind(panic);
            }
        }
    });
    let some = |seed: AtomicU64| Some(seed.into_inner()).filter(|seed| *seed < u64::MAX);
    let (seed, differs, end) = (some(found), some(differs), end.into_inner());
    let tried = if end < hunt.seeds.end && !hunt.each { end - hunt.seeds.start + 1 } else { tried.into_inner() };
    let coverage = coverage.into_inner().expect("no thread panics while it holds the coverage");
    let each = each.into_iter().filter_map(|(property, seed)| Some((property, some(seed)?))).collect();
    Hunted { each, seed: seed.filter(|seed| *seed <= end), tried, was_stopped: stop.into_inner(), differs, coverage }
}
