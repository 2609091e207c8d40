//! `fencepost-audit CERTIFICATE [SCENARIO]`: checks a certificate, and says what it shows and what it rests on. Exit codes: 0 certified,
//! 1 refused, 2 bad usage or input.

use std::process::ExitCode;
use std::{env, fs, thread};

use fencepost_audit::{AuditError, audit};

fn main() -> ExitCode {
    let read = |file: String| fs::read_to_string(&file).map_err(|error| (2, format!("{file} cannot be read: {error}")));
    let run = || {
        let mut files = env::args().skip(1);
        let certificate = files.next().ok_or((2, "usage: fencepost-audit CERTIFICATE [SCENARIO.toml]".to_owned()))?;
        let (text, scenario) = (read(certificate)?, files.next().map(read).transpose()?);
        let workers = thread::available_parallelism().map_or(1, usize::from);
        audit(&text, scenario.as_deref(), workers).map_err(|error| match error {
            AuditError::Refused(_) => (1, error.to_string()),
            AuditError::Unreadable(_) => (2, error.to_string()),
        })
    };
    match run() {
        Ok(audited) => {
            print!("{audited}");
            ExitCode::SUCCESS
        }
        Err((code, error)) => {
            eprintln!("{error}");
            ExitCode::from(code)
        }
    }
}
