//! `fencepost doctor`: settings in, answer out, both in seconds.

mod files;
mod tell;

use std::path::PathBuf;
use std::sync::Arc;
use std::time;

use clap::Args;
use fencepost::model::units::{Duration, PartsPerMillion};
use fencepost_doctor::{Doctor as Judge, LockBelief, Promise, Question, QuestionError, Verdict};

use crate::args::{Common, seconds};
use crate::exit::{CommandError, Exit};
use crate::json::PromiseJson;
use crate::output::say_json;
use crate::parallel::cores;
use crate::supervisor::{Watch, interruption, stop_on_interrupt, stopped};

/// Are these settings safe, and what should change?
///
/// Durations have units: 15s, 7.5s, 200ms. What is not said is as the recipe has it; pause, latency and drift are 0.
#[derive(Args, Debug)]
pub struct Doctor {
    /// The system whose settings are judged
    #[arg(value_parser = ["consul-lock"])]
    system: String,
    /// The client: go-lock, lock-command or leader-election
    #[arg(long, default_value = "go-lock", value_name = "NAME")]
    recipe: String,
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
    /// Judge only this promise: mutual-exclusion, no-lost-update or keeps-lock
    #[arg(long, value_parser = promise, value_name = "NAME")]
    property: Option<Promise>,
    /// Write a scenario file for each side of each boundary, and the executions, into this folder
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Stop after this time, in seconds; promises that are not decided by then are reported as unknown
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<time::Duration>,
}

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
    fn question(&self) -> Result<Question, QuestionError> {
        let mut question = Question::of_recipe(&self.recipe)?;
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
        question.pause = self.pause.unwrap_or_default();
        question.latency = self.latency.unwrap_or_default();
        question.drift = self.drift.unwrap_or_default();
        question.false_alarm = self.false_alarm;
        question.fencing = self.fencing;
        question.validate()?;
        Ok(question)
    }
}

pub fn run(doctor: &Doctor, common: &Common) -> Result<Exit, CommandError> {
    let question = doctor.question().map_err(|mistake| CommandError::Input(format!("--{mistake}")))?;
    stop_on_interrupt();
    let mut judge = Judge::new(cores(), Arc::new(Watch::new(doctor.timeout, None)?));
    if !common.json {
        tell::head(&question);
    }
    if !common.quiet {
        question.notes().iter().for_each(|note| eprintln!("note: {note}"));
    }
    let promises = doctor.property.map_or_else(|| Promise::ALL.to_vec(), |promise| vec![promise]);
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
            say_json(&PromiseJson::new(&question, &answer, files));
        } else {
            tell::answer(&question, &answer, &files);
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
