//! Restarts of the server between two requests, by a command that the user gives: what was written stays (C-GEN-1), and lock-delays begin anew
//! (C-LD-12).

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::error::ConformError;
use super::wire::{Consul, get};

/// How long a server may take until it answers again.
const PATIENCE: Duration = Duration::from_secs(60);

impl Consul {
    /// Restarts the server, and waits until it has read its log. A default read may be answered from a log that was read in part
    /// only, with a leader that is known: seen on Consul 1.8.7, where a key that was there is absent for some 0.1 s. A
    /// consistent read waits for the rest.
    pub(super) fn restart(&self, command: &str) -> Result<(), ConformError> {
        carry_out(command)?;
        let end = Instant::now() + PATIENCE;
        let is_ready = || self.ask(&get("/v1/kv/?keys&consistent")).is_ok_and(|reply| reply.status == 200);
        while !is_ready() {
            if Instant::now() >= end {
                return Err(ConformError(format!("`{command}` was run, and the agent does not answer since")));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

/// Carries out a shell command. What it starts may keep its output open.
pub(super) fn carry_out(command: &str) -> Result<(), ConformError> {
    run(command, Stdio::null()).map(drop)
}

/// Carries out a shell command, and returns what it prints.
pub(super) fn shell(command: &str) -> Result<String, ConformError> {
    run(command, Stdio::piped())
}

fn run(command: &str, output: Stdio) -> Result<String, ConformError> {
    let run = Command::new("sh").args(["-c", command]).stdin(Stdio::null()).stdout(output).output();
    let output = run.map_err(|error| ConformError(format!("`{command}` cannot be run: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(ConformError(format!("`{command}` ends with {}: {}", output.status, said.trim())))
}
