//! One number for a run: two runs with the same digest took the same steps and learned the same facts.

use std::fmt::Write;
use std::hash::Hasher;

use crate::hash::Fingerprinter;
use crate::protocol::Protocol;
use crate::time::Instant;
use crate::world::{Action, Step};

/// A running hash over (step, instant, label, facts).
#[derive(Clone, Debug, Default)]
pub struct Digest {
    hash: Fingerprinter,
    steps: u64,
    line: String,
}

impl Digest {
    /// Adds a step. `now` is true time after it.
    pub fn add<P: Protocol>(&mut self, now: Instant, action: &Action<P>, step: &Step<P>) {
        self.steps += 1;
        self.line.clear();
        write!(self.line, "{}\t{now}\t{action}", self.steps).expect("writing to a string does not fail");
        for fact in &step.facts {
            write!(self.line, "\t{fact}").expect("writing to a string does not fail");
        }
        self.hash.write(self.line.as_bytes());
    }

    /// The digest so far, in hexadecimal.
    pub fn hex(&self) -> String {
        format!("{:016x}", self.hash.finish())
    }
}
