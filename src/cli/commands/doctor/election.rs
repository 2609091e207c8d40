//! `fencepost doctor client-go`: settings of a leader election by an observed lease, and manifests and flags that have them.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use fencepost::model::units::Duration;
use fencepost_doctor::configuration::{ConfigurationError, Place, Understood};
use fencepost_doctor::election::RECIPES;
use fencepost_doctor::election::configuration::{ElectionConfiguration, of_flags};
use fencepost_doctor::{ElectionQuestion, Quantity, QuestionError};

use super::assumed::AssumedBounds;
use super::configured;
use super::judging::{AskedCase, Judging, mistake};
use super::manifest::{self, FoundElection, FoundElections};
use super::values::{Bounds, Optional, duration, optional};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::output::say;

/// The option that has flags of a program.
const FLAGS: &str = "--flags";

#[derive(Args, Debug)]
pub struct ElectionSettings {
    /// Read the settings of this file, or with - of the standard input: a manifest with a Deployment, a Pod or their like (YAML or JSON), or a component's configuration with leaderElection
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Of a manifest, judge only this container
    #[arg(long, value_name = "NAME", requires = "from", conflicts_with = "flags")]
    container: Option<String>,
    /// Read the settings of these flags of a program, as "--leader-elect --leader-elect-lease-duration=15s"
    #[arg(long, value_name = "FLAGS", conflicts_with = "from", allow_hyphen_values = true)]
    flags: Option<String>,
    /// The elector: client-go (line v0.37), client-go-v0-33, client-go-v0-26, or controller-runtime, whose requests time out [default: client-go]
    #[arg(long, value_name = "NAME", value_parser = RECIPES)]
    recipe: Option<String>,
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
    #[arg(long, value_name = "TRUTH", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    release: Option<bool>,
    /// How long the work goes on after it is told that it does not lead any more [default: 0s]
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    stop_time: Option<Duration>,
    #[command(flatten)]
    bounds: Bounds,
    #[command(flatten)]
    judging: Judging,
}

impl ElectionSettings {
    /// What the command line says of the settings, on top of what they are without it.
    fn apply(&self, mut question: ElectionQuestion) -> Result<ElectionQuestion, QuestionError> {
        question.lease = self.lease.unwrap_or(question.lease);
        question.retry_period = self.retry_period.unwrap_or(question.retry_period);
        if let Some(deadline) = self.renew_deadline {
            question.set_renew_deadline(deadline);
        }
        if let Some(Optional(timeout)) = self.request_timeout {
            question.request_timeout = timeout;
        }
        question.release = self.release.unwrap_or(question.release);
        question.stop_time = self.stop_time.unwrap_or_default();
        question.pause = self.bounds.pause.unwrap_or_default();
        question.latency = self.bounds.latency.unwrap_or_default();
        question.drift = self.bounds.drift.unwrap_or_default();
        question.validate()?;
        Ok(question)
    }

    /// What was read; none: the settings are those of the command line.
    fn found(&self) -> Result<Option<FoundElections>, CommandError> {
        let recipe = self.recipe.as_deref();
        let wrong = |error: ConfigurationError| CommandError::Input(error.to_string());
        if let Some(line) = &self.flags {
            return match of_flags(line, FLAGS, recipe).map_err(wrong)? {
                ElectionConfiguration::Elects(understood) => {
                    let place = Place { line: 1, column: 1 };
                    let elections = vec![FoundElection { container: None, place, understood: *understood }];
                    Ok(Some(FoundElections { elections, idle: Vec::new() }))
                }
                ElectionConfiguration::Idle { place, why } => {
                    let Place { line, column } = place;
                    Err(CommandError::Input(format!("{FLAGS}:{line}:{column}: a program with these flags {why}")))
                }
                ElectionConfiguration::Unsaid { why } => Err(CommandError::Input(format!("{FLAGS}: {why}"))),
            };
        }
        let Some(path) = &self.from else { return Ok(None) };
        let (name, text) = text(path)?;
        manifest::read(&name, &text, recipe, self.container.as_deref()).map(Some).map_err(wrong)
    }

    fn assumed(&self, question: &ElectionQuestion) -> AssumedBounds {
        AssumedBounds::of(question, |bound| match bound {
            Quantity::StopTime => self.stop_time.is_some(),
            _ => self.bounds.has(bound),
        })
    }

    fn read_case(&self, found: FoundElection) -> Result<AskedCase<ElectionQuestion>, CommandError> {
        let FoundElection { container, understood: mut configuration, .. } = found;
        let question = self.apply(configuration.question.clone()).map_err(mistake)?;
        self.override_settings(&mut configuration);
        let assumed = self.assumed(&question);
        let command = configured::election_command(&question, &assumed);
        Ok(AskedCase { container, ..AskedCase::of(question, assumed, Some(configuration), &command) })
    }

    /// What the command line says comes before what was read, and is not told as if it came from there.
    fn override_settings(&self, configuration: &mut Understood<ElectionQuestion>) {
        let durations = [
            ("lease", self.lease),
            ("renew-deadline", self.renew_deadline),
            ("retry-period", self.retry_period),
            ("request-timeout", self.request_timeout.and_then(|Optional(timeout)| timeout)),
        ];
        for (option, value) in durations {
            if let Some(value) = value {
                configuration.override_setting(option, &format!("--{option} {value}"));
            }
        }
        if let Some(Optional(None)) = self.request_timeout {
            configuration.override_setting("request-timeout", "--request-timeout none");
        }
        if let Some(release) = self.release {
            configuration.override_setting("release", &format!("--release={release}"));
        }
        if let (Some(deadline), None, Some(_)) =
            (self.renew_deadline, self.request_timeout, configuration.question.request_timeout)
        {
            let by = format!("--renew-deadline {deadline}: half of that, at least 1s (OL-K-13)");
            configuration.override_setting("request-timeout", &by);
        }
    }
}

pub fn run(settings: &ElectionSettings, common: &Common) -> Result<Exit, CommandError> {
    let Some(found) = settings.found()? else {
        let recipe = settings.recipe.as_deref().unwrap_or("client-go");
        let question = ElectionQuestion::of_recipe(recipe).and_then(|question| settings.apply(question));
        let question = question.map_err(mistake)?;
        let assumed = settings.assumed(&question);
        return settings.judging.judge(&[AskedCase::of(question, assumed, None, "")], common);
    };
    let idle: String = found.idle.iter().map(|sentence| format!("not judged: {sentence}\n")).collect();
    let cases = found.elections.into_iter().map(|election| settings.read_case(election));
    let cases = cases.collect::<Result<Vec<_>, _>>()?;
    if common.json {
        eprint!("{}", if common.quiet { "" } else { &idle });
    } else if !idle.is_empty() {
        say(&(idle + "\n"));
    }
    settings.judging.judge(&cases, common)
}

/// The name of a file, and its text.
fn text(path: &Path) -> Result<(String, String), CommandError> {
    let is_input = path == Path::new("-");
    let name = if is_input { "standard input".to_owned() } else { path.display().to_string() };
    let text = if is_input {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    let text = text.map_err(|error| CommandError::Input(format!("{name} cannot be read: {error}")))?;
    Ok((name, text))
}
