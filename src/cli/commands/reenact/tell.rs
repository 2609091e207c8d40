//! What came of counterexamples, for people and for other programs.

use std::collections::BTreeMap;

use fencepost_reenact::{Driven, Reenactment, ReenactmentOutcome};

use super::subject::Subject;
use crate::args::Common;
use crate::json::ReenactmentJson;
use crate::output::{say, say_json};

/// One counterexample.
pub fn result<S: Driven>(subject: &Subject<S>, result: &Reenactment, server: &str, common: &Common) {
    let Reenactment { outcome, tick, length, stretch, attempts } = result;
    let milliseconds =
        |time: &Option<std::time::Duration>| time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    if common.json {
        say_json(&ReenactmentJson {
            scenario: &subject.scenario,
            property: &subject.property,
            server,
            outcome: outcome.name(),
            sentence: outcome.to_string(),
            step: outcome.step(),
            tick: milliseconds(tick),
            length: milliseconds(length),
            stretch: milliseconds(stretch),
            other: subject.other,
            attempts: *attempts,
            trace: subject.file.clone(),
        });
        return;
    }
    let mark = match outcome {
        ReenactmentOutcome::Happened => "✓",
        ReenactmentOutcome::Refused { .. } => "✗",
        ReenactmentOutcome::Undecided { .. } => "…",
        ReenactmentOutcome::Simultaneous { .. } | ReenactmentOutcome::Outside { .. } => "·",
    };
    let mut line = format!("{mark} {} {}: {outcome}", subject.scenario, subject.property);
    if let (ReenactmentOutcome::Happened, Some(length), Some(tick)) = (outcome, length, tick) {
        line += &format!(" in {length:?}, with ticks of {tick:?}");
        if let Some(stretch) = stretch {
            line += &format!("; delays of 0 took up to {stretch:?}");
        }
    }
    if let Some(other) = subject.other {
        line += &format!("; this is another execution than the checker's first, {other}");
    }
    say(&(line + "\n"));
}

/// All of them, counted.
pub fn table<S: Driven>(results: &[(&Subject<S>, Reenactment)], server: &str, common: &Common) {
    if common.json {
        return;
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, result) in results {
        let row = match &result.outcome {
            ReenactmentOutcome::Outside { needs, .. } => format!("outside: {needs}"),
            other => other.name().to_owned(),
        };
        *counts.entry(row).or_default() += 1;
    }
    let mut text = "\n".to_owned();
    for (row, count) in &counts {
        text += &format!("{count:5}  {row}\n");
    }
    let count = |is_meant: &dyn Fn(&ReenactmentOutcome) -> bool| {
        results.iter().filter(|(_, result)| is_meant(&result.outcome)).count()
    };
    let (happened, possible) = (
        count(&|outcome| *outcome == ReenactmentOutcome::Happened),
        count(&ReenactmentOutcome::is_possible_from_outside),
    );
    text += &format!(
        "{happened} of {} violations were seen on {server} (server real, clients driven by fencepost); {possible} need neither a fault inside the server nor exact simultaneity\n",
        results.len(),
    );
    say(&text);
}
