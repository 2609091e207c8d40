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
    line: Line,
    /// How long the number of the line is.
    count: usize,
    /// The instant that follows it, and where it ends.
    now: Option<Instant>,
    head: usize,
}

/// The bytes of a line: text, of which nobody needs to make sure that it is.
#[derive(Clone, Debug, Default)]
struct Line {
    /// The line, and whatever was behind it before: so that what is short is written without looking for its end.
    bytes: Vec<u8>,
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

impl Digest {
    /// Adds a step. `now` is true time after it.
    pub fn add<P: Protocol>(&mut self, now: Instant, action: &Action<P>, step: &Step<P>) {
        self.begin(now);
        let line = &mut self.line;
        line.label(action);
        for fact in &step.facts {
            write!(line, "\t{fact}").expect("writing to a line does not fail");
        }
        self.hash.write(line.text());
    }

    /// Step and instant: what stays of the last line is not written again.
    fn begin(&mut self, now: Instant) {
        let line = &mut self.line;
        if line.count_up(self.count) {
            self.count += 1;
            self.now = None;
        }
        if self.now != Some(now) {
            line.length = self.count;
            line.push("\t");
            line.number(now.ticks());
            line.push("\t");
            (self.now, self.head) = (Some(now), line.length);
        }
        line.length = self.head;
    }

    /// The digest so far, in hexadecimal.
    pub fn hex(&self) -> String {
        format!("{:016x}", self.hash.finish())
    }
}

impl Line {
    fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The number that it begins with becomes the next one; true if that has a digit more.
    #[inline]
    fn count_up(&mut self, digits: usize) -> bool {
        for digit in self.bytes[..digits].iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                return false;
            }
            *digit = b'0';
        }
        self.bytes.insert(0, b'1');
        true
    }

    #[inline]
    fn make_room(&mut self, bytes: usize) {
        if self.bytes.len() - self.length < bytes {
            self.bytes.resize(2 * (self.length + bytes), 0);
        }
    }

    #[inline]
    fn push(&mut self, text: &str) {
        self.make_room(text.len());
        self.bytes[self.length..][..text.len()].copy_from_slice(text.as_bytes());
        self.length += text.len();
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
                self.natural(client.0.into());
            }
            ProcessId::Server => self.push("the server"),
            ProcessId::Resource => self.push("the resource"),
        }
    }

    fn number(&mut self, number: i64) {
        if number < 0 {
            self.push("-");
        }
        self.natural(number.unsigned_abs());
    }

    /// A number in decimal digits, eight at a time.
    fn natural(&mut self, number: u64) {
        const EIGHT: u64 = 100_000_000;
        let (last, least) = if number < EIGHT {
            // A zero has a digit, too.
            (number, 1)
        } else {
            self.natural(number / EIGHT);
            (number % EIGHT, 8)
        };
        let digits = digits(last);
        let count = (8 - digits.trailing_zeros() / 8).max(least);
        let text = (digits | u64::from_le_bytes([b'0'; 8])) >> (64 - 8 * count);
        self.make_room(8);
        self.bytes[self.length..][..8].copy_from_slice(&text.to_le_bytes());
        self.length += count as usize;
    }
}

/// The eight decimal digits of a number, a byte each, the first one lowest: halves, quarters, and eighths side by side in one word.
fn digits(number: u64) -> u64 {
    let halves = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((halves * 10_486) >> 20) & 0x7f_0000_007f;
    let quarters = hundreds | ((halves - hundreds * 100) << 16);
    let tens = ((quarters * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((quarters - tens * 10) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{self, AnyScenario};
    use crate::time::Ticks;

    #[test]
    fn a_line_begins_with_step_and_instant() {
        let mut digest = Digest::default();
        for step in 1..=1200 {
            let now = Instant::at([-7, 0, 99_999_999, 100_000_000][step / 3 % 4]);
            digest.begin(now);
            assert_eq!(digest.line.text(), format!("{step}\t{}\t", now.ticks()).as_bytes());
            digest.line.push(["", "something long enough to make more room for a line"][step % 2]);
        }
    }

    #[test]
    fn labels_are_written_to_the_letter() {
        let edges = (0..19).map(|digits| 10_i64.pow(digits)).flat_map(|power| [power - 1, power, power + 1]);
        for value in edges.chain([-1, -10, 12_345_678, 1_234_567_890, 1_000_000_070, i64::MAX, i64::MIN]) {
            let mut line = Line::default();
            line.number(value);
            assert_eq!(line.text(), value.to_string().as_bytes());
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
                assert_eq!(line.text(), action.to_string().as_bytes());
                kinds.insert(action.kind());
            }
            let Some(action) = enabled.get(step * 7 % enabled.len().max(1)).copied() else { break };
            scenario.step(&mut world, &action);
        }
        assert!(["advance", "deliver", "wake", "command"].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    }
}
