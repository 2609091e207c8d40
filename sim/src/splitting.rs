//! How likely it is that a run breaks a promise which hardly any run breaks: importance splitting with fixed effort (Glasserman,
//! Heidelberger, Shahabuddin, Zajic 1999; Garvels 2000). Danger has levels. Runs set out from the start; those that reach a
//! level are kept as snapshots of world and plans, as they are when they reach it, and the next runs set out from snapshots
//! drawn among them, with chance of their own. The product of the shares that arrive is an unbiased estimate.

use fencepost_model::finding::{Property, Split, Stage};
use fencepost_model::ids::ClientId;
use fencepost_model::monitor::Observed;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Service, Settings as _};
use fencepost_model::time::Ticks;
use fencepost_model::world::World;

use crate::random::{Concern, Stream};
use crate::scheduler::{Realistic, Scheduler};
use crate::settings::Settings;

/// Levels of danger: a client believes to be inside and is not on record; another client is on record then; the promise
/// is violated.
const LEVELS: u8 = 3;

/// A run, stopped.
#[derive(Clone)]
struct Snapshot<P: Service> {
    world: Observed<P>,
    scheduler: Realistic<P>,
    actions: u64,
    is_broken: bool,
}

/// One repetition with this number of runs for each level. The settings say how runs are taken; they end with the storm. The scheduler
/// is the realistic one; the scenario is [`ready`](crate::ready).
pub fn split<P: Service>(scenario: &Scenario<P>, settings: &Settings, promise: Property, effort: u64) -> Split {
    let storm = settings.storm_ticks();
    let start = |run: u64| {
        let world = scenario.observed();
        let pace = (settings.profile.clone(), settings.refinement);
        let scheduler = Realistic::new(mixed(settings.seed, 0, run), pace, None, storm, scenario, &world);
        Snapshot { world, scheduler, actions: 0, is_broken: false }
    };
    let mut choice = Stream::new(settings.seed, Concern::Splitting);
    let mut stages = Vec::new();
    let mut pool: Vec<Snapshot<P>> = Vec::new();
    for level in 1..=LEVELS {
        let mut arrived = Vec::new();
        for run in 0..effort {
            let mut snapshot = match choice.below_length(pool.len()) {
                None => start(run),
                Some(place) => {
                    let mut snapshot = pool[place].clone();
                    snapshot.scheduler.reseed(mixed(settings.seed, level, run));
                    snapshot
                }
            };
            if snapshot.reaches(scenario, level, promise, storm, settings.actions_max) {
                arrived.push(snapshot);
            }
        }
        stages.push(Stage { tried: effort, reached: arrived.len() as u64 });
        if arrived.is_empty() {
            break;
        }
        pool = arrived;
    }
    Split { stages }
}

/// A seed for each run of each stage.
fn mixed(seed: u64, stage: u8, run: u64) -> u64 {
    let mut stream = Stream::new(seed ^ (u64::from(stage) << 56) ^ (run << 20), Concern::Splitting);
    stream.below(u64::MAX)
}

impl<P: Service> Snapshot<P> {
    /// Goes on until the danger has this level, or the storm is over.
    fn reaches(
        &mut self,
        scenario: &Scenario<P>,
        level: u8,
        promise: Property,
        storm: Ticks,
        actions_max: u64,
    ) -> bool {
        // Who has arrived at several levels at once is at this one already.
        if self.is_broken || level < LEVELS && danger(scenario, &self.world) >= level {
            return true;
        }
        while self.world.now.ticks() < storm.count() && self.actions < actions_max {
            let Some(action) = self.scheduler.pick(scenario, &self.world) else { return false };
            let step = self.world.step(scenario, &action);
            self.actions += 1;
            self.is_broken = step.violations.iter().any(|violation| violation.property == promise);
            self.scheduler.learn(scenario, &self.world, &action, &step);
            let is_there = level < LEVELS && !step.facts.is_empty() && danger(scenario, &self.world) >= level;
            if self.is_broken || is_there {
                return true;
            }
        }
        false
    }
}

/// How near the world is to two inside, below the violation itself.
fn danger<P: Service>(scenario: &Scenario<P>, world: &World<P>) -> u8 {
    let owners = P::record(&world.server.process, scenario).owners;
    let is_stale = |client: &ClientId| !owners.contains(client);
    if !world.inside().any(|client| is_stale(&client)) {
        return 0;
    }
    1 + u8::from(owners.len() >= scenario.service.capacity())
}
