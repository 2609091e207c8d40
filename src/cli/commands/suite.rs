//! `fencepost` without a command: the standard suite, on all cores, with a matrix and a report.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use fencepost::AnyOutcome;
use fencepost::checker::{InternalError, Options};
use fencepost::model::finding::Finding;
use fencepost::reports::html::{Background, page};
use fencepost::reports::matrix::{Paint, matrix};
use fencepost::{AnyScenario, Suite};

use crate::args::Common;
use crate::documents::part_of_report;
use crate::exit::{CommandError, Exit};
use crate::findings;
use crate::json::CheckJson;
use crate::output::{is_coloured, make_folder, say, say_json, write};
use crate::parallel::{in_parallel, progress};
use crate::studies::background;
use crate::supervisor::{Watch, stop_on_interrupt};
use crate::target;

/// What published settings of leader elections have to spare.
const SLACK: &str = "model/services/observed-lease/slack.md";

type Results = Vec<Result<Vec<AnyOutcome>, InternalError>>;

pub fn run(common: &Common) -> Result<Exit, CommandError> {
    stop_on_interrupt();
    let start = Instant::now();
    let scenarios = target::suite(Suite::Standard);
    let out = common.out.clone().unwrap_or_else(|| PathBuf::from("out"));
    // An answer that cannot be written should not be waited for.
    make_folder(&out)?;
    let mut findings = Vec::new();
    for result in explore(&scenarios, common.quiet)? {
        for outcome in result? {
            findings.push(findings::keep(outcome, Some(&out))?);
        }
    }
    let report = out.join("report.html");
    let slack = part_of_report(SLACK, "slack", "The slack of published settings");
    let background = Background { pages: vec![slack], ..background(&scenarios, &out) };
    write(&report, &page(&findings, "fencepost: verdicts and counterexamples", &background))?;
    if common.json {
        findings.iter().for_each(|finding| say_json(&CheckJson::from(finding)));
    } else {
        say(&matrix(&findings, Paint(is_coloured()), true));
        say(&summary(&findings, scenarios.len(), start.elapsed().as_secs_f64()));
        say(&format!("report: {}\n", report.display()));
    }
    Ok(findings::exit(&findings))
}

fn summary(findings: &[Finding], scenarios: usize, seconds: f64) -> String {
    let surprises: Vec<&Finding> = findings.iter().filter(|finding| !finding.is_as_expected()).collect();
    let mut text = format!("{} promises of {scenarios} scenarios in {seconds:.1} s: ", findings.len());
    if surprises.is_empty() {
        return text + "every verdict is as expected\n";
    }
    text += &format!("{} not as expected\n", surprises.len());
    for finding in surprises {
        text += &format!(
            "  {} {}: {}, expected {}\n",
            finding.scenario,
            finding.property,
            finding.verdict.word(),
            finding.expect
        );
    }
    text
}

/// Explores the scenarios on all cores; results come in the order of the scenarios.
fn explore(scenarios: &[Box<dyn AnyScenario>], quiet: bool) -> Result<Results, CommandError> {
    let watch = Arc::new(Watch::new(None, None)?);
    let bar = progress(scenarios.len(), "scenarios", quiet);
    Ok(in_parallel(scenarios, &bar, |scenario| {
        bar.set_message(scenario.name().to_owned());
        let supervisor: Arc<Watch> = Arc::clone(&watch);
        scenario.check(&Options { supervisor, ..Options::default() })
    }))
}
