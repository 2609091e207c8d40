//! Judging a question of any kind, and printing what comes out.

use std::path::PathBuf;
use std::sync::Arc;
use std::time;

use clap::Args;
use fencepost_doctor::{Asked, Doctor as Judge, Promise, QuestionError, Verdict};

use super::assumed::AssumedBounds;
use super::values::promise;
use super::{files, tell};
use crate::args::{Common, seconds};
use crate::exit::{CommandError, Exit};
use crate::json::{PromiseJson, UnderstoodJson};
use crate::output::say_json;
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
    /// Stop after this time, in seconds; promises that are not decided by then are reported as unknown
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
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

    /// Judges the question. `understood`: how each field of a configuration was understood, for JSON lines; `before`: the same for people.
    pub fn judge<Q: Asked>(
        &self,
        question: &Q,
        assumed: &AssumedBounds,
        understood: impl Fn() -> Vec<UnderstoodJson>,
        before: impl FnOnce(),
        common: &Common,
    ) -> Result<Exit, CommandError> {
        let promises = self.promises(question)?;
        stop_on_interrupt();
        let mut judge = Judge::new(cores(), Arc::new(Watch::new(self.timeout, None)?));
        if !common.json {
            before();
            tell::head(question, assumed);
        }
        if !common.quiet {
            question.notes().iter().for_each(|note| eprintln!("note: {note}"));
        }
        let mut verdicts = Vec::new();
        for promise in promises {
            let answer = judge.answer_about(question, promise)?;
            if interruption().is_some() {
                return Ok(stopped("what was judged before stands above"));
            }
            let files = match &self.write {
                Some(folder) => files::write(&mut judge, question, &answer, folder)?,
                None => Vec::new(),
            };
            if common.json {
                say_json(&PromiseJson::new(understood(), assumed, &answer, files));
            } else {
                tell::answer(question, assumed, &answer, &files);
            }
            verdicts.push(answer.verdict);
        }
        if !common.json {
            tell::tail(question, &judge);
        }
        Ok(if verdicts.iter().any(Verdict::is_broken) {
            Exit::Unexpected
        } else if verdicts.iter().all(Verdict::is_kept) {
            Exit::AsExpected
        } else {
            Exit::Undecided
        })
    }
}

/// A mistake in a setting, as one in its option.
pub fn mistake(mistake: QuestionError) -> CommandError {
    CommandError::Input(format!("--{mistake}"))
}
