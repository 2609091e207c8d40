//! What can be asked for on the command line, and what all commands share.

pub mod check;
pub mod conform;
pub mod detector;
pub mod envelope;
pub mod explore;
#[cfg(test)]
mod fuzz;
pub mod grid;
pub mod how;
pub mod hunt;
pub mod json;
pub mod list;
pub mod mutants;
pub mod output;
pub mod parallel;
pub mod regress;
pub mod replay;
pub mod schedulers;
pub mod shrink;
pub mod simulate;
pub mod suite;
pub mod supervisor;
pub mod sweep;
pub mod target;
pub mod tradeoff;

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// A proving ground for distributed locks: which promises hold under which settings, and the shortest run that breaks each of the others.
///
/// Without a command: checks the standard suite and writes a report.
#[derive(Parser, Debug)]
#[command(name = "fencepost", version, about, long_about, max_term_width = 110, after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXIT_CODES: &str = "Exit codes: 0 all verdicts as expected; 1 a verdict against expectation; 2 bad usage or input; 3 bounded or vacuous, or nothing found; 4 internal error.";

/// Options of every command.
#[derive(Args, Debug, Default)]
pub struct Common {
    /// One JSON object a line on stdout; everything else goes to stderr
    #[arg(long, global = true)]
    pub json: bool,
    /// Where to write the report and traces
    #[arg(long, global = true, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// No progress, no explanations
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Take a scenario file whose `mutation` breaks the model on purpose: its verdicts are about the mutant only
    #[arg(long, global = true)]
    pub allow_mutation: bool,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// List the scenarios, with their promises and expected verdicts
    List(list::List),
    /// Explore every run of a scenario and say which promises hold
    Check(check::Check),
    /// Take one plausible run of a scenario, from a seed
    Simulate(simulate::Simulate),
    /// Search seeds for a run that breaks a promise
    Hunt(hunt::Hunt),
    /// See how many seeds each scheduler takes to break what is expected to break
    Schedulers(schedulers::Schedulers),
    /// Take runs of many seeds under many settings, into a store that can be gone on with
    Sweep(sweep::Sweep),
    /// Measure what settings cost, in safety and in liveness, over many seeds
    Tradeoff(tradeoff::Tradeoff),
    /// See how soon gossip notices the dead, and how often it takes the living for dead
    Detector(detector::Detector),
    /// Put the parts of a sweep together
    Merge(sweep::merge::Merge),
    /// Repeat a recorded run step by step
    Replay(replay::Replay),
    /// Make a run that breaks a promise shorter
    Shrink(shrink::Shrink),
    /// Write a run that breaks a promise down as a test in Rust
    Regress(regress::Regress),
    /// Check a scenario under every combination of some settings
    Envelope(envelope::Envelope),
    /// Look at the space of a scenario in a browser
    Explore(explore::Explore),
    /// Hold the model against a real server
    Conform(conform::Conform),
    /// See which promises notice the faults that are built into the model on purpose
    Mutants(mutants::Mutants),
}

/// How a command ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    AsExpected = 0,
    Unexpected = 1,
    Usage = 2,
    Undecided = 3,
    Internal = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Why a command did not come to a verdict.
#[derive(Debug)]
pub enum Trouble {
    /// The user can do something about it.
    Input(String),
    /// An internal error.
    Internal(String),
}

impl Trouble {
    pub fn exit(&self) -> Exit {
        match self {
            Trouble::Input(_) => Exit::Usage,
            Trouble::Internal(_) => Exit::Internal,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Input(message) | Trouble::Internal(message) => f.write_str(message),
        }
    }
}

impl From<fencepost::checker::InternalError> for Trouble {
    fn from(error: fencepost::checker::InternalError) -> Self {
        Trouble::Internal(error.to_string())
    }
}
