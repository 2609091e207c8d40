//! One thing that can happen. Its label reads as a sentence, and is unique among what is enabled.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Envelope, Link};
use crate::action_kind::ActionKind;
use crate::ids::{ClientId, ProcessId};
use crate::service::Service;
use crate::time::Ticks;

/// One thing that can happen.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub enum Action<P: Service> {
    /// A user asks something of a client.
    Command {
        /// Whom.
        client: ClientId,
        /// What.
        command: P::Command,
    },
    /// A message arrives.
    Deliver(Envelope<P>),
    /// A deadline of a process fires, on time or late.
    Wake {
        /// Whose.
        process: ProcessId,
        /// Which.
        timer: P::Timer,
    },
    /// Time passes.
    Advance(Ticks),
    /// Somebody with access to the service acts on it from outside.
    Operator(P::OperatorAction),
    /// A message vanishes.
    Lose(Envelope<P>),
    /// A message will arrive once more.
    Duplicate(Envelope<P>),
    /// Something that should not happen, or the end of it.
    Fault(Fault<P>),
    /// A clock moves against true time.
    Slip {
        /// Whose.
        process: ProcessId,
        /// By how much, forwards or backwards.
        #[serde(with = "crate::time::signed")]
        by: Ticks,
    },
    /// What a process leaves to chance is decided.
    Choose {
        /// For whom.
        process: ProcessId,
        /// Which of its options, from 0.
        option: u8,
    },
}

/// Something that should not happen to a process or a link, or the end of it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub enum Fault<P: Service> {
    /// A client dies; what it had in memory is gone.
    Crash(ClientId),
    /// It comes back.
    Restart(ClientId),
    /// A process stands still.
    Pause(ProcessId),
    /// It goes on.
    Resume(ProcessId),
    /// A link holds everything back.
    Cut(Link),
    /// It lets everything through again.
    Heal(Link),
    /// Something goes wrong in the service itself.
    Service(P::Fault),
}

impl<P: Service> Action<P> {
    /// Whether the client has a part in it.
    pub fn concerns(&self, client: ClientId) -> bool {
        let me = ProcessId::Client(client);
        match self {
            Action::Command { client: other, .. } => *other == client,
            Action::Deliver(envelope) | Action::Lose(envelope) | Action::Duplicate(envelope) => {
                envelope.to == me || envelope.from == me
            }
            Action::Wake { process, .. } | Action::Slip { process, .. } | Action::Choose { process, .. } => {
                *process == me
            }
            Action::Fault(Fault::Crash(other) | Fault::Restart(other)) => *other == client,
            Action::Fault(Fault::Pause(process) | Fault::Resume(process)) => *process == me,
            Action::Fault(Fault::Cut(link) | Fault::Heal(link)) => link.from == me || link.to == me,
            Action::Fault(Fault::Service(_)) | Action::Advance(_) | Action::Operator(_) => false,
        }
    }

    /// What kind of thing happens.
    pub fn kind(&self) -> ActionKind {
        match self {
            Action::Command { .. } => ActionKind::Command,
            Action::Deliver(_) => ActionKind::Deliver,
            Action::Wake { .. } => ActionKind::Wake,
            Action::Advance(_) => ActionKind::Advance,
            Action::Operator(_) => ActionKind::Operator,
            Action::Lose(_) => ActionKind::Lose,
            Action::Duplicate(_) => ActionKind::Duplicate,
            Action::Fault(Fault::Crash(_)) => ActionKind::Crash,
            Action::Fault(Fault::Restart(_)) => ActionKind::Restart,
            Action::Fault(Fault::Pause(_)) => ActionKind::Pause,
            Action::Fault(Fault::Resume(_)) => ActionKind::Resume,
            Action::Fault(Fault::Cut(_)) => ActionKind::Cut,
            Action::Fault(Fault::Heal(_)) => ActionKind::Heal,
            Action::Slip { .. } => ActionKind::Slip,
            Action::Choose { .. } => ActionKind::Choose,
            Action::Fault(Fault::Service(_)) => ActionKind::ServiceFault,
        }
    }
}

impl<P: Service> fmt::Display for Action<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Command { client, command } => write!(f, "{client} is asked to {command}"),
            Action::Deliver(Envelope { from, to, message, .. }) => write!(f, "{to} receives from {from}: {message}"),
            Action::Wake { process, timer } => write!(f, "{process} wakes: {timer}"),
            Action::Advance(ticks) => {
                write!(f, "{ticks} {}", if ticks.count() == 1 { "passes" } else { "pass" })
            }
            Action::Operator(operator_action) => write!(f, "an operator {operator_action}"),
            Action::Lose(Envelope { from, to, message, .. }) => {
                write!(f, "lost on the way from {from} to {to}: {message}")
            }
            Action::Duplicate(Envelope { from, to, message, .. }) => {
                write!(f, "duplicated on the way from {from} to {to}: {message}")
            }
            Action::Fault(fault) => fault.fmt(f),
            Action::Slip { process, by } if by.count() < 0 => {
                write!(f, "the clock of {process} falls back by {}", by.times(-1))
            }
            Action::Slip { process, by } => write!(f, "the clock of {process} jumps ahead by {by}"),
            Action::Choose { process, option } => write!(f, "chance gives {process} option {option}"),
        }
    }
}

impl<P: Service> fmt::Display for Fault<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Crash(client) => write!(f, "{client} crashes"),
            Fault::Restart(client) => write!(f, "{client} restarts"),
            Fault::Pause(process) => write!(f, "{process} pauses"),
            Fault::Resume(process) => write!(f, "{process} resumes"),
            Fault::Cut(Link { from, to }) => write!(f, "the link from {from} to {to} is cut"),
            Fault::Heal(Link { from, to }) => write!(f, "the link from {from} to {to} heals"),
            Fault::Service(fault) => fault.fmt(f),
        }
    }
}
