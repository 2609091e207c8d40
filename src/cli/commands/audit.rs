//! `fencepost audit`: whether a certificate shows that the promises of its scenario hold.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use fencepost_audit::{AuditError, audit};

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json::AuditJson;
use crate::output::{say, say_json};
use crate::parallel::cores;
use crate::target;

#[derive(Args, Debug)]
#[command(after_help = "Exit codes: 0 certified; 1 refused; 2 the file is no certificate; 4 internal error.")]
pub struct Audit {
    /// A file that `fencepost check --certificate` has written
    certificate: PathBuf,
    /// The scenario that it has to be about: its name, or a scenario file
    scenario: Option<String>,
    /// Check with N threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
}

pub fn run(arguments: &Audit, common: &Common) -> Result<Exit, CommandError> {
    let file = arguments.certificate.display();
    let text = fs::read_to_string(&arguments.certificate)
        .map_err(|error| CommandError::Input(format!("{file} cannot be read: {error}")))?;
    let wanted = arguments.scenario.as_ref().map(|word| target::one(word, common)).transpose()?;
    let wanted = wanted.map(|scenario| scenario.to_toml());
    let workers = arguments.workers.map_or_else(cores, usize::from);
    let audited = match audit(&text, wanted.as_deref(), workers) {
        Err(error @ AuditError::Unreadable(_)) => return Err(CommandError::Input(format!("{file}: {error}"))),
        Err(AuditError::Refused(why)) => Err(why),
        Ok(audited) => Ok(audited),
    };
    if common.json {
        say_json(&AuditJson::new(&file.to_string(), &audited));
    } else if common.quiet {
        say(&format!("{file}: {}\n", if audited.is_ok() { "certified" } else { "refused" }));
    } else {
        say(&audited.as_ref().map_or_else(|why| format!("{file}: refused: {why}\n"), ToString::to_string));
    }
    Ok(if audited.is_ok() { Exit::AsExpected } else { Exit::Unexpected })
}
