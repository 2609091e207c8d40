//! `fencepost mutants`: faults built into the sources on purpose, by layer, and what notices each of them.

use clap::Args;
use fencepost::catalogue;
use fencepost::checker::mutants::{Baseline, Noticed, Subject, Subjects, noticed};
use fencepost::consul::ConsulMutation;
use fencepost::model::mutation::{Judge, Layer, LayerKind, Mutation};
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
    let subjects = subjects(mutants, common)?;
    let mutations = catalogue::mutations();
    let bar = progress(mutations.len(), "mutants", common.quiet);
    let fates = in_parallel(&mutations, &bar, |mutation| {
        if was_interrupted() {
            return None;
        }
        let noticed = if mutation.judge() == Judge::Answers { Noticed::Nothing } else { noticed(*mutation, &subjects) };
        Some(MutantOutcome { mutation: *mutation, noticed, refuted: refuted(*mutation) })
    });
    let fates: Vec<MutantOutcome> = fates.into_iter().flatten().collect();
    if common.json {
        fates.iter().for_each(|fate| say_json(&fate.line()));
    } else {
        say(&matrix(&fates));
        say(&survivors(&fates));
        let enough = fates.iter().filter(|fate| fate.is_noticed()).count();
        let (count, share) = (fates.len(), enough * 100 / fates.len().max(1));
        say(&format!("{count} mutants on {} scenarios: {enough} are noticed, {share} %\n", subjects.len()));
    }
    if fates.len() < mutations.len() {
        return Ok(stopped(&format!("{} of {} mutants were tried", fates.len(), mutations.len())));
    }
    Ok(if fates.iter().all(MutantOutcome::is_as_expected) { Exit::AsExpected } else { Exit::Unexpected })
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

/// A row for each layer: how many of its mutants are noticed by what; and a row for each mutant below.
fn matrix(fates: &[MutantOutcome]) -> String {
    let head: String = COLUMNS.iter().map(|column| format!("{column:>9}")).collect();
    let mut text = format!("{:18}{:>8}{head}\n", "layer", "mutants");
    let row = |name: &str, fates: &[&MutantOutcome]| {
        let count = |place| fates.iter().filter(|fate| fate.column() == place).count();
        let cells =
            (0..COLUMNS.len()).map(count).map(|count| if count == 0 { "·".to_owned() } else { count.to_string() });
        let cells: String = cells.map(|cell| format!("{cell:>9}")).collect();
        format!("{name:18}{:>8}{cells}\n", fates.len())
    };
    let of_layer = |layer: Layer| fates.iter().filter(|fate| fate.mutation.layer() == layer).collect::<Vec<_>>();
    let mut layers: Vec<Layer> = fates.iter().map(|fate| fate.mutation.layer()).collect();
    layers.dedup();
    for layer in layers {
        text += &row(layer.name, &of_layer(layer));
    }
    text += &row("all", &fates.iter().collect::<Vec<_>>());
    text.push('\n');
    for fate in fates {
        text += &format!("{:30}{}", format!("{:?}", fate.mutation), fate.noticed);
        text += &fate.refuted.map_or(String::new(), |rule| format!("; recorded answers are impossible by {rule}"));
        text.push('\n');
    }
    text.push('\n');
    text
}

/// The mutants that nothing notices, each with its reason; and those of which that is not expected.
fn survivors(fates: &[MutantOutcome]) -> String {
    let mut text = String::new();
    for fate in fates.iter().filter(|fate| !fate.is_noticed() || !fate.is_as_expected()) {
        let MutantOutcome { mutation, noticed, .. } = fate;
        text += &match (fate.is_noticed(), mutation.survives()) {
            (false, Some(reason)) => format!("{mutation:?} survives: {reason}\n"),
            (false, None) => format!("{mutation:?} SURVIVES WITHOUT A REASON ({noticed}): {}\n", mutation.about()),
            (true, reason) => {
                format!("{mutation:?} IS NOTICED ({noticed}), AND SHOULD NOT BE: {}\n", reason.unwrap_or(""))
            }
        };
    }
    if text.is_empty() { text } else { format!("{text}\n") }
}
