//! A run from a seed: storm, then calm, then what it came to.

use std::collections::BTreeSet;

use fencepost_model::finding::Measurement;
use fencepost_model::monitor::Observed;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::trace::{Digest, Patience, Recorder, Trace};
use fencepost_model::world::Action;

use crate::calm::{Calm, Endless};
use crate::coverage::outline;
use crate::measure::Meter;
use crate::scheduler::{Priorities, Realistic, Scheduler, SchedulerKind, Uniform};
use crate::settings::Settings;
use crate::swarm::Swarm;
use crate::walk::{Violation, Walk};

/// With more clients than this, messages lie in a tree.
const CROWD: usize = 64;

/// What an execution from a seed came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Run<P: Service> {
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
    /// The execution.
    pub trace: Trace<P>,
}

/// What a run comes to, without its trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gist {
    /// One number for all of it.
    pub digest: String,
    /// How many actions.
    pub actions: u64,
    /// How many of them are more than time that passes.
    pub events: u64,
    /// How much time went by, on the refined clock.
    pub ticks: i64,
    /// Whether it came to rest by itself.
    pub is_at_rest: bool,
    /// The first violation of each promise that broke.
    pub violations: Vec<Violation>,
    /// What the run measured, if it was to.
    pub measurement: Option<Measurement>,
}

/// Takes a run of a scenario that was prepared, and writes nothing down.
pub fn gist<P: Service>(scenario: &Scenario<P>, settings: &Settings) -> Gist {
    let walk = take(scenario, settings, false);
    Gist {
        digest: walk.digest.hex(),
        actions: walk.taken,
        events: walk.events,
        ticks: walk.end.ticks(),
        is_at_rest: walk.is_at_rest,
        violations: walk.violations,
        measurement: walk.measurement,
    }
}

/// The scenario that is simulated, checked.
///
/// # Panics
/// The refinement is not positive, or the scenario is impossible once it is refined: its `validate` says why.
pub fn ready<P: Service>(scenario: &Scenario<P>, settings: &Settings) -> Scenario<P> {
    let scenario = prepare(scenario, settings);
    if let Err(mistake) = scenario.validate() {
        panic!("the scenario `{}` is impossible: {mistake}", scenario.name);
    }
    scenario
}

/// Simulates a scenario, and records the trace.
///
/// # Panics
/// See [`ready`].
pub fn simulate<P: Service>(scenario: &Scenario<P>, settings: &Settings) -> Run<P> {
    let scenario = ready(scenario, settings);
    let walk = walk(&scenario, settings);
    let trace = record(&scenario, settings, &walk);
    // A check for free on every run that is told: its actions were carried out twice.
    assert_eq!(trace.header.digest, walk.digest.hex(), "the same actions did something else the second time");
    Run {
        scenario: scenario.name.clone(),
        seed: settings.seed,
        digest: walk.digest.hex(),
        actions: walk.taken,
        ticks: walk.end.ticks(),
        is_at_rest: walk.is_at_rest,
        violations: walk.violations,
        trace,
    }
}

/// The scenario that is simulated: refined, and widened if that is wanted.
pub fn prepare<P: Service>(scenario: &Scenario<P>, settings: &Settings) -> Scenario<P> {
    assert!(settings.refinement > 0, "a clock must tick");
    let clients = settings.clients.unwrap_or(scenario.clients);
    let rounds = settings.rounds.unwrap_or(scenario.rounds);
    scenario.widened(clients, rounds).refined(settings.refinement)
}

/// Takes a run of a scenario that was prepared.
pub fn walk<P: Service>(scenario: &Scenario<P>, settings: &Settings) -> Walk<P> {
    take(scenario, settings, true)
}

