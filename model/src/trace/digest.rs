//! One number for a run: two runs with the same digest took the same steps and learned the same facts.

use std::fmt::{self, Write};
use std::hash::Hasher;

use crate::hash::Fingerprinter;
use crate::ids::ProcessId;
use crate::protocol::Protocol;
use crate::time::Instant;
use crate::world::{Action, Envelope, Step};

/// A running hash over (step, instant, label, facts).
#[derive(Clone, Debug, Default)]
pub struct Digest {
    hash: Fingerprinter,
    steps: u64,
    line: Line,
}

/// The bytes of a line: text, of which nobody needs to make sure that it is.
#[derive(Clone, Debug, Default)]
struct Line(Vec<u8>);

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

impl Digest {
    /// Adds a step. `now` is true time after it.
    pub fn add<P: Protocol>(&mut self, now: Instant, action: &Action<P>, step: &Step<P>) {
        self.steps += 1;
        let line = &mut self.line;
        line.0.clear();
        line.number(self.steps.cast_signed());
        line.push("\t");
        line.number(now.ticks());
        line.push("\t");
        line.label(action);
        for fact in &step.facts {
            write!(line, "\t{fact}").expect("writing to a line does not fail");
        }
        self.hash.write(&line.0);
    }

    /// The digest so far, in hexadecimal.
    pub fn hex(&self) -> String {
        format!("{:016x}", self.hash.finish())
    }
}

impl Line {
    #[inline]
    fn push(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// The action's label, to the letter. A run has millions of them, nearly all of three kinds, and general formatting would take
    /// most of the time of a simulation.
    fn label<P: Protocol>(&mut self, action: &Action<P>) {
        match action {
            Action::Advance(ticks) => {
                self.number(ticks.count());
                self.push(if ticks.count() == 1 { " tick passes" } else { " ticks pass" });
            }
            Action::Deliver(Envelope { from, to, message, .. }) => {
                self.process(*to);
                self.push(" receives from ");
                self.process(*from);
                write!(self, ": {message}").expect("writing to a line does not fail");
            }
            Action::Wake { process, timer } => {
                self.process(*process);
                write!(self, " wakes: {timer}").expect("writing to a line does not fail");
            }
            _ => write!(self, "{action}").expect("writing to a line does not fail"),
        }
    }

    fn process(&mut self, process: ProcessId) {
        match process {
            ProcessId::Client(client) => {
                self.push("client ");
                self.number(client.0.into());
            }
            ProcessId::Server => self.push("the server"),
            ProcessId::Resource => self.push("the resource"),
        }
    }

    /// A number in decimal digits, two at a time.
    fn number(&mut self, number: i64) {
        const PAIRS: [[u8; 2]; 100] = {
            let mut pairs = [[b'0'; 2]; 100];
            let mut number = 0;
            while number < 100 {
                pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
                number += 1;
            }
            pairs
        };
        let mut digits = [0; 20];
        let mut first = digits.len();
        let mut rest = number.unsigned_abs();
        while rest >= 10 {
            first -= 2;
            digits[first..first + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
            rest /= 100;
        }
        if rest > 0 || first == digits.len() {
            first -= 1;
            digits[first] = PAIRS[rest as usize][1];
        }
        if number < 0 {
            self.push("-");
        }
        self.0.extend_from_slice(&digits[first..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{self, AnyScenario};
    use crate::time::Ticks;

    #[test]
    fn labels_are_written_to_the_letter() {
        for value in [0, 1, 9, 10, 99, 100, 101, 1000, -1, 1_234_567_890, i64::MAX, i64::MIN] {
            let mut line = Line::default();
            line.number(value);
            assert_eq!(line.0, value.to_string().as_bytes());
        }
        let all = catalogue::all();
        let found = all.iter().find(|scenario| scenario.name() == "b01-no-fencing").expect("it is in the catalogue");
        let AnyScenario::Consul(scenario) = found else { panic!("it is Consul's") };
        let mut world = scenario.start();
        let mut enabled = Vec::new();
        let mut kinds = std::collections::BTreeSet::new();
        for step in 0..600 {
            scenario.enabled(&world, &mut enabled);
            for action in enabled.iter().chain(&[Action::Advance(Ticks::new(2))]) {
                let mut line = Line::default();
                line.label(action);
                assert_eq!(line.0, action.to_string().as_bytes());
                kinds.insert(action.kind());
            }
            let Some(action) = enabled.get(step * 7 % enabled.len().max(1)).copied() else { break };
            scenario.step(&mut world, &action);
        }
        assert!(["advance", "deliver", "wake", "command"].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    }
}
