//! `fencepost doctor consul-lock`: settings of a lock in Consul, or of its semaphore, and configurations that have them.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use fencepost::model::units::Duration;
use fencepost_doctor::lock::RECIPES;
use fencepost_doctor::lock::configuration::Configuration;
use fencepost_doctor::{LockBelief, LockQuestion, Quantity, QuestionError};

use super::assumed::AssumedBounds;
use super::judging::{AskedCase, Judging, mistake};
use super::values::{Bounds, Optional, duration, optional};
use super::{ask, configured};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::output::say;
use crate::target;

/// The system whose settings are judged.
const SYSTEM: &str = "consul-lock";

#[derive(Args, Debug)]
pub struct LockSettings {
    /// The system whose settings are judged, consul-lock; or a scenario file with units, like --from
    #[arg(value_name = "SYSTEM|FILE.toml")]
    system: Option<String>,
    /// Read the settings of this file: Vault's configuration (HCL or JSON), the Go client's LockOptions as JSON, or a scenario file with units
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Read the settings of this command line: the flags of `consul lock`, with or without the words before and after them
    #[arg(long, value_name = "FLAGS", conflicts_with = "from", allow_hyphen_values = true)]
    consul_lock: Option<String>,
    /// The client [default: go-lock]
    #[arg(long, value_name = "NAME", value_parser = RECIPES, conflicts_with_all = ["from", "consul_lock"])]
    recipe: Option<String>,
    /// The number of slots of a semaphore; without it: a lock
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    slots: Option<u8>,
    /// The session's TTL, or none
    #[arg(long, value_parser = optional, value_name = "DURATION|none")]
    ttl: Option<Optional>,
    /// How long a key cannot be acquired after its holder's session has ended
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    lock_delay: Option<Duration>,
    /// How often a client renews its session, or none [default: as the recipe has it; of the Go client, half the TTL]
    #[arg(long, value_parser = optional, value_name = "DURATION|none")]
    renew_every: Option<Optional>,
    /// Until when the holder believes that it has the lock: self-limiting or by-monitor [default: by-monitor]
    #[arg(long, value_name = "NAME")]
    belief: Option<String>,
    /// For lock-command: how long its child may take to die
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    grace: Option<Duration>,
    #[command(flatten)]
    bounds: Bounds,
    /// Gossip may declare the holder's live node failed, once
    #[arg(long)]
    false_alarm: bool,
    /// Writes carry the index of the acquiring write, and the resource refuses lower ones
    #[arg(long)]
    fencing: bool,
    #[command(flatten)]
    judging: Judging,
}

impl LockSettings {
    /// What the command line says of the settings, on top of what they are without it.
    fn apply(&self, mut question: LockQuestion) -> Result<LockQuestion, QuestionError> {
        question.slots = self.slots.or(question.slots);
        if let Some(Optional(ttl)) = self.ttl {
            question.set_ttl(ttl);
        }
        if let Some(Optional(period)) = self.renew_every {
            question.set_renew_every(period);
        }
        let (delay, grace) = (self.lock_delay, self.grace);
        question.lock_delay = delay.unwrap_or(question.lock_delay);
        question.grace = grace.unwrap_or(question.grace);
        if let Some(name) = &self.belief {
            question.belief = LockBelief::named(name)?;
        }
        question.pause = self.bounds.pause.unwrap_or(question.pause);
        question.latency = self.bounds.latency.unwrap_or(question.latency);
        question.drift = self.bounds.drift.unwrap_or(question.drift);
        question.false_alarm |= self.false_alarm;
        question.fencing |= self.fencing;
        Ok(question)
    }

    /// The settings of a client, with what the command line says.
    fn of_recipe(&self, name: &str) -> Result<LockQuestion, QuestionError> {
        self.apply(LockQuestion::of_recipe(name)?)
    }

