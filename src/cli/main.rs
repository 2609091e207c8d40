//! The program `fencepost`.

use std::process::ExitCode;

fn main() -> ExitCode {
    fencepost_cli::run_with(&[])
}
