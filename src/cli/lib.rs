//! The command line: as typed (clap), as meant (one file per command), and an exit code.
//!
//! A crate with recipes of its own has all commands for them in three lines. Scenario files name the recipes, and so do traces:
//!
//! ```
//! use fencepost_cli::{programs, run_with};
//! # use fencepost::lease::Loan as OurLock;
//!
//! fn main() -> std::process::ExitCode {
//!     # if true { return std::process::ExitCode::SUCCESS; }
//!     run_with(programs![OurLock])
//! }
//! ```

mod args;
mod certificate;
mod commands;
mod documents;
mod exit;
mod fields;
mod findings;
#[cfg(test)]
mod fuzz;
mod grid;
mod hosts;
mod json;
mod output;
mod parallel;
mod print;
mod run_arguments;
mod search_arguments;
mod store;
mod studies;
mod supervisor;
mod target;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use commands::{Arguments, Command};
use fencepost::model::program::ProgramError;

/// The functions that make some recipes known: for [`run_with`]. Each is a type that implements
/// [`Recipe`](fencepost::model::program::Recipe) for one service.
#[macro_export]
macro_rules! programs {
    ($($recipe:ty),* $(,)?) => {
        &[$($crate::register::<_, $recipe>),*]
    };
}

#[doc(hidden)]
pub use fencepost::model::program::register;

/// Runs the command line `fencepost` with the arguments of this process, and with these recipes beside those that ship with it:
/// see [`programs!`].
///
/// # Panics
/// Two recipes of a service have the same name.
pub fn run_with(programs: &[fn()]) -> ExitCode {
    programs.iter().for_each(|register| register());
    let mut named = std::env::args_os();
    if commands::serve::by_name::is_consul(named.next().as_ref()) {
        supervisor::catch_signals();
        let arguments: Vec<String> = named.map(|argument| argument.to_string_lossy().into_owned()).collect();
        return conclude(commands::serve::by_name::run(&arguments));
    }
    let arguments = Arguments::parse();
    supervisor::catch_signals();
    let result = catch_unwind(AssertUnwindSafe(|| run(&arguments))).unwrap_or_else(|panic| {
        // A simulation has no errors of its own: a wrong program ends it where it runs.
        let message = panic.downcast_ref::<String>().map_or("", String::as_str);
        ProgramError::behind(message).map_or_else(|| resume_unwind(panic), |mistake| Err(mistake.into()))
    });
    conclude(result)
}

fn run(arguments: &Arguments) -> Result<exit::Exit, exit::CommandError> {
    match &arguments.command {
        None => commands::suite::run(&arguments.common),
        Some(Command::New(new)) => commands::new::run(new, &arguments.common),
        Some(Command::List(list)) => commands::list::run(list, &arguments.common),
        Some(Command::Check(check)) => commands::check::run(check, &arguments.common),
        Some(Command::Diff(diff)) => commands::diff::run(diff, &arguments.common),
        Some(Command::Simulate(simulate)) => commands::simulate::run(simulate, &arguments.common),
        Some(Command::Hunt(hunt)) => commands::hunt::run(hunt, &arguments.common),
        Some(Command::Detector(detector)) => commands::detector::run(detector, &arguments.common),
        Some(Command::Doctor(doctor)) => commands::doctor::run(doctor, &arguments.common),
        Some(Command::Repair(repair)) => commands::repair::run(repair, &arguments.common),
        Some(Command::Schedulers(schedulers)) => commands::schedulers::run(schedulers, &arguments.common),
        Some(Command::Sweep(sweep)) => commands::sweep::run(sweep, &arguments.common),
        Some(Command::Tradeoff(tradeoff)) => commands::tradeoff::run(tradeoff, &arguments.common),
        Some(Command::Merge(merge)) => commands::sweep::merge::run(merge, &arguments.common),
        Some(Command::Regress(regress)) => commands::regress::run(regress, &arguments.common),
        Some(Command::Schema(schema)) => commands::schema::run(schema, &arguments.common),
        Some(Command::Completions(completions)) => {
            commands::completions::run(completions, Arguments::command(), &arguments.common)
        }
        Some(Command::Docs(docs)) => commands::docs::run(docs, Arguments::command(), &arguments.common),
        Some(Command::Man(man)) => commands::man::run(man, Arguments::command(), &arguments.common),
        Some(Command::Shrink(shrink)) => commands::shrink::run(shrink, &arguments.common),
        Some(Command::Envelope(envelope)) => commands::envelope::run(envelope, &arguments.common),
        Some(Command::Explore(explore)) => commands::explore::run(explore, &arguments.common),
        Some(Command::Mutants(mutants)) => commands::mutants::run(mutants, &arguments.common),
        Some(Command::Reenact(reenact)) => commands::reenact::run(reenact, &arguments.common),
        Some(Command::Record(record)) => commands::record::run(record, &arguments.common),
        Some(Command::Conform(conform)) => commands::conform::run(conform, &arguments.common),
        Some(Command::Serve(serve)) => commands::serve::run(serve, &arguments.common),
        Some(Command::Torture(torture)) => commands::torture::run(torture, &arguments.common),
        Some(Command::Replay(replay)) => commands::replay::run(replay, &arguments.common),
    }
}

fn conclude(result: Result<exit::Exit, exit::CommandError>) -> ExitCode {
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("fencepost: {error}");
            error.exit().into()
        }
    }
}
