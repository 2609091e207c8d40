//! A Consul agent is driven through an execution.
//!
//! ```text
//! agent      where it is, and how it is configured
//! stage      keys, sessions and nodes of one execution
//! drive      each step at its time
//! calls      requests under way, each on a connection of its own
//! operators  what operators and the catalogue do, as HTTP
//! positions  log positions and answers of the model, and those of the agent
//! ```

mod agent;
mod calls;
mod drive;
mod operators;
mod positions;
mod stage;

use std::time::Duration;

use fencepost_consul::Consul;
use fencepost_model::trace::Trace;

pub use agent::{Agent, AgentError};

use self::drive::{Ended, drive};
use self::stage::Stage;
use crate::outcome::{Reenactment, ReenactmentOutcome};
use crate::plan::{PlanError, plan};

/// How often an execution is begun in which this machine was late, each time with twice the room.
const ATTEMPTS: u32 = 3;

/// Drives the agent through an execution.
///
/// # Errors
/// The agent cannot be talked to.
pub fn reenact(trace: &Trace<Consul>, agent: &Agent) -> Result<Reenactment, AgentError> {
    let mut late = None;
    let mut result =
        Reenactment { outcome: ReenactmentOutcome::Happened, tick: None, length: None, stretch: None, attempts: 0 };
    for attempt in 0..ATTEMPTS {
        let plan = match plan(trace, agent.restart.is_some(), 1 << attempt) {
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
        let stage = Stage::set(agent, &trace.header.scenario, plan.schedule.tick)?;
        let ended = drive(&plan, &stage);
        stage.strike()?;
        match ended? {
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
