//! `fencepost-audit CERTIFICATE [SCENARIO]`: checks a certificate, and says what it shows and what it rests on. Exit codes: 0 certified,
//! 1 refused, 2 bad usage or input.

use std::process::ExitCode;
use std::{env, fs, thread};

use fencepost_audit::{AuditError, audit};

const USAGE: &str = "usage: fencepost-audit CERTIFICATE [SCENARIO.toml]
Checks a certificate that `fencepost check SCENARIO --certificate FILE` has written, by the model alone. Exit codes:
0 certified; 1 refused, or not about the scenario in SCENARIO.toml; 2 bad usage or input.";

fn main() -> ExitCode {
    let read = |file: &String| fs::read_to_string(file).map_err(|error| (2, format!("{file} cannot be read: {error}")));
    let run = |certificate: &String, scenario: Option<&String>| {
        let (text, scenario) = (read(certificate)?, scenario.map(read).transpose()?);
        let workers = thread::available_parallelism().map_or(1, usize::from);
        audit(&text, scenario.as_deref(), workers).map(|audited| audited.to_string()).map_err(|error| match error {
            AuditError::Refused(_) => (1, format!("{certificate}: {error}")),
            AuditError::Unreadable(_) => (2, format!("{certificate}: {error}")),
        })
    };
    let arguments: Vec<String> = env::args().skip(1).collect();
    let done = match &arguments[..] {
        [help] if help == "--help" => Ok(USAGE.to_owned()),
        [certificate, rest @ ..] if rest.len() < 2 => run(certificate, rest.first()),
        _ => Err((2, USAGE.to_owned())),
    };
    done.as_ref().map_or_else(|(_, error)| eprintln!("{error}"), |text| println!("{}", text.trim_end()));
    ExitCode::from(done.map_or_else(|(code, _)| code, |_| 0))
}
