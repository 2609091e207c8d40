//! `fencepost check`: every run of some scenarios.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use fencepost::checker::{Limits, Options, Peers, SearchStore};
use fencepost::model::finding::{Finding, Verdict};
use fencepost::reports::export::{junit, markdown};
use fencepost::reports::html::{Background, Measurements, page};
use fencepost::{AnyOutcome, AnyScenario, Property, Suite};

use crate::args::{Common, property};
use crate::certificate::CertificateFile;
use crate::exit::{CommandError, Exit};
use crate::findings::{exit, keep, told};
use crate::hosts;
use crate::json::CheckJson;
use crate::output::{say, say_json, write};
use crate::parallel::{one_by_one, progress};
use crate::search_arguments::SearchArguments;
use crate::store;
use crate::studies::background;
use crate::supervisor::stop_on_interrupt;
use crate::target::{self, nothing, quoted};

#[derive(Args, Debug)]
pub struct Check {
    /// Scenarios, hazards (B-06) or scenario files
    #[arg(required_unless_present_any = ["suite", "from"])]
    targets: Vec<String>,
    /// Check a whole suite, beside the targets
    #[arg(long, value_parser = suite, value_name = "standard|full")]
    suite: Option<Suite>,
    /// Check only continuations of a recorded execution: a trace file, and the number of steps that are kept
    #[arg(long, value_parser = moment, value_name = "TRACE@STEP", conflicts_with_all = ["targets", "suite", "engine", "partial_order", "subsumption", "exact"])]
    from: Option<Moment>,
    /// With --from: explore continuations of at most N steps
    #[arg(long, default_value_t = 20, value_name = "N", requires = "from", conflicts_with_all = ["targets", "suite"], value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Check only this promise
    #[arg(long, value_parser = property, value_name = "NAME")]
    property: Option<Property>,
    #[command(flatten)]
    search: SearchArguments,
    /// Keep the states of the search in the folder DIR, and resume the search that it contains, also after the program was killed. For spaces
    /// larger than memory: --max-memory is then the size of the buffers in MiB [default: 256], and does not stop it; parts of states stay in
    /// memory. Of the state graph of promises about endless executions only the transitions are on disk: it is begun again, and --max-memory stops it. With --hosts the states stay in memory, --max-memory stops the search, and DIR has checkpoints
    #[arg(long, value_name = "DIR", conflicts_with_all = ["from", "subsumption", "exact"])]
    store: Option<PathBuf>,
    /// Search together with other processes: FILE names each of them on a line, as host:port. Each is started with the same command but
    /// for its --process; process 0 tells the verdicts. Promises about endless executions are judged by process 0 alone
    #[arg(long, value_name = "FILE", requires = "process", conflicts_with_all = ["from", "certificate", "subsumption", "exact"])]
    hosts: Option<PathBuf>,
    /// With --hosts: which line of the file this process is, from 0
    #[arg(long, value_name = "N", requires = "hosts")]
    process: Option<u16>,
    /// Write a certificate to FILE: why the promises of the scenario hold, for the program `fencepost-audit`. Promises that are expected to break are left out
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suite", "from", "partial_order", "subsumption"])]
    certificate: Option<PathBuf>,
    /// Write the verdicts to FILE for other programs; the extension selects the format: JUnit (.xml), Markdown (.md)
    #[arg(long, value_name = "FILE", value_parser = exported, conflicts_with = "from")]
    export: Vec<Exported>,
}

/// A file, and how verdicts are written into it.
#[derive(Clone, Debug)]
struct Exported {
    file: PathBuf,
    format: fn(&[Finding]) -> String,
}

fn exported(file: &str) -> Result<Exported, String> {
    let format = match Path::new(file).extension().and_then(OsStr::to_str) {
        Some("xml") => junit,
        Some("md") => markdown,
        _ => return Err("its name ends with .xml or .md".to_owned()),
    };
    Ok(Exported { file: PathBuf::from(file), format })
}

/// A moment of a recorded run.
#[derive(Clone, Debug)]
struct Moment {
    file: String,
    /// The number of steps.
    after: usize,
}

fn moment(text: &str) -> Result<Moment, String> {
    let (file, after) = text.rsplit_once('@').ok_or("a trace file and a step, as out/traces/run.jsonl@40")?;
    let after = after.parse().map_err(|_| format!("`{after}` is not the number of a step"))?;
    Ok(Moment { file: file.to_owned(), after })
}

fn suite(text: &str) -> Result<Suite, String> {
    match text {
        "standard" => Ok(Suite::Standard),
        "full" => Ok(Suite::Full),
        _ => Err("there are `standard` and `full`".to_owned()),
    }
}

