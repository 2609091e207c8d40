//! Judging a question of any kind, and printing what comes out.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time;

use clap::Args;
use fencepost_doctor::configuration::Understood;
use fencepost_doctor::{Asked, Change, Doctor as Judge, Promise, QuestionError, Repair, Verdict};

use super::assumed::AssumedBounds;
use super::values::promise;
use super::{configured, files, tell};
use crate::args::{Common, time_limit};
use crate::exit::{CommandError, Exit};
use crate::json::{PromiseJson, UnderstoodJson};
use crate::output::{say, say_json};
use crate::parallel::cores;
use crate::supervisor::{Watch, interruption, stop_on_interrupt, stopped};

/// What is judged, for how long, and what is written.
#[derive(Args, Debug)]
pub struct Judging {
    /// Judge only this promise: mutual-exclusion, no-lost-update or keeps-lock; of a semaphore slot-limit-belief or keeps-lock; of an
    /// election mutual-exclusion or keeps-lease
    #[arg(long, value_parser = promise, value_name = "NAME")]
    property: Option<Promise>,
    /// Write a scenario file for each side of each boundary, and the executions, into this folder
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Stop after this time, as 90s or 5m, or in seconds; promises that are not decided by then are reported as unknown
    #[arg(long, value_name = "DURATION", value_parser = time_limit)]
    timeout: Option<time::Duration>,
}

impl Judging {
    /// The promises that are judged.
    fn promises<Q: Asked>(&self, question: &Q) -> Result<Vec<Promise>, CommandError> {
        let all = question.promises();
        match self.property {
            None => Ok(all.to_vec()),
            Some(promise) if all.contains(&promise) => Ok(vec![promise]),
            Some(promise) => {
                let names: Vec<&str> = all.iter().map(|promise| promise.name()).collect();
                Err(CommandError::Input(format!(
                    "--property: `{promise}` is no promise of these settings: there are {}",
                    names.join(", ")
                )))
            }
        }
    }

    /// Judges the questions one after the other.
    pub fn judge<Q: Asked>(&self, cases: &[AskedCase<Q>], common: &Common) -> Result<Exit, CommandError> {
        stop_on_interrupt();
        let mut judge = Judge::new(cores(), Arc::new(Watch::new(self.timeout, None)?));
        let mut verdicts = Vec::new();
        for (at, case) in cases.iter().enumerate() {
            let folder = self.write.as_ref().map(|folder| match &case.configuration {
                Some(name) if cases.len() > 1 => folder.join(format!("{}-{}", at + 1, for_folders(name))),
                _ => folder.clone(),
            });
            if !common.json && at > 0 {
                say("\n");
            }
            match self.judge_one(&mut judge, case, folder.as_deref(), common)? {
                Some(found) => verdicts.extend(found),
                None => return Ok(stopped("what was judged before stands above")),
            }
        }
        Ok(if verdicts.iter().any(Verdict::is_broken) {
            Exit::Unexpected
        } else if verdicts.iter().all(Verdict::is_kept) {
            Exit::AsExpected
        } else {
            Exit::Undecided
        })
    }

    /// The verdicts on one question; none: a signal has stopped it.
    fn judge_one<Q: Asked>(
        &self,
        judge: &mut Judge<Q>,
        case: &AskedCase<Q>,
        folder: Option<&Path>,
        common: &Common,
    ) -> Result<Option<Vec<Verdict<Q>>>, CommandError> {
        let AskedCase { question, assumed, before, .. } = case;
        let promises = self.promises(question)?;
        if !common.json {
            say(before);
            tell::head(question, assumed);
        }
        if !common.quiet {
            question.notes().iter().for_each(|note| eprintln!("note: {note}"));
        }
        let mut verdicts = Vec::new();
        for promise in promises {
            let answer = judge.answer_about(question, promise)?;
            if interruption().is_some() {
                return Ok(None);
            }
            let files = match folder {
                Some(folder) => files::write(judge, question, &answer, folder)?,
                None => Vec::new(),
            };
            if common.json {
                say_json(&PromiseJson::new(case, &answer, files));
            } else {
                tell::answer(case, &answer, &files);
            }
            verdicts.push(answer.verdict);
        }
        if !common.json {
            tell::tail(case, judge);
        }
        Ok(Some(verdicts))
    }
}

/// A question with where it comes from.
pub struct AskedCase<Q> {
    pub question: Q,
    pub assumed: AssumedBounds,
    /// The container of a manifest that has the settings.
    pub container: Option<String>,
    /// What the configuration is of, as `container manager of Deployment operator`; none: the settings are those of the command line.
    pub configuration: Option<String>,
    /// What the configuration rests on besides.
    pub assumptions: Vec<String>,
    /// The options that no field of the configuration can say.
    pub without_field: Vec<&'static str>,
    /// How each field of a configuration was understood, for JSON lines.
    pub understood: Vec<UnderstoodJson>,
    /// The same for people.
    pub before: String,
}

impl<Q> AskedCase<Q> {
    /// A question with the configuration that it comes from, if there is one. `command` asks the same question.
    pub fn of(question: Q, assumed: AssumedBounds, from: Option<Understood<Q>>, command: &str) -> Self {
        let (mut before, mut understood) = (String::new(), Vec::new());
        if let Some(from) = &from {
            (before, understood) = (configured::told(from, command), configured::understood(from));
        }
        let (configuration, assumptions, without_field) =
            from.map_or_else(Default::default, |from| (Some(from.kind), from.assumptions, from.without_field));
        let container = None;
        AskedCase { question, assumed, container, configuration, assumptions, without_field, understood, before }
    }

    /// The options of a repair for which the configuration has no field.
    pub fn without_field(&self, repair: &Repair<Q>) -> Vec<&'static str> {
        let options = repair.changes.iter().map(Change::option);
        options.filter(|option| self.without_field.contains(option)).collect()
    }
}

/// A name that is one of a folder, too: of at most 100 characters, for folders have a limit.
fn for_folders(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").chars().take(100).collect()
}

/// A mistake in a setting, as one in its option.
pub fn mistake(mistake: QuestionError) -> CommandError {
    CommandError::Input(format!("--{mistake}"))
}
