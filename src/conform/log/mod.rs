//! Logs of requests and answers: JSON lines that any script can write. `LOGS.md` in this package describes the format.
//!
//! ```text
//! fields   values as people write them: stamps, durations, sizes     reading   lines, heads, events, reports
//! record   a request with its answer                                 written   the same, written
//! ```

mod fields;
mod reading;
mod record;
mod written;

use serde_json::{Map, Value};

use super::consul::{HttpRequest, Options, Reply};

pub use self::reading::read;
pub(super) use self::written::{happened, head, record};
pub use self::written::{number, write};

/// A store, and what was asked of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Episode {
    /// The version of the servers, as the log says; empty: it does not.
    pub version: String,
    /// The name of the agent's node.
    pub node: String,
    /// The nodes of other agents of the datacenter.
    pub nodes: Vec<String>,
    /// What the agent was configured with.
    pub options: Options,
    /// How late a timer may be, in nanoseconds; none: for ever (C-TTL-4, C-TTL-6).
    pub lateness: Option<i64>,
    /// Requests with their answers, by when they were sent.
    pub lines: Vec<LogRecord>,
    /// What clients said of themselves, in the order of the file.
    pub reports: Vec<Report>,
    /// What happened to servers and nodes, in the order of the file.
    pub events: Vec<Event>,
    /// Whether the store was not empty at the beginning: its content is unknown.
    pub begins_later: bool,
    /// What the log does not say.
    pub gaps: Gaps,
}

/// What a log does not say, by its own account.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Gaps {
    /// Whether clients write that are not in the log.
    pub others_write: bool,
    /// How far stamps may be off, in nanoseconds; instants of lines are that far apart already.
    pub stamps: i64,
    /// Whether servers refuse what a client may not do: 403 is an answer.
    pub has_acl: bool,
}

/// Something that happened to servers or nodes, at an instant between two.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its number in the file, from 1.
    pub number: usize,
    /// What.
    pub kind: EventKind,
    /// Not before this instant, in nanoseconds.
    pub sent: i64,
    /// Not after this one.
    pub received: i64,
}

/// What may happen to servers and nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// Servers restart: timers start anew (C-TTL-1), lock-delays too (C-LD-12).
    Restart,
    /// Another server leads: timers start anew (C-TTL-6), the old leader may answer for a while (C-CON-2).
    Failover,
    /// The store is that of a snapshot: what came after it never was (C-LD-13).
    Restore,
    /// A node is killed or leaves: its sessions may end (C-INV-4).
    NodeFailed(String),
    /// The recorder refused a request itself, and no server has seen it.
    NotPassedOn(RefusedRequest),
}

/// A request that the recorder refused: its body is too large to be recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedRequest {
    /// The client that sent it, if it is known.
    pub client: Option<String>,
    /// The method of HTTP.
    pub method: String,
    /// The path with the query.
    pub url: String,
    /// The status of the recorder's answer.
    pub status: u16,
}

/// A client says whether it takes itself for the holder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Its number in the file, from 1.
    pub number: usize,
    /// The client that reports it.
    pub client: String,
    /// The lock that it speaks of; none for any.
    pub key: Option<String>,
    /// Whether it is inside.
    pub is_inside: bool,
    /// When, in nanoseconds.
    pub at: i64,
}

/// A request with its answer.
#[derive(Clone, PartialEq, Debug)]
pub struct LogRecord {
    /// Its number in the file, from 1.
    pub number: usize,
    /// The client that sent the request, if it is known.
    pub client: Option<String>,
    /// The request.
    pub question: HttpRequest,
    /// The response, if it is known.
    pub reply: Option<Reply>,
    /// When it was sent, in nanoseconds.
    pub sent: i64,
    /// When the answer arrived.
    pub received: i64,
    /// Whether the log says so itself; else times only tell the order.
    pub is_timed: bool,
    /// What else the log says of it, or does not say.
    pub details: Details,
}

impl LogRecord {
    /// A request of an unnamed client that was answered, between two instants.
    pub(super) fn new(number: usize, question: HttpRequest, reply: Reply, (sent, received): (i64, i64)) -> LogRecord {
        let details = Details::default();
        LogRecord { number, client: None, question, reply: Some(reply), sent, received, is_timed: true, details }
    }
}

/// What a log says of a request besides, or does not say.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Details {
    /// Whether the request had a body that is not known.
    pub lacks_body: bool,
    /// Whether the answer had a body that is not known.
    pub lacks_answer: bool,
    /// The node of the agent that was asked; none: the one of the head.
    pub agent: Option<String>,
    /// Fields of other names, as they were.
    pub extra: Map<String, Value>,
}
