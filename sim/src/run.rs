//! A run from a seed: storm, then calm, then what it came to.

use fencepost_model::catalogue::AnyScenario;
use fencepost_model::properties::Property;
use fencepost_model::protocol::Protocol;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::trace::{Digest, Recorder, Trace};
use fencepost_model::with_scenario;
use fencepost_model::world::{Action, World};

use crate::profile::Profile;
use crate::scheduler::{Priorities, Realistic, Scheduler, SchedulerKind, Uniform};
use crate::swarm::Swarm;

/// How to simulate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The seed: with the scenario and these settings it determines every byte.
    pub seed: u64,
    /// Who picks.
    pub scheduler: SchedulerKind,
    /// How much finer the clock is than the scenario's; see [`SchedulerKind::refinement`].
    pub refinement: i64,
    /// How many clients, if not as many as the scenario has.
    pub clients: Option<u16>,
    /// How many rounds, if not as many as the scenario has.
    pub rounds: Option<u8>,
    /// After how many ticks of the scenario nothing goes wrong any more.
    pub storm: i64,
    /// After how many actions the run ends if it does not come to rest before.
    pub actions_max: u64,
    /// Whether the run ends with the first promise that it breaks.
    pub until_broken: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 0,
            scheduler: SchedulerKind::Realistic,
            refinement: 1000,
            clients: None,
            rounds: None,
            storm: 60,
            actions_max: 100_000,
            until_broken: false,
        }
    }
}

/// A promise that broke, for the first time in the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Which one.
    pub property: Property,
    /// At which step, from 1.
    pub step: u64,
    /// How, as a sentence.
    pub message: String,
}

/// What a run came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The scenario's name.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// One number for all of it.
    pub digest: String,
    /// How many actions.
    pub actions: u64,
    /// How much time went by, on the refined clock.
    pub ticks: i64,
    /// Whether it came to rest by itself.
    pub is_at_rest: bool,
    /// The first violation of each promise that broke.
    pub violations: Vec<Violation>,
    /// The run as a trace file.
    pub trace: String,
}

/// Simulates a scenario of any protocol.
pub fn simulate_any(scenario: &AnyScenario, settings: &Settings) -> Run {
    with_scenario!(scenario, scenario => simulate_one(scenario, settings))
}

/// Simulates a scenario.
///
/// # Panics
/// The refinement is not positive, or the scenario is impossible once it is refined: its `validate` says why.
pub fn simulate<P: Protocol>(scenario: &Scenario<P>, settings: &Settings) -> Run
where
    Scenario<P>: Into<AnyScenario>,
{
    simulate_any(&scenario.clone().into(), settings)
}

fn simulate_one<P: Protocol>(scenario: &Scenario<P>, settings: &Settings) -> Run {
    let scenario = prepare(scenario, settings);
    if let Err(mistake) = scenario.validate() {
        panic!("the scenario `{}` is impossible: {mistake}", scenario.name);
    }
    let walk = walk(&scenario, settings);
    Run {
        scenario: scenario.name.clone(),
        seed: settings.seed,
        digest: walk.digest.hex(),
        actions: walk.actions.len() as u64,
        ticks: walk.end.ticks(),
        is_at_rest: walk.is_at_rest,
        violations: walk.violations,
        trace: record(&scenario, settings, &walk.actions).to_text(),
    }
}

/// The scenario that is simulated: refined, and widened if that is wanted.
pub fn prepare<P: Protocol>(scenario: &Scenario<P>, settings: &Settings) -> Scenario<P> {
    assert!(settings.refinement > 0, "a clock must tick");
    let clients = settings.clients.unwrap_or(scenario.clients);
    let rounds = settings.rounds.unwrap_or(scenario.rounds);
    scenario.widened(clients, rounds).refined(settings.refinement)
}

/// A run as it is taken, before anybody writes it down.
pub struct Walk<P: Protocol> {
    /// What happened.
    pub actions: Vec<Action<P>>,
    /// When it ended.
    pub end: Instant,
    /// One number for all of it.
    pub digest: Digest,
    /// Whether it came to rest by itself.
    pub is_at_rest: bool,
    /// The first violation of each promise.
    pub violations: Vec<Violation>,
}

/// Takes a run of a scenario that was prepared.
pub fn walk<P: Protocol>(scenario: &Scenario<P>, settings: &Settings) -> Walk<P> {
    let world = scenario.start();
    let storm = Ticks::new(settings.storm.saturating_mul(settings.refinement));
    match settings.scheduler {
        SchedulerKind::Uniform => drive(scenario, world, Uniform::new(settings.seed), storm, settings),
        SchedulerKind::Realistic => {
            let profile = Profile::realistic(settings.refinement);
            let scheduler = Realistic::new(settings.seed, profile, None, storm, scenario, &world);
            drive(scenario, world, scheduler, storm, settings)
        }
        SchedulerKind::Swarm => {
            let swarm = Swarm::of(settings.seed);
            let profile = swarm.profile(settings.refinement);
            let scheduler = Realistic::new(settings.seed, profile, Some(&swarm), storm, scenario, &world);
            drive(scenario, world, scheduler, storm, settings)
        }
        SchedulerKind::Priorities => drive(scenario, world, Priorities::new(settings.seed), storm, settings),
    }
}

fn drive<P: Protocol>(
    scenario: &Scenario<P>,
    mut world: World<P>,
    mut scheduler: impl Scheduler<P>,
    storm: Ticks,
    settings: &Settings,
) -> Walk<P> {
    let mut walk = Walk {
        actions: Vec::new(),
        end: world.now,
        digest: Digest::default(),
        is_at_rest: false,
        violations: Vec::new(),
    };
    let mut is_storm = true;
    while (walk.actions.len() as u64) < settings.actions_max {
        if is_storm && world.now >= Instant::START + storm {
            is_storm = false;
            scheduler.calm(scenario, &world);
        }
        let Some(action) = scheduler.pick(scenario, &world) else {
            walk.is_at_rest = true;
            break;
        };
        let step = scenario.step(&mut world, &action);
        walk.actions.push(action);
        walk.digest.add(world.now, &action, &step);
        for breach in &step.breaches {
            if walk.violations.iter().all(|violation| violation.property != breach.property) {
                let violation = Violation {
                    property: breach.property,
                    step: walk.actions.len() as u64,
                    message: breach.message.clone(),
                };
                walk.violations.push(violation);
            }
        }
        if settings.until_broken && !walk.violations.is_empty() {
            break;
        }
        scheduler.learn(scenario, &world, &action, &step);
    }
    walk.end = world.now;
    walk
}

fn record<P: Protocol>(scenario: &Scenario<P>, settings: &Settings, actions: &[Action<P>]) -> Trace<P> {
    let mut world = scenario.start();
    let mut recorder = Recorder::default();
    for action in actions {
        recorder.step(scenario, &mut world, action);
    }
    recorder.finish(scenario, &format!("simulator, {}", settings.scheduler.name()), Some(settings.seed))
}
