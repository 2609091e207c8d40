//! When each step of an execution happens: real times in the order of the trace, such that every deadline is kept or missed as there.
//!
//! ```text
//! event      a step, and what it means for the server
//! origin     where a stored instant comes from
//! twin       the execution at a finer resolution
//! build      the steps with the constraints on their times
//! bounds     deadlines, leases, bounds on delays
//! delays     which lock-delays are on
//! server     what an action means for the server
//! obstacles  what cannot be caused from outside
//! solve      difference constraints
//! verify     the schedule is an execution of the model, with the same violation
//! ```

mod bounds;
mod build;
mod delays;
mod event;
mod obstacles;
mod origin;
mod server;
mod solve;
mod twin;
mod verify;

use fencepost_consul::{Consul, ConsulFault};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_model::trace::Trace;
use fencepost_model::world::{Action, Fault};

use crate::outcome::{Obstacle, ReenactmentOutcome};
pub(crate) use event::{AtServer, Expected, PlannedStep};
pub use solve::{Edge, Margin, Pace, Schedule, Unsolvable, solve};

/// An execution as it is to happen at a server.
#[derive(Debug)]
pub struct ReenactmentPlan {
    /// Its steps, without the passages of time.
    pub(crate) steps: Vec<PlannedStep>,
    /// Real times.
    pub schedule: Schedule,
    /// The longest delay that is none in the scenario, in milliseconds, if there is one.
    pub stretch: Option<i64>,
}

/// Why an execution cannot be planned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanError {
    /// It will not happen.
    Hopeless(ReenactmentOutcome),
    /// The trace is no execution of this model; why not.
    NoExecution(String),
}

/// The longest tick, in milliseconds.
const TICK_MAX: i64 = 120_000;

/// The shortest TTL of a session, in milliseconds, with `session_ttl_min = "1s"`. C-SES-7.
const TTL_MIN: i64 = 1_000;

/// C-LD-3: the longest lock-delay, in milliseconds.
const LOCK_DELAY_MAX: i64 = 60_000;

/// A delay that is none in the scenario is shorter than this part of a tick.
const PROMPT_PARTS: i64 = 4;

/// The shortest tick, in milliseconds, of a scenario without TTLs.
const TICK_MIN: i64 = 200;

/// Plans an execution. `restarts` says whether the server can be restarted; `scale` multiplies every margin.
///
/// # Errors
/// It cannot happen at a server that is only asked from outside; or the trace is no execution.
pub fn plan(trace: &Trace<Consul>, restarts: bool, scale: i64) -> Result<ReenactmentPlan, PlanError> {
    let draft = build::draft(trace, restarts)?;
    let ticks = tick_range(trace)?;
    let is_prompt = draft.edges.iter().any(|edge| edge.margin == Margin::Prompt);
    let solution = paces(scale).find_map(|pace| {
        let least = if is_prompt { ticks.0.max(PROMPT_PARTS * pace.prompt) } else { ticks.0 };
        Some(solve(draft.instants, &draft.edges, pace, (least, ticks.1))).filter(Result::is_ok)
    });
    let last = paces(scale).last().expect("there are some");
    let solution = solution.unwrap_or_else(|| solve(draft.instants, &draft.edges, last, ticks));
    let schedule = solution.map_err(|why| PlanError::Hopeless(draft.refusal(why)))?;
    verify::verify(trace, &draft.steps, &schedule).map_err(|why| {
        let why = format!("the schedule is no execution of the model: {why}");
        PlanError::Hopeless(ReenactmentOutcome::Undecided { why })
    })?;
    let at = &schedule.at;
    let prompt = draft.edges.iter().filter(|edge| edge.margin == Margin::Prompt);
    let stretch = prompt.map(|edge| at[edge.from] - at[edge.to] + edge.ticks * schedule.tick).max();
    Ok(ReenactmentPlan { steps: draft.steps, stretch: stretch.filter(|stretch| *stretch > 0), schedule })
}

/// Whether the server restarts in an execution: then nothing else can go on at it.
pub fn is_restarted(trace: &Trace<Consul>) -> bool {
    trace.steps.iter().any(|step| step.action == Action::Fault(Fault::Service(ConsulFault::Restart)))
}

/// The same scenario with prompt timers of the server, as a real one has them; and this one with instants between two ticks, too. Other
/// counterexamples are found there, which may happen where the first one needs a late timer or exact simultaneity. Each with what is other.
pub fn narrower(scenario: &Scenario<Consul>) -> [(&'static str, Scenario<Consul>); 2] {
    let mut prompt = scenario.clone();
    prompt.synchrony.server_delay = Some(Ticks::ZERO);
    let fine = prompt.refined(2);
    [("with prompt timers of the server", prompt), ("with prompt timers of the server, and half ticks", fine)]
}

/// What is kept clear, the more the better: at first of every deadline; then those that clients keep by their own clocks, which are
/// ours, are met exactly. Delays that are none are as short as they can be.
fn paces(scale: i64) -> impl Iterator<Item = Pace> {
    let rows = [50, 0].into_iter().flat_map(|client| [50, 100, 150, 250].map(|prompt| (client, prompt)));
    rows.map(move |(client, prompt)| Pace {
        request: 25 * scale,
        prompt: prompt * scale,
        server: 50 * scale,
        client: client * scale,
        lateness: 100 * scale,
    })
}

/// The shortest and the longest tick with which every TTL and lock-delay is one that the server takes.
fn tick_range(trace: &Trace<Consul>) -> Result<(i64, i64), PlanError> {
    let settings = &trace.header.scenario.service;
    let least = settings.ttl.map_or(TICK_MIN, |ttl| (TTL_MIN + ttl.count() - 1) / ttl.count().max(1)).max(1);
    let delay = settings.lock_delay.count();
    let Some(most) = settings.lock_delay_max.map(|most| most.count()).filter(|most| delay > *most) else {
        let most = if delay > 0 { LOCK_DELAY_MAX / delay } else { TICK_MAX };
        return Ok((least, most.min(TICK_MAX)));
    };
    // The cap has an effect: it must be the server's own.
    let other_server = PlanError::Hopeless(ReenactmentOutcome::Outside { step: 0, needs: Obstacle::OtherServer });
    if most == 0 || LOCK_DELAY_MAX % most != 0 || LOCK_DELAY_MAX / most < least {
        return Err(other_server);
    }
    Ok((LOCK_DELAY_MAX / most, LOCK_DELAY_MAX / most))
}
