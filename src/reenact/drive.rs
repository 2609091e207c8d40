//! Each step of a plan at its time, at a server of any service.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::driven::Driven;
use crate::error::ServerError;
use crate::outcome::ReenactmentOutcome;
use crate::plan::{AtServer, Expected, PlannedStep, ReenactmentPlan, Schedule};

/// How an execution ended.
pub enum Ended {
    /// It has come to an outcome.
    With(ReenactmentOutcome),
    /// This machine was too late; with what.
    Late(String),
    /// The server was later than a server should be: if it always is, the outcome.
    LateServer(ReenactmentOutcome),
}

/// What carries out the steps at a server.
pub(crate) trait Driver<S: Driven> {
    /// Waits.
    fn wait(&mut self, until: Instant) -> Result<(), ServerError> {
        sleep(until.saturating_duration_since(Instant::now()));
        Ok(())
    }

    /// Carries out a step, and does not wait for answers.
    fn carry_out(&mut self, step: &PlannedStep<S>) -> Result<Option<Ended>, ServerError>;

    /// Compares an answer of the server with the one of the model.
    fn compare(&mut self, step: &PlannedStep<S>, expected: &Expected<S>) -> Option<Ended>;
}

/// When the instants of a schedule are.
#[derive(Copy, Clone)]
pub(crate) struct Moments<'a> {
    /// The begin of the schedule.
    pub(crate) begin: Instant,
    pub(crate) schedule: &'a Schedule,
}

/// Drives a server through the steps of a plan.
///
/// # Errors
/// The server cannot be talked to.
pub(crate) fn drive<S: Driven>(
    plan: &ReenactmentPlan<S>,
    moments: Moments<'_>,
    driver: &mut impl Driver<S>,
) -> Result<Ended, ServerError> {
    for step in plan.steps.iter().filter(|step| step.event.is_at_server()) {
        let start = moments.of(step.start);
        driver.wait(start)?;
        if let Some(late) = moments.lateness(step, start, Instant::now()) {
            return Ok(late);
        }
        if let Some(ended) = driver.carry_out(step)? {
            return Ok(ended);
        }
        for expected in &step.answers {
            if let Some(ended) = driver.compare(step, expected) {
                return Ok(ended);
            }
        }
        // What a request or an operator does is done now.
        if let AtServer::Caused(_) = step.event
            && let Some(late) = moments.lateness(step, moments.of(step.end), Instant::now())
        {
            return Ok(late);
        }
    }
    Ok(Ended::With(ReenactmentOutcome::Happened))
}

impl Moments<'_> {
    /// When an instant is.
    pub(crate) fn of(&self, instant: usize) -> Instant {
        self.begin + milliseconds(self.schedule.at[instant])
    }

    /// Whether something that had to happen at one instant has happened too late at another.
    pub(crate) fn lateness<S: Driven>(&self, step: &PlannedStep<S>, due: Instant, at: Instant) -> Option<Ended> {
        let late = at.saturating_duration_since(due);
        let is_late = late >= milliseconds(self.schedule.pace.server);
        is_late.then(|| Ended::Late(format!("step {} was {} ms late", step.number, late.as_millis())))
    }

    /// How late a timer of the server may be.
    pub(crate) fn timer_lateness(&self) -> Duration {
        milliseconds(self.schedule.pace.lateness)
    }

    /// How late an answer of a step may be.
    pub(crate) fn tolerance<S: Driven>(&self, step: &PlannedStep<S>) -> Duration {
        let room = milliseconds(self.schedule.pace.server);
        if let AtServer::Caused(_) = step.event { room } else { room + self.timer_lateness() }
    }
}

/// The server has answered otherwise.
pub(crate) fn refused<S: Driven>(step: &PlannedStep<S>, answer: String, expected: String) -> ReenactmentOutcome {
    ReenactmentOutcome::Refused { step: step.number, label: step.label.clone(), answer, expected }
}

pub(crate) fn milliseconds(count: i64) -> Duration {
    Duration::from_millis(u64::try_from(count).unwrap_or(0))
}
