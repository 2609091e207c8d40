//! `fencepost reenact`: counterexamples at a real server.

mod subject;
mod tell;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use clap::Args;
use fencepost::Property;
use fencepost_reenact::{Agent, AgentError, Reenactment, ReenactmentOutcome, SeenViolation, reenact};

use self::subject::{Subject, subjects};
use crate::args::{Common, property};
use crate::exit::{CommandError, Exit};
use crate::output::write;
use crate::search_arguments::SearchArguments;
use crate::supervisor::{stop_on_interrupt, stopped, was_interrupted};

#[derive(Args, Debug)]
pub struct Reenact {
    /// Trace files (.jsonl); or scenarios, hazards (B-06) or scenario files with a promise that is violated
    #[arg(required_unless_present = "all")]
    targets: Vec<String>,
    /// Every violated promise of the catalogue's scenarios of Consul
    #[arg(long, conflicts_with = "targets")]
    all: bool,
    /// Where a Consul server listens, as http://127.0.0.1:8500; it runs with session_ttl_min = "1s", and may be in use
    #[arg(long, value_name = "URL")]
    consul: String,
    /// A shell command that restarts the server on its data, and returns when it is ready
    #[arg(long, value_name = "COMMAND")]
    restart: Option<String>,
    /// Only counterexamples of this promise
    #[arg(long, value_parser = property, value_name = "NAME")]
    property: Option<Property>,
    /// The number of executions at the same time
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=200))]
    parallel: u16,
    /// With --all: write into FILE which violations were seen, as the repository keeps it
    #[arg(long, value_name = "FILE", requires = "all")]
    record: Option<PathBuf>,
    #[command(flatten)]
    search: SearchArguments,
}

pub fn run(arguments: &Reenact, common: &Common) -> Result<Exit, CommandError> {
    let bad = |error: AgentError| CommandError::Input(error.0);
    stop_on_interrupt();
    let agent = Agent::connect(&arguments.consul, arguments.restart.clone()).map_err(bad)?;
    let server = format!("Consul {}", agent.version);
    let subjects = subjects(arguments, common)?;
    // What restarts the server is alone.
    let (alone, together): (Vec<&Subject>, Vec<&Subject>) = subjects.iter().partition(|subject| subject.restarts());
    let mut results = side_by_side(&together, usize::from(arguments.parallel), &agent, &server, common).map_err(bad)?;
    results.extend(side_by_side(&alone, 1, &agent, &server, common).map_err(bad)?);
    if was_interrupted() {
        return Ok(stopped(&format!("{} of {} counterexamples were tried", results.len(), subjects.len())));
    }
    if let Some(file) = &arguments.record {
        let seen = results.iter().map(|(subject, result)| SeenViolation {
            scenario: subject.scenario.clone(),
            property: subject.property.clone(),
            digest: subject.digest.clone(),
            server: server.clone(),
            outcome: result.outcome.name().to_owned(),
            sentence: result.outcome.to_string(),
            other: subject.other.map(str::to_owned),
        });
        write(file, &fencepost_reenact::write(seen.collect()))?;
    }
    if results.len() > 1 {
        tell::table(&results, &server, common);
    }
    Ok(exit(arguments.all, results.iter().map(|(_, result)| &result.outcome)))
}

/// What the outcomes together come to. A counterexample that cannot happen from outside is no surprise among all.
fn exit<'a>(all: bool, outcomes: impl Iterator<Item = &'a ReenactmentOutcome>) -> Exit {
    let mut exit = Exit::AsExpected;
    for outcome in outcomes {
        match outcome {
            ReenactmentOutcome::Happened => {}
            ReenactmentOutcome::Refused { .. } => return Exit::Unexpected,
            ReenactmentOutcome::Simultaneous { .. } | ReenactmentOutcome::Outside { .. } if all => {}
            ReenactmentOutcome::Simultaneous { .. }
            | ReenactmentOutcome::Outside { .. }
            | ReenactmentOutcome::Undecided { .. } => {
                exit = Exit::Undecided;
            }
        }
    }
    exit
}

/// Drives the agent through some counterexamples at the same time, and tells of each as it ends.
fn side_by_side<'a>(
    subjects: &[&'a Subject],
    workers: usize,
    agent: &Agent,
    server: &str,
    common: &Common,
) -> Result<Vec<(&'a Subject, Reenactment)>, AgentError> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(&Subject, Reenactment)>> = Mutex::default();
    let failure: Mutex<Option<AgentError>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..workers.min(subjects.len()) {
            scope.spawn(|| {
                while !was_interrupted() && failure.lock().expect("no worker panics").is_none() {
                    let Some(subject) = subjects.get(next.fetch_add(1, Relaxed)) else { break };
                    match reenact(&subject.trace, agent) {
                        Ok(result) => {
                            let mut results = results.lock().expect("no worker panics");
                            tell::result(subject, &result, server, common);
                            results.push((subject, result));
                        }
                        Err(error) => *failure.lock().expect("no worker panics") = Some(error),
                    }
                }
            });
        }
    });
    match failure.into_inner().expect("no worker panics") {
        Some(error) => Err(error),
        None => Ok(results.into_inner().expect("no worker panics")),
    }
}
