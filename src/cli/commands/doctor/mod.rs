//! `fencepost doctor`: settings in, answer out, both in seconds.

mod ask;
mod assumed;
mod configured;
mod files;
mod tell;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time;

use clap::Args;
use fencepost::model::units::{Duration, PartsPerMillion};
use fencepost_doctor::configuration::Configuration;
use fencepost_doctor::{Doctor as Judge, LockBelief, Promise, Quantity, Question, QuestionError, RECIPES, Verdict};

use self::assumed::AssumedBounds;
use crate::args::{Common, seconds};
use crate::exit::{CommandError, Exit};
use crate::json::PromiseJson;
use crate::output::{say, say_json};
use crate::parallel::cores;
use crate::supervisor::{Watch, interruption, stop_on_interrupt, stopped};
use crate::target;

/// Are these settings safe, and what should change?
///
/// Durations have units: 15s, 7.5s, 200ms. What is not said is as the recipe has it. Settings also come from a configuration, with --from or
/// --consul-lock; options say what it does not have, and come before what it has. Without a system and a configuration, it asks on a
/// terminal. No configuration says how long clients pause and messages travel: without --pause, --latency and --drift these are taken as
/// 0, and the answer begins with a warning.
#[derive(Args, Debug)]
pub struct Doctor {
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
    /// How often a client renews its session, or none
    #[arg(long, value_parser = optional, value_name = "DURATION|none")]
    renew_every: Option<Optional>,
    /// Until when the holder believes that it has the lock: self-limiting or by-monitor [default: by-monitor]
    #[arg(long, value_name = "NAME")]
    belief: Option<String>,
    /// For lock-command: how long its child may take to die
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    grace: Option<Duration>,
    /// The longest pause of a client
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    pause: Option<Duration>,
    /// The maximum message delay
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    latency: Option<Duration>,
    /// By how much the clocks of clients may be slower than the servers', as 200ppm
    #[arg(long, value_parser = rate, value_name = "RATE")]
    drift: Option<PartsPerMillion>,
    /// Gossip may declare the holder's live node failed, once
    #[arg(long)]
    false_alarm: bool,
    /// Writes carry the index of the acquiring write, and the resource refuses lower ones
    #[arg(long)]
    fencing: bool,
    /// Judge only this promise: mutual-exclusion, no-lost-update or keeps-lock; of a semaphore slot-limit-belief or keeps-lock
    #[arg(long, value_parser = promise, value_name = "NAME")]
    property: Option<Promise>,
    /// Write a scenario file for each side of each boundary, and the executions, into this folder
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Stop after this time, in seconds; promises that are not decided by then are reported as unknown
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<time::Duration>,
}

/// The system whose settings are judged.
const SYSTEM: &str = "consul-lock";

/// A duration, or none.
#[derive(Copy, Clone, Debug)]
struct Optional(Option<Duration>);

fn duration(text: &str) -> Result<Duration, String> {
    text.parse::<Duration>().map_err(|error| error.to_string())
}

fn optional(text: &str) -> Result<Optional, String> {
    if text == "none" { Ok(Optional(None)) } else { duration(text).map(|duration| Optional(Some(duration))) }
}

fn rate(text: &str) -> Result<PartsPerMillion, String> {
    text.parse::<PartsPerMillion>().map_err(|error| error.to_string())
}

fn promise(text: &str) -> Result<Promise, String> {
    let names = || Promise::ALL.map(Promise::name).join(", ");
    Promise::ALL.into_iter().find(|promise| promise.name() == text).ok_or_else(|| format!("there are {}", names()))
}

impl Doctor {
    /// What the command line says of the settings, on top of what they are without it.
    fn apply(&self, mut question: Question) -> Result<Question, QuestionError> {
        question.slots = self.slots.or(question.slots);
        if let Some(Optional(ttl)) = self.ttl {
            question.ttl = ttl;
            // Without a TTL there is nothing to renew; the recipe's period goes with its TTL.
            if ttl.is_none() {
                question.renew_every = None;
            }
        }
        if let Some(Optional(period)) = self.renew_every {
            question.renew_every = period;
        }
        let (delay, grace) = (self.lock_delay, self.grace);
        question.lock_delay = delay.unwrap_or(question.lock_delay);
        question.grace = grace.unwrap_or(question.grace);
        if let Some(name) = &self.belief {
            question.belief = LockBelief::named(name)?;
        }
        question.pause = self.pause.unwrap_or(question.pause);
        question.latency = self.latency.unwrap_or(question.latency);
        question.drift = self.drift.unwrap_or(question.drift);
        question.false_alarm |= self.false_alarm;
        question.fencing |= self.fencing;
        Ok(question)
    }

