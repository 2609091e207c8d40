//! Labels of messages. A label must distinguish all actions that may be enabled at the same time.

use fencepost_model::ids::RawId;
use std::fmt;

use super::{
    Answer, Claim, ConsulMessage, KeyList, NodeHealth, NodeList, Operation, Request, Row, SessionInfo, SessionList,
    Target, Tree, Watch,
};

impl fmt::Display for ConsulMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConsulMessage::Request(call, request) => write!(f, "{request} [{}]", call.0),
            ConsulMessage::Response(call, answer) => write!(f, "{answer} [{}]", call.0),
            ConsulMessage::Order(_, call, order) => {
                write!(f, "write on my behalf, by {} with {} [{}]", order.session, order.token, call.0)
            }
            ConsulMessage::OrderDone(_, call, true) => write!(f, "done for you [{}]", call.0),
            ConsulMessage::OrderDone(_, call, false) => write!(f, "refused, your sequencer is not valid [{}]", call.0),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::CreateSession(_) => f.write_str("create a session"),
            Request::RenewSession(session) => write!(f, "renew {session}"),
            Request::DestroySession(session) => write!(f, "destroy {session}"),
            Request::Get(key) => write!(f, "get {key}"),
            Request::GetConsistent(key) => write!(f, "get {key}, consistently"),
            Request::Put { key, .. } => write!(f, "put {key}"),
            Request::Cas { key, index, .. } => write!(f, "put {key} if at {index}"),
            Request::Acquire(Claim { key, session, .. }) => write!(f, "acquire {key} for {session}"),
            Request::Release(Claim { key, session, .. }) => write!(f, "release {key} of {session}"),
            Request::Delete(key) => write!(f, "delete {key}"),
            Request::DeleteCas { key, index } => write!(f, "delete {key} if at {index}"),
            Request::FindSession => f.write_str("find the session with the common name"),
            Request::List => f.write_str("list the prefix"),
            Request::Before(index) => write!(f, "list the contenders before {index}"),
            Request::Watch(Watch { target, index, .. }) => write!(f, "watch {target} from {index}"),
            Request::WatchConsistent(Watch { target, index, .. }) => {
                write!(f, "watch {target} from {index}, consistently")
            }
            Request::Commit(transaction) => {
                f.write_str("transaction: ")?;
                transaction.operations.iter().enumerate().try_for_each(|(place, operation)| {
                    let comma = if place == 0 { "" } else { ", " };
                    write!(f, "{comma}{operation}")
                })
            }
            Request::SessionInfo(session) => write!(f, "look {session} up"),
            Request::Sessions(None) => f.write_str("list the sessions"),
            Request::Sessions(Some(node)) => write!(f, "list the sessions of {node}'s node"),
            Request::Keys(prefix) => write!(f, "list the keys of {prefix}"),
            Request::Tree(prefix) => write!(f, "list the entries of {prefix}"),
            Request::DeleteTree(prefix) => write!(f, "delete {prefix}"),
            Request::Leader => f.write_str("ask for the leader"),
            Request::Nodes => f.write_str("list the nodes"),
            Request::NodeHealth(node) => write!(f, "list the checks of {node}'s node"),
            Request::SetCheck(node, kind, status) => write!(f, "set {kind} of {node}'s node to {status}"),
            Request::DeregisterCheck(node, kind) => write!(f, "deregister {kind} of {node}'s node"),
            Request::DeregisterNode(node) => write!(f, "deregister {node}'s node"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Key(key) => key.fmt(f),
            Target::Prefix => f.write_str("the prefix"),
            Target::Keys(prefix) => write!(f, "the keys of {prefix}"),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Nothing => f.write_str("nothing"),
            Operation::Unknown => f.write_str("an unknown verb"),
            Operation::CheckSession { key, session: Some(session), .. } => write!(f, "if {key} is held by {session}"),
            Operation::CheckSession { key, session: None, .. } => write!(f, "if {key} is free"),
            Operation::CheckIndex { key, index } => write!(f, "if {key} is at {index}"),
            Operation::Set { key, .. } => write!(f, "put {key}"),
            Operation::Cas { key, index, .. } => write!(f, "put {key} if at {index}"),
            Operation::Lock(Claim { key, session, .. }) => write!(f, "acquire {key} for {session}"),
            Operation::Unlock(Claim { key, session, .. }) => write!(f, "release {key} of {session}"),
            Operation::Get(key) => write!(f, "get {key}"),
            Operation::GetTree(prefix) => write!(f, "list {prefix}"),
            Operation::CheckNotExists(key) => write!(f, "if {key} is absent"),
            Operation::Delete(key) => write!(f, "delete {key}"),
            Operation::DeleteCas { key, index } => write!(f, "delete {key} if at {index}"),
            Operation::DeleteTree(prefix) => write!(f, "delete {prefix}"),
            Operation::SetCheck(node, kind, status) => {
                write!(f, "set {kind} of {node}'s node to {status}")
            }
            Operation::Register(registration) => write!(f, "register {}", registration.item()),
            Operation::RegisterAt(registration, index) => write!(f, "register {} if at {index}", registration.item()),
            Operation::Show(item) => write!(f, "get {item}"),
            Operation::Deregister(item) => write!(f, "deregister {item}"),
            Operation::DeregisterAt(item, index) => write!(f, "deregister {item} if at {index}"),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Created(session) => write!(f, "created {session}"),
            Answer::Renewed => f.write_str("renewed"),
            Answer::UnknownSession => f.write_str("404, unknown session"),
            Answer::Done(done) => write!(f, "{done}"),
            Answer::InvalidSession => f.write_str("500, invalid session"),
            Answer::Found(entry) => {
                write!(f, "LockIndex {}, ModifyIndex {}", entry.lock_index, entry.modify.raw())?;
                match entry.session {
                    Some(session) => write!(f, ", held by {session}"),
                    None => f.write_str(", free"),
                }
            }
            Answer::Absent => f.write_str("404, no such key"),
            Answer::Named(Some(session)) => session.fmt(f),
            Answer::Named(None) => f.write_str("no session has that name"),
            Answer::Listed(listing) => {
                write!(f, "at {}", listing.index)?;
                match listing.slots.map(|entry| (entry.value, entry.modify)) {
                    Some((super::Opaque::Slots(slots), modify)) => {
                        write!(f, ", {slots} (ModifyIndex {})", modify.raw())?
                    }
                    Some(_) => f.write_str(", not a semaphore")?,
                    None => f.write_str(", no semaphore")?,
                }
                listing.alive.iter().enumerate().try_for_each(|(place, session)| {
                    let before = if place == 0 { "; alive: " } else { ", " };
                    write!(f, "{before}{session}")
                })
            }
            Answer::Before(Some((session, index))) => write!(f, "the contender before you is {session}, at {index}"),
            Answer::Before(None) => f.write_str("no contender is before you"),
            Answer::Committed => f.write_str("committed"),
            Answer::RolledBack(place) => write!(f, "409, operation {place} failed"),
            Answer::Missing(None) => f.write_str("500, missing node registration"),
            Answer::Missing(Some(kind)) => write!(f, "500, missing check {kind}"),
            Answer::Critical(kind) => write!(f, "500, check {kind} is critical"),
            Answer::NoLeader => f.write_str("500, no cluster leader"),
            Answer::Disconnected => f.write_str("the connection is closed"),
            Answer::Session(Some(SessionInfo { id, .. })) => write!(f, "{id} is alive"),
            Answer::Session(None) => f.write_str("there is no such session"),
            Answer::Sessions(SessionList { ids, more }) => list(f, "no session is alive", "", ids, *more),
            Answer::Keys(KeyList { index, keys, more }) => {
                list(f, &format!("at {index}, no key"), &format!("at {index}: "), keys, *more)
            }
            Answer::Tree(Tree { index, rows, more }) => {
                list(f, &format!("at {index}, no entry"), &format!("at {index}: "), rows, *more)
            }
            Answer::Leader(true) => f.write_str("there is a leader"),
            Answer::Leader(false) => f.write_str("there is no leader"),
            Answer::Nodes(NodeList { nodes, more }) => list(f, "no node is registered", "", nodes, *more),
            Answer::Health(NodeHealth { checks }) => {
                f.write_str(if checks.is_empty() { "no check is registered" } else { "" })?;
                checks.iter().enumerate().try_for_each(|(place, (kind, status))| {
                    let comma = if place == 0 { "" } else { ", " };
                    write!(f, "{comma}{kind} is {status}")
                })
            }
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (ModifyIndex {}", self.key, self.modify.raw())?;
        match self.session {
            Some(session) => write!(f, ", held by {session})"),
            None => f.write_str(", free)"),
        }
    }
}

/// The members of a list, or that it has none.
fn list(
    f: &mut fmt::Formatter<'_>,
    empty: &str,
    before: &str,
    members: &[impl fmt::Display],
    more: u16,
) -> fmt::Result {
    f.write_str(if members.is_empty() { empty } else { before })?;
    members.iter().enumerate().try_for_each(|(place, member)| {
        let comma = if place == 0 { "" } else { ", " };
        write!(f, "{comma}{member}")
    })?;
    if more > 0 { write!(f, " and {more} more") } else { Ok(()) }
}
