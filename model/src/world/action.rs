//! Actions. The label of an action reads as a sentence, and is unique among the enabled actions.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Envelope, Link};
use crate::action_kind::ActionKind;
use crate::ids::{ClientId, ProcessId};
use crate::service::Service;
use crate::time::Ticks;

/// One action.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub enum Action<P: Service> {
    /// A user gives a client a command.
    Command {
        /// The client.
        client: ClientId,
        /// The command.
        command: P::Command,
    },
    /// A message arrives.
    Deliver(Envelope<P>),
    /// A deadline of a process fires, on time or late.
    Wake {
        /// The process.
        process: ProcessId,
        /// The deadline.
        timer: P::Timer,
    },
    /// Time passes.
    Advance(Ticks),
    /// An operator changes the service from outside.
    Operator(P::OperatorAction),
    /// A message is lost.
    Lose(Envelope<P>),
    /// A message is duplicated: a copy of it will arrive.
    Duplicate(Envelope<P>),
    /// A fault of a process, a link or the service, or the end of a fault.
    Fault(Fault<P>),
    /// A clock jumps against true time.
    Slip {
        /// The process whose clock jumps.
        process: ProcessId,
        /// The size of the jump in ticks; negative: backwards.
        #[serde(with = "crate::time::signed")]
        by: Ticks,
    },
    /// A random choice of a process is made.
    Choose {
        /// The process.
        process: ProcessId,
        /// The index of the chosen option, from 0.
        option: u8,
    },
}

/// A fault of a process, a link or the service, or the end of a fault.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub enum Fault<P: Service> {
    /// A client crashes. It loses its memory.
    Crash(ClientId),
    /// A client restarts.
    Restart(ClientId),
    /// A process pauses.
    Pause(ProcessId),
    /// A process resumes.
    Resume(ProcessId),
    /// A link is cut: it holds all messages back.
    Cut(Link),
    /// A link heals: it delivers messages again.
    Heal(Link),
    /// A fault of the service.
    Service(P::Fault),
    /// The resource restarts. It forgets what it compares with.
    RestartResource,
}

impl<P: Service> Action<P> {
    /// Whether the action concerns the client.
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
            Action::Fault(Fault::Service(_) | Fault::RestartResource) | Action::Advance(_) | Action::Operator(_) => {
                false
            }
        }
    }

    /// The kind of the action.
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
            Action::Fault(Fault::RestartResource) => ActionKind::ResourceRestart,
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
                write!(f, "the clock of {process} jumps back by {}", by.times(-1))
            }
            Action::Slip { process, by } => write!(f, "the clock of {process} jumps ahead by {by}"),
            Action::Choose { process, option } => write!(f, "{process} draws option {option}"),
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
            Fault::RestartResource => f.write_str("the resource restarts"),
        }
    }
}
