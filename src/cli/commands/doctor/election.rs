//! `fencepost doctor client-go`: settings of a leader election by an observed lease.

use clap::Args;
use fencepost::model::units::Duration;
use fencepost_doctor::election::RECIPES;
use fencepost_doctor::{ElectionQuestion, QuestionError};

use super::assumed::AssumedBounds;
use super::judging::{Judging, mistake};
use super::values::{Bounds, Optional, duration, optional};
use crate::args::Common;
use crate::exit::{CommandError, Exit};

#[derive(Args, Debug)]
pub struct ElectionSettings {
    /// The elector: client-go (line v0.37), client-go-v0-33, client-go-v0-26, or controller-runtime, whose requests time out
    #[arg(long, value_name = "NAME", value_parser = RECIPES, default_value = "client-go")]
    recipe: String,
    /// LeaseDuration: how long a contender must have seen the record unchanged [default: 15s]
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    lease: Option<Duration>,
    /// RenewDeadline: how long a leader tries to renew before it gives up [default: 10s]
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    renew_deadline: Option<Duration>,
    /// RetryPeriod: the time between two attempts [default: 2s]
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    retry_period: Option<Duration>,
    /// The timeout of one request to the API server, or none; controller-runtime: half the renew deadline, at least a second
    #[arg(long, value_parser = optional, value_name = "DURATION|none")]
    request_timeout: Option<Optional>,
    /// ReleaseOnCancel: a leader that stops gives its lease back
    #[arg(long)]
    release: bool,
    /// How long the work goes on after it is told that it does not lead any more [default: 0s]
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    stop_time: Option<Duration>,
    #[command(flatten)]
    bounds: Bounds,
    #[command(flatten)]
    judging: Judging,
}

impl ElectionSettings {
    fn question(&self) -> Result<ElectionQuestion, QuestionError> {
        let mut question = ElectionQuestion::of_recipe(&self.recipe)?;
        question.lease = self.lease.unwrap_or(question.lease);
        question.retry_period = self.retry_period.unwrap_or(question.retry_period);
        if let Some(deadline) = self.renew_deadline {
            question.set_renew_deadline(deadline);
        }
        if let Some(Optional(timeout)) = self.request_timeout {
            question.request_timeout = timeout;
        }
        question.release = self.release;
        question.stop_time = self.stop_time.unwrap_or_default();
        question.pause = self.bounds.pause.unwrap_or_default();
        question.latency = self.bounds.latency.unwrap_or_default();
        question.drift = self.bounds.drift.unwrap_or_default();
        question.validate()?;
        Ok(question)
    }
}

pub fn run(settings: &ElectionSettings, common: &Common) -> Result<Exit, CommandError> {
    let question = settings.question().map_err(mistake)?;
    let assumed = AssumedBounds::of(&question, |bound| settings.bounds.has(bound));
    settings.judging.judge(&question, &assumed, Vec::new, || (), common)
}