pub fn run(check: &Check, common: &Common) -> Result<Exit, CommandError> {
    let mut scenarios = Vec::new();
    for word in &check.targets {
        scenarios.extend(target::find(word, common)?);
    }
    let own: BTreeSet<String> = scenarios.iter().map(|scenario| scenario.name().to_owned()).collect();
    scenarios.extend(check.suite.map(target::suite).unwrap_or_default());
    if check.certificate.is_some() && scenarios.len() > 1 {
        return Err(CommandError::Input("a certificate is about one scenario: name one".to_owned()));
    }
    let elsewhere = [("--hosts", check.hosts.is_some()), ("--store", check.store.is_some())];
    elsewhere.iter().filter(|(_, is_asked)| *is_asked).try_for_each(|(option, _)| check.search.is_own(option))?;
    stop_on_interrupt();
    if let Some(moment) = &check.from {
        return around(check, moment, common);
    }
    let certificate = check.certificate.as_deref().map(CertificateFile::create).transpose()?;
    for scenario in scenarios.iter().filter(|_| !common.quiet) {
        scenario.notes().iter().for_each(|note| eprintln!("note: {}: {note}", scenario.name()));
    }
    if let Some(process @ 1..) = check.process {
        return take_part(check, &scenarios, process, common);
    }
    let findings = findings(check, &scenarios, common)?;
    if let Some(out) = &common.out {
        let title = match (own.len(), own.first()) {
            (1, Some(name)) => format!("fencepost: {name}"),
            _ => "fencepost: verdicts and counterexamples".to_owned(),
        };
        let mut background = Background { own, ..background(&scenarios, out) };
        background.studies.retain(|study| !matches!(study.taken, Measurements::Never));
        let report = out.join("report.html");
        write(&report, &page(&findings, &title, &background))?;
        if !common.json && !common.quiet {
            say(&format!("report: {}\n", report.display()));
        }
    }
    if let Some(folder) = check.store.as_deref().filter(|_| !common.quiet && findings.iter().any(is_kept)) {
        eprintln!("fencepost: {} keeps what was searched: {} the search", folder.display(), how_to_resume(check));
    }
    check.export.iter().try_for_each(|Exported { file, format }| write(file, &format(&findings)))?;
    if let (Some(file), Some(written), [scenario]) = (&check.certificate, certificate, &scenarios[..]) {
        certify(check, &**scenario, &findings, (file, written), common)?;
    }
    Ok(exit(&findings))
}

/// What resumes a search that ended before its space was exhausted: a limit on states or levels would end it at the same place.
fn how_to_resume(check: &Check) -> &'static str {
    match (check.search.is_limited(), check.process.is_some()) {
        (false, false) => "the same command resumes",
        (false, true) => "the same commands, of all processes, resume",
        (true, false) => "the same command with a higher limit resumes",
        (true, true) => "the same commands with a higher limit, of all processes, resume",
    }
}

/// The store, if there is one. Each of several processes has its own, also in a folder that they share.
fn store(check: &Check) -> Result<Option<SearchStore>, CommandError> {
    let Some(folder) = &check.store else { return Ok(None) };
    let own = check.process.map(|process| folder.join(format!("process-{process}")));
    store::open(own.as_ref().unwrap_or(folder), check.search.max_memory).map(Some)
}

/// The other processes, if there are some.
fn peers(check: &Check, common: &Common) -> Result<Option<Arc<dyn Peers>>, CommandError> {
    let Some((file, process)) = check.hosts.as_deref().zip(check.process) else { return Ok(None) };
    hosts::join(file, process.into(), store::build("--hosts")?, check.search.timeout, common.quiet).map(Some)
}

/// Searches what process 0 searches, and leaves it to that one to say what came of it.
fn take_part(
    check: &Check,
    scenarios: &[Box<dyn AnyScenario>],
    process: u16,
    common: &Common,
) -> Result<Exit, CommandError> {
    let store = store(check)?;
    let peers = peers(check, common)?;
    let unseen = Common { quiet: true, ..common.clone() };
    let mut is_cut = false;
    for scenario in scenarios {
        let (store, peers) = (store.clone(), peers.clone());
        let search = |options: &Options| scenario.check(&Options { store, peers, ..options.clone() });
        let outcomes = check.search.watched((scenario.name(), check.property), &unseen, search)?;
        is_cut |= outcomes.iter().any(|outcome| is_bounded(&outcome.finding));
    }
    if !common.quiet {
        let part = if is_cut { "has stopped before the search was complete" } else { "has done its part" };
        eprintln!("fencepost: process {process} {part}; process 0 tells the verdicts");
    }
    Ok(if is_cut { Exit::Undecided } else { Exit::AsExpected })
}

