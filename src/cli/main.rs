//! The program `fencepost`.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// What judges logs allocates most of all: a quarter of its time with the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    fencepost_cli::run_with(&[])
}
