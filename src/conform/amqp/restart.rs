//! Restarts of a broker, by a command that the user gives (R-Q-56 to R-Q-59).

use std::thread;
use std::time::{Duration, Instant};

use super::broker::Broker;
use crate::ConformError;
use crate::restart::carry_out;

/// How long a broker may take until it answers again.
const PATIENCE: Duration = Duration::from_secs(90);

impl Broker {
    /// Restarts the broker, and waits until it answers.
    pub(super) fn restart_with(&self, command: &str) -> Result<(), ConformError> {
        carry_out(command)?;
        let end = Instant::now() + PATIENCE;
        while let Err(error) = self.line("") {
            if Instant::now() >= end {
                return Err(ConformError(format!(
                    "`{command}` was run, and the broker does not answer since: {error}"
                )));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}
