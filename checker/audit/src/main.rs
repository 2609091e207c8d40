//! `fencepost-audit CERTIFICATE [SCENARIO]`: checks a certificate, and says what it shows and what it rests on. Exit codes: 0 certified,
//! 1 refused, 2 bad usage or input.

use std::process::ExitCode;
use std::{env, fs, thread};

use fencepost_audit::{AuditError, AuditOptions, audit};

const USAGE: &str = "usage: fencepost-audit CERTIFICATE [SCENARIO.toml] [--from N]
Checks a certificate that `fencepost check SCENARIO --certificate FILE` has written, by the model alone. While it runs, it says how many worlds have
been checked; --from N goes on behind the first N. Exit codes: 0 certified; 1 refused, or not about SCENARIO.toml; 2 bad usage or input.";

fn main() -> ExitCode {
    let read = |file: &String| fs::read_to_string(file).map_err(|error| (2, format!("{file} cannot be read: {error}")));
    let run = |certificate: &String, scenario: Option<&String>, from: &str| {
        let from = from.parse().map_err(|_| (2, format!("--from {from}: it needs a number of worlds")))?;
        let (text, scenario) = (read(certificate)?, scenario.map(read).transpose()?);
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let tell = |checked| eprintln!("{checked} worlds have been checked: --from {checked} goes on here");
        let options = AuditOptions { wanted: scenario.as_deref(), workers, from, tell: &tell };
        audit(&text, &options).map(|audited| audited.to_string()).map_err(|error| match error {
            AuditError::Refused(_) => (1, format!("{certificate}: {error}")),
            AuditError::Unreadable(_) => (2, format!("{certificate}: {error}")),
        })
    };
    let arguments: Vec<String> = env::args().skip(1).collect();
    let is_flag = arguments.iter().any(|argument| argument.starts_with('-'));
    let done = match &arguments[..] {
        [help] if help == "--help" => Ok(USAGE.to_owned()),
        [certificate, rest @ .., flag, from] if flag == "--from" && rest.len() < 2 => {
            run(certificate, rest.first(), from)
        }
        [certificate, rest @ ..] if rest.len() < 2 && !is_flag => run(certificate, rest.first(), "0"),
        _ => Err((2, USAGE.to_owned())),
    };
    done.as_ref().map_or_else(|(_, error)| eprintln!("{error}"), |text| println!("{}", text.trim_end()));
    ExitCode::from(done.map_or_else(|(code, _)| code, |_| 0))
}
