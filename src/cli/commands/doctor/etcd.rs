//! `fencepost doctor etcd`: settings of a session of etcd, with the mutex or the election on it.

use clap::Args;
use fencepost::model::units::Duration;
use fencepost_doctor::etcd::RECIPES;
use fencepost_doctor::{QuestionError, SessionQuestion, SessionStop};

use super::assumed::AssumedBounds;
use super::judging::{AskedCase, Judging, mistake};
use super::values::{Bounds, duration};
use crate::args::Common;
use crate::exit::{CommandError, Exit};

#[derive(Args, Debug)]
pub struct SessionSettings {
    /// What is built on the session: etcd-mutex or etcd-election
    #[arg(long, value_name = "NAME", value_parser = RECIPES, default_value = "etcd-mutex")]
    recipe: String,
    /// T: the TTL of the session, in whole seconds [default: 60s]
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    ttl: Option<Duration>,
    /// When a holder stops: never, on-done (when the session's Done closes), or before-expiry (by its own clock) [default: on-done]
    #[arg(long, value_parser = stop, value_name = "WHEN")]
    stop: Option<SessionStop>,
    /// With --stop before-expiry: how long before T has passed since the sending of the last acknowledged renewal [default: 0s]
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    margin: Option<Duration>,
    #[command(flatten)]
    bounds: Bounds,
    #[command(flatten)]
    judging: Judging,
}

/// When a holder stops, by its name.
fn stop(text: &str) -> Result<SessionStop, String> {
    let names = || SessionStop::ALL.map(SessionStop::name).join(", ");
    SessionStop::ALL.into_iter().find(|stop| stop.name() == text).ok_or_else(|| format!("there are {}", names()))
}

impl SessionSettings {
    fn question(&self) -> Result<SessionQuestion, QuestionError> {
        let mut question = SessionQuestion::of_recipe(&self.recipe)?;
        question.ttl = self.ttl.unwrap_or(question.ttl);
        question.stop = self.stop.unwrap_or(question.stop);
        question.margin = self.margin.unwrap_or_default();
        question.pause = self.bounds.pause.unwrap_or_default();
        question.latency = self.bounds.latency.unwrap_or_default();
        question.drift = self.bounds.drift.unwrap_or_default();
        question.validate()?;
        Ok(question)
    }
}

pub fn run(settings: &SessionSettings, common: &Common) -> Result<Exit, CommandError> {
    let question = settings.question().map_err(mistake)?;
    let assumed = AssumedBounds::of(&question, |bound| settings.bounds.has(bound));
    let case = AskedCase {
        question,
        assumed,
        container: None,
        configuration: None,
        assumptions: Vec::new(),
        without_field: Vec::new(),
        understood: Vec::new(),
        before: String::new(),
    };
    settings.judging.judge(&[case], common)
}
