//! `fencepost reenact`: counterexamples at a real server.

mod subject;
mod tell;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use clap::Args;
use fencepost::Property;
use fencepost_reenact::{
    Agent, DrivenEtcd, EtcdCommands, RabbitmqBroker, RealServer, Reenactment, ReenactmentOutcome, SeenViolation,
    ServerError, reenact,
};

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
    /// Every violated promise of the catalogue's scenarios of the server's kind
    #[arg(long, conflicts_with = "targets")]
    all: bool,
    #[command(flatten)]
    server: Server,
    /// A shell command that restarts the server on its data, and returns when it is ready
    #[arg(long, value_name = "COMMAND")]
    restart: Option<String>,
    /// A shell command that stops the process of etcd (SIGSTOP)
    #[arg(long, value_name = "COMMAND", requires = "resume", conflicts_with_all = ["consul", "rabbitmq"])]
    pause: Option<String>,
    /// A shell command that lets it go on (SIGCONT)
    #[arg(long, value_name = "COMMAND", requires = "pause")]
    resume: Option<String>,
    /// A shell command that is rabbitmqctl for the broker, for what its operators do; arguments are appended to it
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["consul", "etcd"])]
    rabbitmqctl: Option<String>,
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

/// The server.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Server {
    /// Where a Consul server listens, as http://127.0.0.1:8500; it runs with session_ttl_min = "1s", and may be in use
    #[arg(long, value_name = "URL")]
    consul: Option<String>,
    /// Where a RabbitMQ broker listens, as amqp://127.0.0.1:5672; the user guest may use it, and it may be in use
    #[arg(long, value_name = "URL")]
    rabbitmq: Option<String>,
    /// Where an etcd server listens, as http://127.0.0.1:2379; it is a single one, and empty
    #[arg(long, value_name = "URL")]
    etcd: Option<String>,
}

fn bad(error: ServerError) -> CommandError {
    CommandError::Input(error.0)
}

pub fn run(arguments: &Reenact, common: &Common) -> Result<Exit, CommandError> {
    stop_on_interrupt();
    let restart = arguments.restart.clone();
    let Server { consul, rabbitmq, etcd } = &arguments.server;
    match (consul, etcd, rabbitmq) {
        (Some(address), ..) => run_at(&Agent::connect(address, restart).map_err(bad)?, arguments, common),
        (None, Some(address), _) => {
            let pause = arguments.pause.clone().zip(arguments.resume.clone());
            let etcd = DrivenEtcd::connect(address, EtcdCommands { restart, pause }).map_err(bad)?;
            run_at(&etcd, arguments, common)
        }
        (None, None, address) => {
            let address = address.as_deref().unwrap_or_default();
            let broker = RabbitmqBroker::connect(address, restart, arguments.rabbitmqctl.clone()).map_err(bad)?;
            run_at(&broker, arguments, common)
        }
    }
}

/// Drives one server.
fn run_at<R: RealServer>(real: &R, arguments: &Reenact, common: &Common) -> Result<Exit, CommandError> {
    let server = real.name();
    let subjects = subjects(real, arguments, common)?;
    // What concerns each user of the server is alone.
    let (alone, together): (Vec<_>, Vec<_>) = subjects.iter().partition(|subject| subject.is_alone());
    let mut results = side_by_side(&together, usize::from(arguments.parallel), real, common).map_err(bad)?;
    results.extend(side_by_side(&alone, 1, real, common).map_err(bad)?);
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

/// A counterexample, and what came of it.
type Tried<'a, R> = (&'a Subject<<R as RealServer>::Service>, Reenactment);

/// Drives the server through some counterexamples at the same time, and tells of each as it ends.
fn side_by_side<'a, R: RealServer>(
    subjects: &[&'a Subject<R::Service>],
    workers: usize,
    real: &R,
    common: &Common,
) -> Result<Vec<Tried<'a, R>>, ServerError> {
    let server = real.name();
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Tried<'a, R>>> = Mutex::default();
    let failure: Mutex<Option<ServerError>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..workers.min(subjects.len()) {
            scope.spawn(|| {
                while !was_interrupted() && failure.lock().expect("no worker panics").is_none() {
                    let Some(subject) = subjects.get(next.fetch_add(1, Relaxed)) else { break };
                    match reenact(&subject.trace, real) {
                        Ok(result) => {
                            let mut results = results.lock().expect("no worker panics");
                            tell::result(subject, &result, &server, common);
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