    fn configuration(&self) -> Result<Option<Configuration>, CommandError> {
        let scenario = self.system.as_deref().filter(|system| *system != SYSTEM);
        match (scenario, &self.from, &self.consul_lock) {
            (Some(file), None, None) if target::is_file(file) && self.recipe.is_none() => {
                configured::read(Path::new(file)).map(Some)
            }
            (Some(file), ..) if target::is_file(file) => Err(CommandError::Input(format!(
                "`{file}` says which client it is about: leave --recipe, --from and --consul-lock out"
            ))),
            (Some(file), ..) if is_manifest(Path::new(file)) => Err(manifest(file)),
            (Some(file), ..) if Path::new(file).is_file() => Err(CommandError::Input(format!(
                "`{file}` is no scenario file: `fencepost doctor --from {}` reads configurations",
                target::quoted(file)
            ))),
            (Some("client-go"), ..) => Err(CommandError::Input(
                "options of an election come after its name: `fencepost doctor client-go --lease 15s …`".to_owned(),
            )),
            (Some(other), ..) => Err(CommandError::Input(format!(
                "`doctor` does not judge `{other}`: write `{SYSTEM}`, or the path of a scenario file of it that has units, as `{other}.toml`; or `client-go`; `fencepost doctor scenario` judges every scenario as it stands"
            ))),
            (None, Some(path), _) if is_manifest(path) => Err(manifest(&path.display().to_string())),
            (None, Some(path), _) => configured::read(path).map(Some),
            (None, None, Some(line)) => configured::read_lock_command(line).map(Some),
            (None, None, None) => Ok(None),
        }
    }

    fn question(&self, configuration: Option<&Configuration>, common: &Common) -> Result<LockQuestion, CommandError> {
        let recipe = self.recipe.as_deref().unwrap_or("go-lock");
        let question = match configuration {
            Some(configuration) => self.apply(configuration.question.clone()),
            None => self.of_recipe(recipe),
        };
        let question = question.map_err(mistake)?;
        if configuration.is_some() || self.system.is_some() {
            question.validate().map_err(mistake)?;
            return Ok(question);
        }
        if common.json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(CommandError::Input(
                "say what is judged: `fencepost doctor consul-lock --ttl 15s …`, a scenario file, `--from FILE` or `--consul-lock FLAGS`; on a terminal, without --json, it asks".to_owned(),
            ));
        }
        let of_recipe = |name: &str| self.of_recipe(name).map_err(|mistake| mistake.message);
        let question = ask::ask(question, of_recipe, &mut io::stdin().lock(), &mut io::stdout())?;
        question.validate().map_err(mistake)?;
        say(&format!("\nthe same question: {}\n\n", configured::command(&question, &self.assumed(&question, None))));
        Ok(question)
    }

    /// The bounds that neither the command line nor the configuration gives.
    fn assumed(&self, question: &LockQuestion, configuration: Option<&Configuration>) -> AssumedBounds {
        let has_bounds = configuration.is_some_and(|configuration| configuration.has_bounds);
        AssumedBounds::of(question, |bound| {
            self.bounds.has(bound) || has_bounds && matches!(bound, Quantity::Pause | Quantity::Latency)
        })
    }
}

/// Whether a file is YAML, which no configuration of a Consul lock is.
fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

fn manifest(file: &str) -> CommandError {
    let command = format!("fencepost doctor client-go --from {}", target::quoted(file));
    CommandError::Input(format!(
        "`{file}` is no configuration of a lock in Consul: `{command}` reads manifests of Kubernetes"
    ))
}

pub fn run(settings: &LockSettings, common: &Common) -> Result<Exit, CommandError> {
    let configuration = settings.configuration()?;
    let question = settings.question(configuration.as_ref(), common)?;
    let assumed = settings.assumed(&question, configuration.as_ref());
    let command = configured::command(&question, &assumed);
    settings.judging.judge(&[AskedCase::of(question, assumed, configuration, &command)], common)
}
