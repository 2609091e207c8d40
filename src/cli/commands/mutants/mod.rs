//! `fencepost mutants`: faults built into the sources on purpose, by layer, and what notices each of them.
//!
//! ```text
//! again    what noticed each mutant in an earlier run, asked first
//! matrix   the kill matrix, as text
//! ```

mod again;
mod matrix;

use std::path::PathBuf;

use clap::Args;
use fencepost::catalogue;
use fencepost::checker::mutants::{Baseline, Noticed, Subject, Subjects, noticed};
use fencepost::consul::ConsulMutation;
use fencepost::model::mutation::{Judge, LayerKind, Mutation};
use fencepost::rabbitmq::RabbitmqMutation;
use fencepost::{AnyScenario, Suite};

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::output::{say, say_json};
use crate::parallel::{in_parallel, progress};
use crate::supervisor::{stop_on_interrupt, stopped, was_interrupted};
use crate::target;

#[derive(Args, Debug)]
pub struct Mutants {
    /// Scenarios, hazards (B-01) or scenario files, instead of the standard suite
    targets: Vec<String>,
    /// Try mutants on scenarios with at most N states
    #[arg(long, default_value_t = Subjects::STATES_MAX, value_name = "N")]
    states: u64,
    /// The lines of an earlier run (--json): ask first what noticed each mutant then, and leave out those that had a reason to survive
    #[arg(long, value_name = "FILE", conflicts_with = "targets")]
    again: Option<PathBuf>,
}

/// What a mutant came to.
struct MutantOutcome {
    mutation: Mutation,
    noticed: Noticed,
    /// The rule by which recorded answers of a real server are impossible.
    refuted: Option<&'static str>,
}

pub fn run(mutants: &Mutants, common: &Common) -> Result<Exit, CommandError> {
    stop_on_interrupt();
    let earlier = mutants.again.as_deref().map(again::read).transpose()?.unwrap_or_default();
    let all = catalogue::mutations();
    let (left_out, asked): (Vec<Mutation>, Vec<Mutation>) =
        all.iter().partition(|mutation| earlier.survived(**mutation));
    let mut fates = earlier.ask(&asked, common);
    let is_open = |mutation: &&Mutation| fates.iter().all(|fate| fate.mutation != **mutation);
    let open: Vec<Mutation> = asked.iter().filter(is_open).copied().collect();
    if !open.is_empty() {
        fates.extend(search(&open, mutants, common)?);
    }
    fates.sort_by_key(|fate| all.iter().position(|mutation| *mutation == fate.mutation));
    if common.json {
        fates.iter().for_each(|fate| say_json(&fate.line()));
    } else {
        say(&matrix::of(&fates));
        say(&matrix::survivors(&fates));
        say(&matrix::total(&fates, left_out.len()));
    }
    if fates.len() < asked.len() {
        return Ok(stopped(&format!("{} of {} mutants were tried", fates.len(), asked.len())));
    }
    Ok(if fates.iter().all(MutantOutcome::is_as_expected) { Exit::AsExpected } else { Exit::Unexpected })
}

/// What notices these mutants; when it is interrupted, those that were tried.
fn search(open: &[Mutation], mutants: &Mutants, common: &Common) -> Result<Vec<MutantOutcome>, CommandError> {
    let subjects = subjects(mutants, common)?;
    let bar = progress(open.len(), "mutants", common.quiet);
    let fates = in_parallel(open, &bar, |mutation| (!was_interrupted()).then(|| outcome(*mutation, &subjects)));
    Ok(fates.into_iter().flatten().collect())
}

/// What notices the mutant.
fn outcome(mutation: Mutation, subjects: &Subjects) -> MutantOutcome {
    let noticed = if mutation.judge() == Judge::Answers { Noticed::Nothing } else { noticed(mutation, subjects) };
    MutantOutcome { mutation, noticed, refuted: refuted(mutation) }
}

