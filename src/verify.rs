//! Checks inside a user's test, and the message of a failure: the violation, the story, the assumptions, and the
//! command that replays it.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use fencepost_checker::Options;
use fencepost_model::assumption::{Assumption, Class};
use fencepost_model::finding::{Certificate, Finding, Property, Verdict};
use fencepost_registry::{AnyOutcome, AnyScenario};
use fencepost_reports::timeline::timeline;
use fencepost_reports::uncertainty;

use crate::catalogue::CATALOGUE;

/// Explores every interleaving of a scenario of any service, and insists on its expected verdicts; a test that builds its
/// scenario has [`Check::verify`](crate::Check::verify).
///
/// ```
/// let file = "model/services/lease/scenarios/lease-just-enough.toml";
/// let text = std::fs::read_to_string(file).expect("it is there");
/// let scenario = fencepost::catalogue::read(&text, file).unwrap_or_else(|error| panic!("{error}"));
/// fencepost::verify(&*scenario);
/// ```
///
/// # Panics
/// A verdict is not the expected one, or the scenario is impossible. The message tells the story.
pub fn verify(scenario: &dyn AnyScenario) {
    let is_empty = scenario.promises().is_empty();
    assert!(!is_empty, "the scenario `{}` promises nothing: there is nothing to verify", scenario.name());
    let outcomes = scenario.check(&Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let failures: Vec<String> =
        outcomes.iter().filter(|outcome| !outcome.finding.is_as_expected()).map(failure).collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

fn failure(outcome: &AnyOutcome) -> String {
    let mut text = explain(&outcome.finding);
    let Some(trace) = &outcome.trace else { return text };
    let path: PathBuf =
        ["target", "fencepost", &format!("{}--{}.jsonl", outcome.finding.scenario, outcome.finding.property)]
            .iter()
            .collect();
    let written =
        fs::create_dir_all(path.parent().expect("it has a folder")).and_then(|()| fs::write(&path, trace.to_text()));
    let _ = match written {
        Ok(()) if matches!(outcome.finding.property, Property::Own(_)) => writeln!(
            text,
            "the trace is in {}; the command line cannot replay it, for the property is defined in code",
            path.display()
        ),
        Ok(()) if CATALOGUE.service(trace.scenario().system()).is_some() => {
            writeln!(text, "replay it with: fencepost replay {}", path.display())
        }
        Ok(()) => writeln!(text, "the trace is in {}", path.display()),
        Err(error) => writeln!(text, "the trace could not be written to {}: {error}", path.display()),
    };
    text
}

/// The assumptions of a verdict or an execution, one per line; the limits of the model come last.
pub fn rests_on(assumptions: &[Assumption]) -> String {
    let (limits, stated): (Vec<&Assumption>, Vec<&Assumption>) =
        assumptions.iter().partition(|assumption| assumption.class == Class::Limit);
    let mut text = "assumptions:\n".to_owned();
    stated.iter().for_each(|assumption| text += &format!("  - {assumption}\n"));
    if !limits.is_empty() {
        text += "limits of the model:\n";
        limits.iter().for_each(|assumption| text += &format!("  - {assumption}\n"));
    }
    text
}

/// The finding in full: the verdict, the story if there is one, and the assumptions.
pub fn explain(finding: &Finding) -> String {
    let Finding { scenario, property, expect, verdict, states, .. } = finding;
    let surprise = if finding.is_as_expected() { String::new() } else { format!("; expected: {expect}") };
    let mut text = format!("{scenario}: {property} is {}{surprise}\n", verdict.word());
    let _ = match verdict {
        Verdict::Proven(certificate) => proof(&mut text, finding, certificate),
        Verdict::Violated(story) => {
            let steps = story.steps.len();
            let what = match story.repeats_from {
                None if story.is_not_known_shortest => {
                    format!("a counterexample, {steps} steps; it is not known shortest, but it needs each of its steps")
                }
                None => format!("a shortest counterexample, {steps} steps"),
                Some(from) if from == steps => format!("a counterexample that ends in a deadlock, {steps} steps"),
                Some(from) => format!("an endless counterexample: {from} steps, then a cycle of {}", steps - from),
            };
            writeln!(text, "  {what}:\n\n{}", timeline(story, usize::MAX, None))
        }
        Verdict::Bounded { by } => {
            writeln!(text, "  no violation found; search stopped by {by} after {states} states")
        }
        Verdict::Vacuous { missing } => {
            writeln!(text, "  vacuous: goals not reached: {}", missing.join(", "))
        }
    };
    text += &rests_on(&finding.assumptions);
    text
}

fn proof(text: &mut String, finding: &Finding, certificate: &Certificate) -> std::fmt::Result {
    let Finding { states, transitions, depth, .. } = finding;
    writeln!(text, "  state space exhausted: {states} states, {transitions} transitions, {depth} levels")?;
    writeln!(text, "  {}", uncertainty(*states, certificate.fingerprint_bits))?;
    writeln!(text, "  goals reached: {}", certificate.goals.join(", "))?;
    writeln!(text, "  actions never taken: {}", certificate.never_taken.join(", "))
}