/// Checks the scenarios: several side by side, unless it is said how many threads a search has or how much memory there is, or they are kept
/// in a store, or shared with other processes.
fn findings(check: &Check, scenarios: &[Box<dyn AnyScenario>], common: &Common) -> Result<Vec<Finding>, CommandError> {
    let mut findings = Vec::new();
    let mut keep_all = |scenario: &dyn AnyScenario, outcomes: Vec<AnyOutcome>| {
        if outcomes.is_empty() {
            return Err(CommandError::Input(nothing(scenario, check.property)));
        }
        for outcome in outcomes {
            let finding = keep(outcome, common.out.as_deref())?;
            tell(&finding, common);
            findings.push(finding);
        }
        Ok(())
    };
    let store = store(check)?;
    let peers = peers(check, common)?;
    if scenarios.len() > 1 && store.is_none() && peers.is_none() && check.search.are_for_many() {
        let bar = progress(scenarios.len(), "scenarios", common.quiet);
        one_by_one(
            scenarios,
            &bar,
            |scenario| check.search.beside_others(check.property, |options| scenario.check(options)),
            |scenario, searched| keep_all(&**scenario, searched??),
        )?;
    } else {
        for scenario in scenarios {
            let (store, peers) = (store.clone(), peers.clone());
            let search = |options: &Options| scenario.check(&Options { store, peers, ..options.clone() });
            keep_all(&**scenario, check.search.watched((scenario.name(), check.property), common, search)?)?;
        }
    }
    Ok(findings)
}

/// Whether a store has what was searched: of a state graph it has nothing afterwards.
fn is_kept(finding: &Finding) -> bool {
    is_bounded(finding) && finding.engine != "graph"
}

fn is_bounded(finding: &Finding) -> bool {
    matches!(finding.verdict, Verdict::Bounded { .. })
}

/// Writes a certificate. Where it cannot be finished, there is none.
fn certify(
    check: &Check,
    scenario: &dyn AnyScenario,
    findings: &[Finding],
    (file, mut written): (&Path, CertificateFile),
    common: &Common,
) -> Result<(), CommandError> {
    if let Some(finding) = findings.iter().find(|finding| !finding.is_as_expected()) {
        let older = if file.exists() { format!("; {} is of an earlier run", file.display()) } else { String::new() };
        eprintln!("fencepost: no certificate is written: `{}` is {}{older}", finding.property, finding.verdict.word());
        return Ok(());
    }
    let size = check.search.watched((scenario.name(), check.property), common, |options| {
        scenario.certify(findings, options, written.out())
    })?;
    written.complete()?;
    let told = format!(
        "certificate: {} ({} worlds, {} transitions); check it with: fencepost-audit {}",
        file.display(),
        size.members,
        size.transitions,
        quoted(&file.display().to_string())
    );
    match (common.quiet, common.json) {
        (true, _) => {}
        (false, true) => eprintln!("{told}"),
        (false, false) => say(&format!("{told}\n")),
    }
    Ok(())
}

/// Everything that can follow a moment of a recorded run.
fn around(check: &Check, moment: &Moment, common: &Common) -> Result<Exit, CommandError> {
    let Moment { file, after } = moment;
    let bad = |error: &dyn std::fmt::Display| CommandError::Input(format!("{file}: {error}"));
    let trace = target::trace(Path::new(file))?;
    let steps = trace.replay().map_err(|error| bad(&error))?.story.steps.len();
    if *after > steps {
        return Err(bad(&format!("the run has {steps} steps, and none after {after}")));
    }
    let outcomes = check.search.watched((trace.scenario_name(), check.property), common, |options| {
        let depth = Some(check.search.max_depth.unwrap_or(u64::MAX).min(check.steps + 1));
        let limits = Limits { depth, ..options.limits };
        trace.check_around(*after, &Options { limits, ..options.clone() })
    })?;
    if outcomes.is_empty() {
        let scenario = trace.scenario();
        let is_made = |wanted| scenario.promises().iter().any(|promise| promise.property == wanted);
        return Err(CommandError::Input(match check.property {
            Some(property) if is_made(property) => {
                format!("only an endless run breaks `{property}`, and --from looks at steps")
            }
            Some(_) => nothing(&*scenario, check.property),
            None => format!("{}: no promise of the scenario can be broken by a single step", scenario.name()),
        }));
    }
    let mut findings = Vec::new();
    for outcome in outcomes {
        findings.push(keep(outcome, common.out.as_deref())?);
        tell(findings.last().expect("just added"), common);
    }
    Ok(exit(&findings))
}

fn tell(finding: &Finding, common: &Common) {
    if common.json {
        return say_json(&CheckJson::from(finding));
    }
    if common.quiet {
        return say(&format!("{} {}: {}\n", finding.scenario, finding.property, finding.verdict.word()));
    }
    say(&told(finding));
}