/// The scenarios that mutants are tried on, as they are.
fn subjects(mutants: &Mutants, common: &Common) -> Result<Subjects, CommandError> {
    let mut scenarios: Vec<Box<dyn AnyScenario>> = Vec::new();
    for word in &mutants.targets {
        scenarios.extend(target::find(word, common)?);
    }
    if mutants.targets.is_empty() {
        scenarios = target::suite(Suite::Standard);
    }
    let bar = progress(scenarios.len(), "scenarios as they are", common.quiet);
    let baselines = in_parallel(&scenarios, &bar, |scenario| match was_interrupted() {
        true => Ok(None),
        false => Baseline::of(scenario.subject(), mutants.states),
    });
    let baselines = baselines.into_iter().collect::<Result<Vec<_>, _>>()?;
    let skipped = scenarios.iter().zip(&baselines).filter(|(_, baseline)| baseline.is_none() && !was_interrupted());
    for (scenario, _) in skipped.filter(|_| !mutants.targets.is_empty()) {
        let (name, states) = (scenario.name(), mutants.states);
        eprintln!("{name} is skipped: it needs more than {states} states (--states), or has unexpected verdicts");
    }
    Ok(Subjects::new(baselines.into_iter().flatten().collect(), named()))
}

/// The scenarios that a mutation names, because they are too large to try every mutation on.
fn named() -> Vec<Box<dyn Subject>> {
    let names: Vec<&str> = catalogue::mutations()
        .into_iter()
        .filter_map(|mutation| if let Judge::In(name) = mutation.judge() { Some(name) } else { None })
        .collect();
    let all = catalogue::all().into_iter();
    all.filter(|scenario| names.contains(&scenario.name())).map(|scenario| scenario.subject()).collect()
}

/// The rule by which the recorded answers of a real server are impossible in the model with the fault.
fn refuted(mutation: Mutation) -> Option<&'static str> {
    use fencepost_conform::{Limits, Objection, RECORDED, amqp, judge_until, read};
    match mutation.layer().kind {
        LayerKind::Server if RabbitmqMutation::MUTATIONS.contains(&mutation) => {
            let log = amqp::read(amqp::RECORDED).expect("it is tested");
            let is_refuted = matches!(amqp::judge(&log, Some(mutation)), amqp::Judged::Impossible { .. });
            is_refuted.then_some("some rule")
        }
        LayerKind::Server if ConsulMutation::MUTATIONS.contains(&mutation) => {
            let episodes = read(RECORDED).expect("it is tested");
            match judge_until(&episodes, Some(mutation), Limits::default(), &was_interrupted) {
                Err(Objection::Impossible(impossible)) => Some(impossible.rule.map_or("some rule", |(rule, _)| rule)),
                Err(Objection::Undecided { .. }) | Ok(_) => None,
            }
        }
        _ => None,
    }
}

/// The columns of the matrix: what notices a mutant, then what is not enough.
const COLUMNS: [&str; 7] = ["verdict", "law", "answers", "engines", "count", "panic", "nothing"];

impl MutantOutcome {
    fn is_noticed(&self) -> bool {
        self.noticed.is_enough() || self.refuted.is_some()
    }

    /// Whether it is noticed, or has a reason to survive; one with a reason must not be noticed.
    fn is_as_expected(&self) -> bool {
        self.is_noticed() == self.mutation.survives().is_none()
    }

    /// The column of the matrix, by place.
    fn column(&self) -> usize {
        match self.noticed {
            Noticed::Verdict { .. } => 0,
            Noticed::Law { .. } => 1,
            _ if self.refuted.is_some() => 2,
            Noticed::Engines { .. } => 3,
            Noticed::Count { .. } => 4,
            Noticed::Panic { .. } => 5,
            Noticed::Nothing => 6,
        }
    }

    fn line(&self) -> json::MutantJson {
        let (property, verdict, law) = match &self.noticed {
            Noticed::Verdict { property, verdict, .. } => (Some(property.name()), Some(*verdict), None),
            Noticed::Engines { property, .. } | Noticed::Count { property, .. } => (Some(property.name()), None, None),
            Noticed::Law { law, .. } => (None, None, Some(law.name())),
            Noticed::Panic { .. } | Noticed::Nothing => (None, None, None),
        };
        json::MutantJson {
            mutant: self.mutation,
            layer: self.mutation.layer().name,
            about: self.mutation.about(),
            killed: self.is_noticed(),
            noticed_by: COLUMNS[self.column()],
            refuted_by: self.refuted,
            scenario: self.noticed.scenario().map(str::to_owned),
            property,
            verdict,
            law,
            survives: self.mutation.survives(),
        }
    }
}
