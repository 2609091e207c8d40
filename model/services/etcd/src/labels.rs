//! How messages, deadlines, commands, events and faults read in a story.

use std::fmt::{Display, Formatter, Result};

use super::events::{EtcdEvent, EtcdFault, Observation, OperatorAction};
use super::messages::{
    Command, Compare, EtcdMessage, EtcdValue, EventCursor, Key, KeyEvent, KeyRange, Operation, Request, Response,
    Shown, Timer,
};
use super::settings::OperatorKind;
use fencepost_model::ids::{Index, RawId};

impl Display for Key {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Key::Of(lease) => write!(f, "key {}.{}", lease.raw().creator.0, lease.raw().number),
            Key::Below(lease) => write!(f, "key sub/{}.{}", lease.raw().creator.0, lease.raw().number),
            Key::Stranger => f.write_str("a key without a lease"),
        }
    }
}

impl Display for EtcdValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            EtcdValue::Empty => f.write_str("no value"),
            EtcdValue::Name(client) => write!(f, "the name of {client}"),
            EtcdValue::Number(number) => write!(f, "{number}"),
            EtcdValue::Other => f.write_str("another value"),
        }
    }
}

impl Display for KeyRange {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            KeyRange::One(key) => key.fmt(f),
            KeyRange::Prefix => f.write_str("the prefix"),
        }
    }
}

impl Display for EventCursor {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.shown() {
            (from, 0) => write!(f, "{}", from.raw()),
            (from, past) => write!(f, "{}, event {}", from.raw(), u16::from(past) + 1),
        }
    }
}

impl Display for KeyEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.is_delete {
            true => write!(f, "{} was deleted at {}", self.shown.key, self.revision.raw()),
            false => {
                shown(f, Some(self.shown))?;
                write!(f, ", was put at {}", self.revision.raw())
            }
        }
    }
}

impl Display for Compare {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.created {
            Index::NONE => write!(f, "if {} is absent", self.key),
            created => write!(f, "if {} was created at {}", self.key, created.raw()),
        }
    }
}

impl Display for Request {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Request::Grant(lease, _) => write!(f, "grant a lease for {lease}"),
            Request::Renew(lease) => write!(f, "renew the lease of {lease}"),
            Request::Revoke(lease) => write!(f, "revoke the lease of {lease}"),
            Request::Txn(compare, Operation::Put(_)) => write!(f, "{compare}, put it; get the oldest key"),
            Request::Txn(compare, Operation::Delete) => write!(f, "{compare}, delete it"),
            Request::Txn(compare, Operation::Write(_)) => write!(f, "{compare}, write the value"),
            Request::Txn(compare, Operation::PutValue(_, value)) => write!(f, "{compare}, put {value}; else get it"),
            Request::Newest(before) => write!(f, "get the newest key created before {}", before.raw()),
            Request::Get(key) => write!(f, "get {key}"),
            Request::Watch(key, from) => write!(f, "watch {key} from {}", from.raw()),
            Request::Delete(key) => write!(f, "delete {key}"),
            Request::Holder => f.write_str("read the holder"),
            Request::Put(key, _, value) => write!(f, "put {value} to {key}"),
            Request::First { serializable: false } => f.write_str("get the oldest key"),
            Request::First { serializable: true } => f.write_str("get the oldest key of the local copy"),
            Request::Follow(range, cursor) => write!(f, "watch the events of {range} from {cursor}"),
        }
    }
}

fn shown(f: &mut Formatter<'_>, found: Option<Shown>) -> Result {
    match found {
        Some(Shown { key, created, value: EtcdValue::Empty }) => write!(f, "{key}, created at {}", created.raw()),
        Some(Shown { key, created, value }) => write!(f, "{key} with {value}, created at {}", created.raw()),
        None => f.write_str("no key"),
    }
}

impl Display for Response {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Response::Granted => f.write_str("there is the lease"),
            Response::Renewed => f.write_str("the lease is renewed"),
            Response::NoLease => f.write_str("there is no such lease"),
            Response::Done => f.write_str("done"),
            Response::Txn { created, oldest } => {
                match created {
                    Some(created) => write!(f, "the key was created at {}; the oldest is ", created.raw()),
                    None => f.write_str("there is no such key; the oldest is "),
                }?;
                shown(f, *oldest)
            }
            Response::Found(found, revision) => {
                shown(f, *found)?;
                write!(f, " at {}", revision.raw())
            }
            Response::Deleted => f.write_str("the watched key was deleted"),
            Response::Compacted => f.write_str("the revision of the watch is compacted"),
            Response::Disconnected => f.write_str("the connection is broken"),
            Response::Holder(Some(client)) => write!(f, "{client} has the lock"),
            Response::Holder(None) => f.write_str("no client has the lock"),
            Response::Failed => f.write_str("the request failed"),
            Response::Key(found) => shown(f, *found),
            Response::Event(event) => event.fmt(f),
        }
    }
}

