//! What noticed each mutant in an earlier run: that is asked first, and mostly suffices. It spares the search for it, and for a mutant that
//! survives all the searches.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use fencepost::catalogue;
use fencepost::checker::laws::Law;
use fencepost::checker::mutants::{Baseline, Check, Noticed, noticed_again};
use fencepost::model::mutation::Mutation;
use serde::Deserialize;

use super::{MutantOutcome, refuted};
use crate::args::Common;
use crate::exit::CommandError;
use crate::parallel::{in_parallel, progress};
use crate::supervisor::was_interrupted;

/// The lines of an earlier run, by mutant.
#[derive(Default)]
pub struct Earlier(BTreeMap<String, RecordedMutant>);

/// The fields of a line of `fencepost mutants --json` that are asked for.
#[derive(Deserialize)]
struct RecordedMutant {
    mutant: String,
    noticed_by: String,
    scenario: Option<String>,
    law: Option<String>,
}

/// Reads the lines of an earlier run.
pub fn read(file: &Path) -> Result<Earlier, CommandError> {
    let name = file.display();
    let text =
        fs::read_to_string(file).map_err(|error| CommandError::Input(format!("{name} cannot be read: {error}")))?;
    text.parse().map_err(|error| CommandError::Input(format!("{name}:{error}")))
}

impl FromStr for Earlier {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lines = (1..).zip(text.lines()).map(|(number, line)| {
            let line: RecordedMutant = serde_json::from_str(line)
                .map_err(|error| format!("{number}: this is no line of `fencepost mutants --json`: {error}"))?;
            Ok((line.mutant.clone(), line))
        });
        lines.collect::<Result<_, _>>().map(Earlier)
    }
}

impl Earlier {
    /// Whether the mutant has a reason to survive, and survived.
    pub fn survived(&self, mutation: Mutation) -> bool {
        let line = self.0.get(&mutation.name());
        mutation.survives().is_some() && line.is_some_and(|line| line.check().is_none() && line.noticed_by != "answers")
    }

    /// The mutants that are noticed by what noticed them before.
    pub fn ask(&self, mutations: &[Mutation], common: &Common) -> Vec<MutantOutcome> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let bar = progress(mutations.len(), "mutants", common.quiet);
        let found = in_parallel(mutations, &bar, |mutation| {
            let line = self.0.get(&mutation.name()).filter(|_| !was_interrupted())?;
            let fate = line.ask(*mutation);
            fate.is_noticed().then_some(fate)
        });
        found.into_iter().flatten().collect()
    }
}

impl RecordedMutant {
    fn check(&self) -> Option<Check> {
        match self.noticed_by.as_str() {
            "verdict" => Some(Check::Verdict),
            "engines" => Some(Check::Engines),
            "law" => {
                let law = self.law.as_deref()?;
                Law::ALL.iter().find(|known| known.name() == law).map(|law| Check::Law(*law))
            }
            _ => None,
        }
    }

    fn ask(&self, mutation: Mutation) -> MutantOutcome {
        let refuted = if self.noticed_by == "answers" { refuted(mutation) } else { None };
        MutantOutcome { mutation, noticed: self.noticed(mutation).unwrap_or(Noticed::Nothing), refuted }
    }

    /// What the scenario says that noticed it; `None` if there is none, or it does not say what it should without the mutant.
    fn noticed(&self, mutation: Mutation) -> Option<Noticed> {
        let check = self.check()?;
        let scenario = catalogue::named(self.scenario.as_deref()?)?;
        let baseline = Baseline::of(scenario.subject(), u64::MAX / 2).ok().flatten()?;
        Some(noticed_again(mutation, baseline, check))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What `.ci/run` asks.
    const MATRIX: &str = include_str!("../../../../.ci/mutants.jsonl");

    fn named(name: &str) -> Mutation {
        let all = catalogue::mutations();
        *all.iter().find(|mutation| mutation.name() == name).expect("a mutant")
    }

    fn noticed(name: &str, by: &str, rest: &str) -> MutantOutcome {
        let line = format!(r#"{{"mutant": "{name}", "noticed_by": "{by}"{rest}}}"#);
        let earlier: Earlier = line.parse().expect("a line");
        earlier.0[name].ask(named(name))
    }

    #[test]
    fn the_matrix_has_mutants_of_the_catalogue_and_none_survives_without_a_reason() {
        let matrix: Earlier = MATRIX.parse().expect("lines");
        let all = catalogue::mutations();
        let names: BTreeSet<String> = all.iter().map(|mutation| mutation.name()).collect();
        let gone: Vec<&String> = matrix.0.keys().filter(|name| !names.contains(*name)).collect();
        assert!(gone.is_empty(), "these are gone: {gone:?}; `fencepost mutants --json` makes the lines anew");
        // One that is not there is searched for.
        for mutation in all.into_iter().filter(|mutation| matrix.0.contains_key(&mutation.name())) {
            let line = &matrix.0[&mutation.name()];
            let is_noticed = line.noticed_by == "answers" || line.check().is_some();
            assert_eq!(is_noticed, mutation.survives().is_none(), "{mutation:?}");
            assert_eq!(matrix.survived(mutation), !is_noticed, "{mutation:?}");
        }
    }

    #[test]
    fn what_noticed_a_mutant_notices_it_again_and_what_did_not_does_not() {
        let verdict = noticed("lent-too-early", "verdict", r#", "scenario": "lease-late-write""#);
        assert!(verdict.is_noticed(), "{:?}", verdict.noticed);
        for (scenario, by) in [("b42-ascending", "verdict"), ("gone", "verdict"), ("lease-late-write", "count")] {
            let outcome = noticed("lent-too-early", by, &format!(r#", "scenario": "{scenario}""#));
            assert!(!outcome.is_noticed(), "{scenario} {by}");
        }
    }

    #[test]
    fn a_line_that_is_none_is_refused_with_its_number() {
        let lines = "{\"mutant\": \"a\", \"noticed_by\": \"verdict\"}\n{\"mutant\": \"b\"}\n";
        let refused = lines.parse::<Earlier>().map(|_| ()).expect_err("the second has no `noticed_by`");
        assert!(refused.starts_with("2: this is no line of `fencepost mutants --json`: "), "{refused}");
    }
}