    /// The settings of a client, with what the command line says.
    fn of_recipe(&self, name: &str) -> Result<Question, QuestionError> {
        self.apply(Question::of_recipe(name)?)
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
            (Some(other), ..) => Err(CommandError::Input(format!(
                "`doctor` does not judge `{other}`: write `{SYSTEM}`, or the path of a scenario file of it that has units, as `{other}.toml`; `fencepost check` judges every scenario"
            ))),
            (None, Some(path), _) => configured::read(path).map(Some),
            (None, None, Some(line)) => configured::read_lock_command(line).map(Some),
            (None, None, None) => Ok(None),
        }
    }

    fn question(&self, configuration: Option<&Configuration>, common: &Common) -> Result<Question, CommandError> {
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
    fn assumed(&self, question: &Question, configuration: Option<&Configuration>) -> AssumedBounds {
        let has_bounds = configuration.is_some_and(|configuration| configuration.has_bounds);
        AssumedBounds::of(question, |bound| match bound {
            Quantity::Pause => has_bounds || self.pause.is_some(),
            Quantity::Latency => has_bounds || self.latency.is_some(),
            _ => self.drift.is_some(),
        })
    }

    /// The promises that are judged.
    fn promises(&self, question: &Question) -> Result<Vec<Promise>, CommandError> {
        let all = Promise::of(question);
        match self.property {
            None => Ok(all.to_vec()),
            Some(promise) if all.contains(&promise) => Ok(vec![promise]),
            Some(promise) => {
                let what = if question.slots.is_some() { "a semaphore" } else { "a lock" };
                let names: Vec<&str> = all.iter().map(|promise| promise.name()).collect();
                Err(CommandError::Input(format!(
                    "--property: `{promise}` is no promise of {what}: there are {}",
                    names.join(", ")
                )))
            }
        }
    }
}

fn mistake(mistake: QuestionError) -> CommandError {
    CommandError::Input(format!("--{mistake}"))
}

pub fn run(doctor: &Doctor, common: &Common) -> Result<Exit, CommandError> {
    let configuration = doctor.configuration()?;
    let question = doctor.question(configuration.as_ref(), common)?;
    let promises = doctor.promises(&question)?;
    let assumed = doctor.assumed(&question, configuration.as_ref());
    stop_on_interrupt();
    let mut judge = Judge::new(cores(), Arc::new(Watch::new(doctor.timeout, None)?));
    if let Some(configuration) = configuration.as_ref().filter(|_| !common.json) {
        configured::tell(configuration, &question, &assumed);
    }
    if !common.json {
        tell::head(&question, &assumed);
    }
    if !common.quiet {
        question.notes().iter().for_each(|note| eprintln!("note: {note}"));
    }
    let mut verdicts = Vec::new();
    for promise in promises {
        let answer = judge.answer_about(&question, promise)?;
        if interruption().is_some() {
            return Ok(stopped("what was judged before stands above"));
        }
        let files = match &doctor.write {
            Some(folder) => files::write(&mut judge, &question, &answer, folder)?,
            None => Vec::new(),
        };
        if common.json {
            say_json(&PromiseJson::new(configuration.as_ref(), &assumed, &answer, files));
        } else {
            tell::answer(&question, &assumed, &answer, &files);
        }
        verdicts.push(answer.verdict);
    }
    if !common.json {
        tell::tail(&question, &judge);
    }
    Ok(if verdicts.iter().any(Verdict::is_broken) {
        Exit::Unexpected
    } else if verdicts.iter().all(Verdict::is_kept) {
        Exit::AsExpected
    } else {
        Exit::Undecided
    })
}