impl Display for EtcdMessage {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            EtcdMessage::Request(call, request) => write!(f, "{request} [{}]", call.0),
            EtcdMessage::Response(call, response) => write!(f, "{response} [{}]", call.0),
        }
    }
}

impl Display for Timer {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Timer::Revoke(lease) => write!(f, "the leader revokes the overdue lease of {lease}"),
            Timer::Checkpoint(lease) => write!(f, "the leader logs the rest of the lease of {lease}"),
            Timer::Return => f.write_str("there is a leader again"),
            Timer::RevokeStalled(lease) => write!(f, "the stalled leader proposes to revoke the lease of {lease}"),
            Timer::Forwarded(lease) => write!(f, "the forwarded proposal to revoke the lease of {lease} is applied"),
            Timer::Renewal => f.write_str("the next renewal"),
            Timer::SessionDone => f.write_str("the session is dropped: `Done` closes"),
            Timer::Stop => f.write_str("the holder stops by its own clock"),
            Timer::Program(alarm) => alarm.fmt(f),
            Timer::Close => f.write_str("it waits no longer for the revoke of its lease"),
        }
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Command::Acquire => "acquire",
            Command::Release => "release",
            Command::Write => "write",
            Command::Look => "look",
        })
    }
}

impl Display for OperatorAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self.0 {
            OperatorKind::DeleteHeld => "deletes the holder's key",
            OperatorKind::DeleteWaiting => "deletes the key of the first waiting client",
            OperatorKind::RevokeHeld => "revokes the holder's lease",
            OperatorKind::RevokeWaiting => "revokes the lease of the first waiting client",
            OperatorKind::PutStranger => "puts a key without a lease",
            OperatorKind::Detach => "puts the holder's key without its lease",
            OperatorKind::Compact => "compacts the store",
        })
    }
}

impl Display for EtcdFault {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            EtcdFault::LoseLeader => f.write_str("the members lose their leader"),
            EtcdFault::Restart => f.write_str("all members restart"),
            EtcdFault::Freeze => f.write_str("the server pauses"),
            EtcdFault::Stall(None) => f.write_str("the loop of the leader is stuck"),
            EtcdFault::Stall(Some(client)) => {
                write!(f, "the loop of the leader is stuck, and {client} is connected to it")
            }
            EtcdFault::EndStall => f.write_str("the loop of the old leader runs again"),
            EtcdFault::Disconnect(client) => write!(f, "the connection of {client} breaks"),
            EtcdFault::Jump => f.write_str("the wall clock of the leader jumps"),
            EtcdFault::LagBehind => f.write_str("a member lags behind from now on"),
            EtcdFault::CatchUp => f.write_str("the member has caught up"),
            EtcdFault::ApplySlowly => f.write_str("the apply of the leader lags behind from now on"),
            EtcdFault::ApplyAgain => f.write_str("the apply of the leader has caught up"),
        }
    }
}

impl Display for EtcdEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            EtcdEvent::Promoted => f.write_str("a leader is promoted, and every lease starts anew"),
            EtcdEvent::RevokeForwarded(lease) => {
                write!(f, "the proposal to revoke the lease of {lease} was made by a deposed leader")
            }
            EtcdEvent::RenewedByStalled(lease) => write!(f, "the stalled leader renews the lease of {lease}"),
            EtcdEvent::ReadStale(client) => write!(f, "{client} is shown an earlier holder"),
            EtcdEvent::Read { client, holder: Some(holder) } => write!(f, "{client} reads that {holder} has the lock"),
            EtcdEvent::Read { client, holder: None } => write!(f, "{client} reads that no client has the lock"),
            EtcdEvent::Compacted(client) => write!(f, "the wait of {client} fails: its watch is compacted"),
            EtcdEvent::SessionEnded(client) => write!(f, "the session of {client} ends: `Done` closes"),
            EtcdEvent::Observed { client, told: Observation { shown: found, revision } } => {
                write!(f, "{client} is told at {} that ", revision.raw())?;
                shown(f, Some(*found))?;
                f.write_str(", leads")
            }
            EtcdEvent::ObserveEnded(client) => write!(f, "the channel of {client} closes: it observes no longer"),
        }
    }
}
