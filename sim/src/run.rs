//! A run from a seed: storm, then calm, then what it came to.

use std::collections::BTreeSet;
use std::convert::Infallible;

use fencepost_model::finding::Measurement;
use fencepost_model::monitor::Observed;
use fencepost_model::program::{in_place, scoped};
use fencepost_model::scenario::{Scenario, UNLIMITED};
use fencepost_model::service::Service;
use fencepost_model::time::Ticks;
use fencepost_model::trace::{Digest, Patience, Recorder, Trace};
use fencepost_model::world::{Action, World};

use crate::calm::{Calm, Endless};
use crate::coverage::outline;
use crate::measure::Meter;
use crate::scheduler::{Priorities, Realistic, Scheduler, SchedulerError, SchedulerKind, Uniform, check};
use crate::settings::Settings;
use crate::swarm::Swarm;
use crate::walk::{Violation, Walk};

/// How many rounds a run has where the scenario has no end of them: a run comes to rest.
const ROUNDS: u8 = 16;

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
pub struct RunSummary {
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
pub fn summarize<P: Service>(scenario: &Scenario<P>, settings: &Settings) -> RunSummary {
    let walk = take(scenario, settings, false);
    RunSummary {
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
/// See [`ready`]; or a program is not deterministic, or wrong in another way.
pub fn simulate<P: Service>(scenario: &Scenario<P>, settings: &Settings) -> Run<P> {
    let scenario = ready(scenario, settings);
    // In one scope, and with states stored: the laps of the recording are compared with those of the run.
    scoped(|| {
        let walk = run(&scenario, settings, true);
        recorded(&scenario, settings, settings.scheduler.name(), walk)
    })
}

/// Simulates a scenario with a scheduler from anywhere, and records the trace. Of the settings, seed and profile are for the
/// schedulers of this crate; a scheduler that picks from [`offers`](crate::offers) moves tick by tick and wants
/// `refinement: 1`. The scheduler sees the scenario as it is simulated: refined and widened.
///
/// # Errors
/// The scheduler picked an action that is not enabled, or a fault in the calm.
///
/// # Panics
/// See [`ready`].
pub fn simulate_with<P: Service>(
    scenario: &Scenario<P>,
    settings: &Settings,
    scheduler: impl Scheduler<P>,
) -> Result<Run<P>, SchedulerError> {
    let scenario = ready(scenario, settings);
    let (plan, name) = ((settings.storm_ticks(), true), scheduler.name().to_owned());
    scoped(|| {
        let walk = drive(&scenario, scenario.observed(), scheduler, plan, settings, check)?;
        Ok(recorded(&scenario, settings, &name, walk))
    })
}

/// An execution, with its trace.
fn recorded<P: Service>(scenario: &Scenario<P>, settings: &Settings, scheduler: &str, walk: Walk<P>) -> Run<P> {
    let trace = record(scenario, settings, scheduler, &walk);
    // A free check of every recorded run: its actions were carried out twice.
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
    let rounds = settings.rounds.unwrap_or(if scenario.rounds == UNLIMITED { ROUNDS } else { scenario.rounds });
    scenario.widened(clients, rounds).refined(settings.refinement)
}

/// Takes a run of a scenario that was prepared. Laps of programs are not compared.
pub fn walk<P: Service>(scenario: &Scenario<P>, settings: &Settings) -> Walk<P> {
    take(scenario, settings, true)
}

fn take<P: Service>(scenario: &Scenario<P>, settings: &Settings, keeps: bool) -> Walk<P> {
    // No state leaves the run, and none is looked at after its next step.
    in_place(|| run(scenario, settings, keeps))
}

fn run<P: Service>(scenario: &Scenario<P>, settings: &Settings, keeps: bool) -> Walk<P> {
    let state = scenario.observed();
    let storm = settings.storm_ticks();
    let plan = (storm, keeps);
    match settings.scheduler {
        SchedulerKind::Uniform => trusting(scenario, state, Uniform::new(settings.seed), plan, settings),
        SchedulerKind::Realistic => {
            let pace = (settings.profile.clone(), settings.refinement);
            let scheduler = Realistic::new(settings.seed, pace, None, storm, scenario, &state);
            trusting(scenario, state, scheduler, plan, settings)
        }
        SchedulerKind::Swarm => {
            let swarm = Swarm::of(settings.seed);
            let pace = (swarm.profile(&settings.profile), settings.refinement);
            let scheduler = Realistic::new(settings.seed, pace, Some(&swarm), storm, scenario, &state);
            trusting(scenario, state, scheduler, plan, settings)
        }
        SchedulerKind::Priorities => trusting(scenario, state, Priorities::new(settings.seed), plan, settings),
    }
}

/// Drives a scheduler of this crate: tests check its picks, and not each run.
fn trusting<P: Service>(
    scenario: &Scenario<P>,
    state: Observed<P>,
    scheduler: impl Scheduler<P>,
    plan: (Ticks, bool),
    settings: &Settings,
) -> Walk<P> {
    let Ok(walk) = drive(scenario, state, scheduler, plan, settings, |_, _, _, _| Ok::<(), Infallible>(()));
    walk
}

fn drive<P: Service, X: Scheduler<P>, E>(
    scenario: &Scenario<P>,
    mut state: Observed<P>,
    mut scheduler: X,
    (storm, keeps): (Ticks, bool),
    settings: &Settings,
    check: impl Fn(&X, (&Scenario<P>, &World<P>), &Action<P>, (u64, bool)) -> Result<(), E>,
) -> Result<Walk<P>, E> {
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
    let begin = state.now;
    let mut meter = settings.measures.then(|| Meter::new(state.clients.len()));
    let endless = Endless::of(scenario, settings);
    let mut calm: Option<Calm> = None;
    while walk.taken < settings.actions_max {
        if calm.is_none() && state.now >= begin + storm {
            if settings.ends_with_storm {
                break;
            }
            scheduler.calm(scenario, &state);
            calm = Some(Calm { from: walk.place(), patience: Patience::new(scenario, &state) });
        }
        let action = match scheduler.pick(scenario, &state) {
            Some(action) => {
                check(&scheduler, (scenario, &state), &action, (walk.taken, calm.is_some()))?;
                walk.is_at_rest = false;
                action
            }
            // No action is left. A waiting client still has a calm to wait in.
            None => {
                let wait = if calm.is_some() { endless.bound_of_all() } else { storm - (state.now - begin) };
                let action = Action::Advance(wait);
                let matters = settings.ends_with_storm || !endless.properties.is_empty();
                let is_left =
                    |state: &World<P>| state.waiting().next().is_some() || !state.unhandled(scenario).is_empty();
                let is_waited = matters && is_left(&state);
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
        for violation in &step.violations {
            walk.note(violation.property, || violation.message.clone());
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
    Ok(walk)
}

fn record<P: Service>(scenario: &Scenario<P>, settings: &Settings, scheduler: &str, walk: &Walk<P>) -> Trace<P> {
    let origin = format!("simulator, {scheduler}");
    let mut trace = scoped(|| {
        let mut state = scenario.observed();
        let mut recorder = Recorder::default();
        for action in &walk.actions {
            recorder.step(scenario, &mut state, action);
        }
        recorder.finish(scenario, &origin, Some(settings.seed))
    });
    trace.header.waits.clone_from(&walk.waits);
    trace
}