fn take<P: Service>(scenario: &Scenario<P>, settings: &Settings, keeps: bool) -> Walk<P> {
    let state = scenario.observed();
    let storm = settings.storm_ticks();
    match settings.scheduler {
        SchedulerKind::Uniform => drive(scenario, state, Uniform::new(settings.seed), (storm, keeps), settings),
        SchedulerKind::Realistic => {
            let pace = (settings.profile.clone(), settings.refinement);
            let scheduler = Realistic::new(settings.seed, pace, None, storm, scenario, &state);
            drive(scenario, state, scheduler, (storm, keeps), settings)
        }
        SchedulerKind::Swarm => {
            let swarm = Swarm::of(settings.seed);
            let pace = (swarm.profile(&settings.profile), settings.refinement);
            let scheduler = Realistic::new(settings.seed, pace, Some(&swarm), storm, scenario, &state);
            drive(scenario, state, scheduler, (storm, keeps), settings)
        }
        SchedulerKind::Priorities => drive(scenario, state, Priorities::new(settings.seed), (storm, keeps), settings),
    }
}

fn drive<P: Service>(
    scenario: &Scenario<P>,
    mut state: Observed<P>,
    mut scheduler: impl Scheduler<P>,
    (storm, keeps): (Ticks, bool),
    settings: &Settings,
) -> Walk<P> {
    let mut walk = Walk {
        actions: Vec::new(),
        taken: 0,
        events: 0,
        end: state.now,
        digest: Digest::default(),
        is_at_rest: false,
        violations: Vec::new(),
        waits: Vec::new(),
        outlines: BTreeSet::new(),
        measurement: None,
    };
    if state.clients.len() > CROWD {
        state.world.network.spread();
    }
    let mut meter = settings.measures.then(|| Meter::new(state.clients.len()));
    let endless = Endless::of(scenario, settings);
    let mut calm: Option<Calm> = None;
    while walk.taken < settings.actions_max {
        if calm.is_none() && state.now >= Instant::START + storm {
            if settings.ends_with_storm {
                break;
            }
            scheduler.calm(scenario, &state);
            calm = Some(Calm { from: walk.place(), patience: Patience::new(scenario, &state) });
        }
        let action = match scheduler.pick(scenario, &state) {
            Some(action) => {
                walk.is_at_rest = false;
                action
            }
            // Nothing is left to happen. Whoever keeps trying all the same has a calm to wait in.
            None => {
                let wait = if calm.is_some() { endless.bound_of_all() } else { storm - (state.now - Instant::START) };
                let action = Action::Advance(wait);
                let matters = settings.ends_with_storm || !endless.properties.is_empty();
                let is_waited = matters && state.waiting().next().is_some();
                if walk.is_at_rest || !is_waited || !scenario.is_enabled(&state, &action) {
                    walk.is_at_rest = true;
                    break;
                }
                walk.is_at_rest = calm.is_some();
                action
            }
        };
        let step = state.step(scenario, &action);
        if let Some(meter) = &mut meter {
            meter.look(scenario, &state, &action, &step);
        }
        walk.taken += 1;
        walk.events += u64::from(!matches!(action, Action::Advance(_)));
        if keeps {
            walk.actions.push(action);
        }
        walk.digest.add(state.now, &action, &step);
        if settings.collects {
            walk.outlines.insert(outline(scenario, &state));
        }
        for breach in &step.violations {
            walk.note(breach.property, || breach.message.clone());
        }
        if let Some(calm) = calm.as_mut().filter(|_| !endless.properties.is_empty()) {
            calm.patience.look(scenario, &state, &step.facts);
            endless.judge(scenario, &state, calm, &mut walk);
        }
        if settings.until_broken && !walk.violations.is_empty() {
            break;
        }
        scheduler.learn(scenario, &state, &action, &step);
    }
    walk.end = state.now;
    walk.measurement = meter.map(|meter| meter.finish(state.now));
    walk
}

fn record<P: Service>(scenario: &Scenario<P>, settings: &Settings, walk: &Walk<P>) -> Trace<P> {
    let mut state = scenario.observed();
    let mut recorder = Recorder::default();
    for action in &walk.actions {
        recorder.step(scenario, &mut state, action);
    }
    let origin = format!("simulator, {}", settings.scheduler.name());
    let mut trace = recorder.finish(scenario, &origin, Some(settings.seed));
    trace.header.waits.clone_from(&walk.waits);
    trace
}
