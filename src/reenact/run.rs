//! An execution at a real server: planned, and begun again with more room where this machine was late.

use std::time::Duration;

use fencepost_model::scenario::Scenario;
use fencepost_model::trace::Trace;

use crate::drive::Ended;
use crate::driven::{Driven, Means};
use crate::error::ServerError;
use crate::outcome::{Reenactment, ReenactmentOutcome};
use crate::plan::{PlanError, ReenactmentPlan, plan};

/// How often an execution is begun in which this machine was late, each time with twice the room.
const ATTEMPTS: u32 = 3;

/// A real server. Executions at it may be driven at the same time.
pub trait RealServer: Sync {
    /// What it serves.
    type Service: Driven;

    /// Its name and version, as `Consul 1.8.7`.
    fn name(&self) -> String;

    /// What the user's commands can do to it.
    fn means(&self) -> Means;

    /// Drives it through an execution, and removes what that has left behind.
    ///
    /// # Errors
    /// It cannot be talked to.
    fn perform(
        &self,
        scenario: &Scenario<Self::Service>,
        plan: &ReenactmentPlan<Self::Service>,
    ) -> Result<Ended, ServerError>;
}

/// Drives a server through an execution.
///
/// # Errors
/// The server cannot be talked to.
pub fn reenact<R: RealServer>(trace: &Trace<R::Service>, server: &R) -> Result<Reenactment, ServerError> {
    let mut late = None;
    let mut result =
        Reenactment { outcome: ReenactmentOutcome::Happened, tick: None, length: None, stretch: None, attempts: 0 };
    for attempt in 0..ATTEMPTS {
        let plan = match plan(trace, server.means(), 1 << attempt) {
            Ok(plan) => plan,
            Err(PlanError::Hopeless(outcome)) if attempt == 0 => return Ok(Reenactment { outcome, ..result }),
            Err(PlanError::NoExecution(why)) => {
                return Ok(Reenactment { outcome: ReenactmentOutcome::Undecided { why }, ..result });
            }
            Err(PlanError::Hopeless(_)) => break,
        };
        let milliseconds = |count: i64| Some(Duration::from_millis(count.unsigned_abs()));
        result.tick = milliseconds(plan.schedule.tick);
        result.length = milliseconds(plan.schedule.at.iter().copied().max().unwrap_or(0));
        result.stretch = plan.stretch.and_then(milliseconds);
        result.attempts = attempt + 1;
        match server.perform(&trace.header.scenario, &plan)? {
            Ended::With(outcome) => return Ok(Reenactment { outcome, ..result }),
            Ended::Late(why) => {
                let why = format!("this machine was late {} times: {why}", result.attempts);
                late = Some(ReenactmentOutcome::Undecided { why });
            }
            Ended::LateServer(outcome) => late = Some(outcome),
        }
    }
    result.outcome = late.expect("it was late before it was given up");
    Ok(result)
}
