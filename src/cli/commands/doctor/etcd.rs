//! `fencepost doctor etcd`: settings of a session of etcd, with the mutex or the election on it.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use fencepost::model::units::Duration;
use fencepost_doctor::configuration::ConfigurationError;
use fencepost_doctor::etcd::RECIPES;
use fencepost_doctor::etcd::configuration::{SessionConfiguration, of_etcdctl, of_session_scenario};
use fencepost_doctor::{Quantity, QuestionError, SessionQuestion, SessionStop};

use super::assumed::AssumedBounds;
use super::configured;
use super::judging::{AskedCase, Judging, mistake};
use super::values::{Bounds, duration};
use crate::args::Common;
use crate::exit::{CommandError, Exit};

#[derive(Args, Debug)]
pub struct SessionSettings {
    /// Read the settings of this file: a scenario of etcd-mutex or etcd-election with units
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Read the settings of this command line: `etcdctl lock` or `etcdctl elect`
    #[arg(long, value_name = "LINE", conflicts_with = "from", allow_hyphen_values = true)]
    etcdctl: Option<String>,
    /// What is built on the session: etcd-mutex or etcd-election [default: etcd-mutex]
    #[arg(long, value_name = "NAME", value_parser = RECIPES, conflicts_with_all = ["from", "etcdctl"])]
    recipe: Option<String>,
    /// T: the TTL of the session, in whole seconds [default: 60s]
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    ttl: Option<Duration>,
    /// When a holder stops: never, on-done (when the session's Done closes), or before-expiry (by its own clock) [default: on-done]
    #[arg(long, value_parser = stop, value_name = "WHEN")]
    stop: Option<SessionStop>,
    /// With --stop before-expiry: how long before T has passed since the sending of the last acknowledged renewal [default: 0s]
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    margin: Option<Duration>,
    /// DialTimeout of the client; 0s: none is set. The first renewal has that and a second for its answer, or 5s [default: 0s]
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    dial_timeout: Option<Duration>,
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
    fn configuration(&self) -> Result<Option<SessionConfiguration>, CommandError> {
        let input = |error: ConfigurationError| CommandError::Input(error.to_string());
        match (&self.from, &self.etcdctl) {
            (Some(path), _) => {
                let file = path.display().to_string();
                let text = fs::read_to_string(path)
                    .map_err(|error| CommandError::Input(format!("{file} cannot be read: {error}")))?;
                of_session_scenario(&text, &file).map(Some).map_err(input)
            }
            (None, Some(line)) => of_etcdctl(line, "--etcdctl").map(Some).map_err(input),
            (None, None) => Ok(None),
        }
    }

    /// What the command line says, on top of a configuration.
    fn question(&self, configuration: Option<&SessionConfiguration>) -> Result<SessionQuestion, QuestionError> {
        let mut question = match configuration {
            Some(configuration) => configuration.question.clone(),
            None => SessionQuestion::of_recipe(self.recipe.as_deref().unwrap_or(RECIPES[0]))?,
        };
        question.ttl = self.ttl.unwrap_or(question.ttl);
        question.stop = self.stop.unwrap_or(question.stop);
        question.margin = self.margin.unwrap_or(question.margin);
        question.dial_timeout = self.dial_timeout.unwrap_or(question.dial_timeout);
        question.pause = self.bounds.pause.unwrap_or(question.pause);
        question.latency = self.bounds.latency.unwrap_or(question.latency);
        question.drift = self.bounds.drift.unwrap_or(question.drift);
        question.validate()?;
        Ok(question)
    }
}

pub fn run(settings: &SessionSettings, common: &Common) -> Result<Exit, CommandError> {
    let configuration = settings.configuration()?;
    let question = settings.question(configuration.as_ref()).map_err(mistake)?;
    let has_bounds = configuration.as_ref().is_some_and(|configuration| configuration.has_bounds);
    let assumed = AssumedBounds::of(&question, |bound| {
        settings.bounds.has(bound) || has_bounds && matches!(bound, Quantity::Pause | Quantity::Latency)
    });
    let command = configured::session_command(&question, &assumed);
    settings.judging.judge(&[AskedCase::of(question, assumed, configuration, &command)], common)
}
