//! How messages, deadlines, commands, events and faults read in a story.

use std::fmt::{Display, Formatter, Result};

use super::events::{LeaseEvent, LeaseFault, OperatorAction};
use super::messages::{Command, Entry, Name, ObservedLeaseMessage, Request, Response, RowEnd, Shown, Timer};
use super::settings::OperatorKind;
use fencepost_model::ids::{Call, Index, RawId};
use fencepost_model::time::Ticks;

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Name::Own(id) => write!(f, "{}.{}", id.raw().creator.0, id.raw().number),
            Name::Common => f.write_str("the common name"),
            Name::Candidate(number) => write!(f, "candidate {number}"),
        }
    }
}

/// Without its duration: labels are the same on a finer clock.
impl Display for Entry {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.holder {
            Some(name) if self.duration == Ticks::ZERO => write!(f, "holder {name} for 0 ticks"),
            Some(name) => write!(f, "holder {name}"),
            None => f.write_str("no holder"),
        }?;
        self.preferred.map_or(Ok(()), |name| write!(f, ", {name} is to follow"))
    }
}

fn condition(f: &mut Formatter<'_>, version: Option<Index>) -> Result {
    match version {
        Some(version) => write!(f, " if the version is {}", version.raw()),
        None => f.write_str(" in any case"),
    }
}

impl Display for Request {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Request::Get => f.write_str("read the lease"),
            Request::Create(entry) => write!(f, "create the lease: {entry}"),
            Request::Put(entry, version) => {
                write!(f, "write {entry}")?;
                condition(f, *version)
            }
            Request::Delete(version) => {
                f.write_str("delete the lease")?;
                condition(f, *version)
            }
            Request::Take { until: RowEnd { from: Some(_), .. }, .. } => {
                f.write_str("take the row by my clock, if it has ended")
            }
            Request::Take { until: RowEnd { from: None, .. }, .. } => {
                f.write_str("take the row by the database's clock, if it has ended")
            }
            Request::Extend(_) => f.write_str("extend my row"),
            Request::Unlock(_) => f.write_str("end my row"),
            Request::PutItem(entry, Some(generation)) => {
                write!(f, "write {entry} if the generation is {generation}")
            }
            Request::Nominate(number) => write!(f, "create candidate {number}"),
            Request::Withdraw(number) => write!(f, "delete candidate {number}"),
            Request::Candidates => f.write_str("list the candidates"),
            Request::PutItem(entry, None) => write!(f, "write {entry} if there is no item"),
        }
    }
}

impl Display for Response {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Response::Found(Some(shown)) => write!(f, "version {}, {}", shown.version.raw(), shown.entry),
            Response::Found(None) => f.write_str("there is no lease"),
            Response::Written(version) => write!(f, "written, version {}", version.raw()),
            Response::Gone => f.write_str("done"),
            Response::Conflict => f.write_str("conflict"),
            Response::Invalid => f.write_str("invalid"),
            Response::Unavailable => f.write_str("error of the store"),
            Response::ConditionFailed(Some(Shown { entry, .. })) => {
                write!(f, "the condition failed on generation {}, {entry}", entry.transitions)
            }
            Response::Candidates(candidates) if candidates.is_empty() => f.write_str("there are no candidates"),
            Response::Candidates(candidates) => {
                f.write_str("candidates")?;
                candidates.iter().try_for_each(|number| write!(f, " {number}"))
            }
            Response::ConditionFailed(None) => f.write_str("the condition failed: there is no item"),
        }
    }
}

impl Display for ObservedLeaseMessage {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            ObservedLeaseMessage::Request(Call(call), request) => write!(f, "{request} [{call}]"),
            ObservedLeaseMessage::Response(Call(call), response) => write!(f, "{response} [{call}]"),
            ObservedLeaseMessage::Sleep(length) => write!(f, "sleep for {length} × the grain"),
        }
    }
}

impl Display for Timer {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Timer::Attempt => "the next attempt begins",
            Timer::Draw => "it sleeps for the shortest time",
            Timer::RequestTimeout => "the request timed out",
            Timer::RenewDeadline => "the renew deadline is over",
            Timer::ReleaseDeadline => "the time for the release is over",
            Timer::Grace => "it waits for its work no longer",
            Timer::Guard => "the deadline of its work is over",
            Timer::WorkStops => "its work has stopped",
            Timer::Statement => "it sends the statement",
            Timer::KeepAlive => "it extends its row",
            Timer::Program(alarm) => return alarm.fmt(f),
        })
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Command::Run => "run for leader",
            Command::Cancel => "stop",
            Command::Write => "write",
        })
    }
}

impl Display for OperatorAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self.0 {
            OperatorKind::Delete => "deletes the lease",
            OperatorKind::ForceUnlock => "forces the lease off",
            OperatorKind::Relabel => "changes a label of the lease",
        })
    }
}

impl Display for LeaseFault {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            LeaseFault::Fail(client) => write!(f, "the store answers {client} with errors"),
            LeaseFault::Recover(client) => write!(f, "the store answers {client} again"),
            LeaseFault::Nap(client, length) => write!(f, "{client} sleeps for {length} × the grain"),
            LeaseFault::Lag => f.write_str("the next read shows an earlier record"),
        }
    }
}

impl Display for LeaseEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            LeaseEvent::TakenOver { client, from } => write!(f, "{client} takes the lease over from {from}"),
            LeaseEvent::Refused { client } => {
                write!(f, "the write of {client} is refused: its condition does not hold")
            }
            LeaseEvent::ReadStale { client } => write!(f, "{client} is shown an earlier record"),
        }
    }
}
