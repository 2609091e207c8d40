//! `fencepost doctor scenario`: any scenario as it stands, and how far each of its settings may be changed.

mod tell;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time;

use clap::Args;
use fencepost::checker::{Limits, Options};
use fencepost::model::scenario::Promise;
use fencepost::model::units::Duration;
use fencepost::{Property, catalogue};
use fencepost_doctor::exact::{ExactBoundary, ExactDoctor, ExactEnd, ExactScenario, ExactSetting, ExactVerdict};

use crate::args::{Common, property, time_limit};
use crate::exit::{CommandError, Exit};
use crate::output::{say, say_json, write};
use crate::parallel::cores;
use crate::supervisor::{Watch, interruption, stop_on_interrupt, stopped};
use crate::target;
use tell::named;

#[derive(Args, Debug)]
pub struct ExactSettings {
    /// A scenario, or a scenario file
    target: String,
    /// Judge only this promise
    #[arg(long, value_parser = property, value_name = "NAME")]
    property: Option<Property>,
    /// Change only this setting, by its place in the file, as service.lock_delay or program.0.head.lease; several times for several
    #[arg(long, value_name = "NAME")]
    setting: Vec<String>,
    /// Expand at most N states in each search
    #[arg(long, default_value_t = 200_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_states: u64,
    /// Stop after this time, as 90s or 5m, or in seconds; what is not decided by then is reported as unknown
    #[arg(long, value_name = "DURATION", value_parser = time_limit)]
    timeout: Option<time::Duration>,
    /// Write a scenario file for each side of each boundary into this folder
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

/// What is asked: a scenario with its tick, its promises and what is changed.
struct ExactQuestion<'a> {
    base: &'a ExactScenario<'a>,
    tick: Option<Duration>,
    settings: Vec<ExactSetting>,
}

/// What was found about a promise.
struct ExactAnswer<'a> {
    promise: &'a Promise,
    place: usize,
    verdict: ExactVerdict,
    boundaries: Vec<ExactBoundary>,
    files: Vec<String>,
}

pub fn run(asked: &ExactSettings, common: &Common) -> Result<Exit, CommandError> {
    let scenario = target::one(&asked.target, common)?;
    let scenario = match asked.property {
        None => scenario,
        Some(property) => {
            if !scenario.promises().iter().any(|promise| promise.property == property) {
                return Err(CommandError::Input(target::nothing(&*scenario, asked.property)));
            }
            scenario.judging(&|promise| promise.property == property)
        }
    };
    if scenario.promises().is_empty() {
        return Err(CommandError::Input(target::nothing(&*scenario, None)));
    }
    let read = |text: &str| catalogue::read(text, "this scenario").map_err(|error| error.message);
    let base = ExactScenario::new(&*scenario, &read);
    let settings = chosen(base.settings(), &asked.setting)?;
    let question = ExactQuestion { base: &base, tick: scenario.tick(), settings };
    stop_on_interrupt();
    let watch = Watch::new(asked.timeout, None)?;
    let watch = Arc::new(if common.quiet || common.json { watch } else { watch.showing(scenario.name()) });
    let limits = Limits { states: Some(asked.max_states), depth: None };
    let mut doctor =
        ExactDoctor::new(&base, Options { limits, supervisor: watch, workers: cores(), ..Options::default() });
    question.judge(&mut doctor, asked, common)
}

/// The settings that are changed: those that were named, or all.
fn chosen(all: Vec<ExactSetting>, named: &[String]) -> Result<Vec<ExactSetting>, CommandError> {
    if let Some(unknown) = named.iter().find(|name| !all.iter().any(|setting| setting.name == **name)) {
        let names: Vec<&str> = all.iter().map(|setting| setting.name.as_str()).collect();
        let message = format!(
            "--setting: `{unknown}` is no duration of this scenario, and no number or flag of a program: there are {}",
            names.join(", ")
        );
        return Err(CommandError::Input(message));
    }
    Ok(all.into_iter().filter(|setting| named.is_empty() || named.contains(&setting.name)).collect())
}

impl ExactQuestion<'_> {
    fn judge(
        &self,
        doctor: &mut ExactDoctor<'_>,
        asked: &ExactSettings,
        common: &Common,
    ) -> Result<Exit, CommandError> {
        let scenario = self.base.scenario();
        if !common.json {
            say(&self.heading());
        }
        let verdicts = doctor.as_it_stands()?;
        let mut is_stopped = false;
        for (place, promise) in scenario.promises().iter().enumerate() {
            let verdict = verdicts[place].clone();
            let mut boundaries = Vec::new();
            if matches!(verdict, ExactVerdict::Kept { .. } | ExactVerdict::Broken { .. }) {
                for setting in self.settings.iter().take_while(|_| interruption().is_none()) {
                    boundaries.extend(doctor.boundaries(setting, place, &verdict)?);
                }
            }
            if interruption().is_some() {
                is_stopped = true;
                break;
            }
            let mut answer = ExactAnswer { promise, place, verdict, boundaries, files: Vec::new() };
            if let Some(folder) = &asked.write {
                answer.files = self.files(&answer, folder)?;
            }
            if common.json {
                say_json(&self.json(&answer));
            } else {
                say(&self.told(&answer, &asked.target));
            }
        }
        if is_stopped {
            return Ok(stopped("what was judged before stands above"));
        }
        if !common.json {
            say(&self.tail(doctor));
        }
        Ok(if verdicts.iter().any(|verdict| matches!(verdict, ExactVerdict::Broken { .. })) {
            Exit::Unexpected
        } else if verdicts.iter().all(|verdict| matches!(verdict, ExactVerdict::Kept { .. })) {
            Exit::AsExpected
        } else {
            Exit::Undecided
        })
    }

    /// Writes a file for each value on a side of a boundary.
    fn files(&self, answer: &ExactAnswer<'_>, folder: &Path) -> Result<Vec<String>, CommandError> {
        let mut files = Vec::new();
        for boundary in &answer.boundaries {
            let Some((from, ExactEnd::Verdict(other))) = &boundary.end else { continue };
            for (value, verdict) in [(boundary.same, &answer.verdict), (*from, other)] {
                let is_kept = match verdict {
                    ExactVerdict::Kept { .. } => true,
                    ExactVerdict::Broken { .. } => false,
                    _ => continue,
                };
                let setting = &boundary.setting;
                let name = format!("{}-{}-{value}.toml", named(answer.promise).replace(' ', "-"), setting.name);
                let file = folder.join(name);
                write(&file, &self.base.written(setting, setting.value.with_count(value), answer.place, is_kept))?;
                files.push(file.display().to_string());
            }
        }
        files.sort();
        files.dedup();
        Ok(files)
    }
}
