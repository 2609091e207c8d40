//! The digest of an execution: two executions with the same digest took the same steps and produced the same facts.
//! Codes and numbers are hashed, never words: a better sentence does not change a digest.

use std::hash::Hasher;

use super::encoding::Encoder;
use crate::fact::Fact;
use crate::hash::Fingerprinter;
use crate::ids::{ProcessId, RawId};
use crate::service::Service;
use crate::time::Instant;
use crate::world::{Action, Envelope, Fault, Link, Step};

/// A running hash over (instant, action, facts) of each step.
#[derive(Clone, Debug, Default)]
pub struct Digest {
    hash: Fingerprinter,
    encoder: Encoder,
}

impl Digest {
    /// Adds a step. `now` is true time after it.
    pub fn add<P: Service>(&mut self, now: Instant, action: &Action<P>, step: &Step<P>) {
        self.encoder.bytes.clear();
        self.encoder.signed(now.ticks());
        self.encoder.action(action);
        self.encoder.number(step.facts.len() as u64);
        for fact in &step.facts {
            self.encoder.fact(fact);
        }
        self.hash.write(&self.encoder.bytes);
    }

    /// The digest so far, in hexadecimal.
    pub fn hex(&self) -> String {
        format!("{:016x}", self.hash.finish())
    }
}

/// The codes of action kinds and facts are part of the definition of a digest: a code is never changed or reused.
impl Encoder {
    fn action<P: Service>(&mut self, action: &Action<P>) {
        match action {
            Action::Command { client, command } => {
                self.number(0);
                self.number(client.0.into());
                self.value(command);
            }
            Action::Deliver(envelope) => self.envelope(1, envelope),
            Action::Wake { process, timer } => {
                self.process(2, *process);
                self.value(timer);
            }
            Action::Advance(ticks) => {
                self.number(3);
                self.signed(ticks.count());
            }
            Action::Operator(operator_action) => {
                self.number(4);
                self.value(operator_action);
            }
            Action::Lose(envelope) => self.envelope(5, envelope),
            Action::Duplicate(envelope) => self.envelope(6, envelope),
            Action::Fault(fault) => self.fault(fault),
            Action::Slip { process, by } => {
                self.process(13, *process);
                self.signed(by.count());
            }
            Action::Choose { process, option } => {
                self.process(14, *process);
                self.number((*option).into());
            }
        }
    }

    fn fault<P: Service>(&mut self, fault: &Fault<P>) {
        match fault {
            Fault::Crash(client) => self.process(7, (*client).into()),
            Fault::Restart(client) => self.process(8, (*client).into()),
            Fault::Pause(process) => self.process(9, *process),
            Fault::Resume(process) => self.process(10, *process),
            Fault::Cut(link) => self.link(11, *link),
            Fault::Heal(link) => self.link(12, *link),
            Fault::Service(fault) => {
                self.number(15);
                self.value(fault);
            }
            Fault::RestartResource => self.number(16),
        }
    }

    fn fact<P: Service>(&mut self, fact: &Fact<P>) {
        let codes = match fact {
            Fact::Granted { client, token, fresh, stolen } => {
                [0, client.0.into(), token.raw().into(), u64::from(*fresh) + 2 * u64::from(*stolen)]
            }
            Fact::Freed { by } => [1, *by as u64, 0, 0],
            Fact::Refused { client, why } => [2, client.0.into(), *why as u64, 0],
            Fact::Renewed { session } => [3, session.raw().creator.0.into(), session.raw().number.into(), 0],
            Fact::Expired { session } => [4, session.raw().creator.0.into(), session.raw().number.into(), 0],
            Fact::Destroyed { session } => [5, session.raw().creator.0.into(), session.raw().number.into(), 0],
            Fact::Ended { session } => [6, session.raw().creator.0.into(), session.raw().number.into(), 0],
            Fact::Entered { client, token } => [7, client.0.into(), token.raw().into(), 0],
            Fact::Left { client, why } => [8, client.0.into(), *why as u64, 0],
            // The tenure is a ghost.
            Fact::Written { client, token, tenure: _, key } => {
                [9, client.0.into(), token.raw().into(), key.map_or(0, |key| 1 + u64::from(key))]
            }
            Fact::WriteRefused { client, token, tenure: _ } => [10, client.0.into(), token.raw().into(), 0],
            Fact::Unheard => [11, 0, 0, 0],
            Fact::Service(_) => [12, 0, 0, 0],
            Fact::Panicked { client } => [13, client.0.into(), 0, 0],
            Fact::Cut { client } => [14, client.0.into(), 0, 0],
            Fact::Handled { client, item, again } => [15, client.0.into(), item.number().into(), u64::from(*again)],
        };
        codes.into_iter().for_each(|code| self.number(code));
        if let Fact::Service(fact) = fact {
            self.value(fact);
        }
    }

    /// A message with its sender and receiver. Its deadline follows from the time of sending, and ghosts are not part
    /// of a digest.
    fn envelope<P: Service>(&mut self, kind: u64, envelope: &Envelope<P>) {
        let Envelope { to, from, message, due: _ } = *envelope;
        self.link(kind, Link { from, to });
        self.value(&message.without_ghost());
    }

    fn link(&mut self, kind: u64, link: Link) {
        self.number(kind);
        self.number(code(link.from));
        self.number(code(link.to));
    }

    fn process(&mut self, kind: u64, process: ProcessId) {
        self.number(kind);
        self.number(code(process));
    }
}

/// The server is 0, the resource 1, and the clients follow.
fn code(process: ProcessId) -> u64 {
    match process {
        ProcessId::Server => 0,
        ProcessId::Resource => 1,
        ProcessId::Client(client) => 1 + u64::from(client.0),
    }
}
