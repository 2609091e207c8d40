//! `fencepost` without a command: the standard suite, on all cores, with a matrix and a report.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use fencepost::checker::{InternalError, Limits, Options, Outcome, check_any};
use fencepost::model::finding::Finding;
use fencepost::reports::html::page;
use fencepost::reports::matrix::{Paint, matrix};
use fencepost::{AnyScenario, Suite};
use indicatif::{ProgressBar, ProgressStyle};

use super::json::Checked;
use super::output::{is_coloured, make_folder, say, say_json, write};
use super::supervisor::{Watch, heed_interrupts};
use super::{Common, Exit, Trouble, check, target};

type Results = Vec<Option<Result<Vec<Outcome>, InternalError>>>;

pub fn run(common: &Common) -> Result<Exit, Trouble> {
    heed_interrupts();
    let start = Instant::now();
    let scenarios = target::suite(Suite::Standard);
    let out = common.out.clone().unwrap_or_else(|| PathBuf::from("out"));
    // An answer that cannot be written should not be waited for.
    make_folder(&out)?;
    let mut findings = Vec::new();
    for result in explore(&scenarios, common.quiet)? {
        for outcome in result.expect("every scenario was explored")? {
            findings.push(check::keep(outcome, Some(&out))?);
        }
    }
    let report = out.join("report.html");
    write(&report, &page(&findings, "fencepost: what holds, what breaks, and how"))?;
    if common.json {
        findings.iter().for_each(|finding| say_json(&Checked::from(finding)));
    } else {
        say(&matrix(&findings, Paint(is_coloured()), true));
        say(&summary(&findings, scenarios.len(), start.elapsed().as_secs_f64()));
        say(&format!("report: {}\n", report.display()));
    }
    Ok(check::exit(&findings))
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
fn explore(scenarios: &[AnyScenario], quiet: bool) -> Result<Results, Trouble> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Results> = Mutex::new(scenarios.iter().map(|_| None).collect());
    let watch = Arc::new(Watch::new(None, None)?);
    let progress = progress(scenarios.len(), quiet);
    let workers = thread::available_parallelism().map_or(1, usize::from).min(scenarios.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((place, scenario)) = take(&next, scenarios) {
                    progress.set_message(scenario.name().to_owned());
                    let supervisor: Arc<Watch> = Arc::clone(&watch);
                    let result = check_any(scenario, &Options { limits: Limits::default(), supervisor, only: None });
                    results.lock().expect("no worker panics")[place] = Some(result);
                    progress.inc(1);
                }
            });
        }
    });
    progress.finish_and_clear();
    Ok(results.into_inner().expect("no worker panics"))
}

fn take<'a>(next: &AtomicUsize, scenarios: &'a [AnyScenario]) -> Option<(usize, &'a AnyScenario)> {
    let place = next.fetch_add(1, Relaxed);
    scenarios.get(place).map(|scenario| (place, scenario))
}

/// A bar on terminals only.
fn progress(length: usize, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} scenarios, {elapsed} {msg}")
        .expect("the template is a constant");
    ProgressBar::new(length as u64).with_style(style)
}
