//! When each step of an execution happens: real times in the order of the trace, such that every deadline is kept or missed as there.
//!
//! ```text
//! event      a step, and what it means for the server
//! origin     where a stored instant comes from
//! twin       the execution at a finer resolution
//! build      the steps with the constraints on their times
//! bounds     deadlines, leases, bounds on delays
//! answers    what the server answers
//! solve      difference constraints
//! verify     the schedule is an execution of the model, with the same violation
//! ```

mod answers;
mod bounds;
mod build;
mod event;
mod origin;
mod solve;
mod twin;
mod verify;

use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_model::trace::Trace;

use crate::driven::{Driven, Means};
use crate::outcome::ReenactmentOutcome;
pub(crate) use answers::server_context;
pub use bounds::Bound;
pub(crate) use build::BEGIN;
pub use build::Builder;
pub(crate) use event::Expected;
pub use event::{AtServer, PlannedStep};
pub use solve::{Edge, Margin, Pace, Schedule, TickRange, Unsolvable, solve};

/// An execution as it is to happen at a server.
#[derive(Debug)]
pub struct ReenactmentPlan<S: Driven> {
    /// Its steps, without the passages of time.
    pub(crate) steps: Vec<PlannedStep<S>>,
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

/// A delay that is none in the scenario is shorter than this part of a tick.
const PROMPT_PARTS: i64 = 4;

/// Plans an execution. `scale` multiplies every margin.
///
/// # Errors
/// It cannot happen at a server that is only asked from outside; or the trace is no execution.
pub fn plan<S: Driven>(trace: &Trace<S>, means: Means, scale: i64) -> Result<ReenactmentPlan<S>, PlanError> {
    let trace = &trace.with_prefix();
    let draft = build::draft(trace, means)?;
    let ticks = S::ticks(&trace.header.scenario)?;
    let is_prompt = draft.edges.iter().any(|edge| edge.margin == Margin::Prompt);
    let solution = paces::<S>(scale).find_map(|pace| {
        let least = if is_prompt { ticks.least.max(PROMPT_PARTS * pace.prompt) } else { ticks.least };
        Some(solve(draft.instants, &draft.edges, pace, TickRange { least, ..ticks })).filter(Result::is_ok)
    });
    let last = paces::<S>(scale).last().expect("there are some");
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

/// Whether an execution concerns each user of the server, as a restart does: then nothing else can go on at it.
pub fn is_alone<S: Driven>(trace: &Trace<S>) -> bool {
    trace.with_prefix().steps.iter().any(|step| S::is_alone(S::at_server(&step.action)))
}

/// The same scenario with prompt timers of the server, as a real one has them; and this one with instants between two ticks, too. Other
/// counterexamples are found there, which may happen where the first one needs a late timer or exact simultaneity. Each with what is other.
pub fn narrower<S: Driven>(scenario: &Scenario<S>) -> [(&'static str, Scenario<S>); 2] {
    let mut prompt = scenario.clone();
    prompt.synchrony.server_delay = Some(Ticks::ZERO);
    let fine = prompt.refined(2);
    [("with prompt timers of the server", prompt), ("with prompt timers of the server, and half ticks", fine)]
}

/// What is kept clear, the more the better: at first of every deadline; then those that clients keep by their own clocks, which are
/// ours, are met exactly. Delays that are none are as short as they can be; one may have to last until a timer has been seen that is due.
fn paces<S: Driven>(scale: i64) -> impl Iterator<Item = Pace> {
    let short = [50, 100, 150, 250];
    let long = (S::TIMER_PERIOD > 0).then_some([250, 500].map(|more| S::TIMER_PERIOD + more)).into_iter().flatten();
    let prompts = short.into_iter().chain(long);
    let rows = [50, 0].into_iter().flat_map(move |client| prompts.clone().map(move |prompt| (client, prompt)));
    rows.map(move |(client, prompt)| Pace {
        request: 25 * scale,
        prompt: prompt * scale,
        server: 50 * scale,
        client: client * scale,
        lateness: S::TIMER_PERIOD + 100 * scale,
    })
}
