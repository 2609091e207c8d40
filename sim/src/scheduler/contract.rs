//! What a scheduler from outside must keep to: each of its picks is checked before it is carried out.

use std::error::Error;
use std::fmt;

use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::{Action, World};

use super::Scheduler;

/// A scheduler picked an action that its contract rules out: nothing is said about the scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SchedulerError {
    /// The action is not enabled.
    NotEnabled(Pick),
    /// The action is a fault, and the storm is over.
    FaultInCalm(Pick),
}

/// What was picked, by whom, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pick {
    /// The scheduler's name.
    pub scheduler: String,
    /// The step that it would have been, from 1.
    pub step: u64,
    /// The label of the action.
    pub action: String,
}

impl fmt::Display for SchedulerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (SchedulerError::NotEnabled(pick) | SchedulerError::FaultInCalm(pick)) = self;
        let Pick { scheduler, step, action } = pick;
        write!(f, "the scheduler `{scheduler}` picked “{action}” at step {step}, ")?;
        match self {
            SchedulerError::NotEnabled(_) => f.write_str("and that is not enabled: pick one of `offers`"),
            SchedulerError::FaultInCalm(_) => {
                f.write_str("and that is a fault in the calm: after `Scheduler::calm`, ask `offers` for the calm")
            }
        }
    }
}

impl Error for SchedulerError {}

/// Checks one pick.
pub(crate) fn check<S: Service>(
    scheduler: &impl Scheduler<S>,
    (scenario, world): (&Scenario<S>, &World<S>),
    action: &Action<S>,
    (taken, is_calm): (u64, bool),
) -> Result<(), SchedulerError> {
    let pick = || Pick { scheduler: scheduler.name().to_owned(), step: taken + 1, action: action.to_string() };
    if !scenario.is_enabled(world, action) {
        return Err(SchedulerError::NotEnabled(pick()));
    }
    if is_calm && action.kind().is_disturbance() {
        return Err(SchedulerError::FaultInCalm(pick()));
    }
    Ok(())
}
