//! The commands: each is a file, and none imports another. What several need stands beside this folder.

pub mod check;
pub mod completions;
pub mod conform;
pub mod detector;
pub mod diff;
pub mod docs;
pub mod doctor;
pub mod envelope;
pub mod explore;
pub mod hunt;
pub mod list;
pub mod man;
pub mod mutants;
pub mod new;
pub mod record;
pub mod reenact;
pub mod regress;
pub mod repair;
pub mod replay;
pub mod schedulers;
pub mod schema;
pub mod serve;
pub mod shrink;
pub mod simulate;
pub mod suite;
pub mod sweep;
pub mod torture;
pub mod tradeoff;

use clap::{Parser, Subcommand};

use crate::args::Common;
use crate::exit::Exit;

/// Checks distributed locks: which promises hold under which settings, with a shortest counterexample for each promise that does not.
///
/// Without a command: checks the standard suite and writes a report.
#[derive(Parser, Debug)]
#[command(name = "fencepost", version, about, long_about, max_term_width = 110, after_help = exit_codes())]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The exit codes in a line, for the help.
fn exit_codes() -> String {
    let codes = Exit::ALL.map(|exit| format!("{} {}", exit as u8, exit.about()));
    format!("Exit codes: {}.", codes.join("; "))
}

#[derive(Subcommand, Debug)]
pub enum Command {
    New(new::New),
    /// List the scenarios, with their promises and expected verdicts
    List(list::List),
    /// Explore every execution of a scenario, and judge each promise
    Check(check::Check),
    /// Compare two scenarios: settings, promises, and measured liveness
    Diff(diff::Diff),
    /// Simulate one execution of a scenario, from a seed
    Simulate(simulate::Simulate),
    /// Search seeds for an execution that violates a promise
    Hunt(hunt::Hunt),
    /// Measure how many seeds each scheduler needs to find the expected violations
    Schedulers(schedulers::Schedulers),
    /// Simulate many seeds under many settings, and keep the results in a resumable store
    Sweep(sweep::Sweep),
    /// Measure what settings cost, in safety and in liveness, over many seeds
    Tradeoff(tradeoff::Tradeoff),
    /// Say which promises the settings of a lock keep, with which margin, and what to change
    Doctor(doctor::Doctor),
    /// Search the smallest sets of edits that make the broken promises of a scenario hold
    Repair(repair::Repair),
    /// Measure how soon gossip detects a crashed member, and how often it declares a live one failed
    Detector(detector::Detector),
    /// Merge the shards of a sweep
    Merge(sweep::merge::Merge),
    /// Repeat a recorded execution step by step
    Replay(replay::Replay),
    /// Shorten an execution that violates a promise
    Shrink(shrink::Shrink),
    /// Turn an execution that violates a promise into a test in Rust
    Regress(regress::Regress),
    /// Write the JSON Schema of scenario files, for completion and checks in editors
    Schema(schema::Schema),
    Completions(completions::Completions),
    Docs(docs::Docs),
    Man(man::Man),
    /// Check a scenario under every combination of some settings
    Envelope(envelope::Envelope),
    /// Browse the state space of a scenario
    Explore(explore::Explore),
    /// Compare the model with a real server
    Conform(conform::Conform),
    /// Drive a real server through counterexamples: which of them happen there
    Reenact(reenact::Reenact),
    /// Forward requests to a Consul agent, and log them with their responses
    Record(record::Record),
    /// Stand in for a real server: programs under test talk to the model, and you control its clock and its faults
    Serve(serve::Serve),
    /// Run a test against the stand-in with every fault at every request
    Torture(torture::Torture),
    /// Show which promises detect the deliberate faults in the model
    Mutants(mutants::Mutants),
}
