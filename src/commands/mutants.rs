//! `fencepost mutants`: faults built into the model on purpose, and which promises notice them.

use std::collections::BTreeMap;

use clap::Args;
use fencepost::checker::mutants::{Baseline, Change, changes, killer};
use fencepost::model::mutation::Mutation;
use fencepost::{Property, Suite};

use super::output::{say, say_json};
use super::parallel::{in_parallel, progress};
use super::supervisor::heed_interrupts;
use super::{Common, Exit, Trouble, json, target};

#[derive(Args, Debug)]
pub struct Mutants {
    /// Scenarios, hazards (B-01) or scenario files, instead of the standard suite
    targets: Vec<String>,
    /// Try each mutant on the scenarios with at most so many states; on larger ones only while it lives
    #[arg(long, default_value_t = 3_000, value_name = "N")]
    states: u64,
}

/// Scenarios larger than this are not tried at all.
const LARGEST: u64 = 100_000;

/// What a mutant came to.
struct Fate {
    mutation: Mutation,
    changes: Vec<Change>,
    /// The rule by which recorded answers of a real server refute it.
    refuted: Option<&'static str>,
}

pub fn run(mutants: &Mutants, common: &Common) -> Result<Exit, Trouble> {
    heed_interrupts();
    let mut scenarios = Vec::new();
    for word in &mutants.targets {
        scenarios.extend(target::find(word)?);
    }
    if mutants.targets.is_empty() {
        scenarios = target::suite(Suite::Standard);
    }
    let bar = progress(scenarios.len(), "scenarios as they are", common.quiet);
    let baselines = in_parallel(&scenarios, &bar, |scenario| Baseline::of(scenario, LARGEST));
    let mut baselines: Vec<Baseline> =
        baselines.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    baselines.sort_by_key(Baseline::states);
    let small = baselines.partition_point(|baseline| baseline.states() <= mutants.states);
    let (small, large) = baselines.split_at(small);
    let bar = progress(Mutation::ALL.len(), "mutants", common.quiet);
    let fates = in_parallel(Mutation::ALL, &bar, |mutation| {
        let mut found = Vec::new();
        for baseline in small {
            found.extend(changes(*mutation, baseline)?);
        }
        if found.is_empty() {
            found.extend(killer(*mutation, large)?);
        }
        Ok::<_, fencepost::checker::InternalError>(Fate {
            mutation: *mutation,
            changes: found,
            refuted: refuted(*mutation),
        })
    });
    let fates = fates.into_iter().collect::<Result<Vec<Fate>, _>>()?;
    for fate in &fates {
        if common.json {
            say_json(&fate.line());
        }
    }
    let survivors = fates.iter().filter(|fate| !fate.is_killed()).count();
    if !common.json {
        say(&matrix(&fates));
        say(&format!(
            "{} mutants on {} scenarios, and on {} larger ones while they live: {survivors} survive\n",
            fates.len(),
            small.len(),
            large.len()
        ));
    }
    Ok(if survivors == 0 { Exit::AsExpected } else { Exit::Unexpected })
}

/// The rule by which the recorded answers of a real server are impossible in the model with the fault.
#[cfg(feature = "conform")]
fn refuted(mutation: Mutation) -> Option<&'static str> {
    use fencepost::conform::{Objection, RECORDED, amqp, judge, read};
    if mutation.concerns("rabbitmq-semaphore") {
        let log = amqp::read(amqp::RECORDED).expect("it is tested");
        let is_refuted = matches!(amqp::judge(&log, Some(mutation)), amqp::Judged::Impossible { .. });
        return is_refuted.then_some("recorded answers");
    }
    let episodes = read(RECORDED).expect("it is tested");
    match judge(&episodes, Some(mutation)) {
        Err(Objection::Impossible(impossible)) => Some(impossible.rule.map_or("some rule", |(rule, _)| rule)),
        Err(Objection::Undecided { .. }) | Ok(_) => None,
    }
}

#[cfg(not(feature = "conform"))]
fn refuted(_: Mutation) -> Option<&'static str> {
    None
}

impl Fate {
    fn is_killed(&self) -> bool {
        !self.changes.is_empty() || self.refuted.is_some()
    }

    /// In how many scenarios the verdict on a property is another one.
    fn verdicts(&self) -> BTreeMap<Property, usize> {
        let mut counts = BTreeMap::new();
        for change in self.changes.iter().filter(|change| change.verdict.is_some()) {
            *counts.entry(change.property).or_default() += 1;
        }
        counts
    }

    fn counted(&self) -> usize {
        self.changes.iter().filter(|change| change.verdict.is_none()).count()
    }

    /// The first change of a verdict, else of a count.
    fn first(&self) -> Option<&Change> {
        self.changes.iter().find(|change| change.verdict.is_some()).or(self.changes.first())
    }

    fn line(&self) -> json::Mutant {
        let first = self.first();
        json::Mutant {
            mutant: self.mutation,
            killed: self.is_killed(),
            refuted_by: self.refuted,
            verdicts: self.verdicts().values().sum(),
            counts: self.counted(),
            scenario: first.map(|change| change.scenario.clone()),
            property: first.map(|change| change.property.name()),
            verdict: first.and_then(|change| change.verdict),
        }
    }
}

/// A row for each mutant, a column for each property, and in how many scenarios the verdict is another one.
fn matrix(fates: &[Fate]) -> String {
    let columns: Vec<Property> = Property::ALL
        .iter()
        .copied()
        .filter(|property| fates.iter().any(|fate| fate.verdicts().contains_key(property)))
        .collect();
    let mut text = String::new();
    for (place, property) in columns.iter().enumerate() {
        text += &format!("{:27}{}┌ {property}\n", "", " │ ".repeat(place));
    }
    for fate in fates {
        let verdicts = fate.verdicts();
        text += &format!("{:26}", format!("{:?}", fate.mutation));
        for property in &columns {
            text += &verdicts.get(property).map_or("  ·".to_owned(), |count| format!("{count:3}"));
        }
        text += &match fate.first() {
            None if fate.is_killed() => "   no scenario".to_owned(),
            None => "   SURVIVES".to_owned(),
            Some(Change { scenario, property, verdict: Some(verdict) }) => {
                format!("   {scenario} {property} is {verdict}")
            }
            Some(Change { scenario, property, verdict: None }) => format!("   {scenario} {property} has other counts"),
        };
        text += &format!(", {} other counts", fate.counted());
        text += &fate.refuted.map_or(String::new(), |rule| format!("; a real server refutes it, {rule}"));
        text.push('\n');
    }
    text
}
