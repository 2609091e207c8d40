//! `fencepost envelope`: which settings of a scenario keep which of its promises.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use fencepost::checker::{Options, check_any};
use fencepost::model::finding::{Finding, Verdict};
use fencepost::model::scenario::{Axis, Varied, vary};
use fencepost::reports::matrix::mark;

use super::check::seconds;
use super::json::Settled;
use super::output::{say, say_json};
use super::parallel::{in_parallel, progress};
use super::supervisor::{Watch, heed_interrupts};
use super::{Common, Exit, Trouble, target};

#[derive(Args, Debug)]
pub struct Envelope {
    /// A scenario or scenario file
    target: String,
    /// A setting and its values, as service.ttl=none,1,2; several times for a grid
    #[arg(long, value_name = "KEY=VALUES", value_parser = axis)]
    vary: Vec<Axis>,
    /// Search for at most so long in all, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}

/// What is varied if nothing is said: the dial between safety and liveness.
const DIAL: [&str; 3] = [
    "service.ttl/service.renew_every/service.belief=none/none/until-told,1/1/self-limiting,2/1/self-limiting",
    "service.lock_delay=0,3",
    "service.health.checks=[],[\"serf-health\"],[\"service-check\"]",
];

/// A setting and its values.
pub fn axis(text: &str) -> Result<Axis, String> {
    text.parse::<Axis>().map_err(|error| error.to_string())
}

pub fn run(envelope: &Envelope, common: &Common) -> Result<Exit, Trouble> {
    let scenario = target::one(&envelope.target)?;
    let axes = match &envelope.vary[..] {
        [] => DIAL.iter().map(|text| text.parse().expect("the dial is a constant")).collect(),
        axes => axes.to_vec(),
    };
    heed_interrupts();
    let watch = Arc::new(Watch::new(envelope.timeout, None)?);
    let settings = vary(&scenario, &axes);
    let bar = progress(settings.len(), "settings", common.quiet);
    let results = in_parallel(&settings, &bar, |varied| match &varied.scenario {
        Err(error) => Ok(Err(error.message.clone())),
        Ok(scenario) => {
            let supervisor: Arc<Watch> = Arc::clone(&watch);
            let outcomes = check_any(scenario, &Options { supervisor, ..Options::default() })?;
            Ok(Ok(outcomes.into_iter().map(|outcome| outcome.finding).collect::<Vec<_>>()))
        }
    });
    let results = results.into_iter().collect::<Result<Vec<_>, Trouble>>()?;
    if common.json {
        for (varied, result) in settings.iter().zip(&results) {
            for finding in result.iter().flatten() {
                say_json(&Settled::new(&varied.settings, finding));
            }
        }
    } else {
        say(&table(&settings, &results));
    }
    if results.iter().all(Result::is_err) {
        return Err(Trouble::Input("no setting is possible: is a key misspelt?".to_owned()));
    }
    let is_undecided = results.iter().flatten().flatten().any(Finding::is_undecided);
    Ok(if is_undecided { Exit::Undecided } else { Exit::AsExpected })
}

/// A line for each setting: a mark for each promise, then the settings.
fn table(settings: &[Varied], results: &[Result<Vec<Finding>, String>]) -> String {
    let mut text = String::new();
    let promises: Vec<_> = results.iter().flatten().flatten().map(|finding| finding.property).collect();
    let mut columns = Vec::new();
    for property in promises {
        if !columns.contains(&property) {
            columns.push(property);
        }
    }
    for (place, property) in columns.iter().enumerate() {
        text += &format!("{}┌ {property} ({})\n", "│  ".repeat(place), property.hazards_name());
    }
    let mut kept = 0;
    let mut possible = 0;
    for (varied, result) in settings.iter().zip(results) {
        let names = varied.settings.join(", ");
        let Ok(findings) = result else {
            text += &format!("–  {names}: {}\n", result.as_ref().err().map_or("", String::as_str));
            continue;
        };
        possible += 1;
        let cell = |property| findings.iter().find(|finding| finding.property == property);
        let marks: String = columns
            .iter()
            .map(|property| format!("{}  ", cell(*property).map_or("·", |finding| mark(&finding.verdict))))
            .collect();
        let is_kept = findings.iter().all(|finding| matches!(finding.verdict, Verdict::Proven(_)));
        kept += usize::from(is_kept);
        text += &format!("{marks}{names}{}\n", if is_kept { "   ← keeps all" } else { "" });
    }
    let verdict = match kept {
        0 => format!("none of {possible} settings keeps every promise"),
        _ => format!("{kept} of {possible} settings keep every promise"),
    };
    text + "\n✓ proven   ✗ violated   … bounded   ∅ vacuous   – impossible\n" + &verdict + "\n"
}
